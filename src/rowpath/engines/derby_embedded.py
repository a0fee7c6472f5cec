"""A Derby database directory: made and loaded by the Java runner, copied for each path."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import msgspec

from rowpath.codec import write_rows
from rowpath.engines import homes
from rowpath.engines.base import Place, Settled
from rowpath.errors import RowpathError
from rowpath.generators import rows
from rowpath.languages import load_manifest
from rowpath.model import Path, Table
from rowpath.protocol import (
    Close,
    CloseReply,
    ColumnSpec,
    Load,
    LoadReply,
    Open,
    OpenReply,
    ParameterSlice,
    PhaseSpec,
    Prepare,
    PrepareReply,
    RunReply,
    RunStatements,
)
from rowpath.runners import Runner, RunnerFailure

if TYPE_CHECKING:
    from rowpath.engines.derby import Derby

TIMEOUT_S = 600.0
_loaded: dict[str, FilePath] = {}  # what a database holds → where it is, untouched
# Index statistics are brought up to date here and then left alone: the daemon would work beside what is measured.
ONCE = ["CALL SYSCS_UTIL.SYSCS_SET_DATABASE_PROPERTY('derby.storage.indexStats.auto', 'false')"]


class Directory:
    """One loaded database directory and the copies of it that embedded paths work on."""

    flush_statements: tuple[str, ...] = ()

    def __init__(self, engine: Derby, deployment: str, durability: str, place: Place) -> None:
        self.deployment = deployment
        self.durability = durability
        self.version = engine.version()
        self._engine = engine
        self._folder = place.directory / "derby"
        self._database = self._folder / "loaded"

    def start(self) -> None:
        """Make the private folder. Errors: EnvironmentMissing when it cannot be written."""
        homes.home(self._folder, None)

    def check(self) -> bool:
        """Whether the database was made and nobody left it open."""
        return (self._database / "service.properties").is_file() and not (self._database / "db.lck").exists()

    def stop(self) -> None:
        """Nothing runs."""

    def pids(self) -> list[int]:
        """None: it lives in the client's process."""
        return []

    def load(self, tables: dict[str, Table]) -> None:
        """Make these tables anew and fill them; the database ends checkpointed, closed and synced."""
        load_database(self._engine, self._database, tables, pristine=True)

    def options(self, path: Path) -> dict[str, Any]:
        """The path's own copy."""
        return {"path": str(self._copy(path))}

    def own_copy(self, path: Path) -> None:
        """Give the path a fresh byte-identical copy; what it had before is gone."""
        copy = self._copy(path)
        shutil.rmtree(copy.parent, ignore_errors=True)
        homes.home(copy.parent, None)
        shutil.copytree(self._database, copy)
        homes.sync(copy)

    def settle(self, path: Path) -> Settled:
        """Sync the path's copy (its runner checkpoints: `settle_statements`)."""
        started_ns = time.monotonic_ns()
        homes.sync(self._copy(path))
        return Settled(time.monotonic_ns() - started_ns, None, "syncfs; the bytes are the runner's")

    def commits(self) -> int | None:
        """None: Derby counts no transactions."""
        return None

    def size_bytes(self) -> int:
        """Bytes of the loaded database, its log included."""
        return homes.size_bytes(self._database)

    def facts(self) -> dict[str, str]:
        """The version; what a driver uses the database with, its runner tells."""
        return {"version": self.version, "derby.storage.indexStats.auto": "false"}

    def secrets(self) -> list[str]:
        """None."""
        return []

    def _copy(self, path: Path) -> FilePath:
        return self._folder / hashlib.blake2s(path.id.encode(), digest_size=8).hexdigest() / "rowpath"


