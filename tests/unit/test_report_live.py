"""What is seen while a run goes on."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from rowpath.report.console import make_console
from rowpath.report.live import LiveProgress


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
    assert lines[2].startswith("set 1/2 · keyed · read · steady · libpq [tcp] 5/40 · 5.00 µs")
    assert lines[-1] == "foreign line from a runner"
    assert not any("\x1b" in line for line in lines)


def test_in_a_terminal_it_draws_at_most_four_times_a_second() -> None:
    drawn = _run(terminal=True, seconds_per_block=0.05)
    assert drawn.count("95 % interval") <= 2 + 2.0 / 0.25 + 2
    assert "18/40" in drawn
    assert "libpq [tcp]" in drawn
    assert "foreign line from a runner" in drawn


@pytest.mark.parametrize("width", [40, 80, 140])
def test_it_fits_its_terminal(width: int) -> None:
    assert "sqlite c" in _run(terminal=True, seconds_per_block=0.3, width=width)


def test_figures_start_anew_with_each_phase_and_few_blocks_have_no_interval() -> None:
    progress = LiveProgress(Console(file=io.StringIO(), force_terminal=False), Clock())
    progress.begin(1, ["a"])
    for value in (1.0, 2.0, 3.0):
        progress.block("a", value, 1, 3)
    assert progress._figure("a") == ("2.00 ns", "")
    progress.phase(1, 2, "scan", "read", "cold")
    assert progress._figure("a") == ("–", "")


def test_an_interval_of_the_median_covers_it_in_95_of_100_runs() -> None:
    import random

    rng = random.Random(7)
    held = 0
    for _ in range(400):
        progress = LiveProgress(Console(file=io.StringIO(), force_terminal=False), Clock())
        for _ in range(15):
            progress.block("a", rng.lognormvariate(0, 0.2) * 1e3, 1, 15)
        low, high = progress._figure("a")[1].split(" – ")
        held += _ns(low) <= 1000 <= _ns(high)
    assert held >= 0.92 * 400


def _ns(text: str) -> float:
    value, unit = text.split(" ")
    return float(value) * {"ns": 1, "µs": 1e3}[unit]


def test_no_color_and_color_never_make_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert make_console("auto").no_color
    monkeypatch.delenv("NO_COLOR")
    assert make_console("never").no_color
    always = make_console("always")
    assert always.is_terminal
    assert not always.no_color
    assert make_console(to_stderr=True).width == 160


def test_figures_of_earlier_sets_stay_with_their_operation() -> None:
    console = Console(file=io.StringIO(), force_terminal=False, width=120)
    progress = LiveProgress(console, now=lambda: 0.0)
    progress.begin(10.0, ["a"])
    for set_number in range(2):
        progress.phase(set_number, 2, "keyed", "read", "steady")
        progress.block("a", 1000.0 + set_number, 15, 15)
        progress.phase(set_number, 2, "scan", "read", "steady")
    progress.phase(2, 2, "keyed", "read", "warm")
    assert progress._blocks["keyed", "read"]["a"] == (30, 30)
    assert progress._figures["keyed", "read"]["a"] == [1000.0, 1001.0]
    assert ("scan", "read") not in progress._figures


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
