"""Rankings: per workload phase, regime and comparison the paths that may be ranked, fastest first; the others below.

And which of them are worth another set: those whose interval is still wider than the experiment requests.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from pathlib import Path

from rowpath import text
from rowpath.analysis.cells import Cell
from rowpath.analysis.evidence import Evidence, stops_on_width
from rowpath.analysis.model import RankedPath, Ranking
from rowpath.analysis.statistics.grouping import RankedItem, ranked_in_tiers
from rowpath.analysis.statistics.intervals import SETS_FOR_CLAIMS
from rowpath.journal.reader import Records
from rowpath.journal.records import PathRecord
from rowpath.model.base import Status
from rowpath.model.grouping import grouped

FLOOR = "a floor: it reads the bytes and parses nothing"


def ranked(directory: Path, records: Records, together: tuple[str, ...] = ()) -> Evidence:
    """The evidence of a run's records with its rankings; `together`: see `analyse`."""
    evidence = Evidence.of(directory, records)
    run = records.run
    evidence.together = together or tuple(run.options.get("together") or run.experiment.together)
    evidence.rankings = rankings(evidence)
    return evidence


def rankings(evidence: Evidence) -> tuple[Ranking, ...]:
    """All rankings, in the order in which the phases were measured, cold before steady."""
    paths = evidence.journal.paths.values()
    return tuple(
        _ranking(evidence, where, name, among)
        for where in evidence.cells.phases()
        for name, among in grouped(
            (path for path in paths if _belongs(evidence, path, *where)), evidence.comparison
        ).items()
    )


def _belongs(evidence: Evidence, path: PathRecord, workload: str, phase: str, regime: str) -> bool:
    """Measured there, or meant to be and failed."""
    if evidence.cells.get(path.path_id, workload, phase, regime):
        return True
    for failure in evidence.failures.get(path.path_id, ()):
        if failure.phase and failure.where[1:] == (workload, phase):
            return True
        if not failure.phase:
            cells = evidence.cells.by_phase.get((workload, phase), ())
            return path.is_null == (bool(cells) and all(cell.is_null for cell in cells))
    return False


def _ranking(evidence: Evidence, where: tuple[str, str, str], comparison: str, paths: list[PathRecord]) -> Ranking:
    ranked: list[Cell] = []
    unranked: list[RankedPath] = []
    for path in paths:
        cell = evidence.cells.get(path.path_id, *where)
        status, reason = _exclusion(evidence, path, cell, where)
        if cell is not None and not reason:
            ranked.append(cell)
        else:
            cost_ns = cell.median if cell is not None and status == "ok" else None
            unranked.append(RankedPath(path.name, path.path_id, cost_ns=cost_ns, status=status, reason=reason))
    keys = {cell.key: cell for cell in ranked}
    placed = ranked_in_tiers(
        list(keys), lambda key: keys[key].median or math.inf, lambda a, b: evidence.cells.interval(keys[a], keys[b])
    )
    sizes = Counter(item.tier for item in placed)
    rows = [_row(evidence, keys[item.item], keys[placed[0].item], item, sizes[item.tier] > 1) for item in placed]
    floor = min((against.cost_ns for cell in ranked if (against := evidence.floor(cell))), default=None)
    sets = max((len(cell.costs) for cell in ranked), default=0)
    return Ranking(*where, comparison, (*rows, *unranked), floor, sets, _notes(evidence, rows, unranked))


def _exclusion(
    evidence: Evidence, path: PathRecord, cell: Cell | None, where: tuple[str, str, str]
) -> tuple[Status, str]:
    """Status and reason why the path is not ranked; an empty reason when it is."""
    path_status = evidence.path_statuses.of(path.path_id, *where[:2])
    if path_status.status != "ok":
        return path_status.status, path_status.reason
    if cell is None or not cell.costs:
        return "failed", "no operation completed"
    if cell.refused:
        quiet = len(cell.used) - cell.disturbed_sets
        return "disturbed", f"the machine was too busy: {quiet} of {len(cell.used)} sets were quiet enough"
    if path.fetch_form == "drain":
        return "ok", FLOOR
    against = evidence.floor(cell)
    if against is None or against.verdict == "above":
        return "ok", ""
    how = "faster than its floor, which is impossible" if against.verdict == "beats" else "inside the floor's noise"
    stands = f"{text.ratio(against.interval.ratio)} of {against.name} ({text.duration(against.cost_ns)})"
    return "ok", f"{how}: {stands}"


