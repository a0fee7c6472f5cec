"""From run directories to what a site shows of them: each journal is read once, several side by side."""

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

from rowpath.analysis.analyse import analysis_of, gather
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.model import Analysis, PathDetails
from rowpath.analysis.statistics.intervals import CONFIDENCE, SETS_FOR_CLAIMS, quantile
from rowpath.errors import RowpathError, UsageError
from rowpath.journal import FILE
from rowpath.journal.records import PathRecord
from rowpath.machine import cpus, processes
from rowpath.report import html
from rowpath.site.model import Examined, Machine, SitePath, SiteRun, Timed
from rowpath.site.requirements import digests, problems

DIGITS = 8  # of a journal's digest in the id of its run
UNNAMED_VERSIONS = ("system", "bundled", "own", "none", "")
KIB_PER_GIB = 1024 * 1024


def run_directories(places: Iterable[Path]) -> list[Path]:
    """Every run directory in these places or below them, in the order of their names; UsageError without any."""
    found: dict[Path, None] = {}
    listed = list(places)
    for place in listed:
        if not place.is_dir():
            raise UsageError(f"{place} is not a directory", "rowpath site DIR -o SITE, with a directory of runs")
        found |= {file.parent: None for file in sorted(place.rglob(FILE))}
    if not found:
        named = ", ".join(map(str, listed))
        raise UsageError(f"no run directory in {named}: none has a {FILE}", "rowpath run tour -o DIR/tour")
    return list(found)


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
    found: list[Examined] = []
    for each in (*_side_by_side(todo), *copies):
        on_examined(each)
        found.append(each)
    return sorted(found, key=lambda each: (each.run.started if each.run else "", each.digest, each.directory))


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
        found = problems(evidence, analysis)
        run = _site_run(directory, digest, evidence, analysis)
    except RowpathError as error:
        return Examined(str(directory), digest, (error.message,))
    except Exception as error:  # a stranger's journal may hold anything, and one must not stop the others
        return Examined(str(directory), digest, (f"it cannot be analysed: {type(error).__name__}: {error}",))
    if not found and pages is not None:
        (pages / run.id).mkdir(parents=True, exist_ok=True)
        html.write(analysis, pages / run.id / "index.html")
    return Examined(str(directory), digest, found, run)


def slug(name: str) -> str:
    """A name as a file's name: small letters, digits, dots and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "unnamed"


def _site_run(directory: Path, digest: str, evidence: Evidence, analysis: Analysis) -> SiteRun:
    run = evidence.journal.run
    details = {each.path_id: each for each in analysis.path_details}
    name = run.experiment.name or "unnamed"
    return SiteRun(
        id=f"{slug(name)}-{slug(run.started[:10])}-{digest[:DIGITS]}",
        directory=str(directory),
        experiment=name,
        title=run.experiment.title,
        question=run.experiment.question,
        started=run.started,
        rowpath=run.rowpath,
        system=", ".join(str(run.environment[key]) for key in ("distribution", "kernel") if run.environment.get(key)),
        machine=machine_of(run.environment),
        trust=analysis.answer.trust,
        sets=max((each.sets for each in analysis.answer.phases), default=0),
        sentences=analysis.answer.sentences,
        phases=analysis.answer.phases,
        groups=analysis.answer.groups,
        paths={path_id: _path(path, details[path_id]) for path_id, path in evidence.journal.paths.items()},
        timed=tuple(_timed(evidence)),
        data=_data(evidence),
        digests=digests(evidence),
    )


def machine_of(environment: Mapping[str, Any]) -> Machine:
    """The machine that a run states."""
    memory = str(environment.get("memory_kib") or "0")
    return Machine(
        processor=str(environment.get("processor") or "unknown processor"),
        cpus=int(environment.get("cpus") or 0),
        cores_used=len(environment.get("cores_used") or ()),
        memory_gib=round(int(memory) / KIB_PER_GIB) if memory.isdigit() else 0,
        virtualised=bool(environment.get("virtualised")),
    )


def _path(path: PathRecord, details: PathDetails) -> SitePath:
    named = path.version
    reported = _without_places(details.versions.get("driver", ""))
    return SitePath(
        path_id=path.path_id,
        name=path.name,
        coordinates=path.coordinates,
        version=reported or "not stated" if named in UNNAMED_VERSIONS else named,
        engine_version=_without_places(details.versions.get("engine", "")) or path.engine_version,
        runtime=_without_places(details.versions.get("runtime", "")),
        own_build=bool(path.driver_digest),
        language_as_written=path.language_as_written,
    )


def _without_places(version: str) -> str:
    """A version without the places of its files, which are not the same in two runs."""
    return " ".join(word for word in version.split() if "/" not in word)


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
    measure = run.experiment.measure
    found = {}
    for name, workload in run.workloads.items():
        for phase in workload.phases:
            parts = (workload.tables, phase, run.experiment.scale, measure.block_ms, measure.lead_in_ms)
            encoded = msgspec.json.encode(parts, order="sorted")
            found[f"{name}.{phase.name}"] = hashlib.sha256(encoded).hexdigest()[:DIGITS]
    return found
