"""Instances of databases that are not ours: a server to connect to, a copy of a database, a file in place."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from typing_extensions import override

from rowpath.engines import ENGINES
from rowpath.engines.base import BY_URL, Instance, Settled
from rowpath.errors import InternalError
from rowpath.machine import processes
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table
from rowpath.probe import eligibility, file_copies
from rowpath.probe.target import Target
from rowpath.runners.manifest import language

TABLE = "data"  # what a single file is called as a table


class ProbedInstance(Instance):
    """What all have in common: nothing of another's database is started, loaded, settled or counted."""

    version = BY_URL

    def __init__(self, target: Target, folder: Path | None = None) -> None:
        self.deployment = target.deployment
        self.target = target
        self.folder = folder  # what we made for it; goes with it

    @override
    def stop(self) -> None:
        """Copies and links are removed, never a file of the user's."""
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    @override
    def load(self, tables: dict[str, Table]) -> None:
        """Refused: a probe changes nothing."""
        raise InternalError("a probed database was to be filled", "report this")

    @override
    def settle(self, path: AccessPath) -> Settled:
        return Settled(0, None, "nothing: a probe only reads")

    @override
    def facts(self) -> dict[str, str]:
        """The server's URL without any secret."""
        return {"url": self.target.shown}

    @override
    def secrets(self) -> list[str]:
        return self.target.secrets()


class ProbedServer(ProbedInstance):
    """A server that others run."""

    given_by = "the command line"

    @override
    def others_pids(self) -> list[int]:
        return processes.serving(self.target.host, ENGINES[self.target.engine].probe.server_programs)

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        """The server's address and the login; with a driver of the user's own, what that driver understands."""
        target = self.target
        if target.driver_file is not None:
            login = {"user": target.user, "password": target.password}
            return {"driver_file": str(target.driver_file), **target.options, **login}
        # In a URL the port follows a colon as well.
        bracketed = ":" in target.host and language(path.language).ipv6_brackets
        host = f"[{target.host}]" if bracketed else target.host
        options = {"host": host, "port": target.port, "database": target.database, "given": "yes"}
        options |= {"user": target.user, "password": target.password} if target.user else {}
        if target.socket:
            options |= {"socket": target.socket, "socket_dir": target.socket}
        return options


class ProbedDatabase(ProbedInstance):
    """A database in the client's own process: a copy that all paths share, several copies, or the files in place.

    `original` is where it is opened, or what further copies are made of.
    """

    def __init__(self, target: Target, original: Path, folder: Path, *, in_place: bool) -> None:
        super().__init__(target, folder)
        self._original = original
        self._copies = folder
        self._in_place = in_place
        self._read_only = eligibility.read_only(target, in_place)
        layout = ENGINES[target.engine].probe.layout
        self._exclusive = layout is not None and layout.exclusive

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        """The file or directory to open now: where only one process may open one, a copy that none has open."""
        target = self.target
        place = self._free_copy() if self._exclusive else self._original
        options = {"path": str(place)} | ({"read_only": "yes"} if self._read_only else {})
        return options | ({"user": target.user, "password": target.password} if target.user else {})

    @override
    def size_bytes(self) -> int:
        """Bytes of the database, its log included."""
        return file_copies.files_of(self.target.engine, self._original).size_bytes

    @override
    def facts(self) -> dict[str, str]:
        """The file, and whether it or a copy is opened."""
        return super().facts() | {"opened": "in place, read only" if self._in_place else "a copy"}

    def _free_copy(self) -> Path:
        """One of the copies so far, or a further one when all are open: as many as are ever open at once."""
        engine, number = self.target.engine, 0
        while (folder := self._copies / str(number)).exists():
            copied = folder / self._original.name
            if file_copies.lock_on(file_copies.files_of(engine, copied)) is None:
                return copied
            number += 1
        return file_copies.copy(file_copies.files_of(engine, self._original), folder)


class ProbedFile(ProbedInstance):
    """A delimited, Parquet or Arrow file, only ever read; a link gives it the name of a table."""

    def __init__(self, target: Target, folder: Path) -> None:
        super().__init__(target, folder)
        assert target.path is not None
        self._file = target.path
        self._facts = ENGINES[target.engine].probe
        folder.mkdir(mode=0o700, parents=True)
        (folder / f"{TABLE}.{self._facts.table_suffix}").symlink_to(self._file.absolute())

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        """The folder with the link, and the delimiter."""
        named = self.target.options.get("delimiter", self._facts.files.get(self._file.suffix.lower(), ""))
        return {"path": str(self.folder)} | ({"delimiter": named} if named else {})

    @override
    def size_bytes(self) -> int:
        """Bytes of the file."""
        return self._file.stat().st_size
