"""The chapter on where the time goes: for each phase the explained paths as bars, for each path its parts."""

from __future__ import annotations

from rowpath import text as fmt
from rowpath.analysis.chapters.explanations import CHAPTER
from rowpath.analysis.model import Analysis
from rowpath.drawing.grid import Grid, Line, figure, line, of_lines, word
from rowpath.drawing.picture import PARTS, Picture, PlainBar, legend, plain
from rowpath.drawing.section import Opening, Section, section_key
from rowpath.model.explanation import Explanation, Side
from rowpath.model.grouping import grouped
from rowpath.report import hops
from rowpath.report.explanation import not_explained, sentence, shown

KINDS: dict[Side, str] = {
    "client": "client", "pooler": "pooler", "server": "server", "wire": "waiting", "core": "waiting",
}  # fmt: skip
SENTENCES = 3
HOW_TO_READ = (
    "Time per operation on a logarithmic axis. A bar's colours are shares of its time: each part has a clock "
    "of its own, and waiting includes other programs on the core. The tables divide both sides by library."
)


def chapters(analysis: Analysis) -> tuple[Section, ...]:
    """A section for each phase: what its explained paths spend their time on, as sentences, bars and a table.

    Then one for the hops of each path.
    """
    sections: list[Section] = []
    for phase, explained in grouped(CHAPTER.of(analysis), lambda one: one.phase).items():
        opening = Opening(sentences(explained), bars=picture(phase, explained))
        sections.append(Section(section_key("time", phase), parts_grid(phase, explained), opening))
        for one in sorted(explained, key=lambda one: one.operation_ns):
            if one.hops is not None:
                key, said = section_key("hops", phase, one.name), hops.sentence(one, one.hops)
                drawing = Opening(said, curves=hops.draw(one.hops, key, said), beside=True)
                sections.append(Section(key, hops.grid(one, one.hops), drawing))
    return tuple(sections)


def sentences(explained: list[Explanation]) -> str:
    """The sentences about the fastest paths, each with its path's name where there are several."""
    fastest = sorted(explained, key=lambda one: one.operation_ns)[:SENTENCES]
    return " ".join(
        fmt.clean(f"{one.name}: {sentence(one)}" if len(explained) > 1 else sentence(one)) for one in fastest
    )


def picture(phase: str, explained: list[Explanation]) -> Picture | None:
    """The explained paths of a phase, the fastest first; one that does not add up as a bar without colours."""
    bars = [
        PlainBar(
            name=fmt.clean(one.name),
            value=one.operation_ns,
            text=fmt.duration(one.operation_ns),
            low=one.low_ns,
            high=one.high_ns,
            parts=_colours(one),
        )
        for one in sorted(explained, key=lambda one: one.operation_ns)
    ]
    return plain(section_key("time", phase), fmt.clean(phase), bars, fmt.duration, HOW_TO_READ, legend(bars))


def _colours(one: Explanation) -> tuple[tuple[str, float], ...]:
    if not one.adds_up:
        return (("all", 1.0),)
    sums = dict.fromkeys(PARTS, 0.0)
    for part in one.parts:
        sums[KINDS[part.side]] += part.ns
    total = sum(sums.values())
    return tuple((kind, value / total) for kind, value in sums.items() if value)


def parts_grid(phase: str, explained: list[Explanation]) -> Grid:
    """Every part of an operation's time, and how it is known; of parts that do not add up only what they lack."""

    def row(one: Explanation, side: str, part: str, ns: float, known_by: str) -> Line:
        return line(
            word("path", one.name),
            word("side", side),
            word("part", part),
            figure("time", fmt.duration(abs(ns))),
            figure("share", fmt.share(ns / one.operation_ns)),
            word("known by", known_by, 1),
        )

    adding_up = ((one, part) for one in explained if one.adds_up for part in shown(one))
    lines = [row(one, part.side, part.name, part.ns, part.known_by) for one, part in adding_up]
    rests = [row(one, "", "not explained", one.unexplained_ns, next(not_explained(one))) for one in explained]
    missing = [f"{one.name}: its hops are unknown: {one.no_hops}." for one in explained if one.no_hops]
    return of_lines(fmt.clean(phase), [*lines, *rests], fmt.clean(" ".join(missing)))
