"""Time lines: what groups and processes did second by second, thinned where there are too many, and as tables."""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from rowpath import text as fmt
from rowpath.analysis.client_groups import OfPath, StageRun
from rowpath.analysis.evidence import Evidence
from rowpath.drawing.grid import Grid, Heading, Row, figure, of_lines, without_empty, words
from rowpath.drawing.grid import line as grid_line
from rowpath.journal.mixed_load_records import ConnectionsSecond, GroupSecond, ProcessSecond
from rowpath.model.base import Frozen
from rowpath.model.grouping import grouped

TABLE_LINES = 120
STALL_SHOWN_NS = 1e9

Value = float | None
Used = TypeVar("Used", GroupSecond, ProcessSecond, ConnectionsSecond)
# Of what a group, a process or the connections did in a second: the unit, and the value from it and the second's ns.
Quantities = dict[str, tuple[str, Callable[[Used, int], Value]]]
OF_GROUPS: Quantities[GroupSecond] = {
    "rate": ("operations/s", lambda group, ns: group.operations * 1e9 / ns),
    "failed": ("operations", lambda group, _ns: group.failed),
    "p50": ("ns", lambda group, _ns: group.p50_ns),
    "p99": ("ns", lambda group, _ns: group.p99_ns),
    "longest": ("ns", lambda group, _ns: group.most_ns),
    "stall": ("ns", lambda group, _ns: group.under_way_ns),
}
OF_PROCESSES: Quantities[ProcessSecond] = {
    "cpu": ("cores", lambda process, ns: None if process.cpu_ns is None else process.cpu_ns / ns),
    "memory": ("bytes", lambda process, _ns: process.memory_bytes),
    "read": ("bytes/s", lambda process, ns: None if process.read_bytes is None else process.read_bytes * 1e9 / ns),
    "written": (
        "bytes/s",
        lambda process, ns: None if process.written_bytes is None else process.written_bytes * 1e9 / ns,
    ),
}
OF_CONNECTIONS: Quantities[ConnectionsSecond] = {
    "sent": ("bytes/s", lambda connections, ns: connections.sent_bytes * 1e9 / ns),
    "received": ("bytes/s", lambda connections, ns: connections.received_bytes * 1e9 / ns),
}
_OF_A_PROCESS = (*OF_PROCESSES, *OF_CONNECTIONS)
_WEIGHTS = {"cpu": 1, "sent": 1, "received": 1, "memory": 3}
_TITLES = {
    "rate": "operations/s",
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


class TimeLine(OfPath, frozen=True):
    """One path in one set, second by second: every series has one value for each of `at_s` (the interval's end)."""

    set: int
    at_s: tuple[float, ...]
    stages: tuple[tuple[str, float, float], ...]  # name, begin, end
    backups: tuple[tuple[float, float], ...]
    kills: tuple[float, ...]
    series: tuple[Series, ...]

    @property
    def seconds(self) -> list[Second]:
        """Its intervals; each begins where the one before it ended, the first of a stage with the stage."""
        begins = [begin for _name, begin, _end in self.stages]
        seconds: list[Second] = []
        before = 0.0
        for end in self.at_s:
            stage = bisect_left(begins, end) - 1
            begin = max(before, begins[stage] if stage >= 0 else 0.0)
            seconds.append(Second(min(begin, end), end, stage))
            before = end
        return seconds

    def in_backup(self, second: Second) -> bool:
        """Whether a backup was under way at any moment of the interval."""
        return any(begin < second.end and end > second.begin for begin, end in self.backups)


class Series(Frozen, frozen=True):
    """One quantity of a time line; None where there is nothing to tell (the group was not at work).

    Units: rate operations/s; failed operations; p50, p99, longest, stall ns; cpu cores (1: one core all the time);
    memory bytes; sent, received, read, written bytes/s.
    """

    quantity: str  # rate | failed | p50 | p99 | longest | stall | cpu | memory | sent | received | read | written
    of: str  # the group or the process
    unit: str
    values: tuple[float | None, ...]

    @property
    def title(self) -> str:
        """Its quantity as a column's title: `readers p99`, `client CPU, cores`, `sent/s`."""
        owner = "" if self.quantity in OF_CONNECTIONS else f"{fmt.clean(self.of)} "
        return owner + _TITLES.get(self.quantity, self.quantity)

    def shows(self, value: Value) -> bool:
        """Whether a value is worth showing: failures and stalls are rare."""
        return (value or 0) >= {"failed": 1.0, "stall": STALL_SHOWN_NS}.get(self.quantity, 0.0)

    def mean(self, inside: Iterable[int], seconds: Sequence[Second]) -> float | None:
        """Its mean over these intervals, each by its length; None where it is not known in any."""
        lengths = {at: seconds[at].end - seconds[at].begin for at in inside if self.values[at] is not None}
        total = sum(lengths.values())
        return sum((self.values[at] or 0.0) * length for at, length in lengths.items()) / total if total > 0 else None


class Second(NamedTuple):
    """One interval of a time line: seconds since the set's begin, and the number of its stage."""

    begin: float
    end: float
    stage: int


def time_lines(evidence: Evidence) -> Iterator[TimeLine]:
    """One for each path and set that has seconds; instants count from the begin of its first stage."""
    together = grouped((run for run in evidence.stage_runs if run.seconds), lambda run: run.key[:2])
    return (_time_line(evidence.name(path_id), path_id, number, runs) for (number, path_id), runs in together.items())


def _time_line(name: str, path_id: str, number: int, runs: list[StageRun]) -> TimeLine:
    zero = min(run.record.at_ns for run in runs)
    seconds = [second for run in runs for second in run.seconds if second.ns > 0]
    seconds.sort(key=lambda second: second.at_ns)
    connections = [({"connections": second.connections} if second.connections else {}, second.ns) for second in seconds]
    processes = _series(OF_PROCESSES, [(second.processes, second.ns) for second in seconds])

    def at(instant_ns: int) -> float:
        return (instant_ns - zero) / 1e9

    return TimeLine(
        name,
        path_id,
        number,
        at_s=tuple(at(second.at_ns) for second in seconds),
        stages=tuple(
            (run.record.stage, at(run.record.at_ns), at(max(second.at_ns for second in run.seconds))) for run in runs
        ),
        backups=tuple((at(backup.begun_ns), at(backup.ended_ns)) for run in runs for backup in run.backups),
        kills=tuple(at(kill.at_ns) for run in runs for kill in run.kills),
        series=(
            *_series(OF_GROUPS, [(second.client_groups, second.ns) for second in seconds]),
            *(series for series in processes if any(value is not None for value in series.values)),
            *_series(OF_CONNECTIONS, connections),
        ),
    )


def _series(quantities: Quantities[Used], seconds: list[tuple[dict[str, Used], int]]) -> Iterator[Series]:
    """Each quantity of each group or process, from (what each used, ns) by second."""
    names = dict.fromkeys(name for used, _ns in seconds for name in used)
    for quantity, (unit, value) in quantities.items():
        for name in names:
            values = (value(used[name], ns) if name in used else None for used, ns in seconds)
            yield Series(quantity, name, unit, tuple(values))


def thinned(line: TimeLine, most: int) -> tuple[TimeLine, int]:
    """The line with at most this many intervals, and how many seconds at most became one.

    Stages are kept apart, unless there are too many of them for that.
    """
    seconds = line.seconds
    least = max(1, math.ceil(len(seconds) / most))
    steps = range(least, len(seconds) + 1) if len(line.stages) <= most else ()
    by_step = ((_cuts(seconds, step), step) for step in steps)
    by_length = (list(range(0, len(seconds), least)), least)
    cuts, step = next((cut for cut in by_step if len(cut[0]) <= most), by_length)
    if step == 1:
        return line, 1
    pieces = [range(begin, end) for begin, end in zip(cuts, [*cuts[1:], len(seconds)], strict=True)]
    series = tuple(
        msgspec.structs.replace(one, values=tuple(_joined(one, piece, seconds) for piece in pieces))
        for one in line.series
    )
    return msgspec.structs.replace(line, at_s=tuple(line.at_s[piece[-1]] for piece in pieces), series=series), step


def _cuts(seconds: Sequence[Second], step: int) -> list[int]:
    """Where a new piece begins: every this many seconds, and with every stage."""
    cuts: list[int] = []
    for at, second in enumerate(seconds):
        if not cuts or at - cuts[-1] == step or second.stage != seconds[at - 1].stage:
            cuts.append(at)
    return cuts


def _joined(series: Series, piece: range, seconds: Sequence[Second]) -> float | None:
    if series.quantity not in _TOGETHER:
        return series.mean(piece, seconds)
    known = [value for at in piece if (value := series.values[at]) is not None]
    return _TOGETHER[series.quantity](known) if known else None


def table(line: TimeLine) -> Grid:
    """The seconds of a time line as a table of at most 120 lines; a note states how it was thinned."""
    shown, step = thinned(line, TABLE_LINES)
    telling = (series for series in shown.series if series.quantity not in {"p50", "longest"})
    kept = [series for series in telling if any(map(series.shows, series.values))]
    columns = (
        Heading("second", number=True),
        Heading("stage"),
        Heading("event", weight=1),
        *(Heading(series.title, number=True, weight=1) for series in kept),
    )
    rows = []
    for at, second in enumerate(shown.seconds):
        killed = any(second.begin < kill <= second.end for kill in shown.kills)
        values = ((series, series.values[at]) for series in kept)
        cells = (
            f"{second.end:.1f}",
            fmt.clean(shown.stages[second.stage][0]) if second.stage >= 0 else fmt.MISSING,
            ", ".join(["backup"] * shown.in_backup(second) + ["killed"] * killed),
            *(fmt.figure(value, series.unit) if series.shows(value) else "" for series, value in values),
        )
        rows.append(Row(cells))
    note = (
        f"One line for up to {step} seconds: means of rates, CPU and bytes, sums of failed operations, maxima of "
        "the rest. --export-timeline has every second."
    )
    caption = f"{fmt.clean(line.name)}, set {line.set + 1}: second by second"
    return without_empty(Grid(caption, columns, tuple(rows), note if step > 1 else ""))


def processes_grid(lines: Iterable[TimeLine]) -> Grid:
    """CPU, memory, disk and the bytes on our own connections in each stage: means over its seconds in all sets."""
    rows: dict[tuple[str, str], dict[str, list[float]]] = {}
    kinds: dict[str, Series] = {}
    for line in lines:
        seconds = line.seconds
        for at, (stage, _begin, _end) in enumerate(line.stages):
            inside = [number for number, second in enumerate(seconds) if second.stage == at]
            for series in line.series if inside else ():
                if series.quantity in _OF_A_PROCESS and (value := series.mean(inside, seconds)) is not None:
                    means = rows.setdefault((line.name, stage), {})
                    means.setdefault(kinds.setdefault(series.title, series).title, []).append(value)
    ordered = dict.fromkeys(title for means in rows.values() for title in means)
    table_lines = (
        grid_line(
            *words(path=name, stage=stage),
            *(
                figure(
                    title,
                    fmt.figure(statistics.fmean(means[title]), kinds[title].unit) if title in means else fmt.MISSING,
                    _WEIGHTS.get(kinds[title].quantity, 2) + 3 * (kinds[title].of == "controller"),
                )
                for title in ordered
            ),
        )
        for (name, stage), means in rows.items()
    )
    note = "Means over each stage, of all sets. Sent (by the clients), received: on Rowpath's connections."
    return without_empty(of_lines("Processes and connections by stage", table_lines if ordered else (), note))
