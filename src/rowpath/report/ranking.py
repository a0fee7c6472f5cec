"""A ranking as a picture, tied bars in brackets and split by where their time goes, and as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from rowpath import text as fmt
from rowpath.analysis.answer_model import Bar, GroupAnswer, MergedFinding, PhaseAnswer, RateBar, places
from rowpath.analysis.lookup import Lookup, PhaseFigures
from rowpath.analysis.model import RankedPath, Ranking
from rowpath.drawing.grid import Grid, Line, figure, line, of_lines, without_empty, word
from rowpath.drawing.picture import Mark, Picture, PlainBar, legend, plain
from rowpath.report.path_panel import Panels

MOST = 50  # rows of a picture whose paths open elsewhere; its table has the others
# Means that exceed the medians by more than this are shown beside them: a periodic cost hides from a median.
MEANS_DIFFER = 1.03
FLOOR = "The dashed line is the floor: the least that any client could take."
HOW_TO_READ_RATES = (
    "Operations a second on a logarithmic axis: longer is better. The line at a bar's end is its 95 % interval. "
    "× is the rate relative to the best path."
)


def rows(bars: Sequence[Bar], *, all_provisional: bool = False) -> Iterator[PlainBar]:
    """Ranked paths as rows of a picture; ranks and brackets are those among `bars`.

    `all_provisional`: says so beside each, also where all are; else the line of trust says it once.
    """
    said = all_provisional or not all(bar.provisional for bar in bars)
    for bar, (rank, tie) in zip(bars, places(bars), strict=True):
        yield PlainBar(
            name=fmt.clean(bar.name),
            value=bar.cost_ns,
            text=fmt.duration(bar.cost_ns),
            low=bar.low_ns,
            high=bar.high_ns,
            ratio=fmt.ratio(bar.ratio),
            interval=bar.interval,
            note=fmt.clean(", ".join(filter(None, (bar.note, "provisional" if bar.provisional and said else "")))),
            parts=bar.parts,
            rank=rank,
            tie=tie,
        )


class Pictures:
    """Makes the pictures of a run."""

    def __init__(self, panels: Panels, names: dict[str, str], findings: Sequence[MergedFinding]) -> None:
        self.panels = panels
        self.numbers = {path_id: number for number, path_id in enumerate(names)}
        self.names = names
        self.findings = findings
        self.explanations: set[str] = set()
        self.panel_keys: dict[tuple[str, str, str], str] = {}  # by path id, workload and phase

    def of_phase(self, key: str, phase: PhaseAnswer) -> Picture | None:
        """The picture of one ranking; None when no path is ranked. A path's first picture of a phase has its panel."""
        bars = [bar for bar in phase.bars if bar.cost_ns > 0]
        everywhere = {self.names.get(bar.path_id, bar.name) for bar in bars}
        opening = any((bar.path_id, phase.workload, phase.phase) not in self.panel_keys for bar in bars)
        drawn = [
            self._opened(row, f"{key}-{number}", phase, bar, everywhere)
            for number, (row, bar) in enumerate(zip(rows(bars), bars, strict=True), 1)
        ]
        return self._explained(
            plain(
                key,
                fmt.clean(phase.title),
                drawn,
                fmt.duration,
                _how_to_read(bars),
                legend(bars),
                floor=(phase.floor_ns, FLOOR),
                most=None if opening else MOST,
            )
        )

    def _explained(self, made: Picture | None) -> Picture | None:
        """The picture with a mark where an earlier one of the page says how to read it."""
        if made is None:
            return None
        explained = made.how_to_read in self.explanations
        self.explanations.add(made.how_to_read)
        return msgspec.structs.replace(made, explained=explained)

    def _opened(self, row: PlainBar, key: str, phase: PhaseAnswer, bar: Bar, everywhere: set[str]) -> PlainBar:
        """The row with its panel, or where that is, and a mark for each finding that is not about every path there."""
        where = bar.path_id, phase.workload, phase.phase
        elsewhere = self.panel_keys.get(where, "")
        own = not elsewhere and bar.path_id in self.numbers
        if own:
            self.panel_keys[where] = key
        name = self.names.get(bar.path_id, bar.name)
        return msgspec.structs.replace(
            row,
            key=key if own else "",
            path=self.numbers.get(bar.path_id, -1),
            href=elsewhere,
            panel=self.panels.panel(phase, bar) if own else None,
            marks=tuple(
                Mark(f"finding-{finding.id}", finding.severity, finding.id)
                for finding in self.findings
                if name in finding.paths and not everywhere <= set(finding.paths)
            ),
        )

    def of_group(self, key: str, group: GroupAnswer) -> Picture | None:
        """What a client group reaches on each path; None when it did nothing."""
        bars = [
            PlainBar(
                name=fmt.clean(bar.name),
                value=bar.rate_per_s,
                text=fmt.rate(bar.rate_per_s),
                low=bar.low,
                high=bar.high,
                ratio=fmt.ratio(bar.ratio),
                note=_note(bar),
                path=self.numbers.get(bar.path_id, -1),
            )
            for bar in group.bars
        ]
        requested = f", {fmt.rate(group.requested_per_s)} requested" if group.requested_per_s else ""
        title = f"{group.stage}: {group.client_group}, {fmt.counted(group.clients, 'client')}{requested}"
        return self._explained(plain(key, fmt.clean(title), bars, fmt.rate, HOW_TO_READ_RATES))