def load_database(engine: Derby, database: FilePath, tables: dict[str, Table], pristine: bool = False) -> None:
    """Make these tables anew in a database directory (made when it is not there) and fill them, through the runner.

    The directory must not be open elsewhere. It is closed, checkpointed and synced afterwards. A database that this
    process has loaded with the same tables before is copied: that is how one moves between embedded and server.
    `pristine`: nobody works on this one itself, so it may be the source of such copies. Errors: RowpathError.
    """
    content = repr((engine.version(), sorted(tables.items())))
    source = _loaded.get(content)
    if source is not None and source.is_dir() and not database.exists():
        shutil.copytree(source, database)
        homes.sync(database)
        return
    fresh = not database.exists()
    for known in [key for key, place in _loaded.items() if place == database]:
        del _loaded[known]
    with connected(engine, {"deployment": "embedded", "path": str(database)}) as runner:
        run(runner, ONCE)
        with tempfile.TemporaryDirectory(prefix="rowpath-load-", dir=database.parent) as folder:
            for name, table in tables.items():
                run(runner, [engine.drop(name)], ignore_errors=True)
                run(runner, [engine.create(name, table)])
                if table.rows:
                    _fill(runner, name, table, FilePath(folder) / f"{name}.rows")
        run(runner, engine.settle_statements())
    homes.sync(database)
    if fresh and pristine:
        _loaded[content] = database


@contextlib.contextmanager
def connected(engine: Derby, options: dict[str, Any]) -> Iterator[Runner]:
    """A Java runner of our own, connected to a database of Derby, for work outside every measurement.

    Errors: RowpathError, in the body too.
    """
    adapter = next(each for each in load_manifest("java").adapter if each.driver == "derby")
    java: Any = importlib.import_module("rowpath.languages.java")
    java.build([(adapter, engine.version())])
    path = Path.of({"engine": "derby", "deployment": options["deployment"], "driver": "derby", "durability": "none"})
    runner = Runner.start(java.command(adapter, engine.version(), path), ())
    try:
        runner.hello("derby")
        given = path.as_dict() | {"statement": "prepared"} | options
        runner.request(Open, TIMEOUT_S, options=given, expect=OpenReply)
        yield runner
        runner.request(Close, TIMEOUT_S, expect=CloseReply)
    except RunnerFailure as failure:
        raise RowpathError(f"Derby's database could not be worked on: {failure}", "rowpath doctor") from failure
    finally:
        runner.stop()


def _fill(runner: Runner, name: str, table: Table, file: FilePath) -> None:
    write_rows(file, rows(table), table.columns)
    marks = ", ".join("?" * len(table.columns))
    names = ", ".join(column.name for column in table.columns)
    columns = [ColumnSpec(**msgspec.structs.asdict(column)) for column in table.columns]
    phase = PhaseSpec(
        name=f"load.{name}",
        kind="execute",
        sql=f"INSERT INTO {name} ({names}) VALUES ({marks})",
        table=name,
        parameter_columns=columns,
    )
    parameters = ParameterSlice(file=str(file), first=0, count=table.rows)
    runner.request(Prepare, TIMEOUT_S, phase=phase, parameters=parameters, expect=PrepareReply)
    reply = runner.request(Load, TIMEOUT_S, phase=phase.name, first=0, count=table.rows, expect=LoadReply)
    if reply.rows != table.rows:
        raise RowpathError(
            f"{reply.rows} of {table.rows} rows arrived in Derby's {name}", "rowpath verify engine=derby"
        )
    if table.identity:
        run(runner, [f"ALTER TABLE {name} ALTER COLUMN {table.identity} RESTART WITH {table.rows + 1}"])
    run(runner, [f"CALL SYSCS_UTIL.SYSCS_UPDATE_STATISTICS('APP', '{name.upper()}', NULL)"])


def run(runner: Runner, statements: list[str], ignore_errors: bool = False) -> int:
    """Execute statements, each committed; ns of all."""
    asked = {"statements": statements, "ignore_errors": ignore_errors}
    return sum(runner.request(RunStatements, TIMEOUT_S, **asked, expect=RunReply).ns)
