"""Every type of an engine with awkward values, by every driver: what it delivers, compared with what was stored.

What a driver delivers otherwise, or refuses, stands in differences.json, in its own words; ROWPATH_UPDATE_TORTURE=1
writes that file, but not on 31 December, which some drivers deliver on every day. A list there holds what a driver
delivers in one process and not in the next, "" for the value as stored; it is written by hand. Rowpath itself refuses
nothing here, and has bytes for every value.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import sqlite3
import tomllib
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.conformance.selection import project_paths
from tests.engines.insides import psql
from tests.runners.protocol.codec_vectors import natural

from rowpath.checks.conformance.fixture import EngineFixture
from rowpath.engines.base import Instance
from rowpath.engines.postgresql.server import SUPERUSER
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.model.workload import Column, Phase
from rowpath.planning.plan import PlannedPath
from rowpath.probe.agreement import NO_COMMON_FORM
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import VerifyReply
from rowpath.workloads import codec
from rowpath.workloads.kept_rows import kept_values, shown

FOLDER = Path(__file__).parent / "torture"
TABLES = {"postgresql": "postgresql", "mariadb": "mariadb", "mysql": "mariadb", "sqlite": "sqlite", "duckdb": "duckdb"}
DIFFERENCES = FOLDER / "differences.json"
READ = "scan.read"  # what a path must be able to do: execute any query
UPDATE = "ROWPATH_UPDATE_TORTURE"
SHAPING = ("engine", "deployment", "fetch", "format", "statement", "decode")
OURS = ("ours: ", "verify: ", "internal: ")  # how outcomes begin that are no driver's
LONGEST = 100  # of an outcome
NULL = "NULL!"
ADDRESS = re.compile("0x[0-9a-f]{6,}")  # of an object, in Python's words
UNITS = (1_000, 1_000_000, 1_000_000_000)
STARTED = date.today()


class Kind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One type: how it is stored and declared; `from_`: the oldest version of the engine that has these values."""

    sql: str
    column: dict[str, Any]
    values: list[list[Any]]
    from_: int = msgspec.field(default=0, name="from")


