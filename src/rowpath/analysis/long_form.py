"""Results in long form: one record per path × workload × phase × regime × metric."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from typing import Any

from rowpath.analysis import metrics
from rowpath.analysis.cells import Cell
from rowpath.analysis.chapters import scalings
from rowpath.analysis.chapters.mixed_load import report_of
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.metrics import Values, Where
from rowpath.analysis.model import Result
from rowpath.analysis.statistics.intervals import student
from rowpath.journal.records import MemoryRecord, SettleRecord, WorkerRecord
from rowpath.model.base import Status
from rowpath.model.metrics import METRICS, of_category
from rowpath.model.workload import PhaseName

THREADS = "the clocks of its clients' threads"
NOT_REACHED = "rate not reached: latency percentiles are withheld"


def results(evidence: Evidence) -> tuple[Result, ...]:
    """Every figure of the run; a phase with failures has no rate, wrong rows have no figures."""
    records: list[Result] = []
    for ranking in evidence.rankings:
        for row in ranking.rows:
            where = row.path_id, ranking.workload, ranking.phase
            maker = _Maker(evidence, where, ranking.regime, row.status, row.reason)
            cell = evidence.cell(row, ranking)
            if cell is None or not cell.costs or cell.refused or row.status in ("wrong", "failed", "unsupported"):
                records.append(maker.result("time"))
            else:
                records += _timed(maker, cell)
    methods = _methods(evidence)
    for where, series in evidence.of_phases.items():
        if where[0] in evidence.journal.paths:
            for metric, values in series.items():
                regime = "steady" if metric.startswith("warm_up") else "none"
                records.append(
                    _Maker(evidence, where, regime).estimated(metric, values, methods.get((where, metric), ""))
                )
    for where, counts in evidence.counted.items():
        if where[0] in evidence.journal.paths:
            for metric, value in metrics.exact(counts).items():
                records.append(_Maker(evidence, where, "none").exact(metric, value, _method(counts.method, metric)))
    return (*records, *_by_path(evidence), *_in_parts(evidence), *_of_groups(evidence))


class _Maker:
    """Makes results that share their path, phase and status."""

    def __init__(
        self, evidence: Evidence, where: Where, regime: str, status: Status | None = None, reason: str = ""
    ) -> None:
        path_status = evidence.path_statuses.of(*where)
        path = evidence.journal.paths[where[0]]
        self.methods = evidence.journal.run.methods
        self.common: dict[str, Any] = {
            "workload": where[1],
            "phase": where[2],
            "regime": regime,
            "path": path.coordinates,
            "name": path.name,
            "digest": path_status.digest,
            "status": status or path_status.status,
            "reason": reason or path_status.reason or path.stands_in,
        }

    def result(self, metric: str, method: str = "", **figures: Any) -> Result:
        """A metric with these fields; without figures its status has the reason."""
        obtained = method or self._obtained(metric) if figures else ""
        return Result(metric=metric, unit=METRICS[metric].unit, method=obtained, **figures, **self.common)

    def exact(self, metric: str, value: float, method: str = "") -> Result:
        """A metric that is counted, not estimated."""
        return self.result(metric, method, median=value, mean=value, low=value, high=value, min=value)

    def estimated(
        self, metric: str, values: Values, method: str = "", best: float | None = None, mean: float | None = None
    ) -> Result:
        """The median of the sets' medians, with a t interval over the sets (on logarithms where all are positive)."""
        middles = [statistics.median(of_set) for _number, of_set in sorted(values.items()) if of_set]
        every = [value for of_set in values.values() for value in of_set]
        low, high = _spread(middles)
        return self.result(
            metric,
            method,
            median=statistics.median(middles),
            mean=statistics.fmean(every) if mean is None else mean,
            low=low,
            high=high,
            min=min(every),
            best_of_five=best,
            sets=len(middles),
            blocks=len(every),
        )

    def _obtained(self, metric: str) -> str:
        collectors = METRICS[metric].collectors
        if not collectors:
            return METRICS[metric].method
        return next((str(self.methods[name]) for name in collectors if name in self.methods), "")


