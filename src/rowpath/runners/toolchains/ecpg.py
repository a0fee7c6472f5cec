"""Embedded SQL in C: PostgreSQL's precompiler, which turns a .pgc into C before the compiler sees it."""

from __future__ import annotations

import shutil
from pathlib import Path

from rowpath.errors import EnvironmentMissing, InternalError
from rowpath.machine import processes
from rowpath.runners.manifest import Adapter

PRECOMPILER, PACKAGE = "ecpg", "libecpg-dev"
TIMEOUT_S = 60


def problem(adapter: Adapter) -> tuple[str, str] | None:
    """What an adapter in embedded SQL lacks here, and the command that would bring it; None when nothing."""
    if not adapter.build.get("ecpg") or shutil.which(PRECOMPILER) is not None:
        return None
    return f"no precompiler {PRECOMPILER}", f"apt-get install {PACKAGE}"


def compiling(adapter: Adapter) -> list[str]:
    """What the compiler must be told of the precompiler."""
    if not adapter.build.get("ecpg"):
        return []
    said = processes.run([PRECOMPILER, "--version"], timeout_s=TIMEOUT_S).stdout
    return [f'-DECPG_VERSION="{said.partition(") ")[2].split()[0]}"']


def precompile(source: Path, to: Path, statement: str) -> None:
    """Write the source as C; with statement=prepared every statement is prepared once per connection."""
    command = [PRECOMPILER, *(("-r", "prepare") if statement == "prepared" else ()), "-o", str(to), str(source)]
    try:
        done = processes.run(command, timeout_s=TIMEOUT_S)
    except OSError as error:
        raise EnvironmentMissing(f"{PRECOMPILER} does not start: {error}", f"apt-get install {PACKAGE}") from error
    if done.returncode:
        raise InternalError(f"{source} cannot be precompiled:\n{done.stderr.strip()}", " ".join(command))
