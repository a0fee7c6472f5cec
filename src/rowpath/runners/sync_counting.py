"""How a process is started so that its syncs are counted: the C toolchain builds the library that is preloaded."""

from __future__ import annotations

from pathlib import Path

from rowpath.errors import EnvironmentMissing
from rowpath.machine.counters import syncs
from rowpath.runners.toolchains import c


def method() -> str:
    """The method by which syncs are counted here, after building the library; else `unavailable: …`."""
    found = syncs.probe()
    if found == syncs.METHOD:
        try:
            c.sync_count_library()
        except EnvironmentMissing as error:
            return f"unavailable: {error.message}"
    return found


def environment(file: Path) -> dict[str, str]:
    """What to add to the environment of the process to be counted. Errors: EnvironmentMissing without a C compiler."""
    return {"LD_PRELOAD": str(c.sync_count_library()), syncs.VARIABLE: str(file)}
