"""The model of a link, checked: time over it = time without it + round trips × what the link adds + bytes ÷ rate."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator

from rowpath import text as fmt
from rowpath.analysis.cells import Cell
from rowpath.analysis.chapter import Chapter
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.statistics.intervals import student
from rowpath.analysis.wording import ratio_text
from rowpath.drawing.grid import figure, line, of_lines, ratio, without_empty, word, words
from rowpath.drawing.picture import Picture, PlainBar, plain
from rowpath.drawing.section import Opening, Section
from rowpath.model.base import OfMeasuredPhase, Regime
from rowpath.model.path import link_bytes_per_s, link_ns

INITIAL_WINDOW_BYTES = 10 * 1448  # of TCP: ten packets (RFC 6928)
PREDICTED_WITHIN = 0.10  # of the measured time, for a prediction to count as right


class AcrossLink(OfMeasuredPhase, frozen=True):
    """A path over an emulated link beside the same path without it; times in ns per operation.

    Predicted: the time without the link + round trips × what the link adds to each + bytes ÷ rate, one after another.
    """

    name: str
    link: str
    added_ns: float  # by the link to a round trip, as measured
    round_trips: float  # per operation, opening a connection included
    without_ns: float
    predicted_ns: float
    measured_ns: float
    ratio: float  # measured ÷ predicted, over the sets that have both
    low: float | None  # its interval
    high: float | None
    wire_ns: float = 0.0  # of the prediction, what the bytes take at the link's rate as measured

    @property
    def least_ratio(self) -> float:
        """Measured ÷ predicted where rows were made and read all the while that others were on the wire."""
        return 1 - min(self.without_ns, self.wire_ns) / self.predicted_ns


def across_links(evidence: Evidence) -> tuple[AcrossLink, ...]:
    """Every sound cell over a link that was measured without it as well, in the order in which they were measured."""
    without = {_twin(cell): cell for cell in evidence.sound() if cell.path.link == "none"}
    return tuple(
        across
        for cell in evidence.sound()
        if cell.path.link != "none" and cell.regime != "warm" and (twin := without.get(_twin(cell)))
        if (across := _checked(evidence, cell, twin))
    )


def _checked(evidence: Evidence, cell: Cell, twin: Cell) -> AcrossLink | None:
    link = evidence.journal.links.get((cell.path.link, cell.path.placement))
    trips = round_trips(evidence, cell)
    if link is None or trips is None:
        return None
    wire = 0.0
    if link.stated_bytes_per_s:
        sent, received = (evidence.per_operation(cell, name) for name in ("bytes_sent", "bytes_received"))
        if sent is None or received is None or not link.rate_bytes_per_s or not link.rate_back_bytes_per_s:
            return None
        wire = sent * 1e9 / link.rate_bytes_per_s + received * 1e9 / link.rate_back_bytes_per_s
    added = max(0.0, link.round_trip_ns - link.direct_ns)
    over, without = cell.set_medians, twin.set_medians
    more = trips * added + wire
    pairs = [(over[number], without[number] + more) for number in sorted(over.keys() & without.keys())]
    if not pairs and cell.median and twin.median:  # they share no set
        pairs = [(cell.median, twin.median + more)]
    interval = student([math.log(measured / predicted) for measured, predicted in pairs], evidence.cells.confidence)
    if interval is None:
        return None
    measured, predicted = (statistics.median(side) for side in zip(*pairs, strict=True))
    regime: Regime = "cold" if cell.regime == "cold" else "steady"
    times = predicted - more, predicted, measured, *interval.ratios
    return AcrossLink(cell.workload, cell.phase, regime, cell.path.name, link.link, added, trips, *times, wire)


def round_trips(evidence: Evidence, cell: Cell) -> float | None:
    """Round trips per operation; None when they are not known.

    Beside those that the proof pass counted, some that no turn of client and server shows: TCP takes one to open a
    connection; a server that speaks first hears of it half a round trip after the client does, and is heard another
    half later.
    """
    trips = evidence.per_operation(cell, "round_trips")
    if trips is None:
        return None
    return trips + sum(evidence.per_operation(cell, more) or 0 for more in ("connections", "greetings"))


def _twin(cell: Cell) -> tuple[object, ...]:
    """What two cells have in common that differ only in the link."""
    others = (item for item in cell.path.coordinates.items() if item[0] != "link" and item[1] != "none")
    return (*cell.key[1:], *sorted(others))


def _sections(links: tuple[AcrossLink, ...], _lookup: Lookup) -> Iterator[Section]:
    """Each path over an emulated link beside itself without it; how many times are what is predicted."""
    lines = (
        line(
            *words(path=across.name, phase=f"{across.workload} · {across.phase}"),
            word("regime", across.regime, 1),
            figure("without the link", fmt.duration(across.without_ns), 1),
            figure("round trips", fmt.count(across.round_trips)),
            figure("bytes ÷ rate", fmt.duration(across.wire_ns) if across.wire_ns else fmt.MISSING, 1),
            figure("predicted", fmt.duration(across.predicted_ns)),
            figure("measured", fmt.duration(across.measured_ns)),
            *ratio("measured ÷ predicted", across.ratio, across.low, across.high),
        )
        for across in links
    )
    added = ", ".join(dict.fromkeys(f"{across.link}: {fmt.duration(across.added_ns)}" for across in links))
    note = f"Predicted: time without the link + round trips per operation × the measured delay per round trip ({added})"
    what = "Round trips predict"
    if any(across.wire_ns for across in links):
        what = "Round trips and bytes predict"
        note += " + bytes ÷ the measured rate, one after another: less where rows are made and read meanwhile"
    moved = ((across.link, link_bytes_per_s(across.link) * across.wire_ns / 1e9) for across in links)
    notes = [f"{note}.", *dict.fromkeys(filter(None, (slow_start(*each) for each in moved)))]
    grid = without_empty(of_lines("Across a link, time per operation", lines, " ".join(notes)))
    if links:
        right = sum(
            across.least_ratio * (1 - PREDICTED_WITHIN) <= across.ratio <= 1 + PREDICTED_WITHIN for across in links
        )
        furthest = max(links, key=lambda across: abs(math.log(across.ratio)))
        sentence = (
            f"{what} {right} of {len(links)} times within {fmt.share(PREDICTED_WITHIN)}; furthest is "
            f"{fmt.clean(furthest.name)}, {ratio_text(furthest.ratio, furthest.low, furthest.high)} of its prediction."
        )
        yield Section("links", grid, Opening(sentence, bars=_picture(links)), leading=True)


def _picture(links: tuple[AcrossLink, ...]) -> Picture | None:
    """Time per operation over a link as bars, each split into what it is without one and what round trips add."""
    return plain(
        "links",
        "Time per operation over a link",
        (
            PlainBar(
                name=fmt.clean(f"{across.name}, {across.workload} · {across.phase}, {across.regime}"),
                value=across.measured_ns,
                text=fmt.duration(across.measured_ns),
                ratio=fmt.ratio(across.ratio),
                interval=fmt.interval(across.low, across.high),
                parts=_parts(across),
            )
            for across in sorted(links, key=lambda across: across.measured_ns)
        ),
        fmt.duration,
        "Measured time per operation on a logarithmic axis: shorter is better. A bar's colours are shares of its time. "
        "× is measured ÷ predicted, with its 95 % interval.",
        (
            ("client", "without the link"),
            ("waiting", "predicted for the link's round trips and rate"),
            ("server", "not predicted"),
        ),
    )


def _parts(across: AcrossLink) -> tuple[tuple[str, float], ...]:
    own = min(1.0, across.without_ns / across.measured_ns)
    predicted = min(1.0, across.predicted_ns / across.measured_ns)
    parts = ("client", own), ("waiting", max(0.0, predicted - own)), ("server", 1.0 - max(own, predicted))
    return tuple((kind, share) for kind, share in parts if share > 0)


def slow_start(link: str, moved_bytes: float = math.inf) -> str:
    """What a new connection would take longer over TCP, as a sentence; empty where that would not be noticed.

    TCP begins with ten packets a round trip and doubles them in each, until what it sends fills the link.
    `moved_bytes`: by an operation.
    """
    fills_bytes = link_bytes_per_s(link) * link_ns(link) / 1e9
    if min(fills_bytes, moved_bytes) <= INITIAL_WINDOW_BYTES:
        return ""
    doublings = math.ceil(math.log2(fills_bytes / INITIAL_WINDOW_BYTES))
    return (
        f"{link}: no slow start here. Over TCP the first {fmt.size(INITIAL_WINDOW_BYTES * (2**doublings - 1))} "
        f"of a connection take up to {fmt.counted(doublings, 'round trip')} more."
    )


CHAPTER = Chapter("across_links", across_links, _sections)
