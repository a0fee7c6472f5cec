"""From the journal's records of groups to everything that the reports show of them; the unit is the set."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from rowpath.analysis.evidence import Evidence
from rowpath.analysis.mixed_load import backups, on_hosts, values
from rowpath.analysis.mixed_load.model import (
    DirectoryCopy,
    GroupFigures,
    GroupRatio,
    Latency,
    MixedLoadReport,
    RateSearch,
    RateTry,
    StageFigures,
)
from rowpath.analysis.mixed_load.stages import StageRun, stage_runs
from rowpath.analysis.mixed_load.timeline import time_lines
from rowpath.analysis.mixed_load.values import interval
from rowpath.journal.mixed_load_records import ClientGroupRecord, CountedFailure, DirectoryCopyRecord
from rowpath.model import histogram
from rowpath.model.grouping import grouped

# Coordinates in which an embedded path and one behind a server may differ and still be the same otherwise.
DEPLOYED = ("deployment", "driver", "version", "transport", "tls", "processes", "placement")


def groups_report(evidence: Evidence) -> MixedLoadReport | None:
    """What the groups of a run did, None when it had none; sets `evidence.group_values`."""
    runs = stage_runs(evidence.journal)
    evidence.group_values = values.group_values(evidence.journal, runs)
    moves = tuple(_move(record) for record in evidence.journal.all(DirectoryCopyRecord))
    sweeps = tuple(_rate_searches(evidence))
    if not (runs or moves or sweeps):
        return None
    return MixedLoadReport(
        figures=tuple(_figures(evidence, runs)),
        backups=tuple(backups.backups(evidence, runs)),
        effects=tuple(backups.effects(evidence, runs)),
        stages=tuple(_stages(evidence, runs)),
        ratios=tuple(_ratios(evidence)),
        checks=tuple(backups.checks(evidence)),
        moves=moves,
        rate_searches=sweeps,
        lines=time_lines(evidence.journal, runs),
        hosts=tuple(on_hosts.works(evidence, runs)),
        starts=tuple(on_hosts.starts(evidence)),
    )


def _figures(evidence: Evidence, runs: list[StageRun]) -> Iterator[GroupFigures]:
    """A group of a stage on a path; sets in which it was cut count only where there is no other."""
    at_work = (record for run in runs for record in run.groups.values())
    found = grouped(at_work, lambda record: (record.path_id, record.stage, record.client_group))
    missed = values.withheld(runs)
    for (path_id, stage, group), every in found.items():
        records = [record for record in every if not record.cut] or every
        rate = interval([record.rate_per_s for record in records if record.rate_per_s], evidence.cells.confidence)
        first = records[0]
        open_loop = first.pacing != "closed"
        reached = (path_id, stage, group) not in missed
        operations = sum(record.operations for record in records)
        cpu = [record for record in records if record.cpu_ns is not None]
        counted = sum(record.operations + record.failed for record in cpu)
        yield GroupFigures(
            name=evidence.name(path_id),
            path_id=path_id,
            stage=stage,
            client_group=group,
            phase=first.phase,
            clients=first.clients,
            pacing=first.pacing,
            sets=len(records),
            rate_per_s=rate.ratio if rate else 0.0,
            low=rate.ratio_low if rate else None,
            high=rate.ratio_high if rate else None,
            service=latency(record.service for record in records),
            latency=latency(record.latency for record in records) if open_loop and reached else None,
            lateness=latency(record.lateness for record in records) if open_loop and reached else None,
            requested_per_s=first.requested_per_s if open_loop else None,
            reached=reached,
            not_begun=sum(record.not_begun for record in records),
            failed=sum(record.failed for record in records),
            failures=_failures(records),
            rows_per_operation=sum(record.rows for record in records) / operations if operations else 0.0,
            touch_ok=_all(record.touch_ok for record in records),
            longest_stall_s=max(record.longest_stall_ns for record in records) / 1e9,
            client_cpu_ns=sum(record.cpu_ns or 0.0 for record in cpu) / counted if counted else None,
            cut=first.cut,
        )


def latency(kept: Iterable[Mapping[str, int]]) -> Latency:
    """Histograms as the journal has them, joined; the mean is that of the buckets' middles (0.4 % at most beside)."""
    counts = histogram.empty()
    for each in kept:
        counts += histogram.decode(dict(each))
    total = int(counts.sum())
    middles = sum(
        int(counts[index]) * (histogram.lowest_of(int(index)) + histogram.highest_of(int(index))) / 2
        for index in np.flatnonzero(counts)
    )
    p50, p90, p99, p999, most = (histogram.percentile(counts, percent) for percent in (50, 90, 99, 99.9, 100))
    return Latency(total, middles / total if total else None, p50, p90, p99, p999, most)