def _spread(middles: list[float]) -> tuple[float | None, float | None]:
    positive = all(value > 0 for value in middles)
    interval = student([math.log(value) for value in middles] if positive else middles)
    if interval is None or not math.isfinite(interval.low):
        return None, None
    return (math.exp(interval.low), math.exp(interval.high)) if positive else (interval.low, interval.high)


def _timed(maker: _Maker, cell: Cell) -> Iterator[Result]:
    first = sorted(cell.costs)[: metrics.BEST_OF] if cell.regime == "cold" else []
    for metric, values in metrics.of_cell(cell).items():
        best = None
        more_is_better = METRICS[metric].more_is_better
        if first and (metric == "time" or more_is_better):
            choose = max if more_is_better else min
            best = choose(value for number in first for value in values[number])
        if metric != "cpu":  # the sum of two records that stand beside each other
            yield maker.estimated(metric, values, best=best, mean=metrics.mean_of(cell, metric))


def _method(method: str | dict[str, Any], metric: str) -> str:
    """The method of a metric, where a record has one for each or one for all of its metrics."""
    if isinstance(method, str):
        return method
    names = (metric, metric.partition("_")[0], *METRICS[metric].collectors)
    return next((str(method[name]) for name in names if name in method), "")


def _methods(evidence: Evidence) -> dict[tuple[Where, str], str]:
    """How memory and deferred cost were obtained, as their own records state it."""
    methods: dict[tuple[Where, str], str] = {}
    for memory in evidence.journal.all(MemoryRecord):
        for metric in of_category("memory"):
            methods[memory.where, metric] = _method(memory.method, metric)
    for settle in evidence.journal.all(SettleRecord):
        methods[settle.where, "deferred"] = methods[settle.where, "disk_written"] = settle.method
    return methods


def _in_parts(evidence: Evidence) -> Iterator[Result]:
    """What a retrieval in parts gained against the same path with one client."""
    ids = {path.name: path.path_id for path in evidence.journal.paths.values()}
    for scaling in scalings.CHAPTER.made(evidence):
        for level in scaling.levels:
            if level.speed_up is None:
                continue
            maker = _Maker(evidence, (ids[level.name], scaling.workload, scaling.phase), scaling.regime)
            for metric, times in (("speed_up", 1.0), ("efficiency", 1.0 / level.clients)):
                low, high = (None if end is None else end * times for end in (level.low, level.high))
                gain = level.speed_up * times
                yield maker.result(metric, median=gain, mean=gain, low=low, high=high)


def _of_groups(evidence: Evidence) -> Iterator[Result]:
    """Every metric of groups; of wrong or failed ones only the rate, without a figure."""
    for group in evidence.group_values:
        maker = _Maker(evidence, group.where, "steady")
        maker.common |= {"stage": group.stage, "client_group": group.client_group}
        if maker.common["status"] == "ok":
            method = THREADS if group.client_group and group.metric == "client_cpu" else ""
            yield maker.estimated(group.metric, {number: [value] for number, value in group.values.items()}, method)
        elif group.metric in ("group_rate", "paced_rate"):
            yield maker.result(group.metric)
    for missed in report_of(evidence).figures:
        if missed.reached:
            continue
        maker = _Maker(evidence, (missed.path_id, *PhaseName.of(missed.phase)), "steady", reason=NOT_REACHED)
        maker.common |= {"stage": missed.stage, "client_group": missed.client_group}
        yield maker.result("latency_p99")


def _by_path(evidence: Evidence) -> Iterator[Result]:
    """What belongs to a whole path, under the workload and phase `none`: connecting and lines of code."""
    connected: dict[str, Values] = {}
    for worker in evidence.journal.all(WorkerRecord):
        if worker.connect_ns is not None:
            connected.setdefault(worker.path_id, {})[worker.set] = [worker.connect_ns]
    for path in evidence.journal.paths.values():
        where = path.path_id, "none", "none"
        if path.path_id in connected:
            yield _Maker(evidence, where, "cold").estimated("connect", connected[path.path_id])
        for metric in of_category("code"):
            if lines := getattr(path, metric):
                yield _Maker(evidence, where, "none").exact(metric, lines)