def _note(bar: RateBar) -> str:
    notes = [
        "" if bar.reached else "requested rate not reached",
        f"{bar.failed} failed" if bar.failed else "",
        f"p99 {fmt.duration(bar.p99_ns)}".replace(" ", "\N{NO-BREAK SPACE}") if bar.p99_ns is not None else "",
    ]
    return ", ".join(filter(None, notes))


def _how_to_read(bars: Sequence[Bar]) -> str:
    sentences = {
        "Time per operation on a logarithmic axis: shorter is better, and equal distances are equal factors.": True,
        "A bar's colours are shares of its time, not of the axis.": legend(bars),
        "Where client and server work at once, they are shares of both together.": any(bar.overlap_ns for bar in bars),
        "The line at a bar's end is the 95 % interval of its time.": any(bar.low_ns for bar in bars),
        "× is the time relative to the fastest, with its 95 % interval.": len(bars) > 1,
        "A bracket joins tied paths: their difference is not shown to exceed 2 %.": any(bar.tied for bar in bars),
    }
    return " ".join(sentence for sentence, holds in sentences.items() if holds)


def ranking_grid(ranking: Ranking, lookup: Lookup) -> Grid:
    """The paths, fastest first, tied ones with one rank; those that are not ranked at the end with their reason."""
    measured = lookup.measured(ranking.workload, ranking.phase, ranking.regime)
    shared = Counter(row.rank for row in ranking.rows if row.is_ranked)
    by_row = _rows_per_operation(ranking, measured) > 1
    with_means = any(means_differ(row) for row in ranking.rows)
    rows = [
        _line(row, measured, tied=shared[row.rank] > 1, by_row=by_row, with_means=with_means)
        for row in sorted(ranking.rows, key=lambda row: not row.is_ranked)
    ]
    caption = f"{ranking.workload} · {ranking.phase} · {ranking.regime} — {fmt.clean(ranking.comparison)}"
    if ranking.sets:
        caption += f" — {ranking.sets} sets"
    return without_empty(of_lines(caption, rows))


def means_differ(row: RankedPath) -> bool:
    """Whether a path costs more by means than by medians: a pause now and then, which a median hides."""
    return bool(row.ratio and row.ratio_mean and row.ratio_mean > row.ratio * MEANS_DIFFER)


def _rows_per_operation(ranking: Ranking, measured: PhaseFigures) -> float:
    """How many rows an operation delivers, by the rates of the first path that has both."""
    for row in ranking.rows:
        by_row = measured.median("row_rate", row.name)
        if by_row and row.rate_per_s:
            return round(by_row / row.rate_per_s)
    return 1


def _line(row: RankedPath, measured: PhaseFigures, *, tied: bool, by_row: bool, with_means: bool) -> Line:
    marks = "".join(mark for mark, has in ((" (p)", row.provisional), (" (a)", row.through_anchor)) if has)
    columns, cells = line(
        word("#", f"{row.rank}=" if tied else str(row.rank)),
        word("path", row.name + marks),
        figure("time per operation", fmt.duration(row.cost_ns)),
        figure("× fastest", fmt.ratio(row.ratio)),
        figure("95 % interval", fmt.MISSING if row.is_fastest else row.interval, 1),
        figure("mean ratio", fmt.ratio(row.ratio_mean) if with_means else "", 3),
        figure("rows/s", fmt.rate(measured.median("row_rate", row.name)), 2)
        if by_row
        else figure("operations/s", fmt.rate(row.rate_per_s), 2),
        figure("borrow latency", fmt.duration(measured.median("borrow", row.name)), 4),
        figure("return latency", fmt.duration(measured.median("return", row.name)), 5),
        figure("client CPU", fmt.duration(measured.median("client_cpu", row.name)), 4),
        figure("pooler CPU", fmt.duration(measured.median("pooler_cpu", row.name)), 5),
        figure("server CPU", fmt.duration(measured.median("server_cpu", row.name)), 5),
        figure("round trips", fmt.count(measured.median("round_trips", row.name)), 6),
        figure("client memory", fmt.size(measured.median("client_peak_memory", row.name)), 7),
        figure("server memory", fmt.size(measured.median("server_peak_memory", row.name)), 9),
        word("differs", "" if row.is_fastest else "yes" if row.differs else "no", 8),
        status=row.status,
        reason=fmt.clean(row.reason),
    )
    if row.is_ranked:
        return columns, msgspec.structs.replace(cells, tier=row.rank)
    texts = (fmt.MISSING, fmt.clean(row.name), fmt.duration(row.cost_ns), *[""] * (len(columns) - 3))
    path_status = "not ranked" if row.status == "ok" else row.status
    reason = f"{path_status}: {cells.reason}" if cells.reason else path_status
    return columns, msgspec.structs.replace(cells, cells=texts, reason=reason)
