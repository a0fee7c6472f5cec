"""What client groups did in each stage: rates, percentiles, failures, and what the stage used."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from rowpath import text as fmt
from rowpath.analysis.client_groups import OfGroup, OfStage, StageRun, each_ns, interval, of_metric, ratios, withheld
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.wording import words as in_words
from rowpath.drawing.grid import Cell, Grid, figure, line, of_lines, without_empty, word, words
from rowpath.drawing.line_chart import Chart, Curve, Point, of_curves
from rowpath.drawing.section import Opening, of_chart
from rowpath.journal.mixed_load_records import CountedFailure
from rowpath.model import histogram
from rowpath.model.base import Frozen
from rowpath.model.grouping import grouped

PERCENTILES = {"50 %": "p50_ns", "90 %": "p90_ns", "99 %": "p99_ns", "99.9 %": "p999_ns", "longest": "most_ns"}
MOST_CURVES = 5  # of a chart: each has a colour of its own
LONGEST = 4  # figures in one sentence


class Latency(Frozen, frozen=True):
    """A distribution of durations in ns; None of no values."""

    operations: int
    mean_ns: float | None
    p50_ns: int | None
    p90_ns: int | None
    p99_ns: int | None
    p999_ns: int | None
    most_ns: int | None


class GroupFigures(OfGroup, frozen=True):
    """A group in one stage on one path, over all sets. Failed operations are in no rate."""

    phase: str
    clients: int
    pacing: Literal["closed", "fixed", "poisson"]
    sets: int
    rate_per_s: float  # geometric mean over the sets
    low: float | None  # its interval
    high: float | None
    service: Latency
    latency: Latency | None  # from when an operation was due; None: it never is, or the rate was not reached
    lateness: Latency | None  # open loop: how late the generator itself began
    requested_per_s: float | None  # open loop
    reached: bool  # closed loop: true
    not_begun: int  # open loop: operations due that were never begun
    failed: int
    failures: tuple[CountedFailure, ...]
    rows_per_operation: float
    touch_ok: bool | None  # None: nothing is known of it
    longest_stall_s: float  # within which no operation of the group ended
    client_cpu_ns: float | None = None  # per operation, of its clients' threads
    cut: bool = False  # the run was ended within it
    dispatch: Literal["own", "shared"] = "own"
    population: int = 0  # callers in one queue for the clients
    blocked_ns: int = 0  # the longest time an event loop of its clients was blocked; 0: none is watched
    borrow_ns: float | None = None  # of an operation, from a pool; None: there is none
    return_ns: float | None = None

    @property
    def at_work(self) -> tuple[str, str]:
        """(path id, stage)."""
        return self.path_id, self.stage


class StageFigures(OfStage, frozen=True):
    """What one path used in one stage, all of its groups together, over all sets (geometric means)."""

    sets: int
    seconds: float  # mean length
    client_cpu_ns: float | None  # per operation of any group: of the whole process
    server_cpu_ns: float | None
    traffic_bytes_per_s: float | None  # only of our connections, both directions, payload
    low: float | None  # its interval
    high: float | None
    bytes_per_operation: float | None
    traffic_in_backup_bytes_per_s: float | None = None  # over the seconds of which nine tenths lie within a backup


def figures(evidence: Evidence) -> Iterator[GroupFigures]:
    """A group of a stage on a path; sets in which it was cut count only where there is no other."""
    at_work = (record for run in evidence.stage_runs for record in run.groups.values())
    missed = withheld(evidence.stage_runs)
    for key, every in grouped(at_work, lambda record: (record.path_id, record.stage, record.client_group)).items():
        records = [record for record in every if not record.cut] or every
        rate = interval((record.rate_per_s or 0.0 for record in records), evidence.cells.confidence)
        first = records[0]
        open_loop, reached = first.pacing != "closed", key not in missed
        timed_from_due = reached and (open_loop or first.dispatch == "shared")
        operations = sum(record.operations for record in records)
        cpu = [record for record in records if record.cpu_ns is not None]
        counted = sum(record.operations + record.failed for record in cpu)
        yield GroupFigures(
            evidence.name(key[0]),
            *key,
            first.phase,
            first.clients,
            first.pacing,
            len(records),
            *(rate.ratios if rate else (0.0, None, None)),
            service=latency(record.service for record in records),
            latency=latency(record.latency for record in records) if timed_from_due else None,
            lateness=latency(record.lateness for record in records) if timed_from_due else None,
            requested_per_s=first.requested_per_s if open_loop else None,
            reached=reached,
            not_begun=sum(record.not_begun for record in records),
            failed=sum(record.failed for record in records),
            failures=_by_kind(failure for record in records for failure in record.failures),
            rows_per_operation=sum(record.rows for record in records) / operations if operations else 0.0,
            touch_ok=min((record.touch_ok for record in records), key=(False, None, True).index),
            longest_stall_s=max(record.longest_stall_ns for record in records) / 1e9,
            client_cpu_ns=sum(record.cpu_ns or 0.0 for record in cpu) / counted if counted else None,
            cut=first.cut,
            dispatch=first.dispatch,
            population=first.population,
            blocked_ns=max(record.blocked_ns for record in records),
            borrow_ns=each_ns(sum(record.borrow_ns for record in records), records),
            return_ns=each_ns(sum(record.return_ns for record in records), records),
        )


def latency(histograms: Iterable[Mapping[str, int]]) -> Latency:
    """Histograms as the journal has them, joined; the mean is that of the buckets' middles (0.4 % at most beside)."""
    counts = histogram.empty()
    for buckets in histograms:
        counts += histogram.decode(dict(buckets))
    total = int(counts.sum())
    middles = sum(
        int(counts[index]) * (histogram.lowest_of(int(index)) + histogram.highest_of(int(index))) / 2
        for index in np.flatnonzero(counts)
    )
    p50, p90, p99, p999, most = (histogram.percentile(counts, percent) for percent in (50, 90, 99, 99.9, 100))
    return Latency(total, middles / total if total else None, p50, p90, p99, p999, most)


