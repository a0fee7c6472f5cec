"""H2 and HSQLDB: one loader for both deployments; the server's start, login, stop and death; what reaches the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath.engines import h2, hsqldb
from rowpath.engines.jvm_engine import JvmEngine
from rowpath.machine.counters import syncs
from tests.engines.jvm_life import WRITES, copies_are_identical_and_can_be_opened, server_life, syncs_of_a_server
from tests.engines.life import kill_the_controller
from tests.waiting import gone

ENGINES = (h2.ENGINE, hsqldb.ENGINE)
LACKING = {"h2": ("without the blanks", "array"), "hsqldb": ("no type for json", "uuid")}  # json; what it has
pytestmark = pytest.mark.skipif(not h2.ENGINE.availability().ok, reason=h2.ENGINE.availability().reason)
every_engine = pytest.mark.parametrize("engine", ENGINES, ids=lambda each: each.name)


@every_engine
def test_embedded_copies_are_identical_and_can_be_opened(engine: JvmEngine, tmp_path: Path) -> None:
    copies_are_identical_and_can_be_opened(engine, tmp_path)


@every_engine
def test_server_life_and_syncs_per_commit(engine: JvmEngine, tmp_path: Path) -> None:
    made = server_life(engine, tmp_path)
    if syncs.probe() != syncs.METHOD:
        pytest.skip(syncs.probe())
    assert made >= WRITES if engine.durabilities[0] == "full" else made == 0


@pytest.mark.skipif(syncs.probe() != syncs.METHOD, reason=syncs.probe())
def test_without_durability_no_commit_is_synced(tmp_path: Path) -> None:
    assert h2.ENGINE.durabilities == ("none",), "of which the life of its server tells"
    assert syncs_of_a_server(hsqldb.ENGINE, "none", tmp_path) == 0


@every_engine
def test_nothing_survives_the_controller(engine: JvmEngine, tmp_path: Path) -> None:
    assert gone(kill_the_controller(engine.name, tmp_path))


@every_engine
def test_what_it_lacks_is_said(engine: JvmEngine) -> None:
    json, has = LACKING[engine.name]
    assert json in engine.supports("json")
    assert "months" in engine.supports("interval")
    assert engine.supports(has) == ""
