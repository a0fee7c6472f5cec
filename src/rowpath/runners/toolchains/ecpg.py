"""Embedded SQL in C: PostgreSQL's precompiler, which turns a .pgc into C before the compiler sees it."""

from __future__ import annotations

import shutil
from pathlib import Path

from rowpath.runners.manifest import Adapter
from rowpath.runners.toolchains import compiling

PRECOMPILER, REMEDY = "ecpg", "apt-get install libecpg-dev"


def problem(adapter: Adapter) -> tuple[str, str] | None:
    """What an adapter in embedded SQL lacks here, and the command that would bring it; None when nothing."""
    if not adapter.build.get("ecpg") or shutil.which(PRECOMPILER) is not None:
        return None
    return f"no precompiler {PRECOMPILER}", REMEDY


def definition(adapter: Adapter) -> list[str]:
    """What names the precompiler's version to the compiler."""
    if not adapter.build.get("ecpg"):
        return []
    printed = compiling.run([PRECOMPILER, "--version"], f"{PRECOMPILER} prints no version", REMEDY)
    return [f'-DECPG_VERSION="{printed.partition(") ")[2].split()[0]}"']


def precompile(source: Path, to: Path, statement: str) -> None:
    """Write the source as C; with statement=prepared every statement is prepared once per connection."""
    prepared = ("-r", "prepare") if statement == "prepared" else ()
    compiling.run([PRECOMPILER, *prepared, "-o", str(to), str(source)], f"{source} cannot be precompiled", REMEDY)
