"""What machine a run was made on, as far as figures may depend on it; nothing that names the user or the host."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rowpath.machine import cpus


def describe(tools: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Processor, cores, memory, kernel, distribution, and the first line that each tool's command prints.

    `cc` stands for the C compiler that `$CC` names.
    """
    return {
        "processor": _field(Path("/proc/cpuinfo"), "model name") or platform.machine(),
        "cpus": os.cpu_count(),
        "cores_used": list(cpus.usable()),
        "server_cpus": list(cpus.server_cpus()),
        "memory_kib": _field(Path("/proc/meminfo"), "MemTotal").split(" ")[0],
        "kernel": platform.release(),
        "virtualised": virtualised(),
        "distribution": _field(Path("/etc/os-release"), "PRETTY_NAME", "=").strip('"'),
        "python": platform.python_version(),
    } | {name: _first_line(command) for name, command in tools.items()}


def virtualised() -> bool:
    """Whether this is a virtual machine, as far as its processor reports that."""
    return "hypervisor" in _field(Path("/proc/cpuinfo"), "flags").split()


def _field(file: Path, name: str, separator: str = ":") -> str:
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    for line in lines:
        key, found, value = line.partition(separator)
        if found and key.strip() == name:
            return value.strip()
    return ""


def _first_line(command: Sequence[str]) -> str:
    command = [os.environ.get("CC", "cc") if word == "cc" else word for word in command]
    if shutil.which(command[0]) is None:
        return "not found"
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return next(iter((answer.stdout or answer.stderr).splitlines()), "not found")
