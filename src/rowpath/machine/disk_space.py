"""A full disk ends a run in good order: distinguished from other failures, with a remedy."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from rowpath.errors import EnvironmentMissing

# The words of the system, SQLite, Derby and others when no room is left to write.
_WORDS = ("no space left on device", "disk is full", "disk full", "disk quota exceeded", "enospc")
NOTHING_BYTES = 64 << 10
SPARE_BYTES = 200e6  # left for everything else
CACHE_VARIABLE = "ROWPATH_CACHE"


def is_full(failure: Exception | str) -> bool:
    """Whether a failure, or the text of one, means that no room is left on a disk."""
    if isinstance(failure, OSError) and failure.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    return any(word in str(failure).lower() for word in _WORDS)


def is_used_up(directory: Path) -> bool:
    """Whether the disk of this folder has no room now: SQLite then says "disk I/O error" as well as "is full"."""
    return shutil.disk_usage(existing(directory)).free < NOTHING_BYTES


def error(directory: Path, said: str = "") -> EnvironmentMissing:
    """What a user reads; `said`: the words of the program that could not write."""
    text = f"no space left on the disk of {directory}" + (f" ({said})" if said else "")
    hint = f"the results are kept: free disk space, then rowpath run --resume {directory}; or choose -o DIR"
    return EnvironmentMissing(text, hint)


def existing(directory: Path) -> Path:
    """The folder, or the nearest above it that is there."""
    return next(folder for folder in (directory.absolute(), *directory.absolute().parents) if folder.exists())


def require(directory: Path, needed_bytes: float, what: str) -> None:
    """Refuse what would fill a disk, before it begins. `directory` need not exist. Errors: EnvironmentMissing."""
    free_bytes = shutil.disk_usage(existing(directory)).free
    if free_bytes < needed_bytes + SPARE_BYTES:
        raise EnvironmentMissing(
            f"{what} needs about {needed_bytes / 1e9:.1f} GB on the disk of {directory}, which has "
            f"{free_bytes / 1e9:.1f} GB free",
            "use a smaller --scale, free disk space, or choose another disk: -o DIR for a run, "
            f"{CACHE_VARIABLE}=DIR for tables",
        )
