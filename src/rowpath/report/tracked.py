"""What services that track benchmarks over time get: only figures that count, under names that later runs repeat."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from rowpath import text as fmt
from rowpath.analysis.comparison.side import WHOLE
from rowpath.analysis.model import Analysis, Result
from rowpath.model.grouping import grouped
from rowpath.model.metrics import METRICS

MOST_LINES = 20

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
    unranked = _unranked(analysis)
    return [
        Tracked(f"{analysis.run.experiment.name}: {_where(each)}", each, value, _interval(each))
        for each in _of_metrics(analysis)
        if (value := _finite(each.median)) is not None and not _problem(each, unranked)
    ]


def left_out(analysis: Analysis) -> list[str]:
    """What is not exported, as lines: how many figures, then each path's place with the reason; empty: nothing."""
    unranked = _unranked(analysis)
    problems = [(each, problem) for each in _of_metrics(analysis) if (problem := _problem(each, unranked))]
    if not problems:
        return []
    places = grouped(problems, lambda one: _where(one[0]))
    figures = f"{len(problems)} figure{'' if len(problems) == 1 else 's'}"
    lines = [f"not exported, because refused or not ranked: {figures}"]
    lines += [f"  {where}: {fmt.clean(found[0][1])}" for where, found in places.items()]
    more = len(lines) - 1 - MOST_LINES
    return [*lines[: MOST_LINES + 1], f"  … and {more} more places"] if more > 0 else lines


def _of_metrics(analysis: Analysis) -> Iterator[Result]:
    return (each for each in analysis.results if METRICS[each.metric].tracked or METRICS[each.metric].compared)


def _problem(result: Result, unranked: dict[Place, str]) -> str:
    """Why the figure does not count; empty when it does."""
    if result.status not in ("ok", "tied"):
        return f"{result.status}: {result.reason}" if result.reason else result.status
    if reason := unranked.get((result.name, result.workload, result.phase, result.regime)):
        return reason
    return "" if _finite(result.median) is not None else result.reason or "not known"


def _unranked(analysis: Analysis) -> dict[Place, str]:
    """The places where a path is not ranked, with the reason; a phase as a whole where no regime is."""
    found: dict[Place, str] = {}
    ranked: set[tuple[str, str, str]] = set()
    for ranking in analysis.rankings:
        for row in ranking.rows:
            if row.rank:
                ranked.add((row.name, ranking.workload, ranking.phase))
            else:
                found[row.name, ranking.workload, ranking.phase, ranking.regime] = row.reason or "not ranked"
    whole = {(*place[:3], WHOLE): reason for place, reason in found.items() if place[:3] not in ranked}
    return found | whole


def _where(result: Result) -> str:
    """`keyed.read · steady · SQLite C`."""
    regime = "" if result.regime == WHOLE else result.regime
    parts = (f"{result.workload}.{result.phase}", regime, result.stage, result.client_group, result.name)
    return " · ".join(fmt.clean(part) for part in parts if part)


def _interval(result: Result) -> tuple[float, float] | None:
    low, high = _finite(result.low), _finite(result.high)
    return None if low is None or high is None else (low, high)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
