"""A full disk ends a run in good order: told from other failures, with what to do about it."""

from __future__ import annotations

import errno
from pathlib import Path

from rowpath.errors import EnvironmentMissing

# What the system, SQLite, Derby and others say in their own words when they cannot write for want of room.
_WORDS = ("no space left on device", "disk is full", "disk full", "disk quota exceeded", "enospc")


def is_full(failure: Exception | str) -> bool:
    """Whether a failure, or the text of one, says that there is no room left on a disk."""
    if isinstance(failure, OSError) and failure.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    return any(word in str(failure).lower() for word in _WORDS)


def error(directory: Path, said: str = "") -> EnvironmentMissing:
    """What the user is told; `said`: the words of whoever could not write."""
    more = f" ({said})" if said else ""
    return EnvironmentMissing(
        f"no space left on the disk of {directory}{more}",
        f"what was measured is kept: make room, then rowpath run --resume {directory}; or another disk with -o DIR",
    )
