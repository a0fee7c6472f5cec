"""The parts of one path's stacks as a table, and those that changed most from one path to another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rowpath import text as fmt
from rowpath.model.explanation import MOST_UNEXPLAINED, Flame, Part

NAMED = 3
NOT_OF_THE_PATH = ("core", "other programs")


class PartRow(NamedTuple):
    """A part of a side: by the stacks, by the bar, and how much more by the bar than in the other path; None: not."""

    side: str
    name: str
    stacks_ns: float | None
    bar_ns: float | None
    change_ns: float | None = None


def rows(flame: Flame, before: Flame | None = None) -> list[PartRow]:
    """The parts of each side, the greatest first."""
    stacks: dict[tuple[str, str], float] = {
        (side.side, name): ns for side in flame.sides for name, ns in side.parts_ns().items()
    }
    bar = _bar(flame)
    changed = dict(changes(flame, before)) if before is not None else {}
    found = [
        PartRow(*key, stacks.get(key), bar.get(key), changed.get(key))
        for key in dict.fromkeys([*bar, *stacks, *changed])
    ]
    order = {"client": 0, "server": 1}
    return sorted(found, key=lambda row: (order.get(row.side, 2), -(row.bar_ns or row.stacks_ns or 0.0)))


def changes(flame: Flame, before: Flame) -> Iterator[tuple[tuple[str, str], float]]:
    """How much more each part of an operation takes than in the other path, by side and name; the greatest first."""
    now, then = _bar(flame), _bar(before)
    found = {key: now.get(key, 0.0) - then.get(key, 0.0) for key in dict.fromkeys([*now, *then])}
    yield from sorted(found.items(), key=lambda each: -abs(each[1]))


def sentence(flame: Flame, before: Flame) -> str:
    """How the operation's time differs from the other path's, and the three parts that changed most."""
    change_ns = flame.operation_ns - before.operation_ns
    more = "more" if change_ns >= 0 else "less"
    own = [(key, ns) for key, ns in changes(flame, before) if key != NOT_OF_THE_PATH]
    words = [f"{_in_words(key)} {signed(ns)}" for key, ns in own[:NAMED]]
    names = f"{fmt.clean(flame.name)} takes {fmt.duration(abs(change_ns))} {more} than {fmt.clean(before.name)}"
    doubtful = [fmt.clean(each.name) for each in (flame, before) if not _adds_up(each)]
    doubt = (
        f" The parts of {' and of '.join(doubtful)} do not add up: repeat it on a quieter machine." if doubtful else ""
    )
    return f"{names}; most changed: {', '.join(words)}.{doubt}"


def _adds_up(flame: Flame) -> bool:
    rest_ns = flame.operation_ns - sum(part.ns for part in flame.parts)
    return abs(rest_ns) <= MOST_UNEXPLAINED * flame.operation_ns


def signed(ns: float) -> str:
    """A change in time: `+1.20 µs`, `−340 ns`."""
    return f"{'−' if ns < 0 else '+'}{fmt.duration(abs(ns))}"


def _bar(flame: Flame) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], float] = {}
    for part in flame.parts:
        found[_key(part)] = found.get(_key(part), 0.0) + part.ns
    return found


def _key(part: Part) -> tuple[str, str]:
    return part.side, part.name


def _in_words(key: tuple[str, str]) -> str:
    side, name = key
    return fmt.clean(name) if side == "core" else f"{fmt.clean(name)} ({side})"
