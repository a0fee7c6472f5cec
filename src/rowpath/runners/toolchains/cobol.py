"""COBOL subprograms that a C adapter calls: GnuCOBOL's compiler makes objects of them, which are linked with libcob."""

from __future__ import annotations

import functools
import shutil
from pathlib import Path

from rowpath.runners.manifest import Adapter
from rowpath.runners.toolchains import compiling

COMMAND = ("cobc", "-c", "-free", "-O2")
REMEDY = "apt-get install gnucobol3"


def problem(adapter: Adapter) -> tuple[str, str] | None:
    """What an adapter with COBOL subprograms lacks here, and the command that would bring it; None when nothing."""
    if adapter.build.get("cobol") and shutil.which(COMMAND[0]) is None:
        return f"no COBOL compiler ({COMMAND[0]})", REMEDY
    return None


@functools.cache
def version() -> str:
    """What the compiler prints about itself. EnvironmentMissing when it cannot be started."""
    return compiling.run([COMMAND[0], "--version"], f"{COMMAND[0]} prints no version", REMEDY)


def compile_to(source: Path, made: Path) -> None:
    """Compile one subprogram; what it copies stands beside it. InternalError when it does not compile."""
    compiling.run(
        [*COMMAND, f"-I{source.parent}", "-o", str(made), str(source)], f"{source.name} does not compile", REMEDY
    )
