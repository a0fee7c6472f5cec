"""The JSON of github-action-benchmark's tool `customSmallerIsBetter`: an array of name, unit, value, range, extra."""

from __future__ import annotations

from typing import TextIO

from rowpath import text as fmt
from rowpath.analysis.model import Analysis
from rowpath.model.metrics import METRICS
from rowpath.report.json_export import write_export
from rowpath.report.tracked import Tracked, tracked


def write_github_benchmark(analysis: Analysis, file: TextIO) -> None:
    """Writes every figure that counts and of which less is better: the median of the sets."""
    entries = [_entry(analysis, each) for each in tracked(analysis) if not METRICS[each.result.metric].more_is_better]
    write_export(entries, file)


def _entry(analysis: Analysis, each: Tracked) -> dict[str, str | float]:
    result = each.result
    entry: dict[str, str | float] = {
        "name": f"{each.benchmark} · {METRICS[result.metric].title}",
        "unit": result.unit,
        "value": each.value,
    }
    if each.interval is not None and each.interval[0] != each.interval[1]:
        entry["range"] = "–".join(map(_number, each.interval))
    coordinates = ",".join(f"{key}={fmt.clean(value)}" for key, value in result.path.items())
    sets = [f"interval: 95 % over {result.sets} sets"] if "range" in entry else []
    run = analysis.run
    entry["extra"] = "\n".join([*sets, f"path: {coordinates}", f"measured: {run.started} by Rowpath {run.rowpath}"])
    return entry


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
