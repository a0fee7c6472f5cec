"""A program: SQLite's backup API from one file to another, while others write to the first. Standard library only."""

from __future__ import annotations

import contextlib
import sqlite3
import sys
from pathlib import Path

STEP_PAGES = 256
WAIT_S = 60.0


def copy(source: Path, target: Path) -> None:
    """Make `target` as the source is at this moment. Errors: sqlite3.Error."""
    opened = sqlite3.connect(f"{source.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=WAIT_S)
    with contextlib.closing(opened) as original, contextlib.closing(sqlite3.connect(target)) as made:
        # All steps read in this one transaction: otherwise each write of another process restarts the copy.
        original.execute("BEGIN")
        original.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        original.backup(made, pages=STEP_PAGES)
        original.execute("COMMIT")


if __name__ == "__main__":
    copy(*map(Path, sys.argv[1:]))
