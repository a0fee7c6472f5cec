"""How a property is tried: with fixed examples in the ordinary ring, or with fresh ones for a stated time."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

SECONDS = "ROWPATH_FUZZ_S"  # of each test; without it the fixed examples are tried
MOST_CPU_S = 20.0  # of one example: it hangs otherwise


def tried(property_of: Callable[..., None], *examples: st.SearchStrategy[Any], ordinary: int = 150) -> None:
    """Try the property with examples of these; the first that breaks it is shrunk and reported."""
    common: dict[str, Any] = {
        "deadline": None,
        "database": None,
        "suppress_health_check": list(HealthCheck),
    }
    if not (seconds := float(os.environ.get(SECONDS, "0"))):
        settings(max_examples=ordinary, derandomize=True, **common)(given(*examples)(property_of))()
        return
    until_s, number = time.monotonic() + seconds, time.time_ns()
    while time.monotonic() < until_s:
        number += 1
        print(f"seed {number}")
        seed(number)(settings(max_examples=ordinary, **common)(given(*examples)(property_of)))()


@contextlib.contextmanager
def ending() -> Iterator[None]:
    """The body ends within some seconds of this process's CPU time, whatever else the machine does."""

    def hangs(_number: int, _frame: object) -> None:
        raise AssertionError(f"no answer after {MOST_CPU_S:g} s of CPU time")

    before = signal.signal(signal.SIGVTALRM, hangs)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_CPU_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
