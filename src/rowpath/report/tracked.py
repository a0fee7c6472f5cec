"""What services that track benchmarks over time get: only figures that count, under names that later runs repeat.

Bencher gets its Metric Format (https://bencher.dev/docs/reference/bencher-metric-format): benchmark → measure → metric.
github-action-benchmark gets its tool `customSmallerIsBetter`: an array of name, unit, value, range, extra.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

from rowpath import text as fmt
from rowpath.analysis.comparison.side import WHOLE
from rowpath.analysis.model import Analysis, Result
from rowpath.model.grouping import grouped
from rowpath.model.metrics import METRICS
from rowpath.report.json import write_export

MOST_LINES = 20
# Measures that every project of Bencher has: nanoseconds, operations per second. Any other is created when first sent.
BUILT_IN = {"time": "latency", "rate": "throughput", "group_rate": "throughput"}

Place = tuple[str, str, str, str]  # path's name, workload, phase, regime


@dataclass(frozen=True)
class Tracked:
    """One figure and the benchmark that it belongs to; `value` is finite, the interval too where there is one."""

    benchmark: str
    result: Result
    value: float
    interval: tuple[float, float] | None


def tracked(analysis: Analysis) -> list[Tracked]:
    """Every figure of a tracked metric that counts."""
    counting = []
    for result, problem in _of_metrics(analysis):
        value, low, high = map(_finite, (result.median, result.low, result.high))
        if value is not None and not problem:
            interval = None if low is None or high is None else (low, high)
            counting.append(Tracked(f"{analysis.run.experiment.name}: {_where(result)}", result, value, interval))
    return counting


def left_out(analysis: Analysis) -> list[str]:
    """What is not exported, as lines: how many figures, then each path's place with the reason; empty: nothing."""
    problems = [(result, problem) for result, problem in _of_metrics(analysis) if problem]
    if not problems:
        return []
    lines = [f"not exported, because refused or not ranked: {fmt.counted(len(problems), 'figure')}"]
    for where, (first, *_) in grouped(problems, lambda one: _where(one[0])).items():
        lines.append(f"  {where}: {fmt.clean(first[1])}")
    more = len(lines) - 1 - MOST_LINES
    return [*lines[: MOST_LINES + 1], f"  … and {more} more places"] if more > 0 else lines


def _of_metrics(analysis: Analysis) -> Iterator[tuple[Result, str]]:
    """Each figure of a tracked metric, and why it does not count; empty when it does."""
    unranked: dict[Place, str] = {}
    ranked: set[tuple[str, str, str]] = set()
    for ranking in analysis.rankings:
        for row in ranking.rows:
            if row.rank:
                ranked.add((row.name, ranking.workload, ranking.phase))
            else:
                unranked[row.name, ranking.workload, ranking.phase, ranking.regime] = row.reason or "not ranked"
    # A phase as a whole is not ranked where none of its regimes is.
    unranked |= {(*place[:3], WHOLE): reason for place, reason in unranked.items() if place[:3] not in ranked}
    for result in analysis.results:
        if not (METRICS[result.metric].tracked or METRICS[result.metric].compared):
            continue
        place = result.name, result.workload, result.phase, result.regime
        if result.status not in ("ok", "tied"):
            yield result, f"{result.status}: {result.reason}" if result.reason else result.status
        else:
            unknown = "" if _finite(result.median) is not None else result.reason or "not known"
            yield result, unranked.get(place) or unknown


def _where(result: Result) -> str:
    """`keyed.read · steady · SQLite C`."""
    regime = "" if result.regime == WHOLE else result.regime
    parts = (f"{result.workload}.{result.phase}", regime, result.stage, result.client_group, result.name)
    return " · ".join(fmt.clean(part) for part in parts if part)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def write_bencher(analysis: Analysis, file: TextIO) -> None:
    """Writes every figure that counts: the median of the sets, and its interval as lower and upper value."""
    benchmarks: dict[str, dict[str, dict[str, float]]] = {}
    for figure in tracked(analysis):
        values = (figure.value, *(figure.interval or ()))
        metric = dict(zip(("value", "lower_value", "upper_value"), values, strict=False))
        benchmarks.setdefault(figure.benchmark, {})[measure(figure.result.metric)] = metric
    write_export(benchmarks, file)


def measure(metric: str) -> str:
    """The slug of the measure that a metric is in Bencher."""
    return BUILT_IN.get(metric, metric.replace("_", "-"))


def write_github_benchmark(analysis: Analysis, file: TextIO) -> None:
    """Writes every figure that counts and of which less is better: the median of the sets."""
    run = analysis.run
    entries = []
    for figure in tracked(analysis):
        result = figure.result
        if METRICS[result.metric].more_is_better:
            continue
        name = f"{figure.benchmark} · {METRICS[result.metric].title}"
        entry: dict[str, str | float] = {"name": name, "unit": result.unit, "value": figure.value}
        extra = []
        if figure.interval is not None and figure.interval[0] != figure.interval[1]:
            entry["range"] = "–".join(f"{end:.0f}" if abs(end) >= 1000 else f"{end:.4g}" for end in figure.interval)
            extra.append(f"interval: 95 % over {result.sets} sets")
        coordinates = ",".join(f"{key}={fmt.clean(value)}" for key, value in result.path.items())
        extra += [f"path: {coordinates}", f"measured: {run.started} by Rowpath {run.rowpath}"]
        entries.append(entry | {"extra": "\n".join(extra)})
    write_export(entries, file)
