"""The nouns of an answer: pictures, trust, findings, sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Literal

from rowpath import text
from rowpath.model.base import Frozen, OfPhase

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


class Finding(Frozen, frozen=True):
    """A statement with its evidence, its cause and the next command."""

    id: str
    severity: Severity
    text: str
    evidence: str
    cause: str = ""
    next_command: str = ""
    paths: tuple[str, ...] = ()
    share: float | None = None  # of the time of its paths, that it explains or puts in doubt; None: not known


# What a rule states: everything but the id, which is the rule's.
error, warning, note = partial(Finding, "", "error"), partial(Finding, "", "warning"), partial(Finding, "", "note")


class RankedRatio:
    """Base of a path's place in a ranking: what its ratio to the fastest says, with the interval."""

    __slots__ = ()
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None

    @property
    def is_fastest(self) -> bool:
        """Whether it is what the others are compared with: its own ratio has no interval."""
        return self.ratio == 1 and self.ratio_low == self.ratio_high

    @property
    def interval(self) -> str:
        """The 95 % interval of its ratio in words; empty of the fastest, and where it is not known."""
        return "" if self.is_fastest else text.interval(self.ratio_low, self.ratio_high)


class Bar(RankedRatio, Frozen, frozen=True):
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
    pooler_cpu_ns: float | None = None  # None: there is no pooler
    waiting_ns: float | None = None
    overlap_ns: float = 0.0
    provisional: bool = False
    note: str = ""  # of a probe: what it delivers and how it was measured: "yours", "columns", "a try"

    @property
    def parts(self) -> tuple[tuple[str, float], ...]:
        """Kinds of time by their share: of the whole time, or of all CPU where both sides work at once."""
        kinds = {"client": self.client_cpu_ns, "pooler": self.pooler_cpu_ns, "server": self.server_cpu_ns}
        kinds["waiting"] = self.waiting_ns
        total = sum(value or 0.0 for value in kinds.values())
        if self.client_cpu_ns is None or total <= 0:
            return (("all", 1.0),)
        return tuple((kind, value / total) for kind, value in kinds.items() if value and value > 0)


def places(bars: Sequence[Bar]) -> Iterator[tuple[str, str]]:
    """Each bar's rank, which it shares with those it is tied with, and where it stands in their bracket.

    Ranks are `1`, or `1=` of tied ones; brackets `first`, `middle`, `last`, or empty.
    """
    brackets = {(False, False): "", (False, True): "first", (True, True): "middle", (True, False): "last"}
    first = 0
    for at, bar in enumerate(bars):
        first = first if bar.tied else at
        bracket = brackets[bar.tied, at + 1 < len(bars) and bars[at + 1].tied]
        yield f"{first + 1}{'=' if bracket else ''}", bracket


class PhaseAnswer(OfPhase, frozen=True):
    """The leading ranking of a workload phase; of a probe, the paths of one language."""

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
    severity: Severity  # the worst of its members'
    text: str
    paths: tuple[str, ...]
    weight: float  # greater: more consequential
    members: tuple[Finding, ...]


# The worst first.
TrustLevel = Literal["refused", "partial", "unproven", "provisional", "disturbed", "proven and quiet"]


class Trust(Frozen, frozen=True):
    """How far a run can be trusted; `reasons`: each a sentence."""

    level: TrustLevel = "unproven"
    line: str = ""
    reasons: tuple[str, ...] = ()


class Hidden(Frozen, frozen=True):
    """What an answer does not show, and how many there are of it."""

    what: str  # "rankings", "findings"
    count: int


class Sentence(Frozen, frozen=True):
    """A sentence of the verdict: what it is about, and how much it matters among those of its kind."""

    kind: str
    text: str
    weight: float = 0.0


class NotRanked(Frozen, frozen=True):
    """Paths that are not ranked for one reason: the first one's words."""

    status: str  # wrong, failed; in a probe also unsupported
    names: tuple[str, ...]
    reason: str

    @property
    def line(self) -> str:
        """In words, the first path by name."""
        more = f" and {len(self.names) - 1} more" if len(self.names) > 1 else ""
        return f"{self.names[0]}{more} {self.status}: {self.reason}"


class Answer(Frozen, frozen=True):
    """The short form of an analysis: a question, an answer, pictures, certainty."""

    question: str = ""
    trust: Trust = Trust()
    phases: tuple[PhaseAnswer, ...] = ()  # the leading rankings; of a probe, its languages
    groups: tuple[GroupAnswer, ...] = ()  # of client groups at work at once
    not_ranked: tuple[NotRanked, ...] = ()  # the most paths first
    sentences: tuple[str, ...] = ()  # at most five
    findings: tuple[MergedFinding, ...] = ()  # the most consequential first
    hidden: tuple[Hidden, ...] = ()
