"""A database moved by copying its directory, to another deployment or version: its rows must still be the same."""

from __future__ import annotations

import functools
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from rowpath.engines import ENGINES, backup, load_through_runner
from rowpath.engines.base import Instance, Place
from rowpath.engines.jvm_engine import JvmDirectory, JvmEngine, JvmServer
from rowpath.errors import RowpathError
from rowpath.execution.mixed_load.durability import digest_of
from rowpath.execution.worker import Worker
from rowpath.journal.mixed_load_records import DirectoryCopyRecord
from rowpath.journal.record_base import Record
from rowpath.journal.records import NoteRecord
from rowpath.machine import cpus, private_directories
from rowpath.model.availability import Availability
from rowpath.model.experiment import CopyEnd, DirectoryCopyTable
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table
from rowpath.planning.plan import Plan, PlannedPath, key_of
from rowpath.runners.manifest import build
from rowpath.runners.process import RunnerFailure
from rowpath.workloads.expected_scan import whole_table

MADE_ROWS = 100_000  # of a table at most, where another version makes the database: it shows as much as a million

Log = Callable[[str], None]


def carry_out_all(
    plan: Plan, folder: Path, write: Callable[[Record], None], note: Log, log: Log, timeout_s: float
) -> None:
    """Every move of the experiment whose engine the plan has, journalled; one that cannot be made is named with why."""
    tables = {
        name: table for workload in plan.workloads.values() for name, table in workload.tables.items() if table.rows
    }
    for number, (move, here) in enumerate(_moves(plan)):
        if not here.ok:
            write(NoteRecord(_skipped(here)))
            note(_skipped(here))
            continue
        note(f"moving {here.what}")
        place = folder / f"move-{number}"
        for moved in carry_out(move, tables, "none", place, log, timeout_s):
            write(moved)
            if not moved.ok:
                note(f"{moved.source} → {moved.target}: {moved.reason}")
        shutil.rmtree(place, ignore_errors=True)


def announced(plan: Plan) -> Iterator[str]:
    """A line for every move that this plan would make, or would leave out and why."""
    for move, here in _moves(plan):
        host = next(key_of(planned.path)[-1] for planned in plan.paths if planned.path.engine == move.engine)
        where = f" on host {host}" if host != "none" else ""
        yield f"directory copy{where}: {here.what}" if here.ok else _skipped(here)


def _moves(plan: Plan) -> list[tuple[DirectoryCopyTable, Availability]]:
    """The moves of the experiment whose engine the plan has."""
    engines = {planned.path.engine for planned in plan.paths}
    return [(move, availability(move)) for move in plan.experiment.directory_copies if move.engine in engines]


def _skipped(here: Availability) -> str:
    remedy = f"; enable it with: {here.remedy}" if here.remedy else ""
    return f"skipped directory copy {here.what}: {here.reason}{remedy}"


def availability(move: DirectoryCopyTable) -> Availability:
    """Whether both versions are here; starts and fetches nothing."""
    engine = _engine(move)
    what = f"{_name(move, move.source)} → {_name(move, move.target)}"  # Derby 10.3.1.4 embedded → Derby 10.8.2.2 …
    for version in (move.source.version, move.target.version):
        if version and version not in engine.movable_versions():
            known = ", ".join(engine.movable_versions())
            return Availability(False, what, f"unknown version {version} of {engine.title}", f"one of: {known}")
        here: Availability = engine.availability_of(version, "off") if version else engine.availability()
        if not here.ok:
            break
    return replace(here, what=what)


