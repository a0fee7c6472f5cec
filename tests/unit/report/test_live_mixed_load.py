"""What is seen of groups at work at once while a stage goes on."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from rowpath.model.progress import GroupNow, StageSecond
from rowpath.report.live import LINE_EVERY_S, GroupsHistory, LiveProgress

STALLED = range(20, 24)


def _second(at_s: int, stage: str = "with a backup", path: str = "Derby [network]") -> StageSecond:
    stalled = at_s in STALLED
    groups = {
        "readers": GroupNow(24_512.0 * (0.4 if at_s > 4 else 1), 1_200_000, 0, 100),
        "writers": GroupNow(
            0.0 if stalled else 61.0,
            None if stalled else 33_000_000,
            2 if at_s == 10 else 0,
            (at_s - 19) * 1_050_000_000 if stalled else 5_000,
        ),
    }
    return StageSecond(path, stage, float(at_s), 40.0, groups, backup=4 < at_s < 30)


def _history(last: int, first: int = 1) -> GroupsHistory:
    history = GroupsHistory()
    for at_s in range(first, last + 1):
        history.add(_second(at_s))
    return history


def _drawn(history: GroupsHistory, width: int) -> list[str]:
    file = io.StringIO()
    console = Console(file=file, width=width, color_system=None, markup=False, highlight=False, emoji=False)
    console.print(history.drawing(width, "5 s left"))
    return [line.rstrip() for line in file.getvalue().splitlines()]


def test_a_stall_is_told_and_drawn_and_so_is_the_backup() -> None:
    lines = _drawn(_history(22), 80)
    assert lines[0] == "Derby [network] · with a backup · 22 of 40 s · backup · 5 s left"
    assert [line.split()[:4] for line in lines[2:4]] == [
        ["readers", "9.80", "k/s", "1.20"],
        ["writers", "0/s", "stalled", "3"],
    ]
    assert lines[3].endswith("███×××")
    assert lines[4] == "backup" + " " * (lines[4].index("━") - 6) + "━" * 18
    assert lines[4].rindex("━") == lines[3].rindex("×")


def test_failures_are_counted_over_the_stage_and_begin_anew_with_the_next() -> None:
    history = _history(15)
    assert "writers 61.0/s, p99 33.0 ms, 2 failed" in history.line()
    assert history.add(_second(1, "after it"))
    assert not history.add(_second(2, "after it"))
    assert "failed" not in history.line()
    assert len(history.seconds) == 17


def test_another_path_and_a_set_that_begins_again_are_told_apart() -> None:
    history = _history(9)
    assert history.add(_second(1))
    assert history.add(_second(1, path="Derby embedded"))
    assert len(history.seconds) == 1


@pytest.mark.parametrize(
    ("p99_ns", "under_way_ns", "told"),
    [
        (9_000_000, 7_100_000_000, "stalled 7 s"),  # others still end: one client is stuck
        (9_000_000, 990_000_000, "p99 9.00 ms"),
        (2_000_000_000, 7_100_000_000, "p99 2.00 s"),  # every operation takes that long
        (None, 1_000_000_000, "stalled 1 s"),
    ],
)
def test_an_operation_under_way_is_a_stall_when_it_takes_far_longer_than_others(
    p99_ns: int | None, under_way_ns: int, told: str
) -> None:
    history = GroupsHistory()
    groups = {"readers": GroupNow(5.0, p99_ns, 0, under_way_ns)}
    history.add(StageSecond("a", "reads", 1.0, 5.0, groups, backup=False))
    assert history.line() == f"a · reads · 1 of 5 s · readers 5.00/s, {told}"


def test_no_more_than_the_last_minute_is_kept() -> None:
    history = _history(200)
    assert len(history.seconds) == 60
    assert len(history.sparkline("readers", 60)) == 60


@pytest.mark.parametrize("width", [40, 50, 80, 120])
def test_it_fits_its_terminal_and_stays_where_it_is_when_a_stall_begins(width: int) -> None:
    before, within = _drawn(_history(19), width), _drawn(_history(22), width)
    assert max(map(len, within)) <= width
    head = [next(line for line in lines if "failed" in line) for lines in (before, within)]
    assert head[0].index("failed") == head[1].index("failed")


def test_without_a_terminal_there_is_a_line_each_5_seconds_and_one_for_each_stage() -> None:
    file, clock = io.StringIO(), [0.0]
    progress = LiveProgress(Console(file=file, force_terminal=False, width=160), lambda: clock[0])
    progress.begin(40.0, ["Derby"])
    for at_s in range(1, 41):
        clock[0] += 1
        progress.second(_second(at_s))
    lines = file.getvalue().splitlines()[1:]
    assert len(lines) == 40 // LINE_EVERY_S
    assert lines[0].startswith("Derby [network] · with a backup · 1 of 40 s · readers 24.5 k/s, p99 1.20 ms")
    assert "writers 0/s, stalled 2 s, 2 failed" in lines[4]
    progress.second(_second(1, "after it"))
    assert file.getvalue().splitlines()[-1].startswith("Derby [network] · after it · 1 of 40 s")


def test_in_a_terminal_each_second_is_drawn() -> None:
    file = io.StringIO()
    progress = LiveProgress(Console(file=file, force_terminal=True, width=80, color_system=None, markup=False))
    progress.begin(40.0, ["Derby"])
    for at_s in range(1, 6):
        progress.second(_second(at_s))
    progress.end()
    assert all(f"{at_s} of 40 s" in file.getvalue() for at_s in range(1, 6))
