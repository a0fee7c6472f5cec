"""What the databases in a client's own process have in common: one is loaded, each path works on its own copy."""

from __future__ import annotations

import hashlib
import shutil
import time
from pathlib import Path
from typing import Any, Generic

from typing_extensions import override

from rowpath.engines import backup as backups
from rowpath.engines.base import Backup, E, Instance, Place, Settled
from rowpath.machine import private_directories
from rowpath.model.path import AccessPath


class EmbeddedDatabase(Instance, Generic[E]):
    """A database, file or directory, loaded once, and the copies of it that paths work on."""

    deployment = "embedded"
    loaded_name = "loaded"
    copy_name: str

    def __init__(self, engine: E, durability: str, place: Place) -> None:
        self.durability = durability
        self.version = engine.version()
        self._place = place
        self._folder = place.directory / engine.name
        self._engine = engine
        self._database = self._folder / self.loaded_name
        self._only: Path | None = None

    @override
    def start(self) -> None:
        """Make the private folder. Errors: EnvironmentMissing when it cannot be written."""
        private_directories.home(self._folder, None)

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        return {"path": str(self._copy(path))}

    @override
    def own_copy(self, path: AccessPath) -> None:
        """Give the path a fresh byte-identical copy; what it had before is gone. Nothing where all share `only`."""
        if self._only is not None:
            return
        copy = self._copy(path)
        shutil.rmtree(copy.parent, ignore_errors=True)
        private_directories.home(copy.parent, None)
        if self._database.is_dir():
            shutil.copytree(self._database, copy)
        else:
            shutil.copyfile(self._database, copy)
        private_directories.sync(copy)

    def share_copy(self, path: AccessPath) -> None:
        """Let every path work on this one's copy: for paths that take turns and reset what they write into."""
        self._only = self._copy(path)

    @override
    def settle(self, path: AccessPath) -> Settled:
        """Sync the path's copy (its runner checkpoints: `settle_statements`)."""
        started_ns = time.monotonic_ns()
        private_directories.sync(self._copy(path))
        return Settled(time.monotonic_ns() - started_ns, None, "syncfs; the bytes are the runner's")

    @override
    def size_bytes(self) -> int:
        """Bytes of the loaded database, its log included."""
        return private_directories.size_bytes(self._database)

    @override
    def facts(self) -> dict[str, str]:
        """The version; a driver's settings are in its runner's facts."""
        return {"version": self.version}

    def home(self) -> Path | None:
        """The folder with everything of it."""
        return self._folder

    def restored(self, backup: Backup, folder: Path) -> Instance:
        """An instance of its own, where every path works on what was made from the backup. Errors: RowpathError."""
        instance = type(self)(self._engine, self.durability, Place(folder, folder, ()))
        return backups.restored(backup, instance, lambda: instance._restore(backup.kept, instance.restored_copy()))

    def _restore(self, kept: Path, database: Path) -> None:
        """Make a database that is not there from what a backup left, and check it."""
        raise NotImplementedError

    def restored_copy(self) -> Path:
        """The place for what a backup kept: from now on the only database, which every path works on."""
        self.start()
        self._database = self._only = private_directories.home(self._folder / "restored", None) / self.copy_name
        return self._only

    def _copy(self, path: AccessPath) -> Path:
        return (
            self._only or self._folder / hashlib.blake2s(path.id.encode(), digest_size=8).hexdigest() / self.copy_name
        )
