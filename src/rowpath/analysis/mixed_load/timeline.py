"""Time lines: what groups and processes did second by second, of each path in each set."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from rowpath.analysis.mixed_load.model import Series, TimeLine
from rowpath.analysis.mixed_load.stages import StageRun
from rowpath.journal.mixed_load_records import GroupSecond, ProcessSecond, SecondRecord
from rowpath.journal.reader import Records
from rowpath.model.grouping import grouped

Value = float | None
Used = TypeVar("Used", GroupSecond, ProcessSecond)
OF_GROUPS: dict[str, tuple[str, Callable[[GroupSecond, int], Value]]] = {
    "rate": ("operations/s", lambda group, ns: group.operations * 1e9 / ns),
    "failed": ("operations", lambda group, _ns: group.failed),
    "p50": ("ns", lambda group, _ns: group.p50_ns),
    "p99": ("ns", lambda group, _ns: group.p99_ns),
    "longest": ("ns", lambda group, _ns: group.most_ns),
    "stall": ("ns", lambda group, _ns: group.under_way_ns),
}
OF_PROCESSES: dict[str, tuple[str, Callable[[ProcessSecond, int], Value]]] = {
    "cpu": ("cores", lambda process, ns: None if process.cpu_ns is None else process.cpu_ns / ns),
    "memory": ("bytes", lambda process, _ns: process.memory_bytes),
    "read": ("bytes/s", lambda process, ns: None if process.read_bytes is None else process.read_bytes * 1e9 / ns),
    "written": (
        "bytes/s",
        lambda process, ns: None if process.written_bytes is None else process.written_bytes * 1e9 / ns,
    ),
}
CONNECTIONS = "connections"


def time_lines(journal: Records, runs: Iterable[StageRun]) -> tuple[TimeLine, ...]:
    """One for each path and set that has seconds; instants count from the begin of its first stage."""
    together = grouped((run for run in runs if run.seconds), lambda run: run.key[:2])
    return tuple(_line(journal, key, found) for key, found in together.items())


def _line(journal: Records, key: tuple[int, str], runs: list[StageRun]) -> TimeLine:
    zero = min(run.record.at_ns for run in runs)
    path = journal.paths.get(key[1])
    seconds = [second for run in runs for second in run.seconds if second.ns > 0]
    seconds.sort(key=lambda second: second.at_ns)

    processes = _series(OF_PROCESSES, [(second.processes, second.ns) for second in seconds])

    def at(instant_ns: int) -> float:
        return (instant_ns - zero) / 1e9

    return TimeLine(
        name=path.name if path else key[1],
        path_id=key[1],
        set=key[0],
        at_s=tuple(at(second.at_ns) for second in seconds),
        stages=tuple(
            (run.record.stage, at(run.record.at_ns), at(max(second.at_ns for second in run.seconds))) for run in runs
        ),
        backups=tuple((at(each.begun_ns), at(each.ended_ns)) for run in runs for each in run.backups),
        kills=tuple(at(kill.at_ns) for run in runs for kill in run.kills),
        series=(
            *_series(OF_GROUPS, [(second.client_groups, second.ns) for second in seconds]),
            *(each for each in processes if any(value is not None for value in each.values)),
            *_of_connections(seconds),
        ),
    )


def _series(
    quantities: dict[str, tuple[str, Callable[[Used, int], Value]]], seconds: list[tuple[dict[str, Used], int]]
) -> Iterable[Series]:
    """Each quantity of each group or process, from (what each used, ns) by second."""
    names = dict.fromkeys(name for used, _ns in seconds for name in used)
    for quantity, (unit, value) in quantities.items():
        for name in names:
            yield Series(
                quantity, name, unit, tuple(value(used[name], ns) if name in used else None for used, ns in seconds)
            )


def _of_connections(seconds: list[SecondRecord]) -> Iterable[Series]:
    if not any(second.connections for second in seconds):
        return
    for quantity, field in (("sent", "sent_bytes"), ("received", "received_bytes")):
        rates = (
            getattr(second.connections, field) * 1e9 / second.ns if second.connections else None for second in seconds
        )
        yield Series(quantity, CONNECTIONS, "bytes/s", tuple(rates))
