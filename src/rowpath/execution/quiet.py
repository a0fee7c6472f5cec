"""Waiting until what runtimes and servers do beside the work (compiling, above all) is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from rowpath.execution.worker import Invocation

WINDOW_S = 0.1
SHARE = 0.05  # of one core, by all runtimes together
CAP_S = 6.0


def wait_until_quiet(invocations: Callable[[], Iterable[Invocation]]) -> float:
    """Until no compiler's backlog is left, for it would fall on what is measured next; the seconds it took.

    CAP_S at most; `invocations` is asked again at every look, for one may be lost meanwhile.
    """
    begun = time.monotonic()
    before = sum(invocation.helpers_cpu_ns() for invocation in invocations())
    while time.monotonic() - begun < CAP_S:
        time.sleep(WINDOW_S)
        now = sum(invocation.helpers_cpu_ns() for invocation in invocations())
        if now - before < SHARE * WINDOW_S * 1e9:
            break
        before = now
    return time.monotonic() - begun
