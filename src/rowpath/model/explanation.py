"""Where the time of one operation goes: parts that were measured apart, and whether they add up."""

from __future__ import annotations

from typing import Literal

import msgspec

from rowpath.model.hops import Hops

MOST_UNEXPLAINED = 0.05  # of an operation's time; beyond that the parts are no account of it

Side = Literal["client", "server", "wire", "core"]


class Part(msgspec.Struct, frozen=True):
    """A part of an operation's time; `side`: `core` is what neither client, server nor wire had."""

    side: Side
    name: str
    ns: float
    known_by: str


class ServerSays(msgspec.Struct, frozen=True):
    """What a server that is not ours says that it needs for an operation; `by`: the statement that it was asked by."""

    ns: float
    by: str
    overlaps: bool  # it exceeds the wait: the server works while the client does


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

    @property
    def unexplained_ns(self) -> float:
        """What the parts lack of the operation's time; negative where they are more than it."""
        return self.operation_ns - sum(part.ns for part in self.parts)

    @property
    def adds_up(self) -> bool:
        """Whether the parts account for the operation."""
        return abs(self.unexplained_ns) <= MOST_UNEXPLAINED * self.operation_ns
