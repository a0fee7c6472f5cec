"""DuckDB's backup: the database copied into another that is attached beside it, in one transaction."""

from __future__ import annotations

from pathlib import Path

from rowpath.engines import backup as backups
from rowpath.engines.base import Backup

WAY = "copy"


def backup(database: Path, folder: Path) -> Backup:
    """How that file, open in a client's process, is backed up into an existing folder."""
    kept = backups.place_in(folder) / database.name
    attached = f"kept_{kept.parent.name.rpartition('-')[2]}"  # several may be ready at once
    return Backup(
        WAY,
        kept,
        f"COPY FROM DATABASE {database.stem} TO {attached}",
        before=(f"ATTACH {backups.literal(kept)} AS {attached}",),
        afterwards=(f"CHECKPOINT {attached}", f"DETACH {attached}"),
    )