def carry_out(
    move: DirectoryCopyTable, tables: dict[str, Table], durability: str, folder: Path, log: Log, timeout_s: float
) -> Iterator[DirectoryCopyRecord]:
    """Make the database at the source, copy its directory to the target, read every table there.

    The digest at the source must be that of what was loaded, the one at the target the same. Where another version
    embeds it, it is read twice: as the source's version left it, then upgraded for good. `folder`: an empty one for
    both. What goes wrong is a record that is not ok, never an exception.
    """
    if move.source.version != move.target.version:
        tables = {
            name: msgspec.structs.replace(table, rows=min(table.rows, MADE_ROWS)) for name, table in tables.items()
        }
    expected = _joined(tables, lambda _name, table: whole_table(table, table.columns).digest(1, table.rows))
    source, target = _name(move, move.source), _name(move, move.target)
    size, ns = 0, 0
    steps = [(target, "")]

    def copied(at: str, digest: str, ok: bool, reason: str) -> DirectoryCopyRecord:
        return DirectoryCopyRecord(
            source=source, target=at, bytes=size, ns=ns, digest=digest, expected=expected, ok=ok, reason=reason
        )

    if move.source.version != move.target.version and move.target.deployment == "embedded":
        steps.append((f"{target}, upgraded", "true"))
    instances: list[Instance] = []

    def at(end: CopyEnd, name: str) -> Instance:
        engine: JvmEngine = _engine(move)
        (folder / name).mkdir(parents=True, mode=0o700)
        place = Place(folder / name, folder / name, cpus.server_cpus("free"), version=end.version)
        instances.append(engine.instance(end.deployment, durability, place))
        return instances[-1]

    try:
        made, planned = at(move.source, "source"), planned_at(move, move.source, durability)
        made.start()
        made.load(tables)
        made.own_copy(planned.path)
        database = Path(made.options(planned.path)["path"])
        if (read := _read(planned, made, tables, log, timeout_s)) != expected:
            yield copied(target, read, False, "the source does not hold the rows that were loaded")
            return
        size = private_directories.size_bytes(database)
        begun_ns = time.monotonic_ns()
        moved = at(move.target, "target")
        assert isinstance(moved, JvmDirectory | JvmServer)
        moved.adopt(database)
        ns = time.monotonic_ns() - begun_ns
        planned = planned_at(move, move.target, durability)
        while steps:
            name, upgrade = steps[0]
            read = _read(planned, moved, tables, log, timeout_s, upgrade=upgrade)
            ok = read == expected
            yield copied(name, read, ok, "" if ok else "its rows differ from the source's")
            steps.pop(0)
    except (RowpathError, RunnerFailure) as error:
        yield copied(steps[0][0], "", False, str(error))
    finally:
        for instance in reversed(instances):
            backup.passing(instance).stop()


def _read(
    planned: PlannedPath, instance: Instance, tables: dict[str, Table], log: Log, timeout_s: float, upgrade: str = ""
) -> str:
    """The digest of every table, through a runner of the end's own version; the database is closed afterwards."""
    build([(planned.adapter, planned.path.version)])
    worker = Worker(planned, instance, log=log, timeout_s=timeout_s)
    try:
        worker.open(**({"upgrade": upgrade} if upgrade else {}))
        return _joined(tables, functools.partial(digest_of, worker))
    finally:
        worker.close()


def _joined(tables: dict[str, Table], digest: Callable[[str, Table], str]) -> str:
    return " ".join(f"{name}={digest(name, table)}" for name, table in tables.items())


def _engine(move: DirectoryCopyTable) -> Any:
    return ENGINES[move.engine]


def _name(move: DirectoryCopyTable, end: CopyEnd) -> str:
    engine = _engine(move)
    return f"{engine.title} {end.version or engine.version()} {end.deployment}"


def planned_at(move: DirectoryCopyTable, end: CopyEnd, durability: str) -> PlannedPath:
    engine: JvmEngine = _engine(move)
    adapter = load_through_runner.loader(engine.name)
    version = end.version or engine.version()
    coordinates = {
        "engine": engine.name,
        "engine_version": version,
        "deployment": end.deployment,
        "language": adapter.language,
        "driver": adapter.driver,
        "version": version,
        "statement": "prepared",
        "placement": "free",
        "clients": "1",
        "durability": durability,
    }
    return PlannedPath(AccessPath.of(coordinates), adapter, (), _name(move, end))
