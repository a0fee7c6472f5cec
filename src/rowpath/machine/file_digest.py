"""A fingerprint of a file or a folder of the user's own."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

LEFT_OUT = {".git", "build", "__pycache__"}  # of a folder: what changes without its source


@functools.cache
def digest(path: Path) -> str:
    """SHA-256 over the contents, of a folder with the names of its files; the first one as long as we run."""
    found = hashlib.sha256()
    if path.is_file():
        found.update(path.read_bytes())
    for file in sorted(path.rglob("*")) if path.is_dir() else ():
        name = file.relative_to(path)
        if file.is_file() and LEFT_OUT.isdisjoint(name.parts):
            found.update(str(name).encode() + b"\0" + file.read_bytes())
    return found.hexdigest()
