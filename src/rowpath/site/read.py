"""From run directories to what a site shows of them, a noun each: every journal is read once, several side by side."""

from __future__ import annotations

import hashlib
import os
import re
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import msgspec
from typing_extensions import override

from rowpath.analysis.analyse import analysis_of, gather
from rowpath.analysis.answer_model import GroupAnswer, PhaseAnswer, Trust
from rowpath.analysis.chapters.factors import CHAPTER as FACTORS
from rowpath.analysis.chapters.factors import TakenApart
from rowpath.analysis.chapters.published import CLAIMS
from rowpath.analysis.comparison.pairs import memory_kib, system, without_places
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.model import Analysis, ClaimCheck, PathDetails
from rowpath.analysis.statistics.intervals import CONFIDENCE, SETS_FOR_CLAIMS, quantile
from rowpath.errors import RowpathError, UsageError
from rowpath.journal import FILE
from rowpath.journal.records import PathRecord
from rowpath.machine import cpus, processes
from rowpath.model.base import Frozen
from rowpath.model.path import WITHOUT, WithCoordinates
from rowpath.report import html
from rowpath.site.requirements import digests, problems

DIGITS = 8  # of a journal's digest in the id of its run
UNNAMED_VERSIONS = ("system", "bundled", "own", "none", "")
KIB_PER_GIB = 1024 * 1024


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
    claims: tuple[ClaimCheck, ...] = ()
    factors: tuple[TakenApart, ...] = ()

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


def run_directories(places: Iterable[Path]) -> list[Path]:
    """Every run directory in these places or below them, in the order of their names; UsageError without any."""
    listed = list(places)
    for place in listed:
        if not place.is_dir():
            raise UsageError(f"{place} is not a directory", "rowpath site DIR -o SITE, with a directory of runs")
    directories = dict.fromkeys(file.parent for place in listed for file in sorted(place.rglob(FILE)))
    if not directories:
        named = ", ".join(map(str, listed))
        raise UsageError(f"no run directory in {named}: none has a {FILE}", "rowpath run tour -o DIR/tour")
    return list(directories)


def examine_all(
    directories: Iterable[Path], pages: Path | None, on_examined: Callable[[Examined], object] = lambda _: None
) -> list[Examined]:
    """Every run, the oldest first, as many at once as there are cores; `pages`: where report pages go.

    A journal that stands in two directories counts once: the later one is refused.
    """
    first: dict[str, Path] = {}
    todo, copies = [], []
    for directory in directories:
        digest = _digest(directory / FILE)
        if digest in first:
            copies.append(Examined(str(directory), digest, (f"its journal is that of {first[digest].name}",)))
        else:
            first[digest] = directory
            todo.append((directory, digest, pages))
    examined: list[Examined] = []
    for run in (*_side_by_side(todo), *copies):
        on_examined(run)
        examined.append(run)
    return sorted(examined, key=lambda run: (run.run.started if run.run else "", run.digest, run.directory))


def _side_by_side(todo: list[tuple[Path, str, Path | None]]) -> Iterator[Examined]:
    workers = min(len(todo), len(cpus.usable()))
    if workers < 2:
        yield from map(_examine, todo)
        return
    # Forked, because importing the analysis again takes as long as reading ten runs. So does what the first run loads.
    html.prepare()
    quantile(SETS_FOR_CLAIMS - 1, CONFIDENCE)
    pool = ProcessPoolExecutor(workers, get_context("fork"), initializer=_in_the_child, initargs=(os.getpid(),))
    try:
        yield from pool.map(_examine, todo)
    finally:
        pool.shutdown(cancel_futures=True)


