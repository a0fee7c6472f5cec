"""Bencher's Metric Format (https://bencher.dev/docs/reference/bencher-metric-format): benchmark → measure → metric."""

from __future__ import annotations

from typing import TextIO

from rowpath.analysis.model import Analysis
from rowpath.report.json_export import write_export
from rowpath.report.tracked import Tracked, tracked

# Measures that every project there has: nanoseconds, operations per second. Any other one is created when first sent.
BUILT_IN = {"time": "latency", "rate": "throughput", "group_rate": "throughput"}


def write_bencher(analysis: Analysis, file: TextIO) -> None:
    """Writes every figure that counts: the median of the sets, and its interval as lower and upper value."""
    benchmarks: dict[str, dict[str, dict[str, float]]] = {}
    for each in tracked(analysis):
        benchmarks.setdefault(each.benchmark, {})[measure(each.result.metric)] = _metric(each)
    write_export(benchmarks, file)


def measure(metric: str) -> str:
    """The slug of the measure that a metric is there."""
    return BUILT_IN.get(metric, metric.replace("_", "-"))


def _metric(each: Tracked) -> dict[str, float]:
    ends = {} if each.interval is None else dict(zip(("lower_value", "upper_value"), each.interval, strict=True))
    return {"value": each.value} | ends
