"""A run is stopped while poolers work for it: no process of theirs survives."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from rowpath.poolers import POOLERS
from tests.end_to_end.command import Command, proc, steady, write_experiment

PATHS = [
    f'engine = "postgresql", driver = "libpq", statement = "bound", pooler = "{name}", pooler_mode = "session"'
    for name in POOLERS
]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=["SIGTERM", "SIGKILL"])
def test_no_pooler_survives(tmp_path: Path, number: signal.Signals) -> None:
    run = tmp_path / "run"
    with Command("run", write_experiment(tmp_path, PATHS, sets=1, rounds=200), "-o", run) as command:
        command.hold_when(lambda: steady(run), "the blocks of the first set")
        programs = {proc(pid, "comm").strip() for pid in command.processes()}
        assert set(POOLERS) <= programs, programs
        command.signal(number)
        ended = command.end()
        assert not command.survivors()
    assert ended.returncode == (130 if number == signal.SIGTERM else -signal.SIGKILL), ended.stderr
