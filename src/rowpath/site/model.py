"""The nouns of a site: a run as the pages need it, and what is known of a driver over many runs."""

from __future__ import annotations

from typing_extensions import override

from rowpath.analysis.answer_model import GroupAnswer, PhaseAnswer, Trust
from rowpath.model.base import Frozen
from rowpath.model.path import WITHOUT, WithCoordinates

Where = tuple[str, str, str]  # workload, phase, regime


class Machine(Frozen, frozen=True):
    """What a run says of its computer; runs that say the same count as runs of one machine."""

    processor: str
    cpus: int
    cores_used: int
    memory_gib: int
    virtualised: bool

    @property
    def words(self) -> str:
        """`AMD EPYC, 2 CPUs, 24 GiB, virtual`."""
        used = "" if self.cores_used == self.cpus else f" ({self.cores_used} used)"
        memory = f", {self.memory_gib} GiB" if self.memory_gib else ""
        return f"{self.processor}, {self.cpus} CPUs{used}{memory}{', virtual' if self.virtualised else ''}"


class SitePath(WithCoordinates, Frozen, frozen=True):
    """A path of a run, with the versions that its runner reported."""

    path_id: str
    name: str
    coordinates: dict[str, str]
    version: str  # of the driver
    engine_version: str
    runtime: str
    own_build: bool  # the driver is a file, not a release
    language_as_written: str = ""

    @override
    def get(self, key: str) -> str:
        """A coordinate; `none` where it has none."""
        return self.coordinates.get(key, "none")

    @property
    def driver_key(self) -> tuple[str, str]:
        """Language and name: a driver's name is one of its language."""
        return self.language, self.driver

    @property
    def key(self) -> str:
        """The path without the versions of driver and engine: what a history follows."""
        left = (item for item in sorted(self.coordinates.items()) if item[0] not in ("version", "engine_version"))
        return ",".join(f"{key}={value}" for key, value in left if value not in ("none", WITHOUT.get(key)))

    @property
    def versions(self) -> tuple[str, str, str]:
        """What must not change in a reference."""
        return self.version, self.engine_version, self.runtime


class Timed(Frozen, frozen=True):
    """What one path took in one phase: the median of each set, in ns per operation."""

    path_id: str
    where: Where
    set_ns: dict[int, float]


class SiteRun(Frozen, frozen=True):
    """A run that was read."""

    id: str
    directory: str
    experiment: str
    title: str
    question: str
    started: str  # ISO 8601
    rowpath: str
    system: str  # distribution and kernel
    machine: Machine
    trust: Trust
    sets: int
    sentences: tuple[str, ...]
    phases: tuple[PhaseAnswer, ...]  # its leading rankings
    groups: tuple[GroupAnswer, ...]
    paths: dict[str, SitePath]
    timed: tuple[Timed, ...]
    data: dict[str, str]  # workload.phase → fingerprint of its definition, scale and blocks
    digests: dict[str, str]  # workload.phase:rows → the fingerprint of what was delivered

    @property
    def date(self) -> str:
        """The day it began."""
        return self.started[:10]


class Examined(Frozen, frozen=True):
    """A run directory that was looked at; `problems`: why it is refused, each a clause."""

    directory: str
    digest: str  # of its journal
    problems: tuple[str, ...] = ()
    run: SiteRun | None = None


class Point(Frozen, frozen=True):
    """A driver's path in one run: its time ÷ the reference's, as a logarithm with its 95 % interval."""

    run: str
    date: str
    version: str
    mean: float
    low: float
    high: float
    error: float
    conditions: dict[str, str]  # what else may differ between two runs


class Change(Frozen, frozen=True):
    """Where a history changes its level; ratios are after ÷ before."""

    at: int  # the first point of the new level
    ratio: float
    low: float
    high: float
    what: str  # differs: `pgjdbc 42.7.4 → 42.7.5`
    how_much: str  # `8 % slower (6–10)`

    @property
    def text(self) -> str:
        """Both as a clause."""
        return f"{self.what}: {self.how_much}"


class History(Frozen, frozen=True):
    """One path of a driver in one phase on one machine, over versions and dates."""

    experiment: str
    where: Where
    name: str
    path_key: str
    driver: tuple[str, str]
    engine: str
    machine: str
    reference: str
    points: tuple[Point, ...]
    left_out: int = 0  # runs without the reference
    changes: tuple[Change, ...] = ()
