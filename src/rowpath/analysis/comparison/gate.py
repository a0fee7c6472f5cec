"""`--fail-on slower=5%`: which rows of a comparison lie beyond a threshold with their whole interval."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rowpath.analysis.comparison.compare import PRIMARY
from rowpath.analysis.comparison.model import ComparedRow, Comparison, Confirmed, Gate
from rowpath.analysis.comparison.side import COUNTED, MEMORY, TIMED
from rowpath.errors import UsageError

DIRECTIONS = {"slower": (PRIMARY, True), "faster": (PRIMARY, False)}
METRICS = tuple(name for name in (*TIMED, *MEMORY, *COUNTED) if name != PRIMARY)
FORM = re.compile(r"(\w+)=(\d+(?:\.\d+)?)%?")


def parse_gate(text: str) -> tuple[str, str, bool, float]:
    """`slower=5%` as (text, metric, whether more fails, 0.05); UsageError for anything else."""
    found = FORM.fullmatch(text)
    name = found[1] if found else ""
    if found is None or (name not in DIRECTIONS and name not in METRICS):
        raise UsageError(
            f"invalid --fail-on '{text}': expected slower, faster or a metric ({', '.join(METRICS)}) and a percentage",
            "--fail-on slower=5%",
        )
    metric, more = DIRECTIONS.get(name, (name, True))
    return text, metric, more, float(found[2]) / 100


def judge(comparison: Comparison, gate: tuple[str, str, bool, float], confirmed: Sequence[Confirmed] = ()) -> Gate:
    """Which rows fail: changed, the interval beyond the threshold, and not refuted where it was measured again.

    UsageError where no row of that metric was compared: a gate that cannot fail is none.
    """
    text, metric, more, threshold = gate
    again = {(each.name, each.workload, each.phase, each.regime): each for each in confirmed}
    rows = [
        (position, row)
        for position, row in enumerate(comparison.rows)
        if row.metric == metric and row.outcome != "not comparable"
    ]
    if not rows:
        raise UsageError(f"--fail-on {text}: no path has {metric} on both sides", "--fail-on slower=5%")
    failed, undecided = [], 0
    for position, row in rows:
        once_more = again.get((row.name, row.workload, row.phase, row.regime)) if metric == PRIMARY else None
        if once_more is not None and once_more.outcome != "not possible":
            fails = _beyond(once_more.low, once_more.high, more, threshold)
        else:
            fails = row.changed and _beyond(*_ends(row), more, threshold)
        if fails:
            failed.append(position)
        elif once_more is None and _may_be_beyond(*_ends(row), more, threshold):
            undecided += 1
    return Gate(text, metric, threshold, more, tuple(failed), undecided, len(rows))


def _ends(row: ComparedRow) -> tuple[float | None, float | None]:
    return (row.ratio, row.ratio) if row.counted else (row.low, row.high)


def _beyond(low: float | None, high: float | None, more: bool, threshold: float) -> bool:
    if more:
        return low is not None and low > 1 + threshold
    return high is not None and high < 1 - threshold


def _may_be_beyond(low: float | None, high: float | None, more: bool, threshold: float) -> bool:
    if more:
        return high is None or high > 1 + threshold
    return low is None or low < 1 - threshold
