"""The flame graph of one path in one phase, or the difference of two: one HTML file, both sides, no network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup, escape

from rowpath import text as fmt
from rowpath.model.explanation import Flame, SideStacks
from rowpath.report import flame_parts
from rowpath.report.flame_parts import signed
from rowpath.report.flame_tree import Box, boxes, tree
from rowpath.report.self_contained import rendered

FOLDER = Path(__file__).parent
TEMPLATE = "flame.html.j2"
COLOURS = 10  # of the style sheet; the parts that have least share the last
STEPS = 4  # of red and of blue
LINE_HIGH = 18
LOST = "only in the other path"
LEAST_TEXT = 0.02  # of the width: narrower frames show no name until they are zoomed
FIXED = ("kernel", "our loop and adapter")  # parts with the first colours in every graph


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
    found = [list(boxes(each)) for each in trees]
    most_ns = max((abs(box.node.change_ns) for side in found for box in side), default=0.0)
    drawings = [
        _drawing(side, each, colours, most_ns if before is not None else None)
        for side, each in zip(flame.sides, found, strict=True)
    ]
    # Sides are as wide as their time, as far as there is room: the policy allows no style but the sheet's.
    grow = "".join(
        f".{side.side} {{ flex-grow: {max(1, round(100 * side.cpu_ns / whole_ns))}; }}" for side in flame.sides
    )
    style = _asset("page.css") + _asset("flame.css") + grow
    return rendered(
        FOLDER / "templates",
        TEMPLATE,
        style,
        [_asset("flame.js")],
        title=fmt.clean(f"{flame.name} · {flame.phase}"),
        sentence=flame_parts.sentence(flame, before) if before is not None else "",
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
    place = (
        f'x="{100 * box.begin:.2f}%" y="{LINE_HIGH * box.depth}" width="{100 * box.width:.2f}%" height="{LINE_HIGH}"'
    )
    return f'<svg class="{kind}" {place}><title>{escape(" · ".join(words))}</title><rect/>{text}</svg>'


def _change(ns: float, most_ns: float) -> str:
    """The class of a frame's colour: r1 to r4 for more time, b1 to b4 for less, p0 for about as much."""
    step = round(STEPS * abs(ns) / most_ns) if most_ns else 0
    return f"{'r' if ns > 0 else 'b'}{step}" if step else "same"


def _names(flame: Flame) -> list[str]:
    """The parts of all stacks: those with fixed colours, then by their time."""
    times: dict[str, float] = {}
    for side in flame.sides:
        for name, ns in side.parts_ns().items():
            times[name] = times.get(name, 0.0) + ns
        for stack in side.samples:
            for frame in stack:
                times.setdefault(frame.part, 0.0)
    others = sorted((name for name in times if name not in FIXED), key=lambda name: -times[name])
    return [name for name in FIXED if name in times] + others


def _colours(flame: Flame) -> dict[str, str]:
    fixed = {name: f"p{number}" for number, name in enumerate(FIXED)}
    others: Iterable[str] = (name for name in _names(flame) if name not in FIXED)
    return fixed | {name: f"p{min(COLOURS - 1, number)}" for number, name in enumerate(others, len(FIXED))}


def _table(flame: Flame, before: Flame | None, colours: Mapping[str, str]) -> list[tuple[str, str, tuple[str, ...]]]:
    """Rows of the parts: colour, name, figures."""
    found = []
    for row in flame_parts.rows(flame, before):
        figures = [fmt.duration(row.stacks_ns), fmt.duration(row.bar_ns)]
        share = (row.bar_ns if row.bar_ns is not None else row.stacks_ns) or 0.0
        figures.append(fmt.share(share / flame.operation_ns))
        if before is not None:
            figures.append(signed(row.change_ns) if row.change_ns is not None else fmt.MISSING)
        name = fmt.clean(row.name if row.side == "core" else f"{row.side}: {row.name}")
        found.append((colours.get(row.name, "") if before is None and row.side != "core" else "", name, tuple(figures)))
    return found


def _asset(name: str) -> str:
    return (FOLDER / "assets" / name).read_text(encoding="utf-8")
