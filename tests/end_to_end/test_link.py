"""The emulated link of a run: an interruption stops it too, and its value is a time over TCP."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from tests.end_to_end.command import Command, called, error_form, proc, steady, write_experiment

pytestmark = pytest.mark.skipif(
    not ENGINES["postgresql"].availability().ok, reason=ENGINES["postgresql"].availability().reason
)
LINKED = 'engine = "postgresql", language = "c", driver = "libpq", transport = "tcp", link = ["none", "3ms"]'


def test_an_interruption_stops_the_link_too(tmp_path: Path) -> None:
    experiment = write_experiment(tmp_path, [LINKED], rounds=200)
    with Command("run", experiment, "-o", tmp_path / "run") as command:
        command.hold_when(lambda: steady(tmp_path / "run"), "steady block")
        assert any("--delay-ns" in proc(pid, "cmdline") for pid in command.processes())
        command.signal(signal.SIGINT)
        assert command.end().returncode == 130


def test_a_link_is_a_time_and_goes_over_tcp(tmp_path: Path) -> None:
    message, hint = error_form(called("list", "paths", "link=fast").stderr)
    assert (message, hint) == (
        "invalid link 'fast': expected a round-trip time such as 1ms",
        "link=none, for one millisecond link=1ms, or with a rate link=25ms@100mbit",
    )
    listed = called("list", "paths", "link=2ms", "engine=postgresql", "language=c", "driver=libpq").stdout.splitlines()
    assert listed
    assert all("transport=tcp" in line and "link=2ms" in line for line in listed)
