"""What all engines share to back a database up and to restore it."""

from __future__ import annotations

import secrets
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from rowpath.engines.base import Backup, Instance
from rowpath.engines.sql_dialect import SqlDialect
from rowpath.errors import RowpathError
from rowpath.machine import private_directories, processes
from rowpath.model.availability import Availability

TIMEOUT_S = 3600.0


def place_in(folder: Path, user: str | None = None) -> Path:
    """A new private folder for one backup, open to the server's user: in `folder`, else where that user may go."""
    return private_directories.home(folder / f"backup-{secrets.token_hex(4)}", user)


def literal(path: Path) -> str:
    """The path as a text in SQL."""
    return "'" + str(path).replace("'", "''") + "'"


class BackupWays(SqlDialect):
    """An engine whose databases can be backed up while clients work on them; no program is needed for it."""

    ways: tuple[str, ...]  # values of the coordinate `backup`, the default first

    def backup_ways(self, deployment: str) -> tuple[str, ...]:
        """The ways that the engine has in that deployment."""
        return self.ways

    def backup_availability(self, way: str) -> Availability:
        """Whether that way works here; quick."""
        if way in self.ways:
            return self.availability()
        return Availability(False, self.title, f"{self.title} has no backup '{way}'", "rowpath engine list")


def run(arguments: Sequence[str | Path], environment: Mapping[str, str] = {}, source: Path | None = None) -> None:
    """Run a program that restores or checks, `source` on its stdin. Errors: RowpathError, with its last output."""
    done = processes.run(
        arguments, environment={"LC_ALL": "C.UTF-8", **environment}, source=source, timeout_s=TIMEOUT_S
    )
    if done.returncode != 0:
        raise RowpathError(f"{Path(arguments[0]).name}: {(done.stdout + done.stderr).strip()[-500:]}")


def restored(backup: Backup, instance: Instance, restore: Callable[[], None]) -> Instance:
    """`passing` of the instance that `restore` makes of what the backup kept; when that fails, nothing of it is left.

    Errors: RowpathError, that the backup cannot be restored and why.
    """
    try:
        restore()
    except BaseException as error:
        passing(instance).stop()
        if not isinstance(error, RowpathError | OSError | ValueError | EOFError | subprocess.SubprocessError):
            raise
        raise RowpathError(
            f"the backup {backup.kept} ({backup.way}) cannot be restored: {error}",
            f"see whether the disk has errors or is full: df {backup.kept.parent}",
        ) from error
    return passing(instance)


class _Passing:
    """An instance whose files go when it is stopped."""

    def __init__(self, instance: Any) -> None:
        self._instance = instance

    def __getattr__(self, name: str) -> Any:
        return getattr(self._instance, name)

    def stop(self) -> None:
        """Stop it and remove its files; harmless when that was done."""
        self._instance.stop()
        if (home := self._instance.home()) is not None:
            shutil.rmtree(home, ignore_errors=True)


def passing(instance: Instance) -> Instance:
    """The same instance, whose files go when it is stopped."""
    return cast("Instance", _Passing(instance))
