"""What the databases in a client's own process have in common: one is loaded, each path works on its own copy."""

from __future__ import annotations

import hashlib
import shutil
import time
from pathlib import Path
from typing import Any

from rowpath.engines.base import Settled
from rowpath.machine import private_directories
from rowpath.model.path import AccessPath


class Copies:
    """A database, file or directory, loaded once, and the copies of it that paths work on, each called `copy_name`."""

    flush_statements: tuple[str, ...] = ()

    def __init__(
        self, deployment: str, durability: str, version: str, folder: Path, loaded_name: str, copy_name: str
    ) -> None:
        self.deployment = deployment
        self.durability = durability
        self.version = version
        self._folder = folder
        self._database = folder / loaded_name
        self._copy_name = copy_name
        self._only: Path | None = None

    def start(self) -> None:
        """Make the private folder. Errors: EnvironmentMissing when it cannot be written."""
        private_directories.home(self._folder, None)

    def stop(self) -> None:
        """Nothing runs."""

    def pids(self) -> list[int]:
        """None: it lives in the client's process."""
        return []

    def options(self, path: AccessPath) -> dict[str, Any]:
        """The path's own copy."""
        return {"path": str(self._copy(path))}

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

    def settle(self, path: AccessPath) -> Settled:
        """Sync the path's copy (its runner checkpoints: `settle_statements`)."""
        started_ns = time.monotonic_ns()
        private_directories.sync(self._copy(path))
        return Settled(time.monotonic_ns() - started_ns, None, "syncfs; the bytes are the runner's")

    def commits(self) -> int | None:
        """None: none of these engines counts its transactions."""
        return None

    def size_bytes(self) -> int:
        """Bytes of the loaded database, its log included."""
        return (
            private_directories.size_bytes(self._database) if self._database.is_dir() else self._database.stat().st_size
        )

    def secrets(self) -> list[str]:
        """None."""
        return []

    def home(self) -> Path | None:
        """The folder with everything of it."""
        return self._folder

    def restored_copy(self) -> Path:
        """Where what a backup kept is to be put: from now on the only database, which every path works on."""
        self.start()
        self._database = self._only = private_directories.home(self._folder / "restored", None) / self._copy_name
        return self._only

    def _copy(self, path: AccessPath) -> Path:
        return (
            self._only or self._folder / hashlib.blake2s(path.id.encode(), digest_size=8).hexdigest() / self._copy_name
        )
