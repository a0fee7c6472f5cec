"""The flame graph of one path in one phase, or the difference of two: one HTML file, both sides, no network."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup, escape

from rowpath import text as fmt
from rowpath.model.explanation import MOST_UNEXPLAINED, Flame, Frame, SideStacks, Stack
from rowpath.model.grouping import grouped
from rowpath.report.explanation import in_words
from rowpath.report.self_contained import rendered

FOLDER = Path(__file__).parent
COLOURS = 10  # of the style sheet; the parts that have least share the last
STEPS = 4  # of red and of blue
LINE_HIGH = 18
LOST = "only in the other path"
LEAST_TEXT = 0.02  # of the width: narrower frames show no name until they are zoomed
FIXED = ("kernel", "our loop and adapter")  # parts with the first colours in every graph
LEAST_SHARE = 0.001  # of the whole: narrower frames are not drawn
MOST_CHANGED = 3
NOT_OF_THE_PATH = ("core", "other programs")


@dataclass(frozen=True)
class Drawing:
    """One side: its heading and its picture."""

    side: str
    title: str
    picture: Markup


def write(flame: Flame, file: Path, before: Flame | None = None) -> None:
    """Write the page; with `before` that of the difference: widths of `flame`, colours by the change from `before`.

    Errors: OSError.
    """
    file.write_text(page(flame, before), encoding="utf-8", newline="\n")


def page(flame: Flame, before: Flame | None = None) -> str:
    """The page's text. Its security policy lets nothing in and runs only its own script."""
    colours = _colours(flame)
    whole_ns = sum(side.cpu_ns for side in flame.sides)
    then = {side.side: side for side in before.sides} if before is not None else {}
    trees = [tree(side.times_ns(), then[side.side].times_ns() if side.side in then else None) for side in flame.sides]
    drawn = [list(boxes(root)) for root in trees]
    changed_ns = (abs(box.node.change_ns) for side in drawn for box in side)
    most_ns = max(changed_ns, default=0.0) if before is not None else None
    drawings = [_drawing(side, frames, colours, most_ns) for side, frames in zip(flame.sides, drawn, strict=True)]
    # Sides are as wide as their time, as far as there is room: the policy allows no style but the sheet's.
    widths = {side.side: max(1, round(100 * side.cpu_ns / whole_ns)) for side in flame.sides}
    grow = "".join(f".{side} {{ flex-grow: {width}; }}" for side, width in widths.items())
    return rendered(
        FOLDER,
        "flame.html.j2",
        "flame.css",
        "flame.js",
        more_style=grow,
        title=fmt.clean(f"{flame.name} · {flame.phase}"),
        sentence=sentence(flame, before) if before is not None else "",
        before=fmt.clean(before.name) if before is not None else "",
        operation=fmt.duration(flame.operation_ns),
        drawings=drawings,
        legend=[(colours[name], fmt.clean(name)) for name in _names(flame)] if before is None else [],
        rows=_table(flame, before, colours),
        notes=[fmt.clean(note) for note in dict.fromkeys((*flame.notes, *(before.notes if before else ())))],
    )


def _drawing(side: SideStacks, found: list[Box], colours: Mapping[str, str], most_ns: float | None) -> Drawing:
    """A side's picture; `most_ns`: the greatest change of any frame, where two paths are compared."""
    frames = "".join(_frame(box, side.cpu_ns, colours, most_ns) for box in found)
    high = LINE_HIGH * (1 + max((box.depth for box in found), default=0))
    label = f"Flame graph of the {side.side}, {len(found)} frames; the table below has its parts"
    picture = f'<svg class="flame" role="group" aria-label="{label}" width="100%" height="{high}">{frames}</svg>'
    title = f"{side.side}: {fmt.duration(side.cpu_ns)} of an operation ({side.by}, {fmt.count(side.count)} samples)"
    return Drawing(side.side, title, Markup(picture))