def _row(
    evidence: Evidence, cell: Cell, fastest: Cell, item: RankedItem[tuple[str, str, str, str]], tied: bool
) -> RankedPath:
    first, interval, cost = cell is fastest, item.to_fastest, cell.median
    ratio, low, high = (1.0, 1.0, 1.0) if first else interval.ratios if interval else (None, None, None)
    compared = evidence.cells.compare(cell, fastest)
    status: Status = "tied" if tied else "ok"
    reason = ""
    if cell.disturbed_sets:
        reason = f"{cell.disturbed_sets} of {len(cell.used)} sets had too few undisturbed blocks"
        status = "disturbed" if 2 * cell.disturbed_sets >= len(cell.used) else status
    elif (
        not evidence.path_statuses.of(*cell.key[:3]).rows_verified
        and not cell.is_null
        and evidence.has_rows(cell.workload, cell.phase)
    ):
        reason = "rows not verified: no digest or touch sum was checked in this phase"
    compiling = f"compilers were still at work in {cell.compiling_sets} of {len(cell.used)} sets"
    reason = "; ".join(filter(None, (cell.path.stands_in, reason, compiling if cell.compiling_sets else "")))
    return RankedPath(
        name=cell.path.name,
        path_id=cell.path.path_id,
        rank=item.rank,
        tier=item.tier,
        cost_ns=cost,
        ratio=ratio,
        ratio_low=low,
        ratio_high=high,
        ratio_mean=1.0 if first else mean_ratio(cell, fastest),
        rate_per_s=1e9 / cost if cost else None,
        differs=item.differs,
        status=status,
        reason=reason,
        provisional=(len(cell.costs) if first or interval is None else interval.sets) < SETS_FOR_CLAIMS,
        through_anchor=not first and compared is not None and compared.through_anchor,
    )


def mean_ratio(cell: Cell, reference: Cell) -> float | None:
    """The ratio of means over undisturbed blocks, by set where the two share sets."""
    a, b = cell.set_means, reference.set_means
    shared = [math.log(a[number] / b[number]) for number in a.keys() & b.keys()]
    if shared:
        return math.exp(statistics.fmean(shared))
    return statistics.fmean(a.values()) / statistics.fmean(b.values()) if a and b else None


def half_width(row: RankedPath) -> float | None:
    """Half of the interval's width relative to the ratio; None of an unranked path, or without an interval."""
    if not row.rank or not row.ratio or row.ratio_low is None or row.ratio_high is None:
        return None
    return (row.ratio_high - row.ratio_low) / 2 / row.ratio


def _notes(evidence: Evidence, rows: list[RankedPath], unranked: list[RankedPath]) -> tuple[str, ...]:
    forms = {evidence.journal.paths[row.path_id].fetch_form for row in rows}
    together = ("fetch" in evidence.together or evidence.journal.probe) and len(forms) > 1
    requested = "" if evidence.journal.probe else " as requested"
    sets = min((len(cell.costs) for row in rows for cell in evidence.cells.by_path[row.path_id]), default=0)
    near = [row.name for row in unranked if row.reason.startswith("inside the floor")]
    notes = {
        f"ranked together{requested}: {', '.join(sorted(forms))}. The work differs: a columnar path "
        "delivers batches, and a program that needs rows must still build them": together,
        f"provisional: fewer than {SETS_FOR_CLAIMS} sets, so no difference is claimed": any(
            row.provisional for row in rows
        ),
        "one set has no interval: all paths share a rank": sets == 1,
        "some paths share only anchors: their ratios combine two groups of sets": any(
            row.through_anchor for row in rows
        ),
        "wide intervals led to more sets: intervals are at 97.5 %": stops_on_width(evidence.journal),
        f"not ranked, inside the floor's noise: {'; '.join(near)}": near,
    }
    return tuple(note for note, applies in notes.items() if applies)


def paths_to_repeat(records: Records, at_most: int) -> set[str]:
    """The paths with a steady ratio to the fastest that is too wide, with the fastest they are compared to; ids.

    `records`: as they were written. Too wide: beyond the experiment's `target_half_width`. At most what one set holds,
    widest first. Empty when every interval is narrow enough.
    """
    target = records.run.experiment.measure.target_half_width
    widths: dict[str, float] = {}
    fastest: set[str] = set()
    for ranking in ranked(Path(), records.numbered()).rankings:
        rows = [row for row in ranking.rows if row.rank]
        for row in rows[1:] if ranking.regime == "steady" else []:
            width = half_width(row)
            if width is not None and width > target:
                widths[row.path_id] = max(width, widths.get(row.path_id, 0.0))
                fastest.add(rows[0].path_id)
    room = max(0, at_most - len(fastest))
    widest = sorted(widths, key=lambda path_id: -widths[path_id])[:room]
    return {*widest, *fastest} if widest else set()
