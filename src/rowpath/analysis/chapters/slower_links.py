"""Time over slower links, predicted from the time here: which path is the fastest over which link, where two cross."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from markupsafe import Markup

from rowpath import text as fmt
from rowpath.analysis.cells import Cell
from rowpath.analysis.chapter import Chapter
from rowpath.analysis.chapters import probe
from rowpath.analysis.chapters.links import round_trips
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.statistics.intervals import APART
from rowpath.drawing import region_map
from rowpath.drawing.grid import Grid, figure, line, of_lines, word
from rowpath.drawing.region_map import RegionMap
from rowpath.drawing.section import NOTHING, Opening, Section
from rowpath.model.base import Frozen, OfMeasuredPhase, Regime
from rowpath.model.grouping import grouped

MS = 1e6
DELAYS_NS = (0.1 * MS, 1 * MS, 10 * MS, 100 * MS)  # that a link adds to a round trip
TIMES_MS = (0.1, 0.5, 1.0, 5.0, 20.0)  # in the table of each path's times
LEAST_BYTES_PER_S = 10e6 / 8
TENFOLD = 10.0
MOST_MAPS = 3
NO_LIMIT = float("inf")


class OverLink(Frozen, frozen=True):
    """A path that could cross a link: its time here, its round trips and bytes per operation, None: not known."""

    name: str
    time_ns: float
    round_trips: float | None
    wire_bytes: float | None

    @property
    def known(self) -> bool:
        """Whether its time over a link can be predicted."""
        return self.round_trips is not None and self.wire_bytes is not None

    def at(self, added_ns: float, bytes_per_s: float = NO_LIMIT) -> float:
        """ns over a link that adds so much to a round trip and has this rate, if nothing overlapped."""
        return self.time_ns + (self.round_trips or 0) * added_ns + (self.wire_bytes or 0) * 1e9 / bytes_per_s


class Reach(Frozen, frozen=True):
    """Where a path is the fastest: over links of one rate from one delay to another, or of one delay between rates.

    A delay is what the link adds to a round trip, in ns; a rate is in bytes per second. `ahead`: the second path's time
    over its own in the middle; None: there is no second one.
    """

    name: str
    along: Literal["delay", "rate"]
    beside: float  # the rate, or the delay, that all these links have
    start: float
    end: float
    ahead: float | None


class SlowerLinks(OfMeasuredPhase, frozen=True):
    """The paths of one comparison over slower links; `proved`: links of this run were measured to carry that rate."""

    comparison: str
    paths: tuple[OverLink, ...]
    most_bytes_per_s: float
    proved: bool
    reaches: tuple[Reach, ...]

    @property
    def crossed(self) -> bool:
        """Whether another path is the fastest over some of the links."""
        return len({reach.name for reach in self.reaches}) > 1


def slower_links(evidence: Evidence) -> tuple[SlowerLinks, ...]:
    """One for each comparison of a phase with served paths that have no link: steady figures, else cold ones."""
    cells = [cell for cell in evidence.sound() if cell.regime != "warm" and _could_cross(cell)]
    steady = {(cell.path.path_id, *cell.key[1:3]) for cell in cells if cell.regime == "steady"}
    kept = [cell for cell in cells if cell.regime == "steady" or (cell.path.path_id, *cell.key[1:3]) not in steady]
    tcp = {cell.key[1:3] for cell in kept if cell.path.transport == "tcp"}
    kept = [cell for cell in kept if cell.path.transport == "tcp" or cell.key[1:3] not in tcp]
    most, proved = _proved_rate(evidence, cells)
    together = grouped(kept, lambda cell: (*cell.key[1:], evidence.comparison(cell.path)))
    return tuple(
        _of_paths(
            key, sorted((_over_link(evidence, cell) for cell in same), key=lambda path: path.time_ns), most, proved
        )
        for key, same in together.items()
    )


def _could_cross(cell: Cell) -> bool:
    path = cell.path
    return cell.served and cell.median is not None and not path.is_null and path.link == "none" and path.clients == 1


def _over_link(evidence: Evidence, cell: Cell) -> OverLink:
    sent, received = (evidence.per_operation(cell, name) for name in ("bytes_sent", "bytes_received"))
    known = sent is not None and received is not None
    return OverLink(
        cell.path.name,
        cell.median or 0.0,
        round_trips(evidence, cell),
        (sent or 0) + (received or 0) if known else None,
    )


def _proved_rate(evidence: Evidence, cells: Iterable[Cell]) -> tuple[float, bool]:
    """The highest rate that a link of this run carried; without links, that a path moved its bytes at."""
    links = evidence.journal.links.values()
    carried = max((max(link.rate_bytes_per_s, link.rate_back_bytes_per_s) for link in links), default=0.0)
    paths = (_over_link(evidence, cell) for cell in cells)
    moved = max(((path.wire_bytes or 0) * 1e9 / path.time_ns for path in paths if path.time_ns), default=0.0)
    return max(carried or moved, LEAST_BYTES_PER_S), carried > 0


def _of_paths(key: tuple[str, ...], paths: Sequence[OverLink], most: float, proved: bool) -> SlowerLinks:
    workload, phase, measured, comparison = key
    regime: Regime = "cold" if measured == "cold" else "steady"
    reaches = tuple(_reaches([path for path in paths if path.known], most))
    return SlowerLinks(workload, phase, regime, comparison, tuple(paths), most, proved, reaches)


def ahead_somewhere(paths: Sequence[OverLink], most: float) -> list[OverLink]:
    """Those that no path which is faster here ties or beats over all links; times are linear: the corners decide."""
    corners = [(delay, rate) for delay in (DELAYS_NS[0], DELAYS_NS[-1]) for rate in (LEAST_BYTES_PER_S, most)]
    kept: list[OverLink] = []
    for path in paths:
        if path.known and not any(all(o.at(*at) <= (1 + APART) * path.at(*at) for at in corners) for o in kept):
            kept.append(path)
    return kept


def rates(most: float) -> list[float]:
    """10 Mb/s, 100 Mb/s, … and the highest one."""
    found = [LEAST_BYTES_PER_S]
    while found[-1] * TENFOLD < most / 2:
        found.append(found[-1] * TENFOLD)
    return [*found, most] if most > found[-1] else found


def _reaches(paths: Sequence[OverLink], most: float) -> Iterator[Reach]:
    """Along the delays at each rate, and along the rates at the shortest and at the longest delay."""
    ahead = ahead_somewhere(paths, most)
    if not ahead:
        return
    for rate in rates(most):
        for name, start, end in _to_the_next(along_delays(ahead, rate), DELAYS_NS[-1]):
            yield Reach(name, "delay", rate, start, end, _lead(paths, name, (start * end) ** 0.5, rate))
    for delay in (DELAYS_NS[0], DELAYS_NS[-1]) if most > LEAST_BYTES_PER_S else ():
        for name, start, end in _to_the_next(_along_rates(ahead, delay, most), most):
            yield Reach(name, "rate", delay, start, end, _lead(paths, name, delay, (start * end) ** 0.5))


def _to_the_next(leaders: Sequence[tuple[str, float]], last: float) -> Iterator[tuple[str, float, float]]:
    ends = [*(start for _name, start in leaders[1:]), last]
    return ((name, start, end) for (name, start), end in zip(leaders, ends, strict=True))


def _lead(paths: Sequence[OverLink], name: str, delay: float, rate: float) -> float | None:
    """The second path's time over the first one's there."""
    times = {path.name: path.at(delay, rate) for path in paths}
    own = times.pop(name)
    return min(times.values()) / own if times else None


def _along_rates(paths: Sequence[OverLink], delay: float, most: float) -> list[tuple[str, float]]:
    """The fastest paths over links of that delay, each with the rate from which on it is."""
    lines = {path.name: (path.at(delay), (path.wire_bytes or 0) * 1e9) for path in paths}
    falling = _envelope(lines, 1 / most, 1 / LEAST_BYTES_PER_S)  # by the time of a byte
    starts = [*(1 / at for _name, at in falling[1:]), LEAST_BYTES_PER_S]
    return [(name, start) for (name, _at), start in zip(falling, starts, strict=True)][::-1]


def along_delays(paths: Sequence[OverLink], rate: float) -> list[tuple[str, float]]:
    """The fastest paths over links of that rate, each with the delay from which on it is."""
    lines = {path.name: (path.at(0, rate), path.round_trips or 0.0) for path in paths}
    return _envelope(lines, DELAYS_NS[0], DELAYS_NS[-1])


Lines = dict[str, tuple[float, float]]  # by a path's name: its value at 0, its slope


def _envelope(lines: Lines, low: float, high: float) -> list[tuple[str, float]]:
    """The lowest line from `low` to `high`: names, each with the place from which on it is."""

    def at(name: str, place: float) -> float:
        return lines[name][0] + lines[name][1] * place

    leader = min(lines, key=lambda name: (at(name, low), lines[name][1]))
    found, place = [(leader, low)], low
    while True:
        begin, slope = lines[leader]
        flatter = (name for name in lines if lines[name][1] < slope)
        crossings = (((lines[name][0] - begin) / (slope - lines[name][1]), name) for name in flatter)
        following = [crossing for crossing in crossings if place <= crossing[0] < high]
        if not following:
            return found
        place, leader = min(following, key=lambda crossing: (crossing[0], lines[crossing[1]][1]))
        found.append((leader, place))


def _sections(found: tuple[SlowerLinks, ...], lookup: Lookup) -> Iterator[Section]:
    """Which path is the fastest where; below it what each path would take. Of a run of its own database always."""
    asked = probe.CHAPTER.of(lookup.analysis) is not None
    shown = [one for one in found if one.crossed or asked or (one.reaches and one.proved)]
    maps = [draw(one) for one in shown if one.crossed and one.most_bytes_per_s > LEAST_BYTES_PER_S][:MOST_MAPS]
    crossed = sum(one.crossed for one in shown)
    sentence = (
        f"Over a slower link another path is the fastest in {crossed} of {fmt.counted(len(found), 'comparison')}."
        if crossed
        else "The fastest path here stays the fastest over every slower link."
    )
    yield Section("slower-links", _crossings(shown), Opening(sentence, NOTHING.join(maps)), leading=True)
    of_phases = grouped(shown, lambda one: (one.workload, one.phase))
    for number, same in enumerate(of_phases.values()):
        yield Section(f"slower-links-{number}", _times(same), leading=asked)


def _named(one: SlowerLinks) -> str:
    parts = [part for part in one.comparison.split(", ") if part not in ("all paths", "link=none")]
    where = f" ({', '.join(parts)})" if parts else ""
    return fmt.clean(f"{one.workload} · {one.phase}, {one.regime}{where}")


def _crossings(shown: Sequence[SlowerLinks]) -> Grid:
    """Where each path is the fastest: along the delays for each rate, along the rates for the least and most delay."""
    lines = [
        line(
            word("phase", _named(one)),
            word("links of", _beside(r) if one.crossed else "any rate"),
            word("fastest", r.name),
            figure("from", fmt.duration(r.start) if r.along == "delay" else fmt.bit_rate(r.start)),
            figure("to", fmt.duration(r.end) if r.along == "delay" else fmt.bit_rate(r.end)),
            figure("next ÷ it", fmt.ratio(r.ahead), 1),
        )
        for one in shown
        for r in (one.reaches if one.crossed else one.reaches[:1])
    ]
    proved = any(one.proved for one in shown)
    most = "that a link of this run carried" if proved else "at which a path of this run moved its bytes"
    note = (
        "Time here + round trips × what the link adds to each + bytes ÷ rate, as if nothing overlapped: no slow start, "
        f"loss or congestion. Delays are added to a round trip; the highest rate is the one {most}. "
        "Next ÷ it: the second path's time in the middle. Paths that another ties or beats over all links are left out."
    )
    return of_lines("Fastest over slower links", lines, note)


def _beside(reach: Reach) -> str:
    return f"+{fmt.duration(reach.beside)}" if reach.along == "rate" else fmt.bit_rate(reach.beside)


def _times(same: Sequence[SlowerLinks]) -> Grid:
    """Each path's time over links that add a delay, and over links that only have a rate."""
    lines = []
    for path in sorted((path for one in same for path in one.paths), key=lambda path: path.time_ns):
        delays = (
            figure(f"+{ms:g} ms", fmt.duration(path.at(ms * MS)) if path.known else fmt.MISSING) for ms in TIMES_MS
        )
        limited = (
            figure(fmt.bit_rate(rate), fmt.duration(path.at(0, rate)) if path.known else fmt.MISSING, 1)
            for rate in rates(same[0].most_bytes_per_s)
        )
        lines.append(
            line(
                word("path", path.name),
                figure("round trips", fmt.count(path.round_trips) if path.round_trips is not None else "unknown"),
                figure("bytes", fmt.size(path.wire_bytes) if path.wire_bytes is not None else "unknown", 1),
                figure("here", fmt.duration(path.time_ns)),
                *delays,
                *limited,
            )
        )
    note = (
        "Time here + round trips × the added time per round trip; or + bytes ÷ rate. Over a link with both, add both."
    )
    return of_lines(
        f"Predicted time over a slower link: {fmt.clean(f'{same[0].workload} · {same[0].phase}')}", lines, note
    )


def draw(one: SlowerLinks) -> Markup:
    """The map of delay and rate: the fastest path everywhere, and its time at round places."""
    names = list(dict.fromkeys(reach.name for reach in one.reaches))
    leading = [path for path in one.paths if path.name in names]

    def leaders(rate: float) -> list[tuple[int, float]]:
        return [(names.index(name), start) for name, start in along_delays(leading, rate)]

    def value(number: int, delay: float, rate: float) -> str:
        return fmt.duration(next(path for path in leading if path.name == names[number]).at(delay, rate))

    return region_map.draw(
        RegionMap(
            f"{_named(one)}: predicted time by a link's delay and rate; the table holds where paths cross",
            "what the link adds to a round trip",
            "rate of the link",
            tuple(map(fmt.clean, names)),
            tuple((delay, fmt.duration(delay)) for delay in DELAYS_NS),
            tuple((rate, fmt.bit_rate(rate)) for rate in rates(one.most_bytes_per_s)),
            leaders,
            value,
        )
    )


CHAPTER = Chapter("slower_links", slower_links, _sections)
