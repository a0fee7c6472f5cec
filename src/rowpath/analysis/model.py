"""The nouns of an analysis: everything that a report shows."""

from __future__ import annotations

from typing import Any, Literal

from rowpath.analysis.mixed_load.model import MixedLoadReport
from rowpath.journal.records import RunRecord
from rowpath.model.base import Frozen, Regime, Status
from rowpath.model.explanation import Explanation
from rowpath.model.path import Dropped
from rowpath.model.probe import Probe


class Result(Frozen, frozen=True):
    """One record of the long form: one path × workload × phase × regime × metric (× stage × group of clients)."""

    workload: str
    phase: str
    regime: str  # cold | steady | none (exact and structural metrics)
    metric: str
    unit: str
    path: dict[str, str]
    name: str  # the path's short name in this run
    median: float | None = None
    mean: float | None = None
    low: float | None = None  # 95 % interval
    high: float | None = None
    min: float | None = None
    best_of_five: float | None = None
    sets: int = 0
    blocks: int = 0
    status: Status = "ok"
    reason: str = ""
    digest: str = ""
    method: str = ""  # how the figure was obtained
    stage: str = ""  # of groups at work at once
    client_group: str = ""  # of clients; empty: all of the stage together


class RankedPath(Frozen, frozen=True):
    """A path's place in a comparison; ratios are cost relative to the fastest (1.0) with their interval."""

    name: str
    path_id: str
    rank: int = 0  # tied paths share one; 0: unranked
    tier: int = -1
    cost_ns: float | None = None
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    ratio_mean: float | None = None  # by means over undisturbed blocks
    rate_per_s: float | None = None
    differs: bool = False  # from the one ranked directly before it (Holm over the family)
    status: Status = "ok"
    reason: str = ""
    provisional: bool = False
    through_anchor: bool = False


class Ranking(Frozen, frozen=True):
    """The paths ranked together for one workload phase and regime, fastest first; unranked ones at the end."""

    workload: str
    phase: str
    regime: str
    comparison: str  # what they have in common, in words ("placement=same, durability=full, rows")
    rows: tuple[RankedPath, ...]
    floor_ns: float | None = None
    sets: int = 0
    notes: tuple[str, ...] = ()


class Finding(Frozen, frozen=True):
    """A statement with its evidence, its cause and the next command."""

    id: str
    severity: Literal["note", "warning", "error"]
    text: str
    evidence: str
    cause: str = ""
    next_command: str = ""
    paths: tuple[str, ...] = ()
    share: float | None = None  # of the time of its paths, that it explains or puts in doubt; None: not known


class ClaimCheck(Frozen, frozen=True):
    """A published claim against what was measured here."""

    id: str
    claim: str
    outcome: Literal["holds", "does not hold", "uncertain"]
    figure: str


class Published(Frozen, frozen=True):
    """A published figure beside the measured one, both relative to the same reference row of their column."""

    column: str
    row: str
    value: float
    unit: str
    ratio: float | None
    measured_name: str = ""
    measured_value: float | None = None
    measured_ratio: float | None = None
    note: str = ""


class AcrossLink(Frozen, frozen=True):
    """A path over an emulated link beside the same path without it; times in ns per operation.

    Predicted: the time without the link + round trips × what the link adds to each.
    """

    workload: str
    phase: str
    regime: Regime
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


class Bar(Frozen, frozen=True):
    """A ranked path in one line.

    Client CPU + server CPU + waiting - overlap = cost: both sides work at once during the overlap.
    """

    name: str
    path_id: str
    cost_ns: float
    low_ns: float | None  # 95 % interval of the time
    high_ns: float | None
    ratio: float  # to the fastest
    ratio_low: float | None
    ratio_high: float | None
    tier: int
    tied: bool  # with the one before
    client_cpu_ns: float | None = None  # of one operation, on the measured cores; None: not measured
    server_cpu_ns: float | None = None  # None: not measured, or there is no server
    waiting_ns: float | None = None
    overlap_ns: float = 0.0
    provisional: bool = False
    note: str = ""  # of a probe: what it delivers and how it was measured: "yours", "columns", "a try"


class PhaseAnswer(Frozen, frozen=True):
    """The leading ranking of a workload phase; of a probe, the paths of one language."""

    workload: str
    phase: str
    regime: str
    comparison: str
    title: str  # "keyed.read", "Python"
    bars: tuple[Bar, ...]  # all ranked paths, fastest first
    floor_ns: float | None = None
    unranked: dict[str, str] = {}  # name → reason
    sets: int = 0
    rows: float = 0.0  # per operation; 0: none, or not known


class RateBar(Frozen, frozen=True):
    """What a client group reaches on one path."""

    name: str
    path_id: str
    rate_per_s: float
    low: float | None  # its interval
    high: float | None
    ratio: float  # to the greatest rate
    p99_ns: int | None  # latency in an open loop, service time in a closed one; None: withheld
    reached: bool  # the requested rate; closed loop: true
    failed: int


