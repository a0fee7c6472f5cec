"""What in this machine disturbs measuring: read from /proc and /sys, nothing is changed."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rowpath.machine import cpus
from rowpath.machine.counters import noise

CPU = Path("/sys/devices/system/cpu")
STEAL_WINDOW_S = 0.2
FAST_CLOCKS = ("tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page")


@dataclass(frozen=True)
class Source:
    """One source of noise: `noisy` when it is there, `ok` when not, `unknown` when the system does not report it."""

    what: str
    state: Literal["ok", "noisy", "unknown"]
    found: str
    remedy: str = ""


def look() -> list[Source]:
    """Everything known to disturb measuring, each with what it is here; takes 0.2 s, for steal is watched."""
    return [
        _processors(),
        _siblings(),
        _governor(),
        _turbo(),
        _huge_pages(),
        _swap(),
        _load(),
        _steal(),
        _limits(),
        _timer(),
        _virtual(),
    ]


def _processors() -> Source:
    count = len(cpus.usable())
    found = f"{count} usable physical core{'s' if count > 1 else ''} of {os.cpu_count()} CPUs"
    if count > 1:
        return Source("cores", "ok", found)
    return Source("cores", "noisy", f"{found}: client, server and everything else share one; no placement=split")


def _siblings() -> Source:
    if _read(CPU / "smt" / "active") == "1":
        return Source("hyper-threads", "noisy", "on: two CPUs share a core", f"echo off | sudo tee {CPU}/smt/control")
    return Source("hyper-threads", "ok", "off")


def _governor() -> Source:
    governor = _read(CPU / "cpu0" / "cpufreq" / "scaling_governor")
    if not governor:
        return Source("frequency governor", "unknown", "the system does not report it")
    if governor == "performance":
        return Source("frequency governor", "ok", governor)
    files = f"{CPU}/cpu*/cpufreq/scaling_governor"
    return Source("frequency governor", "noisy", governor, f"echo performance | sudo tee {files}")


def _turbo() -> Source:
    no_turbo, boost = _read(CPU / "intel_pstate" / "no_turbo"), _read(CPU / "cpufreq" / "boost")
    if not no_turbo and not boost:
        return Source("turbo", "unknown", "the system does not report it")
    if no_turbo == "0":
        return Source("turbo", "noisy", "on", f"echo 1 | sudo tee {CPU}/intel_pstate/no_turbo")
    if boost == "1":
        return Source("turbo", "noisy", "on", f"echo 0 | sudo tee {CPU}/cpufreq/boost")
    return Source("turbo", "ok", "off")


def _huge_pages() -> Source:
    file = "/sys/kernel/mm/transparent_hugepage/enabled"
    setting = _read(file)
    if "[always]" in setting:
        return Source("transparent huge pages", "noisy", "always", f"echo madvise | sudo tee {file}")
    return Source("transparent huge pages", "ok" if setting else "unknown", setting or "the system does not report it")


def _swap() -> Source:
    used_kb = sum(int(line.split()[3]) for line in Path("/proc/swaps").read_text().splitlines()[1:])
    if used_kb:
        return Source("swap", "noisy", f"{used_kb // 1024} MB in use", "sudo swapoff -a")
    return Source("swap", "ok", "not in use")


def _load() -> Source:
    one_minute = os.getloadavg()[0]
    noisy = one_minute > 0.3 * (os.cpu_count() or 1)
    return Source("load", "noisy" if noisy else "ok", f"{one_minute:.2f} over the last minute")


def _steal() -> Source:
    before = noise.steal_ticks()
    time.sleep(STEAL_WINDOW_S)
    after = noise.steal_ticks()
    if before is None or after is None:
        return Source("steal", "unknown", "the system does not report it")
    found = f"{after} ticks since boot, {after - before} in the last {STEAL_WINDOW_S:g} s"
    return Source("steal", "noisy" if after > before else "ok", found)


def _limits() -> Source:
    limit = _read("/sys/fs/cgroup/cpu.max") or _read("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")
    if limit and not limit.startswith(("max", "-1")):
        return Source("container limits", "noisy", f"a CPU quota: {limit} (µs per period); threads are stopped by it")
    return Source("container limits", "ok", "no CPU quota is visible")


def _timer() -> Source:
    source = _read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    if not source:
        return Source("clock source", "unknown", "the system does not report it")
    if source in FAST_CLOCKS:
        return Source("clock source", "ok", source)
    return Source("clock source", "noisy", f"{source}: each clock read is a system call")


def _virtual() -> Source:
    if "hypervisor" in _field("/proc/cpuinfo", "flags").split():
        return Source("virtual machine", "noisy", "yes: neighbours share caches, memory and time")
    return Source("virtual machine", "ok", "not detected")


def _read(file: str | Path) -> str:
    try:
        return Path(file).read_text().strip()
    except OSError:
        return ""


def _field(file: str, name: str) -> str:
    for line in _read(file).splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""