def _frame(box: Box, whole_ns: float, colours: Mapping[str, str], most_ns: float | None) -> str:
    """A frame: a small drawing of its own, which cuts its text."""
    node, name = box.node, fmt.clean(box.node.frame.name)
    words = [name, fmt.clean(node.frame.part), fmt.duration(node.ns), fmt.share(node.ns / whole_ns)]
    kind = colours.get(node.frame.part, f"p{COLOURS - 1}")
    if most_ns is not None:
        kind = _change(node.change_ns, most_ns)
        words.append(signed(node.change_ns))
    if node.lost:
        kind, words[2:4] = f"{kind} lost", [LOST]
    text = f'<text x="3" y="13">{escape(name)}</text>' if box.width >= LEAST_TEXT else ""
    across = f'x="{100 * box.begin:.2f}%" y="{LINE_HIGH * box.depth}" width="{100 * box.width:.2f}%"'
    title = f"<title>{escape(' · '.join(words))}</title>"
    return f'<svg class="{kind}" {across} height="{LINE_HIGH}">{title}<rect/>{text}</svg>'


def _change(ns: float, most_ns: float) -> str:
    """The class of a frame's colour: r1 to r4 for more time, b1 to b4 for less, p0 for about as much."""
    step = round(STEPS * abs(ns) / most_ns) if most_ns else 0
    return f"{'r' if ns > 0 else 'b'}{step}" if step else "same"


def _names(flame: Flame) -> list[str]:
    """The parts of all stacks: those with fixed colours, then by their time."""
    times: defaultdict[str, float] = defaultdict(float)
    for side in flame.sides:
        for name, ns in side.parts_ns().items():
            times[name] += ns
        for frame in itertools.chain.from_iterable(side.samples):
            times.setdefault(frame.part, 0.0)
    return sorted(times, key=lambda name: (FIXED.index(name) if name in FIXED else len(FIXED), -times[name]))


def _colours(flame: Flame) -> dict[str, str]:
    names = dict.fromkeys((*FIXED, *_names(flame)))
    return {name: f"p{min(COLOURS - 1, number)}" for number, name in enumerate(names)}


def _table(flame: Flame, before: Flame | None, colours: Mapping[str, str]) -> list[tuple[str, str, tuple[str, ...]]]:
    """Rows of the parts: colour, name, figures."""
    rows = []
    for row in part_rows(flame, before):
        share = (row.bar_ns if row.bar_ns is not None else row.stacks_ns) or 0.0
        figures = [fmt.duration(row.stacks_ns), fmt.duration(row.bar_ns), fmt.share(share / flame.operation_ns)]
        if before is not None:
            figures.append(signed(row.change_ns) if row.change_ns is not None else fmt.MISSING)
        name = fmt.clean(row.name if row.side == "core" else f"{row.side}: {row.name}")
        rows.append((colours.get(row.name, "") if before is None and row.side != "core" else "", name, tuple(figures)))
    return rows


@dataclass
class Node:
    """A frame in its place: its time of an operation with all that it calls; `before_ns`: the other path's.

    `lost_ns`: what only the other path has of it, in frames that this path does not execute.
    """

    frame: Frame
    ns: float = 0.0
    before_ns: float = 0.0
    lost_ns: float = 0.0
    children: dict[Frame, Node] = field(default_factory=dict)

    @property
    def change_ns(self) -> float:
        """How much more it takes than in the other path."""
        return self.ns - self.before_ns

    @property
    def lost(self) -> bool:
        """Whether only the other path executes it."""
        return self.ns <= 0 < self.before_ns

    @property
    def drawn_ns(self) -> float:
        """How wide it is drawn: its own time, and beside it that of the lost frames in it."""
        return self.ns + self.lost_ns


class Box(NamedTuple):
    """A node as it is drawn: where it begins and its width, as shares of the whole; the outermost have depth 0."""

    node: Node
    begin: float
    width: float
    depth: int


def tree(times_ns: Mapping[Stack, float], before_ns: Mapping[Stack, float] | None = None) -> Node:
    """All stacks under one root."""
    root, before_ns = Node(Frame("all", "")), before_ns or {}
    for stack in dict.fromkeys((*times_ns, *before_ns)):
        nodes = [root]
        for frame in stack:
            nodes.append(nodes[-1].children.setdefault(frame, Node(frame)))
        for node in nodes:
            node.ns += times_ns.get(stack, 0.0)
            node.before_ns += before_ns.get(stack, 0.0)
    if before_ns:
        _lose(root)
    return root