def _failures(records: list[ClientGroupRecord]) -> tuple[CountedFailure, ...]:
    """The failures of all sets by kind and code, the most frequent first; each with its first text."""
    every = (failure for record in records for failure in record.failures)
    listed = (
        CountedFailure(kind, code, alike[0].text, sum(failure.count for failure in alike))
        for (kind, code), alike in grouped(every, lambda failure: (failure.kind, failure.code)).items()
    )
    return tuple(sorted(listed, key=lambda failure: -failure.count))


def _all(found: Iterable[bool | None]) -> bool | None:
    """False where one is; None where one is not known."""
    known = list(found)
    return False if False in known else None if None in known else True


def _stages(evidence: Evidence, runs: list[StageRun]) -> Iterator[StageFigures]:
    found = grouped((run for run in runs if run.seconds), lambda run: (run.record.path_id, run.record.stage))
    metrics = ("client_cpu", "server_cpu", "traffic", "traffic_each", "traffic_in_backup")
    by_stage = {metric: values.of_stages(evidence.group_values, metric) for metric in metrics}
    for key, together in found.items():
        means = {
            metric: interval(by_stage[metric].get(key, {}).values(), evidence.cells.confidence) for metric in metrics
        }
        figure = {metric: each.ratio if each else None for metric, each in means.items()}
        traffic = means["traffic"]
        yield StageFigures(
            name=evidence.name(key[0]),
            path_id=key[0],
            stage=key[1],
            sets=len(together),
            seconds=statistics.fmean(sum(second.ns for second in run.seconds) / 1e9 for run in together),
            client_cpu_ns=figure["client_cpu"],
            server_cpu_ns=figure["server_cpu"],
            traffic_bytes_per_s=figure["traffic"],
            low=traffic.ratio_low if traffic else None,
            high=traffic.ratio_high if traffic else None,
            bytes_per_operation=figure["traffic_each"],
            traffic_in_backup_bytes_per_s=figure["traffic_in_backup"],
        )


def _ratios(evidence: Evidence) -> Iterator[GroupRatio]:
    """Every group of every stage behind a server against the same engine embedded, paths that differ in no more."""
    rates = [each for each in evidence.group_values if each.metric == "group_rate"]
    for server in rates:
        for embedded in rates:
            if not _deployed_apart(server, embedded):
                continue
            shared = sorted(server.values.keys() & embedded.values.keys())
            ratio = interval(
                [server.values[number] / embedded.values[number] for number in shared], evidence.cells.confidence
            )
            if ratio is not None:
                yield GroupRatio(
                    server.stage, server.client_group, server.path.name, embedded.path.name, *ratio.ratios, ratio.sets
                )


def _deployed_apart(server: values.GroupValues, embedded: values.GroupValues) -> bool:
    if (server.stage, server.client_group) != (embedded.stage, embedded.client_group):
        return False
    one, other = server.path, embedded.path
    keys = one.coordinates.keys() | other.coordinates.keys()
    return one.served and other.embedded and all(one.get(key) == other.get(key) for key in keys - set(DEPLOYED))


def _move(record: DirectoryCopyRecord) -> DirectoryCopy:
    return DirectoryCopy(
        source=record.source,
        target=record.target,
        bytes=record.bytes,
        digest=record.digest,
        expected=record.expected,
        ok=record.ok,
        seconds=record.ns / 1e9,
        reason=record.reason,
    )


def _rate_searches(evidence: Evidence) -> Iterator[RateSearch]:
    """The rate searches by path and group; the lowest result of several sets, the rate that held each time."""
    highest = {
        (each.path.path_id, each.client_group): each.values
        for each in evidence.group_values
        if each.metric == "highest_rate"
    }
    for (path_id, group), by_set in values.tries(evidence.journal).items():
        held = highest.get((path_id, group), {})
        every = [record for _number, records in sorted(by_set.items()) for record in records]
        yield RateSearch(
            name=evidence.name(path_id),
            path_id=path_id,
            client_group=group,
            bound_ns=every[0].bound_ns,
            highest_per_s=min(held.values()) if len(held) == len(by_set) else None,
            tries=tuple(RateTry(one.rate_per_s, one.reached, one.p50_ns, one.p99_ns, one.p999_ns) for one in every),
        )
