"""SQLite's backups: a statement of a client's, or the backup API in a small process of ours."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

from rowpath.engines import backup as backups
from rowpath.engines.base import Backup
from rowpath.errors import RowpathError

WAYS = ("vacuum-into", "api")
PROGRAM = Path(__file__).with_name("backup_script.py")


def backup(way: str, database: Path, folder: Path) -> Backup:
    """How that file is backed up into an existing folder."""
    kept = backups.place_in(folder) / database.name
    if way == "vacuum-into":
        return Backup(way, kept, f"VACUUM INTO {backups.literal(kept)}")
    return Backup(way, kept, command=(sys.executable, "-I", str(PROGRAM), str(database), str(kept)))


def check(database: Path) -> None:
    """Errors: RowpathError, what SQLite's own check found wrong."""
    try:
        connection = sqlite3.connect(f"{database.absolute().as_uri()}?mode=rw", uri=True)
        try:
            found = connection.execute("PRAGMA integrity_check").fetchall()
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise RowpathError(str(error)) from error
    if found != [("ok",)]:
        raise RowpathError("; ".join(line for (line,) in found[:3]))
