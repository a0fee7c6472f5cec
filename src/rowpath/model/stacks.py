"""Call stacks of both sides of a path: who called whom, how often a sampler saw it, and what that is in time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from rowpath.model.explanation import Part


class Frame(NamedTuple):
    """A function, and the part that it belongs to."""

    name: str
    part: str


Stack = tuple[Frame, ...]  # the outermost caller first


@dataclass(frozen=True)
class SideStacks:
    """What one side executed. `cpu_ns`: of an operation, by the side's own clock; `by`: what sampled the stacks."""

    side: Literal["client", "server"]
    cpu_ns: float
    by: str
    samples: Mapping[Stack, int]

    @property
    def count(self) -> int:
        """Samples of all stacks."""
        return sum(self.samples.values())

    def times_ns(self) -> dict[Stack, float]:
        """What each stack has of an operation's time: its share of the samples, of the side's CPU time."""
        whole = max(1, self.count)
        return {stack: self.cpu_ns * count / whole for stack, count in self.samples.items()}

    def parts_ns(self) -> dict[str, float]:
        """What each part has of it, by the innermost frames, the greatest first."""
        found: Counter[str] = Counter()
        for stack, count in self.samples.items():
            found[stack[-1].part] += count
        return {name: self.cpu_ns * count / max(1, self.count) for name, count in found.most_common()}


@dataclass(frozen=True)
class Flame:
    """The stacks of one path in one phase. `parts`: of its bar; `notes`: what is missing, and what sampling cost."""

    name: str
    phase: str
    path: Mapping[str, str]
    operation_ns: float
    parts: tuple[Part, ...]
    sides: tuple[SideStacks, ...]
    notes: tuple[str, ...] = ()
