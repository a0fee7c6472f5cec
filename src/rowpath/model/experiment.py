"""An experiment's file: paths, phases, how to measure, client groups, claims."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from rowpath.model.base import Frozen, Regime
from rowpath.model.claims import Claim, Consistency, Factors, PublishedColumn

SCHEMA_VERSION = 1
Pacing = Literal["closed", "fixed", "poisson"]
Dispatch = Literal["own", "shared"]
Action = Literal["", "backup"]
Together = Literal["fetch", "pipeline", "threads", "tls", "link", "clients", "placement"]


class ClientGroupTable(Frozen, frozen=True):
    """Some clients with one operation and one pacing, at work in the stages that name them."""

    name: str
    phase: str = ""  # workload.phase; empty: an action
    action: Action = ""  # what the engine does as a whole, once for each repetition
    clients: int = 1
    over: Literal["", "load"] = ""  # spread over every host in that role; empty: on the client's host
    pacing: Pacing = "closed"
    rate_per_s: float = 0.0  # open loop: of the whole group
    dispatch: Dispatch = "own"  # shared: any free client takes the group's next arrival
    population: int = 0  # closed loop, shared: callers that stand in one queue for the clients
    begin_s: float = 0.0  # after the stage's begin, or after what `after` names
    after: str = ""  # "backup.begin" or "backup.end": it waits for that of another group of the stage
    times: int = 0  # operations of each client, repetitions of an action (0: one); 0: until the stage ends
    pause_s: float = 0.0  # between two operations of a client, or two repetitions of an action

    @property
    def has_dues(self) -> bool:
        """Whether its operations are due at some time, from which their latency counts."""
        return self.pacing != "closed" or self.dispatch == "shared"


class StageTable(Frozen, frozen=True):
    """A stage of time in which certain groups are at work."""

    name: str
    client_groups: tuple[str, ...]
    seconds: float = 10.0  # at most, where `until` is named
    until: str = ""  # it ends when this group is done
    clients: dict[str, int] = {}  # other numbers of clients than the groups' own
    rates: dict[str, float] = {}  # other rates than the groups' own
    kill_s: float = 0.0  # so long after its begin the engine's process is killed (SIGKILL), then recovers; 0: never
    extended: bool = False  # runs with --all only


class RateSearchTable(Frozen, frozen=True):
    """A search for the highest rate of a group at which the 99th percentile of its latency stays under a bound."""

    client_group: str
    p99_ms: float
    begin_per_s: float = 100.0
    seconds: float = 3.0  # each rate tried
    tries: int = 12


class CopyEnd(Frozen, frozen=True):
    """Where a database is: which version of its engine has it, in a program or behind a server."""

    version: str = ""  # empty: the default
    deployment: Literal["embedded", "server"] = "embedded"


class DirectoryCopyTable(Frozen, frozen=True):
    """A database directory made by one end and copied to the other, whose rows must still be the same."""

    source: CopyEnd
    target: CopyEnd
    engine: str = "derby"  # one whose databases are directories that know no users


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
    factors: tuple[Factors, ...] = ()
    consistency: tuple[Consistency, ...] = ()
    notes: tuple[str, ...] = ()
    model: CostModelTable | None = None
    sweep: SweepTable | None = None
    client_groups: tuple[ClientGroupTable, ...] = ()  # several at work at once: then `stages` instead of blocks
    stages: tuple[StageTable, ...] = ()
    directory_copies: tuple[DirectoryCopyTable, ...] = ()  # of database directories, before the first set
    rate_search: RateSearchTable | None = None
    together: tuple[Together, ...] = ()  # rank in one list all the same


def schema() -> dict[str, Any]:
    """The JSON Schema of an experiment's file, for editors that complete and check TOML."""
    made = msgspec.json.schema(Experiment)
    made["$defs"]["Experiment"]["properties"]["schema_version"]["const"] = SCHEMA_VERSION
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Rowpath experiment"} | made
