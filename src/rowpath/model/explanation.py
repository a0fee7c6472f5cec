"""Where the time of one operation goes: parts that were measured apart, and whether they add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import msgspec

MOST_UNEXPLAINED = 0.05  # of an operation's time; beyond that the parts are no account of it

Side = Literal["client", "pooler", "server", "wire", "core"]
Where = Literal["client", "to pooler", "pooler", "to server", "server", "from server", "to client", "both"]


class Hop(msgspec.Struct, frozen=True):
    """A step of an operation. `slowest_ns`: in the operation that took longest. Means add up, medians need not.

    `where`: a side that works, a way that a message takes, or `both`: after the first message of an answer of several.
    """

    where: Where
    name: str
    median_ns: float
    p99_ns: float
    worst_ns: float
    slowest_ns: float
    mean_ns: float | None = None  # None: from an older journal


class RoundTrip(msgspec.Struct, frozen=True):
    """A request and its answer. Sizes, and how many messages the answer was sent in, are of one in the middle."""

    hops: tuple[Hop, ...]
    sent_bytes: int
    received_bytes: int
    messages: int
    median_ns: float
    p99_ns: float
    worst_ns: float
    mean_ns: float | None = None


Cores = Literal["one", "two", "changing"]  # the server answered from the client's core, from another, from either


class Speed(msgspec.Struct, frozen=True):
    """Operations in which the server answered from the same place; `share` of those in the hops."""

    cores: Cores
    share: float
    mean_ns: float
    median_ns: float


class Hops(msgspec.Struct, frozen=True):
    """The hops of one path in one phase, of operations whose calls were stamped.

    `folded`: round trips of an operation beyond those in `round_trips`, of `folded_ns` each. `server_seen`: False for a
    server of others, of which only the client's side is known. `stamping_share`: how much longer an operation took.
    `pipeline`: how many operations share the calls; where it is over 1, all figures are of a whole pipeline. `speeds`:
    by the server's core, the most frequent first; empty where that is not known.
    """

    operations: int
    median_ns: float
    p99_ns: float
    worst_ns: float
    round_trips: tuple[RoundTrip, ...]
    folded: int
    folded_ns: float
    server_seen: bool
    one_core: bool
    stamping_share: float
    pipeline: int = 1
    mean_ns: float | None = None
    speeds: tuple[Speed, ...] = ()


class Part(msgspec.Struct, frozen=True):
    """A part of an operation's time; `side`: `core` is what neither client, server nor wire had."""

    side: Side
    name: str
    ns: float
    known_by: str


class ServerSays(msgspec.Struct, frozen=True):
    """What a server that is not ours says that it needs for an operation.

    `ns`: all of it, planning and output included; None: unknown, `why` says so. `planning_ns`: of an execution that is
    planned each time. `output_ns`: to make the output, so far as the server says it apart. `cpu_ns`: of its process for
    an operation, where it is on this machine. `by`: the statement that reports it. `notes`: sentences.
    """

    ns: float | None
    by: str
    why: str = ""
    planning_ns: float = 0.0
    output_ns: float | None = None
    cpu_ns: float | None = None
    overlaps: bool = False  # it exceeds the wait: the server works while the client does
    notes: tuple[str, ...] = ()


class Explanation(msgspec.Struct, frozen=True):
    """One path in one phase; of private servers on one core, so that nothing overlaps and the parts can add up.

    `operation_ns`: by the runner's clock, of blocks that nothing profiled. `profiling_share`: how much longer an
    operation took while profiled; the profile gives shares, never times.
    """

    name: str
    path: dict[str, str]
    phase: str
    operation_ns: float
    low_ns: float | None  # of its 95 % interval; None of a single block
    high_ns: float | None
    operations: int
    parts: tuple[Part, ...]
    profiling_share: float | None
    not_profiled: str = ""  # why the CPU of a side is not divided
    server_says: ServerSays | None = None
    hops: Hops | None = None
    no_hops: str = ""  # why they are not known, where they were wanted
    disturbed_blocks: int = 0  # taken again, because other programs had too much of the core
    rows: float = 0.0  # of an operation, of a user's own query; 0: not counted
    trip_ns: float = 0.0  # of a user's own query: the wait of an empty query by the same path
    first_row_share: float = 0.0  # of an operation's time, that is over when the first row is taken
    stamped: bool = False  # all figures but shares are of the operations whose calls were stamped: those of the hops

    @property
    def unexplained_ns(self) -> float:
        """What the parts lack of the operation's time; negative where they are more than it."""
        return self.operation_ns - sum(part.ns for part in self.parts)

    @property
    def adds_up(self) -> bool:
        """Whether the parts account for the operation."""
        return abs(self.unexplained_ns) <= MOST_UNEXPLAINED * self.operation_ns


class Frame(NamedTuple):
    """A function, the part that it belongs to, and whose package it is of, where a path hands over objects."""

    name: str
    part: str
    owner: str = ""  # empty: not known


Stack = tuple[Frame, ...]  # the outermost caller first


@dataclass(frozen=True)
class SideStacks:
    """What one side executed. `cpu_ns`: of an operation, by the side's own clock; `by`: what sampled the stacks."""

    side: Side
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
        parts: Counter[str] = Counter()
        for stack, count in self.samples.items():
            parts[stack[-1].part] += count
        return {name: self.cpu_ns * count / max(1, self.count) for name, count in parts.most_common()}


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