def _by_kind(failures: Iterable[CountedFailure]) -> tuple[CountedFailure, ...]:
    """The failures of all sets by kind and code, the most frequent first; each with its first text."""
    by_kind = grouped(failures, lambda failure: (failure.kind, failure.code))
    listed = [
        CountedFailure(*kind, alike[0].text, sum(failure.count for failure in alike)) for kind, alike in by_kind.items()
    ]
    return tuple(sorted(listed, key=lambda failure: -failure.count))


def stages(evidence: Evidence) -> Iterator[StageFigures]:
    """What each path used in each stage of which the seconds are known."""
    runs = (run for run in evidence.stage_runs if run.seconds)
    by_stage: dict[tuple[str, str], list[StageRun]] = grouped(runs, lambda run: run.key[1:])
    names = ("client_cpu", "server_cpu", "traffic", "traffic_each", "traffic_in_backup")
    values = {name: of_metric(evidence.group_values, name) for name in names}
    for (path_id, stage), together in by_stage.items():
        means = {
            name: ratios(values[name].get((path_id, stage, ""), {}).values(), evidence.cells.confidence)
            for name in names
        }
        yield StageFigures(
            evidence.name(path_id),
            path_id,
            stage,
            sets=len(together),
            seconds=statistics.fmean(sum(second.ns for second in run.seconds) / 1e9 for run in together),
            client_cpu_ns=means["client_cpu"][0],
            server_cpu_ns=means["server_cpu"][0],
            traffic_bytes_per_s=means["traffic"][0],
            low=means["traffic"][1],
            high=means["traffic"][2],
            bytes_per_operation=means["traffic_each"][0],
            traffic_in_backup_bytes_per_s=means["traffic_in_backup"][0],
        )


def latency_sentences(groups: Iterable[GroupFigures]) -> Iterator[str]:
    """One for each group in open loop and each rate: of every path the stage with the longest tail."""
    by_rate: dict[tuple[str, float], dict[str, tuple[int, str]]] = {}
    for group in groups:
        tail = group.latency.p99_ns if group.latency else None
        if tail is not None and group.requested_per_s:
            paths = by_rate.setdefault((group.client_group, group.requested_per_s), {})
            paths[group.name] = max(paths.get(group.name, (0, "")), (tail, group.stage), key=lambda one: one[0])
    for (name, requested_per_s), paths in by_rate.items():
        listed = [
            f"{fmt.duration(tail)} on {path} ('{stage}')"
            for path, (tail, stage) in sorted(paths.items(), key=lambda item: item[1][0])
        ]
        more = f"; {len(listed) - LONGEST} more paths take longer" if len(listed) > LONGEST else ""
        whose = f"At {fmt.rate(requested_per_s)} the p99 latency of {name} (from scheduled start, slowest stages)"
        yield f"{whose} was {in_words(listed[:LONGEST])}{more}."


def traffic_sentences(stages: Iterable[StageFigures], groups: Iterable[GroupFigures]) -> Iterator[str]:
    """What an operation takes on our connections, where only one group was at work."""
    at_work = grouped(groups, lambda group: group.at_work)
    by_path: dict[str, dict[str, None]] = {}
    for stage in stages:
        alone = at_work.get((stage.path_id, stage.stage), [])
        if stage.bytes_per_operation is not None and len(alone) == 1:
            takes = f"{fmt.size(stage.bytes_per_operation)} for each operation of {alone[0].client_group}"
            by_path.setdefault(stage.name, {})[f"{takes} ({fmt.size(stage.traffic_bytes_per_s)}/s)"] = None
    for name, listed in by_path.items():
        yield f"On the connections of {name}: {in_words(list(listed)[:LONGEST])}."


