"""The system's C compiler, and what it finds: libraries and headers."""

from __future__ import annotations

import functools
import os
import shlex
import subprocess
from pathlib import Path


def words() -> list[str]:
    """How it is started: CC of the environment, else `cc`."""
    return shlex.split(os.environ.get("CC", "")) or ["cc"]


@functools.cache
def library_file(name: str) -> Path | None:
    """The shared library that its linker finds by this name (a folder before it allowed); None when it finds none."""
    found = subprocess.run(
        [*words(), f"-print-file-name={name}"], capture_output=True, text=True, check=False, timeout=30
    ).stdout.strip()
    return Path(found).resolve() if Path(found).is_absolute() else None


@functools.cache
def has_header(name: str) -> bool:
    """Whether it finds this header."""
    command = [*words(), "-E", "-x", "c", "-", "-o", os.devnull]
    program = f"#include <{name}>\n".encode()
    return subprocess.run(command, input=program, capture_output=True, check=False, timeout=30).returncode == 0
