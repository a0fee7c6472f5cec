"""Empty data directories that take a server seconds to make: made once for the cache, then copied."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from rowpath.machine import private_directories
from rowpath.machine.directories import cache_dir, unwritable_cache


def copied(name: str, settings: object, data: Path, user: str | None, make: Callable[[], None]) -> None:
    """Have an empty data directory at `data`, the user's own; `make` makes one there when the cache has none.

    `name` and `settings` say what it depends on beside the user.
    """
    marks = hashlib.blake2s(repr((settings, user, os.geteuid())).encode(), digest_size=6).hexdigest()
    kept = cache_dir() / f"{name}-empty-{marks}"
    if kept.is_dir():
        private_directories.copy(kept, data, user)
        return
    make()
    try:
        cache_dir().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f"{kept.name}.", dir=cache_dir()) as scratch:
            private_directories.copy(data, Path(scratch) / "data", None)
            with contextlib.suppress(OSError):  # another process was first
                (Path(scratch) / "data").rename(kept)
    except OSError as error:
        raise unwritable_cache(cache_dir(), error) from error
