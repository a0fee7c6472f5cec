"""What is seen while a run goes on."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from rowpath.report.console import make_console
from rowpath.report.live import WIDE, LiveProgress


class Clock:
    """A clock that goes on only when told."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def _run(terminal: bool, seconds_per_block: float, width: int = 80) -> str:
    file = io.StringIO()
    clock = Clock()
    console = Console(file=file, force_terminal=terminal, width=width, color_system=None, markup=False)
    progress = LiveProgress(console, clock)
    progress.begin(20, ["sqlite c", "libpq [tcp]"])
    progress.phase(0, 2, "keyed", "read", "steady")
    for done in range(1, 21):
        for name in ("sqlite c", "libpq [tcp]"):
            clock.seconds += seconds_per_block
            progress.block(name, 5000.0 + done, done, 20)
    progress.note("foreign line\x1b[2J from a runner")
    progress.end()
    progress.end()
    return file.getvalue()


def test_without_a_terminal_there_is_a_line_per_phase_and_at_most_one_every_5_s() -> None:
    lines = _run(terminal=False, seconds_per_block=0.5).splitlines()
    assert lines[0] == "2 paths, about 20 s"
    assert lines[1] == "set 1/2 · keyed · read · steady · 20 s left"
    assert len(lines) == 2 + 4 + 1
    assert lines[2] == "set 1/2 · keyed · read · steady · 5/40 · sqlite c 5.00 µs · 35 s left"
    assert lines[-1] == "foreign line from a runner"
    assert not any("\x1b" in line for line in lines)


def test_in_a_terminal_it_draws_at_most_four_times_a_second() -> None:
    drawn = _run(terminal=True, seconds_per_block=0.05)
    assert drawn.count("fastest so far") <= 2 + 2.0 / 0.25 + 2
    assert "18/40" in drawn
    assert "next libpq [tcp] 1.00×" in drawn
    assert "foreign line from a runner" in drawn


@pytest.mark.parametrize("width", [40, 80, 140])
def test_it_fits_its_terminal(width: int) -> None:
    drawn = _run(terminal=True, seconds_per_block=0.3, width=width)
    assert "sqlite c" in drawn
    assert "keyed.read" in drawn
    assert ("next libpq" in drawn) == (width >= WIDE)


@pytest.mark.parametrize("width", [50, 70, 90, 110])
def test_names_are_cut_and_figures_are_not(width: int) -> None:
    file = io.StringIO()
    progress = LiveProgress(Console(file=file, force_terminal=True, width=width, height=40, color_system=None), Clock())
    progress.begin(20, [])
    progress.phase(0, 12, "a workload with a long name", "and a phase with one", "steady")
    for name, cost_ns in (
        ("a path with a name of half a line or more", 5000.0),
        ("another one that is as long", 6000.0),
    ):
        progress.block(name, cost_ns, 1000, 1200)
    progress.phase(0, 12, "keyed", "read", "steady")
    progress.end()
    lines = re.sub(r"\x1b\[[?0-9]*[A-Za-z]", "", file.getvalue()).splitlines()
    assert max(map(len, lines)) <= width
    (measured, now) = (next(line for line in reversed(lines) if word in line) for word in ("1000/14400", "▸"))
    assert "more 5.00 µs" in measured
    assert ("1.20×" in measured) == (width >= WIDE)
    assert "keyed.read" in now


def test_every_phase_has_one_line_with_its_leader_over_all_sets() -> None:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=110, height=40, color_system=None)
    clock = Clock()
    progress = LiveProgress(console, clock)
    progress.begin(10.0, ["a", "b"])
    for set_number in range(2):
        for phase, leading in (("read", "a"), ("scan", "b")):
            progress.phase(set_number, 2, "keyed", phase, "steady")
            for done in range(1, 16):
                for name in "ab":
                    clock.seconds += 1
                    progress.block(name, 1000.0 if name == leading else 3000.0, done, 15)
    last = file.getvalue().split("fastest so far")[-1]
    (read,), (scan,) = ([line for line in last.splitlines() if name in line] for name in (".read", ".scan"))
    assert "30/30" in read
    assert "a 1.00 µs next b 3.00×" in " ".join(read.split())
    assert "b 1.00 µs next a 3.00×" in " ".join(scan.split())
    progress.end()


def test_a_probe_longer_than_its_time_is_estimated_by_its_sets() -> None:
    clock, file = Clock(), io.StringIO()
    progress = LiveProgress(Console(file=file, force_terminal=False, width=120), clock)
    progress.begin(60.0, ["a"])
    clock.seconds = 58.0
    for set_number in range(3):
        progress.phase(set_number, 3, "query", "read", "steady")
        for done in range(1, 11):
            clock.seconds += 2
            progress.block("a", 1000.0, done, 10)
    lines = file.getvalue().splitlines()
    assert not any("over" in line for line in lines)
    assert "set 2/3 · query · read · steady · 10/30 · a 1.00 µs · 40 s left" in lines
    assert lines[-1].endswith("a 1.00 µs · 2 s left")


def test_no_color_and_color_never_make_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert make_console("auto").no_color
    monkeypatch.delenv("NO_COLOR")
    assert make_console("never").no_color
    always = make_console("always")
    assert always.is_terminal
    assert not always.no_color
    assert make_console(to_stderr=True).width == 160


def test_loading_shows_how_far_a_table_has_come() -> None:
    for terminal in (True, False):
        file, clock = io.StringIO(), Clock()
        console = Console(file=file, force_terminal=terminal, width=80, color_system=None, markup=False)
        progress = LiveProgress(console, clock)
        progress.begin(20, ["sqlite c"])
        for done in range(0, 2_000_001, 100_000):
            clock.seconds += 1
            progress.loading("sqlite orders", done, 2_000_000)
        progress.end()
        lines = [line for line in file.getvalue().splitlines() if "sqlite orders" in line]
        if terminal:
            assert "1,000,000 of 2,000,000 rows" in file.getvalue()
            assert "━" in file.getvalue()
        else:
            assert lines[0] == "sqlite orders: 400,000 of 2,000,000 rows, 20 %"
            assert len(lines) == 4


def test_the_tries_of_a_probe_show_the_fastest_so_far() -> None:
    for terminal in (True, False):
        file, clock = io.StringIO(), Clock()
        progress = LiveProgress(Console(file=file, force_terminal=terminal, width=100, color_system=None), clock)
        progress.begin(60.0, ["a", "b", "c"])
        for done, (name, ns) in enumerate((("a", 3000.0), ("b", 1000.0), ("c", 2000.0)), 1):
            clock.seconds += 6.0
            progress.tried(name, ns, done, 46)
        progress.end()
        if terminal:
            assert "b 1.00 µs" in file.getvalue()
            assert "3/46" in file.getvalue()
        else:
            assert file.getvalue().splitlines()[-1] == "trying settings · 3/46 · b 1.00 µs · 42 s left"
