"""How a client's memory is limited so that a whole result does not fit."""

from __future__ import annotations

import resource
from pathlib import Path

import msgspec

from rowpath.machine import processes
from rowpath.runners.manifest import Command

HEAP_MIB = 12
ROOM_BYTES = 8 << 20  # beside what the process has already


def of_runtime(language: str, start: Command) -> Command | None:
    """The command with the runtime's own option; None: the kernel's limit is the way."""
    if language == "java":
        small = (f"-Xm{one[3]}{HEAP_MIB}m" if one.startswith(("-Xms", "-Xmx")) else one for one in start.arguments)
        return msgspec.structs.replace(start, arguments=tuple(small))
    if language == "node":
        at = next(n for n, one in enumerate(start.arguments) if Path(one).name == "node") + 1
        option = f"--max-old-space-size={HEAP_MIB}"
        return msgspec.structs.replace(start, arguments=(*start.arguments[:at], option, *start.arguments[at:]))
    if language == "csharp":
        return msgspec.structs.replace(
            start, environment={**start.environment, "MONO_GC_PARAMS": f"max-heap-size={HEAP_MIB}m"}
        )
    return None


def of_process(pid: int) -> None:
    """Let the address space of a living process grow by no more than `ROOM_BYTES`."""
    used = int(processes.shown(f"{pid}/statm").split()[0]) * resource.getpagesize()
    resource.prlimit(pid, resource.RLIMIT_AS, (used + ROOM_BYTES, used + ROOM_BYTES))
