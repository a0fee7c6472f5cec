"""Round trips and bytes of one execution, counted by a proxy where the database listens on this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rowpath.execution.counting import counting_proxy
from rowpath.execution.prepared_phases import Work
from rowpath.machine.counters import counting_proxy as proxy
from rowpath.planning.plan import PlannedPath
from rowpath.probe.throttled_worker import Probed

SETTLING, COUNTED = 2, 2
OPERATIONS = SETTLING + COUNTED


def counted(
    planned: PlannedPath, start: Callable[[PlannedPath], Probed], work: Work, directory: Path
) -> dict[str, Any] | None:
    """The fields of a `proof` record; None where nothing can stand in between. Errors: RunnerFailure."""
    invocation = start(planned)
    try:
        with counting_proxy(planned.path, invocation.instance, directory) as counting:
            if counting is None:
                return None
            invocation.open(**counting.overrides)
            invocation.prepare(work)
            invocation.sample(work, "warm", operations=SETTLING, first=0)
            counting.proxy.reset()
            reply = invocation.sample(work, "warm", operations=COUNTED, first=0).reply
            counts = counting.proxy.read()
            return {
                "operations": reply.operations,
                "round_trips": counts.round_trips,
                "bytes_sent": counts.bytes_sent,
                "bytes_received": counts.bytes_received,
                "means": {"bytes": proxy.MEANS},
            }
    finally:
        invocation.close()
