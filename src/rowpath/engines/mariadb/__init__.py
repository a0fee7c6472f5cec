"""MariaDB: a private server or its library in the client's process, tables in InnoDB, MyISAM or Aria."""

from __future__ import annotations

from typing import Any

from typing_extensions import override

from rowpath.engines.base import Instance, Place
from rowpath.engines.embedded import EmbeddedDatabase
from rowpath.engines.mariadb import programs, settings, template_directory
from rowpath.engines.mariadb.dialect import MariadbDialect
from rowpath.engines.mariadb.server import MariadbServer
from rowpath.errors import RowpathError
from rowpath.machine import private_directories
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table


class MariadbDirectory(EmbeddedDatabase[MariadbDialect]):
    """One loaded data directory, the template of the run's servers too, and the copies of it that paths work on."""

    copy_name = "data"

    def __init__(self, engine: MariadbDialect, durability: str, place: Place) -> None:
        super().__init__(engine, durability, place)
        self.storage = place.storage or engine.storages[0]
        self._tables: dict[str, Table] = {}
        self._first = self._folder / "first.sql"

    @override
    def check(self) -> bool:
        """Whether a directory was loaded and no process has it open."""
        return self._database.is_dir() and template_directory.holder(self._database) is None

    @override
    def load(self, tables: dict[str, Table]) -> None:
        """Let a template hold these tables beside those loaded before; where none does, a private server makes it."""
        self._tables |= tables
        run = self._place.directory.parent
        wanted = template_directory.content(self._engine, self.storage, self.durability, self._tables, run)
        known = template_directory.find(wanted)
        if known is None:
            # Beside our folder, so that what it loads is known as the run's.
            folder = self._place.directory.with_name(f"{self._place.directory.name}-loading")
            place = Place(folder, folder, (), storage=self.storage)
            server = MariadbServer(self._engine, self.durability, place)
            try:
                server.start()
                server.load(self._tables)
            finally:
                server.stop()
                server.forget_data()
            known = template_directory.find(wanted)
        if known is None:
            raise RowpathError(f"{self._engine.title} was loaded, yet no data directory was kept", "run again")
        self._database = known

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        """The path's own copy and the arguments of the server inside the library, one a line."""
        copy = self._copy(path)
        first = settings.first_statements(self.storage, self.durability)
        if first:
            private_directories.write_private(self._first, settings.script(first))
        arguments = [
            "--no-defaults",
            *(f"--{name}={folder}" for name, folder in programs.folders().items()),
            f"--datadir={copy}",
            *settings.arguments(self._engine.flavour, self.storage, self.durability),
            *([f"--init-file={self._first}"] if first else []),
        ]
        return {
            "path": str(copy),
            "database": settings.DATABASE,
            "storage": self.storage,
            "server_arguments": "\n".join(arguments),
        }

    @override
    def facts(self) -> dict[str, str]:
        """The loading server's version and the library's settings; the library's version is in its runner's facts."""
        options = settings.settings(self._engine.flavour, self.storage, self.durability)
        return {
            "version": self.version,
            **{name.replace("-", "_"): value for name, value in options.items()},
            "durability": settings.meaning(self.storage, self.durability),
        }


class Mariadb(MariadbDialect):
    """The kind of engine: MariaDB."""

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> Instance:
        """A server or a directory for the library, not yet started. Errors: EnvironmentMissing."""
        return (MariadbServer if deployment == "server" else MariadbDirectory)(self, durability, place)


ENGINE = Mariadb()
