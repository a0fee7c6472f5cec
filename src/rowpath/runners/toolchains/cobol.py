"""COBOL subprograms that a C adapter calls: GnuCOBOL's compiler makes objects of them, which are linked with libcob."""

from __future__ import annotations

import functools
import shlex
import shutil
from pathlib import Path

from rowpath.errors import EnvironmentMissing, InternalError
from rowpath.machine import processes
from rowpath.runners.manifest import Adapter

COMMAND = ("cobc", "-c", "-free", "-O2")
REMEDY = "apt-get install gnucobol3"
TIMEOUT_S = 120


def problem(adapter: Adapter) -> tuple[str, str] | None:
    """What an adapter with COBOL subprograms lacks here, and the command that would bring it; None when nothing."""
    if adapter.build.get("cobol") and shutil.which(COMMAND[0]) is None:
        return f"no COBOL compiler ({COMMAND[0]})", REMEDY
    return None


@functools.cache
def version() -> str:
    """What the compiler says about itself. EnvironmentMissing when it cannot be started."""
    return _said([COMMAND[0], "--version"], "its version")


def compile_to(made: Path, source: Path) -> None:
    """Compile one subprogram; what it copies stands beside it. InternalError when it does not compile."""
    _said([*COMMAND, f"-I{source.parent}", "-o", str(made), str(source)], source.name)


def _said(command: list[str], what: str) -> str:
    try:
        done = processes.run(command, timeout_s=TIMEOUT_S)
    except OSError as error:
        raise EnvironmentMissing(f"{command[0]} does not start: {error}", REMEDY) from error
    if done.returncode:
        said = "\n".join(done.stderr.strip().splitlines()[:20])
        raise InternalError(f"{what} does not compile:\n{said}", f"try: {shlex.join(command)}")
    return done.stdout
