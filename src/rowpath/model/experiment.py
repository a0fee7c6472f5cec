"""An experiment's file: paths, phases, how to measure, client groups, claims."""

from __future__ import annotations

from typing import Literal

from rowpath.model.base import Frozen, Regime
from rowpath.model.claims import Claim, Consistency, PublishedColumn
from rowpath.model.mixed_load import ClientGroupTable, DirectoryCopyTable, RateSearchTable, StageTable

SCHEMA_VERSION = 1


class Measure(Frozen, frozen=True):
    """How to measure: sets, rounds, block lengths, regimes, and how long warming up may take."""

    sets: int = 6
    max_sets: int = 14  # above `sets`: go on with paths whose interval is wider than `target_half_width`
    target_half_width: float = 0.02
    rounds: int = 15
    block_ms: float = 10.0
    lead_in_ms: float = 2.0
    regimes: tuple[Regime, ...] = ("cold", "steady")
    warm_cap_s: float = 4.0
    settle_pause_ms: float = 20.0
    write_regimes: tuple[Regime, ...] = ("cold", "steady")  # those of `regimes` in which write phases are run


class Selection(Frozen, frozen=True):
    """Some paths: coordinates with a value, a list of values, or "*" for every value the adapter has.

    A coordinate left out takes the adapter's first value (profile `tuned`) or the driver's default (`shipped`).
    """

    select: dict[str, str | tuple[str, ...]]
    name: str = ""
    phases: tuple[str, ...] = ()  # only these of the experiment's phases; empty: all it can serve
    extended: bool = False  # runs with --all only

    @property
    def wanted(self) -> dict[str, tuple[str, ...]]:
        """The values of each named coordinate."""
        return {key: (value,) if isinstance(value, str) else tuple(value) for key, value in self.select.items()}


class CostModelTable(Frozen, frozen=True):
    """A cost model to fit over the phases of one workload: per operation, row, value and byte."""

    workload: str
    held_out: tuple[str, ...] = ()  # phases that are predicted instead of fitted


class SweepTable(Frozen, frozen=True):
    """Sizes of a result to draw a line through: the phases of one workload, by their `rows_per_operation`."""

    workload: str


class RigorousTable(Frozen, frozen=True):
    """What `--rigorous` does at length and a run without it, which ends within ten minutes, does not; 0: no other."""

    scale: float = 0.0
    seconds: float = 0.0  # of each stage that waits for nothing


class Experiment(Frozen, frozen=True):
    """Workloads × a selection of paths × how to measure, the published figures and the claims to check."""

    schema_version: int
    name: str
    title: str
    phases: tuple[str, ...]
    paths: tuple[Selection, ...]
    question: str = ""
    source: str = ""
    workload_files: tuple[str, ...] = ()
    measure: Measure = Measure()
    rigorous: RigorousTable = RigorousTable()
    scale: float = 0.0  # of workloads that have one; 0: their own default
    per_operations: int = 0  # also a table of what this many operations take; 0: none
    published: tuple[PublishedColumn, ...] = ()
    claims: tuple[Claim, ...] = ()
    consistency: tuple[Consistency, ...] = ()
    notes: tuple[str, ...] = ()
    model: CostModelTable | None = None
    sweep: SweepTable | None = None
    client_groups: tuple[ClientGroupTable, ...] = ()  # several at work at once: then `stages` instead of blocks
    stages: tuple[StageTable, ...] = ()
    directory_copies: tuple[DirectoryCopyTable, ...] = ()  # of database directories, before the first set
    rate_search: RateSearchTable | None = None
    together: tuple[
        Literal["fetch", "pipeline", "threads", "tls", "link", "clients", "placement"], ...
    ] = ()  # rank in one list all the same
