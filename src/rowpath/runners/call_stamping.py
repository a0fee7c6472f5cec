"""How a process is started so that its calls are stamped: the C toolchain builds the library that is preloaded."""

from __future__ import annotations

from pathlib import Path

from rowpath.machine.counters import call_stamps
from rowpath.runners.toolchains import c


def environment(file: Path) -> dict[str, str]:
    """What to add to the environment of the process to be stamped. Errors: EnvironmentMissing without a C compiler."""
    return {"LD_PRELOAD": str(c.call_stamps_library()), call_stamps.VARIABLE: str(file)}