def _in_the_child(parent: int) -> None:
    """End with the parent, however it ends, and leave interruptions to it."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    processes.die_with(parent)


def _digest(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}", "chmod it, or name another directory") from error


def _examine(job: tuple[Path, str, Path | None]) -> Examined:
    directory, digest, pages = job
    try:
        evidence = gather(directory)
        analysis = analysis_of(evidence)
        refusals = problems(evidence, analysis)
        run = _site_run(directory, digest, evidence, analysis)
    except RowpathError as error:
        return Examined(str(directory), digest, (error.message,))
    except Exception as error:  # a stranger's journal may hold anything, and one must not stop the others
        return Examined(str(directory), digest, (f"it cannot be analysed: {type(error).__name__}: {error}",))
    if not refusals and pages is not None:
        (pages / run.id).mkdir(parents=True, exist_ok=True)
        html.write(analysis, pages / run.id / "index.html")
    return Examined(str(directory), digest, refusals, run)


def slug(name: str) -> str:
    """A name as a file's name: small letters, digits, dots and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "unnamed"


def _site_run(directory: Path, digest: str, evidence: Evidence, analysis: Analysis) -> SiteRun:
    run = evidence.journal.run
    details = {one.path_id: one for one in analysis.path_details}
    name = run.experiment.name or "unnamed"
    return SiteRun(
        id=f"{slug(name)}-{slug(run.started[:10])}-{digest[:DIGITS]}",
        directory=str(directory),
        experiment=name,
        title=run.experiment.title,
        question=run.experiment.question,
        started=run.started,
        rowpath=run.rowpath,
        system=system(run.environment),
        machine=machine_of(run.environment),
        trust=analysis.answer.trust,
        sets=max((one.sets for one in analysis.answer.phases), default=0),
        sentences=analysis.answer.sentences,
        phases=analysis.answer.phases,
        groups=analysis.answer.groups,
        paths={path_id: _path(path, details[path_id]) for path_id, path in evidence.journal.paths.items()},
        timed=tuple(_timed(evidence)),
        data=_data(evidence),
        digests=digests(evidence),
        claims=CLAIMS.of(analysis),
        factors=FACTORS.of(analysis),
    )


def machine_of(environment: Mapping[str, Any]) -> Machine:
    """The machine that a run states."""
    return Machine(
        processor=str(environment.get("processor") or "unknown processor"),
        cpus=int(environment.get("cpus") or 0),
        cores_used=len(environment.get("cores_used") or ()),
        memory_gib=round(memory_kib(environment) / KIB_PER_GIB),
        virtualised=bool(environment.get("virtualised")),
    )


def _path(path: PathRecord, details: PathDetails) -> SitePath:
    driver, engine, runtime = (without_places(details.versions.get(of, "")) for of in ("driver", "engine", "runtime"))
    return SitePath(
        path_id=path.path_id,
        name=path.name,
        coordinates=path.coordinates,
        version=driver or "not stated" if path.version in UNNAMED_VERSIONS else path.version,
        engine_version=engine or path.engine_version,
        runtime=runtime,
        own_build=bool(path.driver_digest),
        language_as_written=path.language_as_written,
    )


def _timed(evidence: Evidence) -> Iterator[Timed]:
    """Steady figures, and cold ones of phases that have no others."""
    sound = evidence.sound()
    steady = {cell.key[:3] for cell in sound if cell.regime == "steady"}
    for cell in sound:
        if cell.regime == "steady" or (cell.regime == "cold" and cell.key[:3] not in steady):
            yield Timed(cell.path.path_id, (cell.workload, cell.phase, cell.regime), cell.set_medians)


def _data(evidence: Evidence) -> dict[str, str]:
    """Everything that decides which rows there are, what is requested, and in blocks of which length."""
    run = evidence.journal.run
    common = run.experiment.scale, run.experiment.measure.block_ms, run.experiment.measure.lead_in_ms
    parts = {
        f"{name}.{phase.name}": msgspec.json.encode((workload.tables, phase, *common), order="sorted")
        for name, workload in run.workloads.items()
        for phase in workload.phases
    }
    return {phase: hashlib.sha256(encoded).hexdigest()[:DIGITS] for phase, encoded in parts.items()}
