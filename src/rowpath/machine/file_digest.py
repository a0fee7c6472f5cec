"""A fingerprint of a file or a folder of the user's own."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

LEFT_OUT = {".git", "build", "__pycache__"}  # of a folder: what changes without its source


@functools.cache
def digest(place: Path) -> str:
    """SHA-256 over the contents, of a folder with the names of its files; the first one as long as we run."""
    found = hashlib.sha256()
    if place.is_file():
        found.update(place.read_bytes())
    for file in sorted(place.rglob("*")) if place.is_dir() else ():
        name = file.relative_to(place)
        if file.is_file() and LEFT_OUT.isdisjoint(name.parts):
            found.update(str(name).encode() + b"\0" + file.read_bytes())
    return found.hexdigest()