def missed_sentences(groups: Iterable[GroupFigures]) -> Iterator[str]:
    """The groups that did not reach their rate."""
    listed = [
        f"{group.client_group} of {group.name} in '{group.stage}' "
        f"({fmt.rate(group.rate_per_s)} of {fmt.rate(group.requested_per_s)})"
        for group in groups
        if not group.reached and not group.cut
    ]
    if listed:
        more = f" and {len(listed) - LONGEST} more" if len(listed) > LONGEST else ""
        yield f"Rate not reached, so latency percentiles are withheld: {in_words(listed[:LONGEST])}{more}."


def beside_grid(groups: Sequence[GroupFigures]) -> Grid:
    """The rate of every group in every stage, a column for each path; no rows of fewer than two paths."""
    names = list(dict.fromkeys(group.name for group in groups))
    rates = {(group.stage, group.client_group, group.name): group.rate_per_s for group in groups}
    lines = (
        line(
            *words(stage=stage, group=group),
            *(
                figure(fmt.clean(name), fmt.rate(rates.get((stage, group, name))), max(0, at - 1))
                for at, name in enumerate(names)
            ),
        )
        for stage, group in dict.fromkeys((group.stage, group.client_group) for group in groups)
    )
    return of_lines("Rates by path", lines if len(names) > 1 else ())


def path_tables(groups: Iterable[GroupFigures]) -> Iterator[tuple[Grid, Opening]]:
    """For each path a table of its groups, begun with their percentiles as curves."""
    for name, alike in grouped(groups, lambda group: group.name).items():
        yield path_grid(name, alike), of_chart(latency_sentence(alike), *latency_charts(name, alike))


def path_grid(name: str, groups: Sequence[GroupFigures]) -> Grid:
    """Each group of one path in each stage: rate, percentiles, what failed, the longest stall."""
    lines = (
        line(
            *words(stage=group.stage, group=group.client_group),
            figure("clients", str(group.clients), 4),
            figure("requested", _requested(group), 2),
            figure("rate", fmt.rate(group.rate_per_s)),
            figure("interval", fmt.rate_interval(group.low, group.high), 1),
            *_percentiles(group),
            figure("service p99", fmt.duration(group.service.p99_ns) if _has_dues(group) else "", 6),
            figure("start delay, p99", fmt.duration(group.lateness.p99_ns) if group.lateness else "", 6),
            figure("stall", fmt.duration(group.longest_stall_s * 1e9) if group.longest_stall_s > 0 else "", 3),
            figure("borrow", fmt.duration(group.borrow_ns), 4),
            figure("return", fmt.duration(group.return_ns), 4),
            figure("event loop blocked", fmt.duration(group.blocked_ns) if group.blocked_ns else "", 4),
            figure("failed", fmt.count(group.failed) if group.failed else "", 1),
            figure("rows per operation", fmt.count(group.rows_per_operation), 7),
            figure("client CPU per operation", fmt.duration(group.client_cpu_ns), 7),
            figure("touch", "wrong" if group.touch_ok is False else "", 7),
            status="wrong" if group.touch_ok is False else "ok",
        )
        for group in groups
    )
    caption = f"{fmt.clean(name)}: client groups ({fmt.counted(max(group.sets for group in groups), 'set')})"
    return without_empty(of_lines(caption, lines, _path_note(groups)))


def _has_dues(group: GroupFigures) -> bool:
    return group.pacing != "closed" or group.dispatch == "shared"


def _requested(group: GroupFigures) -> str:
    shared = ", any free client" if group.dispatch == "shared" else ""
    if group.requested_per_s:
        return f"{fmt.rate(group.requested_per_s)} {group.pacing}{shared}"
    return f"{group.population} callers" if group.population else ""


def _percentiles(group: GroupFigures) -> tuple[Cell, ...]:
    counted = group.latency if _has_dues(group) else group.service
    texts = [fmt.MISSING, "not reached", fmt.MISSING, fmt.MISSING]
    if group.reached and counted is not None:
        texts = [fmt.duration(ns) for ns in (counted.p50_ns, counted.p99_ns, counted.p999_ns, counted.most_ns)]
    return tuple(map(figure, ("p50", "p99", "p99.9", "longest"), texts, (2, 0, 5, 3)))


