"""Groups of clients of the C runner beyond what every language does: over a socket, and when the runner must end."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rowpath.machine import c_compiler
from tests.runners.protocol import group_cases
from tests.runners.protocol.group_talk import NOTHING, Group, subject

pytestmark = pytest.mark.skipif(shutil.which(c_compiler.words()[0]) is None, reason="no C compiler")


def test_over_a_socket(tmp_path: Path) -> None:
    with subject("c", "ping", tmp_path) as ready:
        group_cases.closed_counts(ready)


def test_a_runner_that_is_told_to_end_stops_its_groups(tmp_path: Path) -> None:
    with (
        subject("c", "null", tmp_path) as null,
        null.talk(clients=2, stall_ns="20000000", stall_every="1") as talk,
    ):
        talk.prepare_nothing()
        with talk.groups(Group(NOTHING, "works"), Group(NOTHING, "pauses", pause_ns=10**12)) as working:
            working.begin()
            working.wait(
                lambda: all(working.shared_counters.snapshot(name, 0).operations for name in ("works", "pauses"))
            )
            talk.runner.stop()
            assert talk.runner.process.returncode == 0
