"""What is compiled into the cache: what is missing for it, how a build is named, one step of it."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from rowpath.errors import EnvironmentMissing, InternalError
from rowpath.machine import jobs, processes
from rowpath.machine.directories import made_whole

TIMEOUT_S = 1200
AT_ONCE = len(os.sched_getaffinity(0))  # compilers; downloads go on beside them
PRINTED_LINES = 20  # of a compiler's output that an error shows


def lacking(kind: str, packages: Mapping[str, str], find: Callable[[str], object]) -> tuple[str, str] | None:
    """The first of these (name → Debian package) that `find` does not find, and the command that would bring it."""
    missing = next((name for name in packages if not find(name)), None)
    return None if missing is None else (f"the {kind} {missing} is missing", f"apt-get install {packages[missing]}")


def key(files: Iterable[Path], words: Sequence[str]) -> str:
    """What a build is named by: its files' contents, and the words that decide about it (arguments, versions)."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    digest.update(json.dumps(words).encode())
    return digest.hexdigest()[:16]


def made_once(target: Path, make: Callable[[Path], object]) -> Path:
    """The file in the cache; when it is not there, what `make` writes, whole or not at all."""
    if not target.is_file():
        jobs.begins()
        with made_whole(target) as made:
            make(made)
    return target


def run(
    command: Sequence[str], failed: str, remedy: str, environment: Mapping[str, str] = {}, timeout_s: float = TIMEOUT_S
) -> str:
    """One step of a build; what it prints. `failed`: the error's text where it fails.

    Errors: EnvironmentMissing with `remedy` when it cannot be started, InternalError when it fails.
    """
    try:
        done = processes.run(command, timeout_s=timeout_s, environment=environment)
    except OSError as error:
        raise EnvironmentMissing(f"{command[0]} does not start: {error}", remedy) from error
    if done.returncode:
        printed = "\n".join((done.stdout + done.stderr).strip().splitlines()[:PRINTED_LINES])
        raise InternalError(f"{failed}:\n{printed}", f"try: {shlex.join(command)}")
    return done.stdout
