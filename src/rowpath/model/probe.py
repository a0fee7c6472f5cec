"""What a probe found, typed, with no I/O: docs/probe.md explains how to read each."""

from __future__ import annotations

from rowpath.model.base import Frozen


class TriedPath(Frozen, frozen=True):
    """A candidate: the last step it was in, and why it went no further.

    `ratio`: its cost relative to the fastest's; None where it has none. In the journal it is relative to `anchor`, the
    name of the one that it was last compared with.
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
    anchor: str = ""


class LanguageBest(Frozen, frozen=True):
    """The fastest path of a language, of whatever fetch form."""

    language: str
    name: str
    form: str
    time_ns: float
    ratio: float  # to the fastest of all
    step: str


class Setting(Frozen, frozen=True):
    """How much a setting matters: of the paths that differ only in it, the two that lie furthest apart."""

    coordinate: str
    better: str
    worse: str
    ratio: float
    driver: str
    step: str  # the rougher one of the two paths'


class AtRoundTrip(Frozen, frozen=True):
    """What a path would take at other round-trip times: its time here + round trips × each of them."""

    name: str
    round_trips: float | None  # per execution; None: not known
    time_ns: float
    at_ns: tuple[float, ...] = ()  # at each of probe/results.py's times


class DigestGroup(Frozen, frozen=True):
    """Paths that delivered the same rows; `difference`: the first column that differs from the largest group's."""

    digest: str
    rows: int
    names: tuple[str, ...]
    difference: str = ""


class Snippet(Frozen, frozen=True):
    """A complete program for the fastest path of a language."""

    language: str
    name: str
    file: str
    text: str
    run: str  # how it is built and started


class Probe(Frozen, frozen=True):
    """What a probe found; docs/probe.md explains how to read each."""

    tried: tuple[TriedPath, ...]
    languages: tuple[LanguageBest, ...]
    settings: tuple[Setting, ...]
    at_round_trips: tuple[AtRoundTrip, ...]
    digest_groups: tuple[DigestGroup, ...]
    limits: tuple[str, ...]  # what cannot be known, in sentences
    snippets: tuple[Snippet, ...]
