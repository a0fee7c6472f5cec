"""The collectors, one file per resource; each reports by which method a figure was obtained, or why there is none."""

from __future__ import annotations

import functools


@functools.cache
def probe() -> dict[str, str]:
    """The method that works here, by resource, or a text beginning with `unavailable`. Journalled once per run."""
    from rowpath.machine.counters import (
        connections,
        core_users,
        counting_proxy,
        cpu,
        disk,
        memory,
        noise,
        syncs,
        system_calls,
    )

    return {
        "cpu": cpu.probe(),
        "memory": memory.probe(),
        "queue": cpu.probe_queue(),
        "disk": disk.probe(),
        "users of the cores": core_users.METHOD,
        "noise": noise.probe(),
        "bytes and round trips": counting_proxy.METHOD,
        "bytes of our connections": connections.probe(),
        "syncs": syncs.probe(),
        "sync cost": syncs.COST_METHOD,
        "system calls": system_calls.probe(),
    }
