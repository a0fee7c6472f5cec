"""A database directory of an engine written in Java: made and filled by the Java runner, copied for each path."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from typing import Any

from typing_extensions import override

from rowpath.engines import backup as backups
from rowpath.engines import load_through_runner
from rowpath.engines.base import Backup
from rowpath.engines.embedded import EmbeddedDatabase
from rowpath.engines.jvm.base import DATABASE
from rowpath.engines.jvm.dialect import JvmDialect
from rowpath.machine import private_directories
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table
from rowpath.runners.process import Runner

_loaded: dict[str, Path] = {}  # what a database holds → where it is, untouched


class JvmDirectory(EmbeddedDatabase[JvmDialect]):
    """One loaded database directory and the copies of it that embedded paths work on."""

    copy_name = DATABASE

    @override
    def check(self) -> bool:
        """Whether the database was made and closed."""
        lock = self._engine.lock_file
        return (self._database / self._engine.made_file).is_file() and not (lock and (self._database / lock).exists())

    @override
    def load(self, tables: dict[str, Table]) -> None:
        """Remake these tables and fill them; the database ends checkpointed, closed and synced."""
        load_database(self._engine, self._database, tables, self.durability, pristine=True)

    def adopt(self, database: Path) -> None:
        """Let every path work on one copy of that database directory, open nowhere else. Errors: RowpathError."""
        private_directories.copy(database, self.restored_copy(), None)

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        return {"path": self._engine.path(self._copy(path))}

    def backup(self, way: str, path: AccessPath, folder: Path) -> Backup:
        """The engine's statement. Errors: EnvironmentMissing."""
        return self._engine.backup(way, backups.place_in(folder))

    @override
    def _restore(self, kept: Path, database: Path) -> None:
        self._engine.restore(kept, database)
        with embedded(self._engine, database):
            pass

    @override
    def facts(self) -> dict[str, str]:
        """The version and the database's own settings; a driver's settings are in its runner's facts."""
        return super().facts() | {"set once": "; ".join(self._engine.once(self.durability)) or "nothing"}


def load_database(
    engine: JvmDialect,
    database: Path,
    tables: dict[str, Table],
    durability: str,
    login: dict[str, Any] | None = None,
    pristine: bool = False,
) -> None:
    """Remake these tables in a database directory (made when it is not there) and fill them, through the runner.

    The directory must not be open elsewhere. It is closed, checkpointed and synced afterwards. A database that this
    process has loaded with the same tables before is copied: that is how one moves between instances. `login`: what
    an existing database requires. `pristine`: no path works on this one itself, so it may be the source of such
    copies. Errors: RowpathError.
    """
    content = repr((engine.name, engine.version(), engine.once(durability), sorted(tables.items())))
    source = _loaded.get(content)
    if source is not None and source.is_dir() and not database.exists():
        shutil.copytree(source, database)
        private_directories.sync(database)
        return
    fresh = not database.exists()
    for known in [key for key, place in _loaded.items() if place == database]:
        del _loaded[known]
    with embedded(engine, database, login) as runner:
        load_through_runner.run(runner, engine.once(durability))
        load_through_runner.make_tables(runner, engine, tables, database.parent)
        load_through_runner.run(runner, engine.settle_statements())
    private_directories.sync(database)
    if fresh and pristine:
        _loaded[content] = database


def embedded(
    engine: JvmDialect, database: Path, login: dict[str, Any] | None = None
) -> contextlib.AbstractContextManager[Runner]:
    """A runner of our own with that database directory open in its process."""
    return connected(engine, {"deployment": "embedded", "path": engine.path(database), **(login or {})})


def connected(engine: JvmDialect, options: dict[str, Any]) -> contextlib.AbstractContextManager[Runner]:
    """A runner of our own, connected to a database of the engine, for work outside every measurement.

    Errors: RowpathError, in the body too.
    """
    usual = {"engine": engine.name, "durability": "none", "statement": "prepared"}
    return load_through_runner.connected(usual | options, engine.version())