class GroupAnswer(Frozen, frozen=True):
    """A client group in one stage on every path, greatest rate first."""

    stage: str
    client_group: str
    clients: int
    requested_per_s: float | None  # open loop
    bars: tuple[RateBar, ...]
    sets: int


class MergedFinding(Frozen, frozen=True):
    """All findings of one id in one line."""

    id: str
    severity: Literal["note", "warning", "error"]  # the worst of its members'
    text: str
    paths: tuple[str, ...]
    weight: float  # greater: more consequential
    members: tuple[Finding, ...]


TrustLevel = Literal[
    "refused", "partial", "unproven", "provisional", "disturbed", "proven and quiet"
]  # the worst first


class Trust(Frozen, frozen=True):
    """How far a run can be trusted; `reasons`: each a sentence."""

    level: TrustLevel = "unproven"
    line: str = ""
    reasons: tuple[str, ...] = ()


class Hidden(Frozen, frozen=True):
    """What an answer does not show, and how many there are of it."""

    what: str  # "rankings", "findings"
    count: int


class Said(Frozen, frozen=True):
    """A sentence of the verdict: what it is about, and how much it matters among those of its kind."""

    kind: str
    text: str
    weight: float = 0.0


class Answer(Frozen, frozen=True):
    """The short form of an analysis: a question, an answer, pictures, certainty."""

    question: str = ""
    trust: Trust = Trust()
    phases: tuple[PhaseAnswer, ...] = ()  # the leading rankings; of a probe, its languages
    groups: tuple[GroupAnswer, ...] = ()  # of client groups at work at once
    sentences: tuple[str, ...] = ()  # at most five
    findings: tuple[MergedFinding, ...] = ()  # the most consequential first
    hidden: tuple[Hidden, ...] = ()


class Analysis(Frozen, frozen=True):
    """Everything that the reports show, derived only from a run directory."""

    run: RunRecord
    names: dict[str, str]  # path id → short name
    results: tuple[Result, ...]
    rankings: tuple[Ranking, ...]
    findings: tuple[Finding, ...]
    verdict: tuple[str, ...]
    refusal: str = ""  # whom the machine was too busy for; read first
    claims: tuple[ClaimCheck, ...] = ()
    published: tuple[Published, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    trust: dict[str, Any] = {}  # order of blocks, digests, disturbed, noise, floors, methods
    lines_of_code: dict[str, int] = {}
    lines_of_code_closure: dict[str, int] = {}
    cost_models: tuple[CostModel, ...] = ()
    sweeps: tuple[Sweep, ...] = ()
    scalings: tuple[Scaling, ...] = ()
    retrievals: tuple[Retrieval, ...] = ()
    block_sizes: tuple[BlockSizes, ...] = ()
    across_links: tuple[AcrossLink, ...] = ()
    probe: Probe | None = None
    mixed_load: MixedLoadReport | None = None  # of an experiment whose groups are at work at once
    path_details: tuple[PathDetails, ...] = ()
    sources: dict[str, str] = {}  # of adapters: file → text, as it was measured
    neighbours: tuple[Neighbour, ...] = ()
    explanations: tuple[Explanation, ...] = ()  # of single paths, made after the run
    pictures: tuple[PhaseAnswer, ...] = ()  # every ranking as bars
    answer: Answer = Answer()  # its short form; empty until it is made


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


class Retrieval(Frozen, frozen=True):
    """All ways of taking one table out of one engine under the same conditions; fastest first within each form."""

    workload: str
    phase: str
    regime: Regime
    engine: str
    deployment: str
    conditions: str  # "placement=split, transport=tcp"
    rows: float
    paths: tuple[RetrievalPath, ...]
    floors: tuple[RetrievalPath, ...]  # the one that ratios are to comes first
    no_floor: str  # why there is none
    aggregate: str  # the path by which the engine computed one row over the same table; empty: none
    aggregate_ns: float | None


class BlockSize(Frozen, frozen=True):
    """One size of the block in which rows are requested; the ratio is to the fastest size."""

    size: int
    name: str
    cost_ns: float
    against: Against | None
    client_peak_bytes: float | None


class BlockSizes(Frozen, frozen=True):
    """What the size of a block does to one path.

    `enough`: the least size that is not shown to be slower than the fastest; None where intervals are missing.
    """

    workload: str
    phase: str
    regime: Regime
    name: str  # of the path, without its size
    what: str  # "result=cursor"
    sizes: tuple[BlockSize, ...]  # smallest first
    enough: int | None


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


class PathDetails(Frozen, frozen=True):
    """What a path was, as its own worker reported it, and the command that measures only it."""

    path_id: str
    name: str
    versions: dict[str, str]
    settings: dict[str, str]
    command: str
    source: str = ""  # the adapter's own file, of `Analysis.sources`


class Neighbour(Frozen, frozen=True):
    """The path of a ranking that is most like the named one; `against`: the named one's cost relative to it."""

    workload: str
    phase: str
    regime: str
    path_id: str
    other_id: str
    against: Against | None
