"""What of a comparison fails: rows beyond a threshold with their whole interval, and which to measure again first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from rowpath.analysis.comparison.compare import PRIMARY
from rowpath.analysis.comparison.model import ComparedRow, Comparison, Confirmed, Gate, GateWords
from rowpath.analysis.comparison.pairs import PAIRED_OVER
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.statistics.grouping import holm
from rowpath.analysis.statistics.intervals import APART, SETS_FOR_CLAIMS, Interval
from rowpath.errors import UsageError
from rowpath.journal import reader
from rowpath.model.metrics import compared

DIRECTIONS = {"slower": (PRIMARY, True), "faster": (PRIMARY, False)}
FORM = re.compile(r"(\w+)=(\d+(?:\.\d+)?)%?")
SAME_BUILD = "base and head name the same build, and only one of them is here"


def parse_gate(text: str) -> GateWords:
    """`slower=5%`; UsageError for anything else."""
    match = FORM.fullmatch(text)
    metrics = [name for name in compared() if name != PRIMARY]
    name = match[1] if match else ""
    if match is None or (name not in DIRECTIONS and name not in metrics):
        raise UsageError(
            f"invalid --fail-on '{text}': expected slower, faster or a metric ({', '.join(metrics)}) and a percentage",
            "--fail-on slower=5%",
        )
    metric, more = DIRECTIONS.get(name, (name, True))
    return GateWords(text, metric, more, float(match[2]) / 100)


def judge(comparison: Comparison, gate: GateWords, confirmed: Sequence[Confirmed] = ()) -> Gate:
    """Which rows fail: changed, the interval beyond the threshold; where measured again, by that interval only.

    UsageError where no row of that metric was compared: a gate that cannot fail is none.
    """
    again = {row.where: row for row in confirmed if row.outcome != "not possible" and gate.metric == PRIMARY}
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
        surely, maybe = _beyond(once_more or row, gate)
        if surely and (once_more is not None or row.changed):
            failed.append(position)
        elif maybe:
            undecided += 1
    return Gate(gate, tuple(failed), undecided, len(rows))


def may_fail(row: ComparedRow, gate: GateWords) -> bool:
    """Whether the row's interval reaches beyond the threshold."""
    return row.metric == gate.metric and _beyond(row, gate)[1]


def _beyond(row: ComparedRow | Confirmed, gate: GateWords) -> tuple[bool, bool]:
    """Whether the ratio is surely beyond the threshold, and whether it may be."""
    exact = isinstance(row, ComparedRow) and row.counted
    low, high = (row.ratio, row.ratio) if exact else (row.low, row.high)
    if gate.more:
        return low is not None and low > 1 + gate.threshold, high is None or high > 1 + gate.threshold
    return high is not None and high < 1 - gate.threshold, low is None or low < 1 - gate.threshold


def suspicious(comparison: Comparison, gates: Sequence[GateWords]) -> list[ComparedRow]:
    """Times whose own interval excludes 1 or is not known, and of two builds what a gate cannot decide; worst first."""
    rows = [
        row
        for row in comparison.rows
        if row.metric == PRIMARY
        and row.outcome != "not comparable"
        and (
            row.suspicious
            or (row.factor is None and row.ratio is not None and abs(row.ratio - 1) > APART)
            or (two_builds(row) and any(may_fail(row, gate) for gate in gates))
        )
    ]
    return sorted(rows, key=lambda row: (not two_builds(row), -(row.factor or 0.0)))


def two_builds(row: ComparedRow) -> bool:
    """Whether base and head can stand in one run: as two paths."""
    return row.base_path != row.head_path and any(one.name in PAIRED_OVER.values() for one in row.differences)


def settled(comparison: Comparison, confirmed: Sequence[Confirmed]) -> Comparison:
    """The comparison in which a time counts as changed only where measuring again did not say otherwise."""
    said = {row.where: row.outcome for row in confirmed if row.outcome != "not possible"}
    rows = tuple(
        msgspec.structs.replace(row, outcome="not confirmed")
        if row.metric == PRIMARY and row.changed and said.get(row.where, row.outcome) != row.outcome
        else row
        for row in comparison.rows
    )
    return msgspec.structs.replace(comparison, rows=rows)


def not_possible(row: ComparedRow, reason: str) -> Confirmed:
    """A suspicious row that was not measured again."""
    return Confirmed(*row.where, "not possible", reason=reason)


def outcomes(rows: Sequence[ComparedRow], run_directory: Path) -> list[Confirmed]:
    """The rows as a paired run has them: ratios within sets, Holm over all of them."""
    evidence = Evidence.of(run_directory, reader.read(run_directory))
    measured = [_measured_again(evidence, row) for row in rows]
    claimed = iter(holm([interval.p_value for interval in measured if isinstance(interval, Interval)]))
    confirmed = []
    for row, interval in zip(rows, measured, strict=True):
        if isinstance(interval, str):
            confirmed.append(not_possible(row, interval))
            continue
        differs = next(claimed) and interval.sets >= SETS_FOR_CLAIMS
        again = Confirmed(*row.where, "slower" if interval.mean > 0 else "faster", *interval.ratios, interval.sets)
        confirmed.append(again if differs else msgspec.structs.replace(again, outcome="no difference shown"))
    return confirmed


def _measured_again(evidence: Evidence, row: ComparedRow) -> Interval | str:
    """The ratio within the sets of a paired run, or why there is none."""
    where = row.workload, row.phase, row.regime
    for path in (row.base_path, row.head_path):
        path_status = evidence.path_statuses.of(path, *where[:2])
        if path_status.status != "ok":
            return f"{path_status.status}: {path_status.reason}"
    base, head = (evidence.cells.get(path, *where) for path in (row.base_path, row.head_path))
    if base is None or head is None:
        return "not measured"
    if base.refused or head.refused:
        return "the machine was too busy"
    interval = evidence.cells.interval(head, base)
    return "too few sets" if interval is None or interval.sets < 2 else interval
