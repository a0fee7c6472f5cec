"""When groups at work have been warmed up: the time of an operation of each no longer changes."""

from __future__ import annotations

import time

from rowpath.execution.mixed_load.shared_counters import Snapshot
from rowpath.execution.warm_up import FLAT_BLOCKS, is_flat

LOOK_NS = 100_000_000


class Warming:
    """Called at every look of a warm-up: whether it is enough."""

    def __init__(self, at_least_s: float) -> None:
        self._least_ns = time.monotonic_ns() + round(at_least_s * 1e9)
        self._last: dict[str, Snapshot] = {}
        self._ns: dict[str, list[float]] = {}  # of an operation, by group, for each look

    def __call__(self, now: dict[str, Snapshot]) -> bool:
        """Whether every group has kept one level for some looks; one that did nothing since the last has not."""
        for name, snapshot in now.items():
            done = snapshot.since(self._last.get(name))
            ns = done.service_ns / done.operations if done.operations else float("inf")
            self._ns.setdefault(name, []).append(ns)
        self._last = now
        if time.monotonic_ns() < self._least_ns:
            return False
        return all(_level(blocks[-FLAT_BLOCKS:]) for blocks in self._ns.values())


def _level(blocks: list[float]) -> bool:
    return len(blocks) == FLAT_BLOCKS and max(blocks) < float("inf") and is_flat(blocks)
