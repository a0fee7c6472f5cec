"""Which rows deserve to be measured again, and what base and head measured in the same sets say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from rowpath.analysis.comparison.compare import PRIMARY
from rowpath.analysis.comparison.differences import PAIRED_OVER
from rowpath.analysis.comparison.gate import may_fail
from rowpath.analysis.comparison.model import ComparedRow, Comparison, Confirmed, GateWords
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.statistics.grouping import holm
from rowpath.analysis.statistics.intervals import APART, SETS_FOR_CLAIMS, Interval
from rowpath.journal import reader

SAME_BUILD = "base and head name the same build, and only one of them is here"


def suspicious(comparison: Comparison, gates: Sequence[GateWords]) -> list[ComparedRow]:
    """Times whose own interval excludes 1 or is not known, and of two builds what a gate cannot decide; worst first."""
    found = [
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
    return sorted(found, key=lambda row: (not two_builds(row), -(row.factor or 0.0)))


def two_builds(row: ComparedRow) -> bool:
    """Whether base and head can stand in one run: as two paths."""
    return row.base_path != row.head_path and any(each.name in PAIRED_OVER.values() for each in row.differences)


def settled(comparison: Comparison, confirmed: Sequence[Confirmed]) -> Comparison:
    """The comparison in which a time counts as changed only where measuring again did not say otherwise."""
    said = {each.where: each.outcome for each in confirmed if each.outcome != "not possible"}
    rows = tuple(
        msgspec.structs.replace(row, outcome="not confirmed")
        if row.metric == PRIMARY and row.changed and said.get(row.where, row.outcome) != row.outcome
        else row
        for row in comparison.rows
    )
    return msgspec.structs.replace(comparison, rows=rows)


def not_possible(row: ComparedRow, reason: str) -> Confirmed:
    """A suspicious row that was not measured again."""
    return Confirmed(row.name, row.workload, row.phase, row.regime, "not possible", reason=reason)


def outcomes(rows: Sequence[ComparedRow], run_directory: Path) -> list[Confirmed]:
    """The rows as a paired run has them: ratios within sets, Holm over all of them."""
    evidence = Evidence.of(run_directory, reader.read(run_directory))
    intervals: list[Interval | None] = []
    reasons: list[str] = []
    for row in rows:
        where = row.workload, row.phase, row.regime
        base, head = (evidence.cells.get(path, *where) for path in (row.base_path, row.head_path))
        statuses = [evidence.path_statuses.of(path, *where[:2]) for path in (row.base_path, row.head_path)]
        bad = next((status for status in statuses if status.status != "ok"), None)
        interval = None
        if bad is not None:
            reasons.append(f"{bad.status}: {bad.reason}")
        elif base is None or head is None or base.refused or head.refused:
            reasons.append("the machine was too busy" if base and head else "not measured")
        else:
            interval = evidence.cells.interval(head, base)
            reasons.append("too few sets" if interval is None or interval.sets < 2 else "")
        intervals.append(interval if not reasons[-1] else None)
    claimed = iter(holm([interval.p_value for interval in intervals if interval is not None]))
    found = []
    for row, interval, reason in zip(rows, intervals, reasons, strict=True):
        if interval is None:
            found.append(not_possible(row, reason))
            continue
        differs = next(claimed) and interval.sets >= SETS_FOR_CLAIMS
        found.append(
            Confirmed(
                name=row.name,
                workload=row.workload,
                phase=row.phase,
                regime=row.regime,
                outcome="no difference shown" if not differs else "slower" if interval.mean > 0 else "faster",
                ratio=interval.ratio,
                low=interval.ratio_low,
                high=interval.ratio_high,
                sets=interval.sets,
            )
        )
    return found
