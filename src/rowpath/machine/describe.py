"""What machine this is, as far as figures may depend on it: its parts, how slow it is, what disturbs measuring here.

Nothing here names the user or the host, and nothing is changed: all is read from /proc and /sys, or measured.
"""

from __future__ import annotations

import functools
import math
import os
import platform
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rowpath.machine import cpus, processes
from rowpath.machine.counters import noise

TURNS = 100_000
TURNS_S = 0.003  # of the loop below, on that machine
TRIES = 12  # the quickest counts: what else runs must not look like a slow machine
LEAST_SLOWNESS, MOST_SLOWNESS = 0.25, 4.0
CPU = Path("/sys/devices/system/cpu")
STEAL_WINDOW_S = 0.2
SPEED_WINDOW_S = 1.0
SPEED_SPREAD = 1.15
FAST_CLOCKS = ("tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page")


def describe(tools: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Processor, cores, memory, kernel, distribution, and the first line that each tool's command prints.

    `cc` stands for the C compiler that `$CC` names.
    """
    return {
        "processor": _field("/proc/cpuinfo", "model name") or platform.machine(),
        "cpus": os.cpu_count(),
        "cores_used": list(cpus.usable()),
        "server_cpus": list(cpus.server_cpus()),
        "memory_kib": _field("/proc/meminfo", "MemTotal").split(" ")[0],
        "kernel": platform.release(),
        "virtualised": virtualised(),
        "distribution": _field("/etc/os-release", "PRETTY_NAME", "=").strip('"'),
        "python": platform.python_version(),
    } | {name: _first_line(command) for name, command in tools.items()}


def virtualised() -> bool:
    """Whether this is a virtual machine, as far as its processor reports that."""
    return "hypervisor" in _field("/proc/cpuinfo", "flags").split()


def _field(file: str, name: str, separator: str = ":") -> str:
    parts = (line.partition(separator) for line in _read(file).splitlines())
    return next((value.strip() for key, mark, value in parts if mark and key.strip() == name), "")


def _first_line(command: Sequence[str]) -> str:
    command = [os.environ.get("CC", "cc") if word == "cc" else word for word in command]
    if shutil.which(command[0]) is None:
        return "not found"
    answer = processes.asked(command, 60)
    return next(iter((answer.stdout or answer.stderr).splitlines()), "not found")


@functools.cache
def slowness() -> float:
    """1: as fast as that machine; 2: the same work takes twice as long. Measured once, in well under 0.1 s.

    The square root: where a loop took 5 times as long, starting processes and reading files took 2 to 2.6 times.
    """
    return min(MOST_SLOWNESS, max(LEAST_SLOWNESS, math.sqrt(min(_loop_s() for _ in range(TRIES)) / TURNS_S)))


def _loop_s() -> float:
    began_s = time.perf_counter()
    for _ in range(TURNS):
        pass
    return time.perf_counter() - began_s


@dataclass(frozen=True)
class NoiseSource:
    """One source of noise: `noisy` when it is there, `ok` when not, `unknown` when the system does not report it."""

    what: str
    state: Literal["ok", "noisy", "unknown"]
    found: str
    remedy: str = ""


def noise_sources() -> list[NoiseSource]:
    """Everything known to disturb measuring, each with what it is here; takes a second to watch steal and speed."""
    sources = []

    def note(what: str, found: str, noisy: bool, remedy: str = "") -> None:
        """What was found, `noisy` or `ok`; an empty text: the system does not report it."""
        if not found:
            sources.append(NoiseSource(what, "unknown", "the system does not report it"))
        else:
            sources.append(NoiseSource(what, "noisy", found, remedy) if noisy else NoiseSource(what, "ok", found))

    count = len(cpus.usable())
    cores = f"{count} usable physical core{'s' if count > 1 else ''} of {os.cpu_count()} CPUs"
    shared = "" if count > 1 else ": client, server and everything else share one; no placement=split"
    note("cores", cores + shared, bool(shared))

    threads = _read(CPU / "smt" / "active") == "1"
    switch = f"echo off | sudo tee {CPU}/smt/control"
    note("hyper-threads", "on: two CPUs share a core" if threads else "off", threads, switch)

    governor = _read(CPU / "cpu0" / "cpufreq" / "scaling_governor")
    switch = f"echo performance | sudo tee {CPU}/cpu*/cpufreq/scaling_governor"
    note("frequency governor", governor, governor != "performance", switch)

    no_turbo, boost = _read(CPU / "intel_pstate" / "no_turbo"), _read(CPU / "cpufreq" / "boost")
    turbo = no_turbo == "0" or boost == "1"
    switch = f"1 | sudo tee {CPU}/intel_pstate/no_turbo" if no_turbo == "0" else f"0 | sudo tee {CPU}/cpufreq/boost"
    note("turbo", ("on" if turbo else "off") if no_turbo or boost else "", turbo, f"echo {switch}")

    file = "/sys/kernel/mm/transparent_hugepage/enabled"
    always = "[always]" in (pages := _read(file))
    note("transparent huge pages", "always" if always else pages, always, f"echo madvise | sudo tee {file}")

    swapped_kb = sum(int(line.split()[3]) for line in Path("/proc/swaps").read_text().splitlines()[1:])
    swap = f"{swapped_kb // 1024} MB in use" if swapped_kb else "not in use"
    note("swap", swap, bool(swapped_kb), "sudo swapoff -a")

    one_minute = os.getloadavg()[0]
    note("load", f"{one_minute:.2f} over the last minute", one_minute > 0.3 * (os.cpu_count() or 1))

    before = noise.steal_ticks()
    time.sleep(STEAL_WINDOW_S)
    after = noise.steal_ticks()
    if before is None or after is None:
        note("steal", "", False)
    else:
        steal = f"{after} ticks since boot, {after - before} in the last {STEAL_WINDOW_S:g} s"
        note("steal", steal, after > before)

    spread = noise.speed_spread(cpus.usable()[-1], SPEED_WINDOW_S)
    speed = f"the same work takes up to {spread:.2f}× as long from one moment to the next"
    why = ": another guest may share the core" if virtualised() else ": the clock frequency may change"
    note("speed of a core", speed + why * (spread > SPEED_SPREAD), spread > SPEED_SPREAD)

    quota = _read("/sys/fs/cgroup/cpu.max") or _read("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")
    limited = bool(quota) and not quota.startswith(("max", "-1"))
    limit = f"a CPU quota: {quota} (µs per period); threads are stopped by it"
    note("container limits", limit if limited else "no CPU quota is visible", limited)

    clock = _read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    slow = bool(clock) and clock not in FAST_CLOCKS
    note("clock source", f"{clock}: each clock read is a system call" if slow else clock, slow)

    neighbours = "yes: neighbours share caches, memory and time" if virtualised() else "not detected"
    note("virtual machine", neighbours, virtualised())
    return sources


def _read(file: str | Path) -> str:
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
