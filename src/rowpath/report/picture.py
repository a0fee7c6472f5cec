"""The ranking picture: bars on one logarithmic axis, split by where their time goes, tied ones bracketed."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from rowpath import text as fmt
from rowpath.analysis.answer_model import Bar, GroupAnswer, MergedFinding, PhaseAnswer, RateBar
from rowpath.drawing.picture import PARTS, SHOWN, Mark, Picture, PictureRow, PlainBar, plain
from rowpath.drawing.scale import LogAxis, axis, bar, grid_lines, short, with_intervals
from rowpath.report.path_panel import Panels

MOST = 50  # rows of a picture whose paths open elsewhere; its table has the others


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
        bars = [each for each in phase.bars if each.cost_ns > 0]
        if not bars:
            return None
        costs = [each.cost_ns for each in bars]
        scale = LogAxis.over(with_intervals(costs, ((each.low_ns, each.high_ns) for each in bars)))
        floor = scale.at(phase.floor_ns) if phase.floor_ns and phase.floor_ns >= scale.low else None
        everywhere = {path for each in bars for path in (self.names.get(each.path_id, each.name),)}
        opening = any((each.path_id, phase.workload, phase.phase) not in self.panel_keys for each in bars)
        drawn = len(bars) if opening else min(len(bars), MOST)
        rows = tuple(self._row(key, phase, at, bars, scale, everywhere) for at in range(drawn))
        ticks = [(scale.at(value), short(fmt.duration(value))) for value in scale.ticks()]
        split = [kind for kind in PARTS if any(getattr(each, _FIELDS[kind]) for each in bars)]
        how_to_read = _how_to_read(bars, split, floor is not None)
        return Picture(
            key=key,
            title=fmt.clean(phase.title),
            rows=rows[:SHOWN],
            more=rows[SHOWN:],
            left_out=len(bars) - drawn,
            lines=grid_lines([x for x, _ in ticks], floor),
            axis=axis(ticks),
            legend=tuple((kind, PARTS[kind]) for kind in split),
            how_to_read=how_to_read,
            explained=self._explained(how_to_read),
        )

    def _explained(self, text: str) -> bool:
        before = text in self.explanations
        self.explanations.add(text)
        return before

    def _row(
        self, key: str, phase: PhaseAnswer, at: int, bars: Sequence[Bar], scale: LogAxis, everywhere: set[str]
    ) -> PictureRow:
        own = bars[at]
        before, after = own.tied, at + 1 < len(bars) and bars[at + 1].tied
        first = max(place for place in range(at + 1) if not bars[place].tied or not place)
        where = own.path_id, phase.workload, phase.phase
        has_panel = where in self.panel_keys or own.path_id not in self.numbers
        row_key = f"{key}-{at + 1}"
        href = self.panel_keys.get(where, "") if has_panel else ""
        if not has_panel:
            self.panel_keys[where] = row_key
        ends = [scale.at(end) for end in (own.low_ns, own.high_ns) if end]
        fastest = own.ratio == 1 and own.ratio_low == own.ratio_high
        return PictureRow(
            key="" if has_panel else row_key,
            path=self.numbers.get(own.path_id, -1),
            name=fmt.clean(own.name),
            rank=f"{first + 1}{'=' if before or after else ''}",
            note=fmt.clean(", ".join(filter(None, (own.note, _provisional(own, bars))))),
            figure=fmt.duration(own.cost_ns),
            ratio=fmt.ratio(own.ratio),
            interval="" if fastest else fmt.interval(own.ratio_low, own.ratio_high),
            tie={(False, False): "", (False, True): "first", (True, True): "middle", (True, False): "last"}[
                (before, after)
            ],
            drawing=bar(scale.at(own.cost_ns), parts(own), (ends[0], ends[1]) if len(ends) == 2 else None),
            href=href,
            panel=None if has_panel else self.panels.panel(phase, own),
            marks=self._marks(self.names.get(own.path_id, own.name), everywhere),
        )

    def _marks(self, name: str, everywhere: set[str]) -> tuple[Mark, ...]:
        """One for each merged finding about this path, those about every path of the picture left out."""
        return tuple(
            Mark(f"finding-{each.id}", each.severity, each.id)
            for each in self.findings
            if name in each.paths and not everywhere <= set(each.paths)
        )

    def of_group(self, key: str, group: GroupAnswer) -> Picture | None:
        """What a client group reaches on each path; None when it did nothing."""
        bars = [
            PlainBar(
                name=fmt.clean(own.name),
                value=own.rate_per_s,
                text=fmt.rate(own.rate_per_s),
                low=own.low,
                high=own.high,
                ratio=fmt.ratio(own.ratio),
                note=_of_group(own),
                path=self.numbers.get(own.path_id, -1),
            )
            for own in group.bars
        ]
        clients = f"{group.clients} client{'' if group.clients == 1 else 's'}"
        requested = f", {fmt.rate(group.requested_per_s)} requested" if group.requested_per_s else ""
        title = fmt.clean(f"{group.stage}: {group.client_group}, {clients}{requested}")
        made = plain(key, title, bars, fmt.rate, HOW_TO_READ_RATES)
        return msgspec.structs.replace(made, explained=self._explained(HOW_TO_READ_RATES)) if made else None


def _of_group(own: RateBar) -> str:
    notes = [
        "" if own.reached else "requested rate not reached",
        f"{own.failed} failed" if own.failed else "",
        f"p99 {fmt.duration(own.p99_ns)}".replace(" ", "\N{NO-BREAK SPACE}") if own.p99_ns is not None else "",
    ]
    return ", ".join(filter(None, notes))


_FIELDS = {"client": "client_cpu_ns", "server": "server_cpu_ns", "waiting": "waiting_ns"}
HOW_TO_READ_RATES = (
    "Operations a second on a logarithmic axis: longer is better. The line at a bar's end is its 95 % interval. "
    "× is the rate relative to the best path."
)


def _provisional(own: Bar, bars: Sequence[Bar]) -> str:
    """`provisional` unless all are: then the line of trust says it once."""
    return "provisional" if own.provisional and not all(each.provisional for each in bars) else ""


def parts(own: Bar) -> list[tuple[str, float]]:
    """The parts of a bar by their share of its length: of its time, or of all CPU where both sides work at once."""
    known = [(kind, getattr(own, field) or 0.0) for kind, field in _FIELDS.items()]
    total = sum(value for _, value in known)
    if own.client_cpu_ns is None or total <= 0:
        return [("all", 1.0)]
    return [(kind, value / total) for kind, value in known if value > 0]


def _how_to_read(bars: Sequence[Bar], split: Sequence[str], floor: bool) -> str:
    sentences = ["Time per operation on a logarithmic axis: shorter is better, and equal distances are equal factors."]
    if split:
        sentences.append("A bar's colours are shares of its time, not of the axis.")
    if any(each.overlap_ns for each in bars):
        sentences.append("Where client and server work at once, they are shares of both together.")
    if any(each.low_ns for each in bars):
        sentences.append("The line at a bar's end is the 95 % interval of its time.")
    if len(bars) > 1:
        sentences.append("× is the time relative to the fastest, with its 95 % interval.")
    if any(each.tied for each in bars):
        sentences.append("A bracket joins tied paths: their difference is not shown to exceed 2 %.")
    if floor:
        sentences.append("The dashed line is the floor: the least that any client could take.")
    return " ".join(sentences)