def _path_note(groups: Sequence[GroupFigures]) -> str:
    sentences = [
        "p50, p99, p99.9, longest: service time in a closed loop; latency in an open loop, counted from an "
        "operation's scheduled start. Stall: the longest time without a completed operation; with several clients it "
        "is sampled once a second."
    ]
    if any(group.population for group in groups):
        sentences.append("Callers: they stand in one queue for the clients; latency begins when a caller joins it.")
    named = [(group, fmt.clean(f"{group.client_group} ({group.stage})")) for group in groups]
    if missed := [f"{name}: {group.not_begun:,}" for group, name in named if not group.reached]:
        sentences.append(
            "Not reached: fewer than 99 % of the scheduled operations completed, so latency percentiles are withheld; "
            f"due and never started: {', '.join(missed)}."
        )
    if cut := [name for group, name in named if group.cut]:
        sentences.append(f"The run ended during: {', '.join(cut)}.")
    if wrong := [name for group, name in named if group.touch_ok is False]:
        sentences.append(f"The checksum of the values read is wrong: {', '.join(wrong)}.")
    return " ".join(sentences)


def latency_charts(name: str, groups: Sequence[GroupFigures]) -> list[Chart | None]:
    """Percentile curves of a path's groups: one chart, or one of each group where that has too many curves."""
    if len(groups) <= MOST_CURVES:
        return [_latency_chart(name, groups)]
    by_group = grouped(groups, lambda group: group.client_group)
    return [_latency_chart(f"{name}, {whose}", stages, f"{whose}: ") for whose, stages in by_group.items()]


def _latency_chart(name: str, groups: Sequence[GroupFigures], whose: str = "") -> Chart | None:
    """Percentile curves of every group of a path; of an open loop the service time and, dashed, the response time."""
    curves = []
    for group in (group for group in groups if group.reached):
        who = fmt.clean(group.stage if whose else f"{group.client_group}, {group.stage}")
        curves.append(Curve(f"{who}: service" if group.latency else who, _points(group.service)))
        if group.latency:
            curves.append(Curve(f"{who}: response", _points(group.latency), dashed=True))
    return of_curves(
        f"{fmt.clean(name)}: percentiles of each client group's times; the table holds the figures",
        f"{fmt.clean(whose)}time of an operation",
        "share of operations that took at most this",
        curves,
        fmt.duration,
        "A point is a percentile over the operations of all sets; it has no interval.",
        names=list(PERCENTILES),
    )


def _points(times: Latency) -> tuple[Point, ...]:
    values = ((at, getattr(times, field)) for at, field in enumerate(PERCENTILES.values()))
    return tuple(Point(at, value) for at, value in values if value)


def latency_sentence(groups: Sequence[GroupFigures]) -> str:
    """The group with the longest 99th percentile, and how far that is from its median."""
    known = [
        (times.p99_ns, times.p50_ns, group)
        for group in groups
        if group.reached and (times := group.latency or group.service).p99_ns and times.p50_ns
    ]
    if not known:
        return ""
    p99_ns, p50_ns, group = max(known, key=lambda one: one[0] or 0)
    return (
        f"Longest 99th percentile over all sets: {fmt.clean(group.client_group)} in {fmt.clean(group.stage)}, "
        f"{fmt.duration(p99_ns)}, {fmt.ratio((p99_ns or 0) / (p50_ns or 1))} of its median."
    )


def failures_grid(groups: Iterable[GroupFigures]) -> Grid:
    """Failed and refused operations by kind; they are in no rate."""
    lines = (
        line(
            *words(path=group.name, stage=group.stage, group=group.client_group, kind=failure.kind),
            word("code", failure.code, 1),
            figure("count", fmt.count(failure.count)),
            word("engine's message", failure.text, 2),
            status="failed",
        )
        for group in groups
        for failure in group.failures
    )
    return without_empty(of_lines("Failed and refused operations (not in rates)", lines))


def stages_grid(stages: Iterable[StageFigures]) -> Grid:
    """What each path used in each stage: bytes on our own connections, CPU per operation."""
    lines = (
        line(
            *words(path=stage.name, stage=stage.stage),
            figure("length", fmt.duration(stage.seconds * 1e9), 3),
            figure("bytes/s on Rowpath's connections", _bytes_per_s(stage.traffic_bytes_per_s), 1),
            figure(
                "interval",
                f"{_bytes_per_s(stage.low)} – {_bytes_per_s(stage.high)}" if stage.low is not None else "",
                2,
            ),
            figure("in a backup", _bytes_per_s(stage.traffic_in_backup_bytes_per_s), 1),
            figure("bytes per operation", fmt.size(stage.bytes_per_operation), 1),
            figure("client CPU per operation", fmt.duration(stage.client_cpu_ns), 2),
            figure("server CPU per operation", fmt.duration(stage.server_cpu_ns), 2),
        )
        for stage in stages
    )
    note = (
        "Bytes of Rowpath's connections only, in both directions, without headers. CPU: whole processes, divided by "
        "the operations of all groups."
    )
    return without_empty(of_lines("Connections and CPU by stage, all groups together", lines, note))


def _bytes_per_s(value: float | None) -> str:
    return fmt.MISSING if value is None else f"{fmt.size(value)}/s"
