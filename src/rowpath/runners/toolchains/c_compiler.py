"""The system's C compiler, and what it finds: libraries and headers."""

from __future__ import annotations

import functools
import os
import shlex
import subprocess
import threading
from pathlib import Path


def words() -> list[str]:
    """How it is started: CC of the environment, else `cc`."""
    return shlex.split(os.environ.get("CC", "")) or ["cc"]


@functools.cache
def library_file(name: str) -> Path | None:
    """The shared library that its linker finds by this name (a folder before it allowed); None when it finds none."""
    return next((file.resolve() for folder in _library_folders() if (file := folder / name).is_file()), None)


def has_header(name: str) -> bool:
    """Whether it finds this header."""
    return any((folder / name).is_file() for folder in _header_folders())


@functools.cache
def _library_folders() -> tuple[Path, ...]:
    lines = _answer("-print-search-dirs").stdout.splitlines()
    named = next((line for line in lines if line.startswith("libraries:")), "").partition("=")[2]
    return tuple(Path(folder) for folder in named.split(":") if folder)


@functools.cache
def _header_folders() -> tuple[Path, ...]:
    output = _answer("-E", "-v", "-x", "c", os.devnull, "-o", os.devnull).stderr
    listed = output.partition("#include <...> search starts here:\n")[2].partition("End of search list.")[0]
    return tuple(Path(line.strip()) for line in listed.splitlines())


def _answer(*arguments: str) -> subprocess.CompletedProcess[str]:
    with _one_at_a_time:
        return _run(*arguments)


# Asked once, not by each thread that looks for drivers: a start of the compiler takes longer than all else that a list
# does.
_one_at_a_time = threading.Lock()


@functools.cache
def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"LC_ALL": "C"}  # its words are read
    return subprocess.run(
        [*words(), *arguments], capture_output=True, text=True, check=False, timeout=30, env=environment
    )
