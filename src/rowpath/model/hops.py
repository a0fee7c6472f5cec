"""The hops of one operation in time order: who worked, and how long its messages were on the way."""

from __future__ import annotations

from typing import Literal

import msgspec

Where = Literal["client", "to server", "server", "to client", "both"]


class Hop(msgspec.Struct, frozen=True):
    """A step of an operation. `slowest_ns`: in the operation that took longest.

    `where`: a side that works, a way that a message takes, or `both`: after the first message of an answer of several.
    """

    where: Where
    name: str
    median_ns: float
    p99_ns: float
    worst_ns: float
    slowest_ns: float


class RoundTrip(msgspec.Struct, frozen=True):
    """A request and its answer. Sizes, and how many messages the answer was sent in, are of one in the middle."""

    hops: tuple[Hop, ...]
    sent_bytes: int
    received_bytes: int
    messages: int
    median_ns: float
    p99_ns: float
    worst_ns: float


class Hops(msgspec.Struct, frozen=True):
    """The hops of one path in one phase, of operations whose calls were stamped.

    `folded`: round trips of an operation beyond those in `round_trips`, of `folded_ns` each. `server_seen`: False for a
    server of others, of which only the client's side is known. `stamping_share`: how much longer an operation took.
    `pipeline`: how many operations share the calls; where it is over 1, all figures are of a whole pipeline.
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
