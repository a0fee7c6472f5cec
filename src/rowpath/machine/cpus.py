"""Which CPUs client and server are pinned to: servers to the last core, clients there too or to another one.

`free`: both may use every core, for what several clients gain cannot be seen on one.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path


@functools.cache
def usable() -> tuple[int, ...]:
    """One CPU per physical core that this process may use, ascending."""
    found: dict[tuple[str, str], int] = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology")
        try:
            core = (topology / "physical_package_id").read_text().strip(), (topology / "core_id").read_text().strip()
        except OSError:
            core = ("", str(cpu))
        found.setdefault(core, cpu)
    return tuple(found.values())


def server_cpus(placement: str = "same") -> tuple[int, ...]:
    """Where a server is pinned, once: the last core; `free`: every core."""
    return usable() if placement == "free" else (usable()[-1],)


def client_cpus(placement: str, threads: int = 1) -> tuple[int, ...]:
    """Where the client of a path is pinned: `same` as the server, another physical core (`split`), or any (`free`).

    A driver or engine that may use several threads for one operation gets as many cores, as far as there are.
    """
    if placement == "free":
        return usable()
    if threads > 1:
        return usable()[:threads]
    return server_cpus() if placement == "same" else (usable()[0],)


def controller_cpus() -> tuple[int, ...]:
    """Where the controller sleeps: away from the servers where there is a choice."""
    return (usable()[0],)
