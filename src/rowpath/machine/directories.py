"""Where Rowpath reads and writes: its data, its cache, and private places for engines."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

SOCKET_PATH_LIMIT_BYTES = 107


def data_dir() -> Path:
    """The folder that holds `runners/`, `workloads/` and `experiments/`: the clone, or the installed package's data."""
    packaged = Path(__file__).parents[1] / "data"
    return packaged if packaged.is_dir() else Path(__file__).parents[3]


def cache_dir() -> Path:
    """The cache directory: `$ROWPATH_CACHE`, else the system's when root, else the user's.

    As root servers run as another user, who must reach the binaries: root's own home is closed to them.
    """
    named = os.environ.get("ROWPATH_CACHE")
    if named:
        return Path(named).absolute()
    if os.geteuid() == 0:
        return Path("/var/cache/rowpath")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "rowpath"


def build_dir(language: str) -> Path:
    """Where a language's runner is built."""
    return cache_dir() / "build" / language


def downloads_dir() -> Path:
    """Where fetched artefacts are kept, each checked against its pinned checksum."""
    return cache_dir() / "downloads"


def socket_dir(preferred: Path) -> Path:
    """`preferred` when a socket inside it stays under the system's limit, else a new private temporary directory."""
    if len(os.fsencode(str(preferred))) + len("/.s.PGSQL.65535") <= SOCKET_PATH_LIMIT_BYTES:
        preferred.mkdir(parents=True, exist_ok=True)
        return preferred
    return Path(tempfile.mkdtemp(prefix="rowpath-"))
