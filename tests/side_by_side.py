"""What makes tests that do not measure cheap and indifferent to each other, so that they run side by side."""

from __future__ import annotations

import math

from rowpath.execution import core_share
from rowpath.machine import cpus
from rowpath.runners.toolchains import java

TOUCHED_FIRST = "-XX:+AlwaysPreTouch"
QUICK_COMPILER = "-XX:TieredStopAtLevel=1"


def take_cores_from(number: int) -> None:
    """Servers and runners are pinned to the last core: count the cores from another one for each number."""
    usable = cpus.usable()
    first = number % len(usable)
    rotated = usable[first:] + usable[:first]
    cpus.usable = lambda: rotated  # type: ignore[assignment]


def start_jvms_quickly() -> None:
    """Halve the CPU of short-lived JVMs: they touch no memory in advance and compile once."""
    kept = tuple(option for option in java.JVM_OPTIONS if option != TOUCHED_FIRST)
    java.JVM_OPTIONS = (*kept, QUICK_COMPILER)


def take_every_block_as_undisturbed() -> None:
    """The noise of other tests is not what is tested."""
    core_share.ACCOUNTED_LEAST = -1.0
    core_share.WAIT_MOST = core_share.FOREIGN_MOST = math.inf
