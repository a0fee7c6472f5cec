"""The nouns of what goes over several phases or paths: cost models, sweeps, retrievals, scalings, links."""

from __future__ import annotations

from rowpath.model.base import Frozen, OfMeasuredPhase, Status


class AcrossLink(OfMeasuredPhase, frozen=True):
    """A path over an emulated link beside the same path without it; times in ns per operation.

    Predicted: the time without the link + round trips × what the link adds to each.
    """

    name: str
    link: str
    added_ns: float  # by the link to a round trip, as measured
    round_trips: float  # per operation, opening a connection included
    without_ns: float
    predicted_ns: float
    measured_ns: float
    ratio: float  # measured ÷ predicted, over the sets that have both
    low: float | None  # its interval
    high: float | None


class Coefficient(Frozen, frozen=True):
    """One coefficient of a cost model with its 95 % interval over the sets; not `known` where it may as well be 0."""

    ns: float
    low: float | None
    high: float | None
    known: bool


class Predicted(Frozen, frozen=True):
    """A phase that a cost model was not fitted to: measured beside predicted."""

    phase: str
    measured_ns: float
    predicted_ns: float
    ratio: float  # predicted ÷ measured


class CostModel(Frozen, frozen=True):
    """What a path's time is made of: operation + rows + values + bytes, fitted over the shapes of a workload."""

    name: str
    workload: str
    operation: Coefficient
    row: Coefficient
    value: Coefficient
    byte: Coefficient
    sets: int
    worst_phase: str  # of those fitted
    worst_ratio: float  # fitted ÷ measured there
    held_out: tuple[Predicted, ...]


class SweepLine(Frozen, frozen=True):
    """A path's time over the size of the result: fixed + rows × row."""

    name: str
    fixed: Coefficient
    row: Coefficient
    sets: int


class Leader(Frozen, frozen=True):
    """The fastest path from this many rows on; the interval is of that number, None where it is not certain."""

    name: str
    from_rows: float
    low: float | None
    high: float | None


class Sweep(Frozen, frozen=True):
    """How the paths of one comparison grow with the size of the result, and which leads from which size on."""

    comparison: str
    least_rows: int
    most_rows: int
    lines: tuple[SweepLine, ...]
    leaders: tuple[Leader, ...]


class Against(Frozen, frozen=True):
    """A cost as a ratio to another one, with its interval over the sets where there is one."""

    ratio: float
    low: float | None = None
    high: float | None = None


class RetrievalPath(Frozen, frozen=True):
    """One way out; CPU is per row, everything else of the whole table; None where it was not measured."""

    name: str
    form: str  # what a call hands over: rows, blocks, columns, COPY, nothing (a floor)
    cost_ns: float
    rows_per_s: float | None
    to_drain: Against | None
    to_aggregate: Against | None
    client_cpu_ns: float | None
    server_cpu_ns: float | None
    waiting: float | None  # share of the time in which the client had nothing to do
    first_row_ns: float | None
    client_peak_bytes: float | None
    bytes_per_row: float | None


class Retrieval(OfMeasuredPhase, frozen=True):
    """All ways of taking one table out of one engine under the same conditions; fastest first within each form."""

    engine: str
    deployment: str
    conditions: str  # "placement=split, transport=tcp"
    rows: float
    paths: tuple[RetrievalPath, ...]
    floors: tuple[RetrievalPath, ...]  # the one that ratios are to comes first
    no_floor: str  # why there is none
    aggregate: str  # the path by which the engine computed one row over the same table; empty: none
    aggregate_ns: float | None


class ScalingLevel(Frozen, frozen=True):
    """One retrieval done in this many parts at once; ratios are against the same path with one client.

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


class Scaling(OfMeasuredPhase, frozen=True):
    """How one path's retrieval of a table speeds up with the number of parts in which it is done."""

    name: str  # of the path, without its number of clients
    ranges: str
    placement: str
    cores: int  # that client and server together could use; 0: not known
    levels: tuple[ScalingLevel, ...]  # fewest clients first
    law: ScalingLaw | None
    no_law: str  # why there is none
    bound_ns: float | None = None  # what finding one bound takes
    bound_name: str = ""  # the path by which that was measured
