"""H2: one loader for both deployments; the server's start, login, stop and death; what reaches the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath.engines.jvm.h2 import ENGINE
from rowpath.machine.counters import syncs
from tests.engines.jvm_life import copies_are_identical_and_can_be_opened, server_life, syncs_of_a_server
from tests.engines.life import kill_the_controller
from tests.waiting import gone

pytestmark = pytest.mark.skipif(not ENGINE.availability().ok, reason=ENGINE.availability().reason)


def test_embedded_copies_are_identical_and_can_be_opened(tmp_path: Path) -> None:
    copies_are_identical_and_can_be_opened(ENGINE, tmp_path)


def test_server_life(tmp_path: Path) -> None:
    server_life(ENGINE, tmp_path)


@pytest.mark.skipif(syncs.probe() != syncs.MEANS, reason=syncs.probe())
def test_a_commit_syncs_nothing(tmp_path: Path) -> None:
    assert ENGINE.durabilities == ("none",)
    assert syncs_of_a_server(ENGINE, "none", tmp_path) == 0


def test_nothing_survives_the_controller(tmp_path: Path) -> None:
    assert gone(kill_the_controller("h2", tmp_path))


def test_what_it_lacks_is_said() -> None:
    assert "without the blanks" in ENGINE.supports("json")
    assert "months" in ENGINE.supports("interval")
    assert ENGINE.supports("array") == ""
