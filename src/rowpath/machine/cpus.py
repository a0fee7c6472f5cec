"""Which CPUs client and server are pinned to while they are measured: the last core, clients there too or elsewhere.

`free`: both may use every core, for what several clients gain cannot be seen on one.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from pathlib import Path

_aside: tuple[int, ...] = ()  # CPUs that nothing measured has, where a user has named some


@functools.cache
def usable() -> tuple[int, ...]:
    """One CPU per physical core that this process may use, ascending."""
    cores: dict[tuple[str, str], int] = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology")
        try:
            core = (topology / "physical_package_id").read_text().strip(), (topology / "core_id").read_text().strip()
        except OSError:
            core = ("", str(cpu))
        cores.setdefault(core, cpu)
    return tuple(cores.values())


def server_cpus(placement: str = "same") -> tuple[int, ...]:
    """Where a server is pinned, once: the last core; `free`: every core."""
    return usable() if placement == "free" else (usable()[-1],)


def client_cpus(placement: str, threads: int = 1) -> tuple[int, ...]:
    """Where the client of a path is pinned: `same` as the server, another physical core (`split`), or any (`free`).

    With its server on another host (`apart`) it has the last core here.
    A driver or engine that may use several threads for one operation gets as many cores, as far as there are.
    """
    if placement == "free":
        return usable()
    if threads > 1:
        return usable()[:threads]
    return server_cpus() if placement in ("same", "apart") else (usable()[0],)


def spare_cpus() -> tuple[int, ...]:
    """Where everything is that must not disturb a measured path: cores that no placement measures.

    With two cores the first one, which `split` measures too; with one core that one: nothing can be kept apart then.
    On a host that has CPUs for helpers: those.
    """
    return _aside or usable()[1:-1] or (usable()[0],)


def set_aside(helpers: Iterable[int]) -> None:
    """Keep these CPUs for all that is not measured; before anything else here is called."""
    global _aside  # noqa: PLW0603 - a process is on one machine
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, every - set(helpers) or every)
    usable.cache_clear()
    usable()  # kept, for we leave those CPUs now
    _aside = tuple(sorted(every & set(helpers)))
    os.sched_setaffinity(0, _aside or every)


def not_kept_apart(placements: Iterable[str]) -> str:
    """What of a run must share cores with what is measured, in words; empty when there are enough."""
    if _aside and _aside != usable():
        return ""
    if len(usable()) == 1:
        return "one core: the controller, other paths' processes and compilers share it with what is measured"
    if "split" in placements and set(spare_cpus()) & set(client_cpus("split")):
        return "placement=split uses both cores: other processes of the run share the client's"
    return ""


def controller_cpus() -> tuple[int, ...]:
    """Where the controller sleeps."""
    return spare_cpus()
