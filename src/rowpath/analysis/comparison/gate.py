"""`--fail-on slower=5%`: which rows of a comparison lie beyond a threshold with their whole interval."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rowpath.analysis.comparison.compare import PRIMARY
from rowpath.analysis.comparison.model import ComparedRow, Comparison, Confirmed, Gate, GateWords
from rowpath.errors import UsageError
from rowpath.model.metrics import compared

DIRECTIONS = {"slower": (PRIMARY, True), "faster": (PRIMARY, False)}
FORM = re.compile(r"(\w+)=(\d+(?:\.\d+)?)%?")


def parse_gate(text: str) -> GateWords:
    """`slower=5%`; UsageError for anything else."""
    found = FORM.fullmatch(text)
    metrics = [name for name in compared() if name != PRIMARY]
    name = found[1] if found else ""
    if found is None or (name not in DIRECTIONS and name not in metrics):
        raise UsageError(
            f"invalid --fail-on '{text}': expected slower, faster or a metric ({', '.join(metrics)}) and a percentage",
            "--fail-on slower=5%",
        )
    metric, more = DIRECTIONS.get(name, (name, True))
    return GateWords(text, metric, more, float(found[2]) / 100)


def judge(comparison: Comparison, gate: GateWords, confirmed: Sequence[Confirmed] = ()) -> Gate:
    """Which rows fail: changed, the interval beyond the threshold; where measured again, by that interval only.

    UsageError where no row of that metric was compared: a gate that cannot fail is none.
    """
    again = {each.where: each for each in confirmed if each.outcome != "not possible" and gate.metric == PRIMARY}
    rows = [
        (position, row)
        for position, row in enumerate(comparison.rows)
        if row.metric == gate.metric and row.outcome != "not comparable"
    ]
    if not rows:
        refused = next((row for row in comparison.rows if row.outcome == "not comparable"), None)
        why = f"{refused.name} is not comparable: {refused.reason}" if refused else "no path has it on both sides"
        raise UsageError(
            f"--fail-on {gate.text}: no {gate.metric} was compared: {why}", "rowpath compare BASE HEAD --all"
        )
    failed, undecided = [], 0
    for position, row in rows:
        once_more = again.get(row.where)
        ends = (once_more.low, once_more.high) if once_more is not None else _ends(row)
        if _beyond(*ends, gate) and (once_more is not None or row.changed):
            failed.append(position)
        elif _may_be_beyond(*ends, gate):
            undecided += 1
    return Gate(gate, tuple(failed), undecided, len(rows))


def may_fail(row: ComparedRow, gate: GateWords) -> bool:
    """Whether the row's interval reaches beyond the threshold."""
    return row.metric == gate.metric and _may_be_beyond(*_ends(row), gate)


def _ends(row: ComparedRow) -> tuple[float | None, float | None]:
    return (row.ratio, row.ratio) if row.counted else (row.low, row.high)


def _beyond(low: float | None, high: float | None, gate: GateWords) -> bool:
    if gate.more:
        return low is not None and low > 1 + gate.threshold
    return high is not None and high < 1 - gate.threshold


def _may_be_beyond(low: float | None, high: float | None, gate: GateWords) -> bool:
    if gate.more:
        return high is None or high > 1 + gate.threshold
    return low is None or low < 1 - gate.threshold
