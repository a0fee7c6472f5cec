"""How a process is started so that its syncs are counted: the C toolchain builds the library that is preloaded."""

from __future__ import annotations

from pathlib import Path

from rowpath.machine.counters import syncs
from rowpath.runners.toolchains import c


def environment(file: Path) -> dict[str, str]:
    """What to add to the environment of the process to be counted. Errors: EnvironmentMissing without a C compiler."""
    return {"LD_PRELOAD": str(c.sync_count_library()), syncs.VARIABLE: str(file)}