class Database(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A database of PostgreSQL: its encoding, and the settings with which its sessions begin."""

    name: str
    encoding: str
    type: list[Kind]
    settings: list[str] = []


class Tables(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    type: list[Kind]
    before: list[str] = []


Stored = tuple[str, Kind, int, list[Any]]  # table, type, id, value


@cache
def tables(engine: str) -> Tables:
    return msgspec.convert(tomllib.loads((FOLDER / f"{TABLES[engine]}.toml").read_text()), Tables)


@cache
def databases() -> list[Database]:
    file = tomllib.loads((FOLDER / "databases.toml").read_text())
    return msgspec.convert(file["database"], list[Database])


def paths() -> Iterator[PlannedPath]:
    """Of each driver those that may decode in another way."""
    met = set()
    for planned in project_paths():
        if planned.path.engine not in TABLES or READ not in planned.phases or planned.adapter.serves:
            continue
        key = planned.adapter.language, planned.adapter.driver, *(planned.path.get(name) for name in SHAPING)
        if planned.path.get("access") == "handler":  # records by key, no query
            continue
        plain = all(planned.path.get(name) in ("1", "none", "off", "default") for name in ("clients", "pipeline"))
        if key not in met and plain and "query" in planned.adapter.phases:
            met.add(key)
            yield planned


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    only = {"postgresql"} if metafunc.function is test_every_value_in_other_databases else TABLES
    parameters = [pytest.param(planned, id=planned.name) for planned in paths() if planned.path.engine in only]
    metafunc.parametrize("planned", parameters, indirect=True)


def test_every_value(planned: PlannedPath, fixture: EngineFixture, tmp_path: Path) -> None:
    made = stored(fixture.connected(planned), planned.path.engine, fixture.instance(planned))
    check(planned, "", delivered(lambda: fixture.connected(planned), made, tmp_path / "kept"))
    fixture.disconnect()


def test_every_value_in_other_databases(planned: PlannedPath, fixture: EngineFixture, tmp_path: Path) -> None:
    fixture.end_processes()
    instance = fixture.instance(planned)
    for database in databases():
        made = stored_in(database, instance)
        with contextlib.ExitStack() as workers:

            def opened(database: Database = database, workers: contextlib.ExitStack = workers) -> Worker:
                worker = workers.enter_context(contextlib.closing(fixture.unconnected(planned)))
                worker.open(database=f"torture_{database.name}")
                return worker

            try:
                check(planned, f" @{database.name}", delivered(opened, made, tmp_path / "kept"))
            except RunnerFailure as failure:
                check(planned, f" @{database.name}", {"connect": f"{failure.kind}: {failure.text}"})


def delivered(opened: Callable[[], Worker], made: list[Stored], kept: Path) -> dict[str, str]:
    """What is not delivered as it was stored, by value; a process that a driver ends is started again."""
    outcomes = {}
    worker = opened()
    for table, kind, number, value in made:
        told = outcome(worker, table, kind, number, value, kept)
        if not worker.runner.alive():
            told, worker = "the process ended", opened()
        if told:
            outcomes[f"{kind.sql} {value[0]}".strip()] = ADDRESS.sub("0x…", told)[:LONGEST]
    return outcomes


def check(planned: PlannedPath, where: str, outcomes: dict[str, str]) -> None:
    """Nothing is refused by us, and all else is known."""
    name = " ".join([planned.adapter.language, planned.adapter.driver, *map(planned.path.get, SHAPING)]) + where
    assert not [f"{value}: {told}" for value, told in outcomes.items() if told.startswith(OURS)]
    if os.environ.get(UPDATE):
        keep(name, {value: without_today(told) for value, told in outcomes.items()})
        return
    known = json.loads(DIFFERENCES.read_text()).get(name, {})
    unsteady = {value: told for value, told in known.items() if isinstance(told, list)}
    assert all(outcomes.pop(value, "") in told for value, told in unsteady.items())
    known = {value: told for value, told in known.items() if value not in unsteady}
    first, last = ({value: on(day, told) for value, told in known.items()} for day in (STARTED, date.today()))
    assert outcomes == (last if outcomes == last else first)


# psqlodbc fills a date that it cannot read with the current one: the file has 5874-TODAY.
def on(day: date, told: str) -> str:
    return told.replace("-TODAY", f"{day:-%m-%d}").replace("TODAY", f"{day}")


def without_today(told: str) -> str:
    return told.replace(f"{STARTED}", "TODAY").replace(f"{STARTED:-%m-%d}", "-TODAY")


def keep(name: str, outcomes: dict[str, str]) -> None:
    """Write the outcomes of a path into the file, which other processes write too."""
    with DIFFERENCES.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        known = json.loads(file.read() or "{}") | {name: outcomes}
        file.truncate(0)
        found = {key: value for key, value in sorted(known.items()) if value}
        file.write(f"{json.dumps(found, indent=1, ensure_ascii=False)}\n")


def stored_in(database: Database, instance: Instance) -> list[Stored]:
    """The tables of a database, made once for each instance."""
    key = f"{database.name} {id(instance)}"
    if key in STORED:
        return STORED[key]
    name = f"torture_{database.name}"
    psql(instance, f"DROP DATABASE IF EXISTS {name}", SUPERUSER, "postgres")
    made_by = f"CREATE DATABASE {name} ENCODING '{database.encoding}' LOCALE 'C' TEMPLATE template0"
    psql(instance, made_by, SUPERUSER, "postgres")
    script, made = ["SET client_encoding = 'UTF8';"] if database.encoding != "SQL_ASCII" else [], []
    for at, kind in enumerate(database.type):
        table = f"torture_{at}"
        script.append(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, v {kind.sql});")
        for number, value in enumerate(kind.values):
            script.append(f"INSERT INTO {table} VALUES ({number}, {value[0]});")
            made.append((table, kind, number, value))
    script.append("GRANT SELECT ON ALL TABLES IN SCHEMA public TO PUBLIC;")
    psql(instance, "\n".join(script), SUPERUSER, name)
    for setting in database.settings:
        psql(instance, f"ALTER DATABASE {name} SET {setting}", SUPERUSER, "postgres")
    STORED[key] = made
    return made


STORED: dict[str, list[Stored]] = {}


def into_sqlite(file: str) -> Callable[..., None]:
    """What executes statements in a database file; not every driver of SQLite can store every character."""

    def run(statements: list[str], *, ignore_errors: bool = False) -> None:
        with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as connection:
            for statement in statements:
                with contextlib.suppress(*(sqlite3.Error,) * ignore_errors):
                    connection.execute(statement)

    return run


def stored(worker: Worker, engine: str, instance: Instance) -> list[Stored]:
    """The tables of the engine, made once for each instance; values that it does not have are left out."""
    key = f"{engine} {id(instance)}"
    if key in STORED:
        return STORED[key]
    made = []
    run = into_sqlite(str(instance.options(worker.planned.path)["path"])) if engine == "sqlite" else worker.run
    run(list(tables(engine).before), ignore_errors=True)
    for at, kind in enumerate(tables(engine).type):
        table = f"torture_{at}"
        run([f"DROP TABLE {table}"], ignore_errors=True)
        run(
            [
                *tables(engine).before[:1] * (engine in ("mariadb", "mysql")),
                f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, v {kind.sql})",
            ]
        )
        for number, value in enumerate(kind.values):
            try:
                run([f"INSERT INTO {table} VALUES ({number}, {value[0]})"])
            except (RunnerFailure, sqlite3.Error):
                if not kind.from_:
                    raise
                continue
            made.append((table, kind, number, value))
    STORED[key] = made
    return made


def outcome(worker: Worker, table: str, kind: Kind, number: int, value: list[Any], kept: Path) -> str:
    """What is not as it was stored; empty when the path delivers just that."""
    column = msgspec.convert({"name": "v", "nullable": True, **kind.column}, Column)
    expected = encoded(value, column)
    phase = Phase("read", "query", f"SELECT v FROM {table} WHERE id = {number}", columns=(column,))
    work = PreparedPhase("torture.read", phase, phase.sql, (column,))
    try:
        worker.prepare(work)
        reply = worker.verify(work, 0, 1, keep=str(kept))
        touched = worker.sample(work, "warm", operations=1, first=0).reply
    except RunnerFailure as failure:
        return f"{failure.kind}: {failure.text}"
    if touched.failed or touched.touch != reply.touch:
        return f"touch {touched.touch}, {reply.touch} in verify; {touched.failure}"
    return difference(reply, expected, value, column, kept)


def difference(reply: VerifyReply, expected: bytes, value: list[Any], column: Column, kept: Path) -> str:
    def hashed(encoded_value: bytes) -> str:
        return f"1:{codec.row_hash(encoded_value):016x}"

    if reply.digest == hashed(expected):
        return ""
    if reply.columns and reply.columns[0].foreign:
        reason = reply.columns[0].reason
        return reason if reason.startswith(NO_COMMON_FORM) else f"ours: {reason}"
    for unit in UNITS:
        for rounded in (False, True):
            cut = msgspec.structs.replace(column, unit_ns=unit, rounded=rounded)
            if reply.digest == hashed(encoded(value, cut)):
                return f"{'rounded' if rounded else 'cut'} to {unit} ns"
    if reply.digest == hashed(encoded(value, msgspec.structs.replace(column, bounds=False))):
        return "without its lower bound"
    ((delivered,),) = kept_values(kept)
    return shown(delivered)


def encoded(value: list[Any], column: Column) -> bytes:
    if value[0] == "NULL":
        return b"\x00"
    told = without_marks(value[-1])
    if isinstance(told, dict) and "text" in told:
        return b"S" + len(bytes.fromhex(told["text"])).to_bytes(4, "little") + bytes.fromhex(told["text"])
    return codec.encode_value(natural(told, column), column)


def without_marks(value: Any) -> Any:
    if isinstance(value, list):
        return [without_marks(one) for one in value]
    return None if value == NULL else value
