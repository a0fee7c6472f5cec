"""Call stacks as a tree of frames with their time, and what changed from another path's stacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from rowpath.model.explanation import Frame, Stack

LEAST_SHARE = 0.001  # of the whole: narrower frames are not drawn


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
    root = Node(Frame("all", ""))
    for stack, ns in times_ns.items():
        _add(root, stack, ns, 0.0)
    for stack, ns in (before_ns or {}).items():
        _add(root, stack, 0.0, ns)
    if before_ns:
        _lose(root)
    return root


def _lose(node: Node) -> None:
    for child in node.children.values():
        _lose(child)
    inside_ns = sum(child.lost_ns for child in node.children.values())
    node.lost_ns = node.before_ns if node.lost else inside_ns


def _add(root: Node, stack: Stack, ns: float, before_ns: float) -> None:
    node = root
    node.ns += ns
    node.before_ns += before_ns
    for frame in stack:
        node = node.children.setdefault(frame, Node(frame))
        node.ns += ns
        node.before_ns += before_ns


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
        for child in sorted(box.node.children.values(), key=lambda each: -each.drawn_ns):
            width = child.drawn_ns / root.drawn_ns
            if width < LEAST_SHARE:
                break
            inside.append(Box(child, begin, width, box.depth + 1))
            begin += width
        waiting += reversed(inside)
