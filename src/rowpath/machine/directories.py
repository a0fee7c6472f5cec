"""Where Rowpath reads and writes: its data, its cache, and private places for engines."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rowpath.errors import EnvironmentMissing

LEFT_OUT = {".git", "build", "__pycache__"}  # of a folder's digest: what changes without its source


def data_dir() -> Path:
    """The folder of `runners/`, `workloads/`, `experiments/`, `claims/`: the clone, or the installed package's data."""
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


def unwritable_cache(folder: Path, error: OSError) -> EnvironmentMissing:
    """What a user reads when a folder of the cache cannot be written."""
    return EnvironmentMissing(f"the cache {folder} cannot be written: {error}", "ROWPATH_CACHE=DIR")


@contextlib.contextmanager
def made_whole(target: Path) -> Iterator[Path]:
    """Where to make `target`: renamed into place at the end, so that two builds at once do no harm.

    Errors: EnvironmentMissing when the cache cannot be written.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        folder = tempfile.TemporaryDirectory(prefix=f"{target.name}.", dir=target.parent)
    except OSError as error:
        raise unwritable_cache(target.parent, error) from error
    with folder as name:
        made = Path(name) / target.name
        yield made
        made.chmod(0o755)
        made.rename(target)


@contextlib.contextmanager
def locked(target: Path) -> Iterator[None]:
    """One process at a time makes `target`, a file or folder of the cache; the others wait.

    Errors: EnvironmentMissing when the cache cannot be written.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        lock = target.with_name(f"{target.name}.lock").open("w")
    except OSError as error:
        raise unwritable_cache(target.parent, error) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@functools.cache
def digest(path: Path) -> str:
    """SHA-256 over the contents, of a folder with the names of its files; the first one as long as we run."""
    content = hashlib.sha256()
    if path.is_file():
        content.update(path.read_bytes())
    for file in sorted(path.rglob("*")) if path.is_dir() else ():
        name = file.relative_to(path)
        if file.is_file() and LEFT_OUT.isdisjoint(name.parts):
            content.update(str(name).encode() + b"\0" + file.read_bytes())
    return content.hexdigest()
