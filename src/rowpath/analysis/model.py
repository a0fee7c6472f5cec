"""The nouns of an analysis: everything that a report shows."""

from __future__ import annotations

from typing import Any, Literal

from rowpath.analysis.answer_model import Answer, Finding, PhaseAnswer, RankedRatio
from rowpath.journal.records import RunRecord
from rowpath.model.base import Frozen, OfPhase, Status
from rowpath.model.path import Dropped


class Result(OfPhase, frozen=True):
    """One record of the long form: one path × workload × phase × regime × metric (× stage × group of clients)."""

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


class RankedPath(RankedRatio, Frozen, frozen=True):
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

    @property
    def is_ranked(self) -> bool:
        """Whether the path has a place; wrong and failed ones, and those inside the floor's noise, have none."""
        return self.rank > 0 and self.cost_ns is not None and self.status in {"ok", "tied", "disturbed"}


class Ranking(OfPhase, frozen=True):
    """The paths ranked together for one workload phase and regime, fastest first; unranked ones at the end."""

    comparison: str  # what they have in common, in words ("placement=same, durability=full, rows")
    rows: tuple[RankedPath, ...]
    floor_ns: float | None = None
    sets: int = 0
    notes: tuple[str, ...] = ()


class Against(Frozen, frozen=True):
    """A cost as a ratio to another one, with its interval over the sets where there is one."""

    ratio: float
    low: float | None = None
    high: float | None = None


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


class Analysis(Frozen, frozen=True):
    """Everything that the reports show, derived only from a run directory."""

    run: RunRecord
    names: dict[str, str]  # path id → short name
    results: tuple[Result, ...]
    rankings: tuple[Ranking, ...]
    findings: tuple[Finding, ...]
    verdict: tuple[str, ...]
    refusal: str = ""  # whom the machine was too busy for; read first
    dropped: tuple[Dropped, ...] = ()
    chapters: dict[str, Any] = {}  # by key: the figures of each (`analysis/chapters`)
    diagnostics: dict[str, Any] = {}  # order of blocks, digests, disturbed, noise, floors, methods
    lines_of_code: dict[str, int] = {}
    lines_of_code_closure: dict[str, int] = {}
    path_details: tuple[PathDetails, ...] = ()
    sources: dict[str, str] = {}  # of adapters: file → text, as it was measured
    neighbours: tuple[Neighbour, ...] = ()
    pictures: tuple[PhaseAnswer, ...] = ()  # every ranking as bars
    answer: Answer = Answer()  # its short form; empty until it is made


class PathDetails(Frozen, frozen=True):
    """What a path was, as its own worker reported it, and the command that measures only it."""

    path_id: str
    name: str
    versions: dict[str, str]
    settings: dict[str, str]
    command: str
    source: str = ""  # the adapter's own file, of `Analysis.sources`
    sent: dict[str, tuple[str, ...]] = {}  # by phase, the statements of one operation, where a proxy read them


class Neighbour(OfPhase, frozen=True):
    """The path of a ranking that is most like the named one; `against`: the named one's cost relative to it."""

    path_id: str
    other_id: str
    against: Against | None
