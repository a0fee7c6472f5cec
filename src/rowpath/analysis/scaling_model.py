"""Nouns of a retrieval in parts: what each number of clients came to, and the law fitted to them."""

from __future__ import annotations

from rowpath.model.base import Frozen, Regime, Status


class ScalingLevel(Frozen, frozen=True):
    """One retrieval done in so many parts at once; ratios are against the same path with one client.

    Speed-up and all that follows from it is None where the path was not proven right, or one client was not measured.
    """

    clients: int
    name: str
    status: Status
    reason: str = ""
    cost_ns: float | None = None  # of the whole retrieval
    rate: float | None = None  # rows per second
    speed_up: float | None = None
    low: float | None = None  # its interval
    high: float | None = None
    efficiency: float | None = None  # speed-up ÷ clients
    client_cpu_ns: float | None = None  # per row
    server_cpu_ns: float | None = None  # per row
    idle: float | None = None  # share of the time in which a client was not at its part, on average
    finding_bounds_ns: float | None = None  # what finding the n − 1 bounds costs beside it


class ScalingLaw(Frozen, frozen=True):
    """The Universal Scalability Law fitted to the levels; intervals over the sets."""

    levels: int
    rate_of_one: float  # λ, rows per second
    contention: float  # σ
    contention_low: float | None
    contention_high: float | None
    coherence: float  # κ
    coherence_low: float | None
    coherence_high: float | None
    peak: float | None  # clients with the greatest rate, where it is known and within those measured
    worst: float  # the greatest |fitted ÷ measured − 1| of a level


class Scaling(Frozen, frozen=True):
    """How one path's retrieval of a table speeds up with the number of parts in which it is done."""

    workload: str
    phase: str
    regime: Regime
    name: str  # of the path, without its number of clients
    ranges: str
    placement: str
    cores: int  # that client and server together could use; 0: not known
    levels: tuple[ScalingLevel, ...]  # fewest clients first
    law: ScalingLaw | None
    no_law: str  # why there is none
    bound_ns: float | None = None  # what finding one bound takes
    bound_name: str = ""  # the path by which that was measured