def _lose(node: Node) -> None:
    for child in node.children.values():
        _lose(child)
    inside_ns = sum(child.lost_ns for child in node.children.values())
    node.lost_ns = node.before_ns if node.lost else inside_ns


def boxes(root: Node) -> Iterator[Box]:
    """The frames that are wide enough to be seen, callers before what they call, the greatest first."""
    if root.drawn_ns <= 0:
        return
    waiting = [Box(root, 0.0, 1.0, -1)]
    while waiting:
        box = waiting.pop()
        if box.depth >= 0:
            yield box
        begin, inside = box.begin, []
        for child in sorted(box.node.children.values(), key=lambda child: -child.drawn_ns):
            width = child.drawn_ns / root.drawn_ns
            if width < LEAST_SHARE:
                break
            inside.append(Box(child, begin, width, box.depth + 1))
            begin += width
        waiting += reversed(inside)


class PartRow(NamedTuple):
    """A part of a side: by the stacks, by the bar, and how much more by the bar than in the other path; None: not."""

    side: str
    name: str
    stacks_ns: float | None
    bar_ns: float | None
    change_ns: float | None = None


def part_rows(flame: Flame, before: Flame | None = None) -> list[PartRow]:
    """The parts of each side, the greatest first."""
    stacks: dict[tuple[str, str], float] = {
        (side.side, name): ns for side in flame.sides for name, ns in side.parts_ns().items()
    }
    bar = _bar(flame)
    changed = dict(changes(flame, before)) if before is not None else {}
    keys = dict.fromkeys([*bar, *stacks, *changed])
    rows = (PartRow(*key, stacks.get(key), bar.get(key), changed.get(key)) for key in keys)
    order = {"client": 0, "pooler": 1, "server": 2}
    return sorted(rows, key=lambda row: (order.get(row.side, len(order)), -(row.bar_ns or row.stacks_ns or 0.0)))


def changes(flame: Flame, before: Flame) -> Iterator[tuple[tuple[str, str], float]]:
    """How much more each part of an operation takes than in the other path, by side and name; the greatest first."""
    now, then = _bar(flame), _bar(before)
    changed = {key: now.get(key, 0.0) - then.get(key, 0.0) for key in dict.fromkeys([*now, *then])}
    yield from sorted(changed.items(), key=lambda item: -abs(item[1]))


def sentence(flame: Flame, before: Flame) -> str:
    """How the operation's time differs from the other path's, and the three parts that changed most."""
    change_ns = flame.operation_ns - before.operation_ns
    more = "more" if change_ns >= 0 else "less"
    own = [(key, ns) for key, ns in changes(flame, before) if key != NOT_OF_THE_PATH]
    words = [f"{in_words(*key)} {signed(ns)}" for key, ns in own[:MOST_CHANGED]]
    names = f"{fmt.clean(flame.name)} takes {fmt.duration(abs(change_ns))} {more} than {fmt.clean(before.name)}"
    rests_ns = ((one, one.operation_ns - sum(part.ns for part in one.parts)) for one in (flame, before))
    doubtful = [fmt.clean(one.name) for one, ns in rests_ns if abs(ns) > MOST_UNEXPLAINED * one.operation_ns]
    doubt = f" The parts of {' and of '.join(doubtful)} do not add up: repeat it on a quieter machine."
    return f"{names}; most changed: {', '.join(words)}.{doubt if doubtful else ''}"


def signed(ns: float) -> str:
    """A change in time: `+1.20 µs`, `−340 ns`."""
    return f"{'−' if ns < 0 else '+'}{fmt.duration(abs(ns))}"


def _bar(flame: Flame) -> dict[tuple[str, str], float]:
    parts = grouped(flame.parts, lambda part: (part.side, part.name))
    return {key: sum(part.ns for part in same) for key, same in parts.items()}
