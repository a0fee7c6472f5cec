"""The table of one ranking."""

from __future__ import annotations

from collections import Counter

from rowpath import text as fmt
from rowpath.analysis.lookup import Lookup, PhaseFigures
from rowpath.analysis.model import RankedPath, Ranking
from rowpath.drawing.grid import Column, Grid, Row, without_empty

# Means that exceed the medians by more than this are shown beside them: a periodic cost hides from a median.
MEANS_DIFFER = 1.03


def ranking_grid(ranking: Ranking, lookup: Lookup) -> Grid:
    """The paths, fastest first, tied ones with one rank; those that are not ranked at the end with their reason."""
    measured = lookup.measured(ranking.workload, ranking.phase, ranking.regime)
    shared = Counter(row.rank for row in ranking.rows if row.is_ranked)
    by_row = _rows_per_operation(ranking, measured) > 1
    with_means = any(means_differ(row) for row in ranking.rows)
    columns = (
        Column("#"),
        Column("path"),
        Column("time per operation", number=True),
        Column("× fastest", number=True),
        Column("95 % interval", number=True, weight=1),
        Column("mean ratio", number=True, weight=3),
        Column("rows/s" if by_row else "operations/s", number=True, weight=2),
        Column("client CPU", number=True, weight=4),
        Column("server CPU", number=True, weight=5),
        Column("round trips", number=True, weight=6),
        Column("client memory", number=True, weight=7),
        Column("server memory", number=True, weight=9),
        Column("differs", weight=8),
    )
    rows = tuple(
        _ranked(row, measured, tied=shared[row.rank] > 1, by_row=by_row, with_means=with_means)
        if row.is_ranked
        else _unranked(row, len(columns))
        for row in sorted(ranking.rows, key=lambda each: not each.is_ranked)
    )
    caption = f"{ranking.workload} · {ranking.phase} · {ranking.regime} — {fmt.clean(ranking.comparison)}"
    if ranking.sets:
        caption += f" — {ranking.sets} sets"
    return without_empty(Grid(caption, columns, rows))


def means_differ(row: RankedPath) -> bool:
    """Whether a path costs more by means than by medians: a pause now and then, which a median hides."""
    return bool(row.ratio and row.ratio_mean and row.ratio_mean > row.ratio * MEANS_DIFFER)


def _rows_per_operation(ranking: Ranking, measured: PhaseFigures) -> float:
    """How many rows an operation delivers, by the rates of the first path that has both."""
    for row in ranking.rows:
        found = measured.median("row_rate", row.name)
        if found and row.rate_per_s:
            return round(found / row.rate_per_s)
    return 1


def _unranked(row: RankedPath, width: int) -> Row:
    reason = fmt.clean(row.reason)
    time = fmt.MISSING if row.cost_ns is None else fmt.duration(row.cost_ns)
    cells = (fmt.MISSING, fmt.clean(row.name), time, *[""] * (width - 3))
    path_status = "not ranked" if row.status == "ok" else row.status
    return Row(cells, status=row.status, reason=f"{path_status}: {reason}" if reason else path_status)


def _ranked(row: RankedPath, measured: PhaseFigures, *, tied: bool, by_row: bool, with_means: bool) -> Row:
    marks = "".join(mark for mark, has in ((" (p)", row.provisional), (" (a)", row.through_anchor)) if has)
    fastest = row.ratio == 1 and row.ratio_low == row.ratio_high
    cells = (
        f"{row.rank}=" if tied else str(row.rank),
        fmt.clean(row.name) + marks,
        fmt.duration(row.cost_ns),
        fmt.ratio(row.ratio),
        fmt.MISSING if fastest else fmt.interval(row.ratio_low, row.ratio_high),
        fmt.ratio(row.ratio_mean) if with_means else "",
        fmt.rate(measured.median("row_rate", row.name) if by_row else row.rate_per_s),
        fmt.duration(measured.median("client_cpu", row.name)),
        fmt.duration(measured.median("server_cpu", row.name)),
        fmt.count(measured.median("round_trips", row.name)),
        fmt.size(measured.median("client_peak_memory", row.name)),
        fmt.size(measured.median("server_peak_memory", row.name)),
        "" if fastest else "yes" if row.differs else "no",
    )
    return Row(cells, status=row.status, reason=fmt.clean(row.reason), tier=row.rank)
