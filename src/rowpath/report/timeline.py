"""The time line of groups at work at once: its seconds, thinned where they are too many, and as a table."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import msgspec

from rowpath import text as fmt
from rowpath.analysis.mixed_load.model import Series, TimeLine
from rowpath.drawing.grid import Column, Grid, Row, without_empty

TABLE_LINES = 120
STALL_SHOWN_NS = 1e9

OF_A_PROCESS = ("cpu", "memory", "sent", "received", "read", "written")
_WORDS = {
    "rate": "operations/s",
    "longest": "longest",
    "stall": "stalled",
    "cpu": "CPU, cores",
    "sent": "sent/s",
    "received": "received/s",
    "read": "disk reads/s",
    "written": "disk writes/s",
}
# How seconds become one when a line is thinned: a rare long one must not vanish.
_TOGETHER: dict[str, Callable[[Iterable[float]], float]] = {
    "failed": sum,
    **dict.fromkeys(("p50", "p99", "longest", "stall", "memory"), max),
}


class Second(NamedTuple):
    """One interval of a time line: seconds since the set's begin, and the number of its stage."""

    begin: float
    end: float
    stage: int


def heading(quantity: str, of: str) -> str:
    """A quantity as a column's title: `readers p99`, `client CPU, cores`, `sent/s`."""
    owner = "" if quantity in {"sent", "received"} else f"{fmt.clean(of)} "
    return owner + _WORDS.get(quantity, quantity)


def seconds_of(line: TimeLine) -> list[Second]:
    """The line's intervals; each begins where the one before it ended, the first of a stage with the stage."""
    begins = [begin for _name, begin, _end in line.stages]
    seconds: list[Second] = []
    before = 0.0
    for end in line.at_s:
        stage = bisect_left(begins, end) - 1
        begin = max(before, begins[stage] if stage >= 0 else 0.0)
        seconds.append(Second(min(begin, end), end, stage))
        before = end
    return seconds


def thinned(line: TimeLine, most: int) -> tuple[TimeLine, int]:
    """The line with at most this many intervals, and how many seconds at most became one.

    Stages are kept apart, unless there are too many of them for that.
    """
    seconds = seconds_of(line)
    least = max(1, math.ceil(len(seconds) / most))
    steps = range(least, len(seconds) + 1) if len(line.stages) <= most else ()
    found = next(((_cuts(seconds, step), step) for step in steps if len(_cuts(seconds, step)) <= most), None)
    cuts, step = found or (list(range(0, len(seconds), least)), least)
    if step == 1:
        return line, 1
    pieces = [range(begin, end) for begin, end in zip(cuts, [*cuts[1:], len(seconds)], strict=True)]
    series = tuple(
        msgspec.structs.replace(each, values=tuple(_one(each, piece, seconds) for piece in pieces))
        for each in line.series
    )
    return msgspec.structs.replace(line, at_s=tuple(line.at_s[piece[-1]] for piece in pieces), series=series), step


def _cuts(seconds: Sequence[Second], step: int) -> list[int]:
    """Where a new piece begins: every this many seconds, and with every stage."""
    cuts: list[int] = []
    for at, second in enumerate(seconds):
        if not cuts or at - cuts[-1] == step or second.stage != seconds[at - 1].stage:
            cuts.append(at)
    return cuts


def _one(series: Series, piece: range, seconds: Sequence[Second]) -> float | None:
    if series.quantity not in _TOGETHER:
        return mean(series, piece, seconds)
    found = [value for at in piece if (value := series.values[at]) is not None]
    return _TOGETHER[series.quantity](found) if found else None


def mean(series: Series, inside: Iterable[int], seconds: Sequence[Second]) -> float | None:
    """The series' mean over these intervals, each by its length; None where it is not known in any."""
    found = [(value, seconds[at].end - seconds[at].begin) for at in inside if (value := series.values[at]) is not None]
    length = sum(weight for _value, weight in found)
    return sum(value * weight for value, weight in found) / length if length > 0 else None


def in_backup(line: TimeLine, second: Second) -> bool:
    """Whether a backup was under way at any moment of the interval."""
    return any(begin < second.end and end > second.begin for begin, end in line.backups)


def table(line: TimeLine) -> Grid:
    """The seconds of a time line as a table of at most 120 lines; a note states how it was thinned."""
    shown, step = thinned(line, TABLE_LINES)
    kept = [
        each
        for each in shown.series
        if each.quantity not in {"p50", "longest"}
        and any((value or 0) >= least(each.quantity) for value in each.values)
    ]
    columns = (
        Column("second", number=True),
        Column("stage"),
        Column("event", weight=1),
        *(Column(heading(each.quantity, each.of), number=True, weight=1) for each in kept),
    )
    rows = tuple(
        Row(
            (
                f"{second.end:.1f}",
                fmt.clean(shown.stages[second.stage][0]) if second.stage >= 0 else fmt.MISSING,
                _events(shown, second),
                *(_cell(each, number) for each in kept),
            )
        )
        for number, second in enumerate(seconds_of(shown))
    )
    note = (
        f"One line for up to {step} seconds: means of rates, CPU and bytes, sums of failed operations, maxima of "
        "the rest. --export-timeline has every second."
        if step > 1
        else ""
    )
    caption = f"{fmt.clean(line.name)}, set {line.set + 1}: second by second"
    return without_empty(Grid(caption, columns, rows, note))


def _events(line: TimeLine, second: Second) -> str:
    killed = any(second.begin < at <= second.end for at in line.kills)
    return ", ".join(word for word, so in (("backup", in_backup(line, second)), ("killed", killed)) if so)


def _cell(series: Series, at: int) -> str:
    value = series.values[at]
    return "" if (value or 0) < least(series.quantity) else fmt.figure(value, series.unit)


def least(quantity: str) -> float:
    """The least value that is worth showing: failures and stalls are rare."""
    return {"failed": 1.0, "stall": STALL_SHOWN_NS}.get(quantity, 0.0)
