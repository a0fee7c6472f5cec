"""What a probe found, typed, with no I/O: docs/probe.md explains how to read each."""

from __future__ import annotations

from rowpath.model.base import Frozen

LEAST_GAIN = 0.03  # of time: a path that is at most this much faster is no other answer


class TriedPath(Frozen, frozen=True):
    """A candidate: the last step it was in, and why it went no further.

    `ratio`: its cost relative to the fastest's; None where it has none. In the journal it is relative to that of
    `compared_with`, a path's name. `description`: its driver and settings in words; `baseline`: `yours` or `usual`
    where it is what the others are compared with.
    """

    name: str
    path: dict[str, str]
    step: str
    left: str = ""
    status: str = "ok"
    execution_ns: float | None = None
    rows: int | None = None
    digest: str = ""
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    compared_with: str = ""
    description: str = ""
    title: str = ""  # of its language
    baseline: str = ""


class LanguageRow(Frozen, frozen=True):
    """A driver's fastest setting in one fetch form; ratios are to the fastest of its language, with their interval."""

    name: str
    description: str
    form: str
    time_ns: float
    ratio: float
    low: float | None
    high: float | None
    step: str
    baseline: str = ""


class Baseline(Frozen, frozen=True):
    """What the paths of a language are compared with: the user's present way, or the usual driver as it ships."""

    kind: str  # `yours` or `usual`
    name: str
    description: str
    form: str
    time_ns: float


class Saving(Frozen, frozen=True):
    """A path beside its language's baseline: by which share of the baseline's time it is faster, with its interval."""

    name: str
    description: str
    form: str
    time_ns: float
    share: float
    low: float | None
    high: float | None
    sure: bool  # shown to be faster by more than what counts as tied
    sets: int = 0  # of the interval; 0: there is none


class LanguageBest(Frozen, frozen=True):
    """The fastest path of a language, of whatever fetch form, and all of its drivers in their fastest settings."""

    language: str
    name: str
    form: str
    time_ns: float
    ratio: float  # to the fastest of all
    step: str
    title: str = ""  # the language's name as it is written
    rows: tuple[LanguageRow, ...] = ()
    baseline: Baseline | None = None
    savings: tuple[Saving, ...] = ()  # of the fastest path, and of the fastest in the baseline's own form


class Setting(Frozen, frozen=True):
    """How much a setting matters: of the paths that differ only in it, the two that lie furthest apart."""

    coordinate: str
    better: str
    worse: str
    ratio: float
    driver: str
    step: str  # the rougher one of the two paths'


class DigestGroup(Frozen, frozen=True):
    """Paths that delivered the same rows, and how these differ from those of most implementations.

    `difference`: the first column in which they are others; `example`: its first row, as each side delivered it.
    """

    digest: str
    rows: int
    names: tuple[str, ...]
    difference: str = ""
    example: str = ""
    tied: bool = False  # as many implementations say this as say the other: nobody knows who is right
    notes: tuple[str, ...] = ()  # what was not compared of these paths, or less exactly


class Snippet(Frozen, frozen=True):
    """A complete program for the fastest path of a language."""

    language: str
    name: str
    file: str
    text: str
    run: str  # how it is built and started
    changed: str = ""  # its lines that differ from the program of the baseline: `9, 14–16`


class PlanFacts(Frozen, frozen=True):
    """What EXPLAIN shows of one plan: its scans, the indexes with a condition, the planner's cost."""

    scans: tuple[str, ...]
    indexes: tuple[str, ...]
    cost: float


class ParameterTypes(Frozen, frozen=True):
    """Parameters that arrive as other types than the server takes from the columns, and the plan for each of both."""

    sent: tuple[str, ...]
    column: tuple[str, ...]
    plan_sent: PlanFacts
    plan_column: PlanFacts
    names: tuple[str, ...] = ()  # of the paths that send them so


class Probe(Frozen, frozen=True):
    """What a probe found; docs/probe.md explains how to read each."""

    tried: tuple[TriedPath, ...]
    languages: tuple[LanguageBest, ...]
    settings: tuple[Setting, ...]
    digest_groups: tuple[DigestGroup, ...]
    caveats: tuple[str, ...]  # what cannot be known, in sentences
    snippets: tuple[Snippet, ...]
    not_compared: str = ""  # which columns of the rows, in a sentence; empty: none
