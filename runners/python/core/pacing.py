"""When operations of an open loop are due, and how a client waits for that."""

import asyncio
import ctypes
import select
from collections import deque
from contextlib import contextmanager
from math import log1p
from threading import Lock
from time import perf_counter_ns, sleep

NS = 1_000_000_000
MASK64 = (1 << 64) - 1
PR_SET_TIMERSLACK = 29


def fixed(client, clients, rate_per_s, _seed, zero_ns):
    """Equal distances: the instants, as CLOCK_MONOTONIC, of one of the group's clients."""
    step_ns = NS / rate_per_s
    number = client
    while True:
        yield zero_ns + int(number * step_ns)
        number += clients


def poisson(client, clients, rate_per_s, seed, zero_ns):
    """Exponentially distributed distances, drawn from SplitMix64 (Steele, Lea, Flood, OOPSLA 2014)."""
    state = seed + client
    mean_ns = NS * clients / rate_per_s
    passed_ns = 0.0
    while True:
        state = state + 0x9E3779B97F4A7C15 & MASK64
        mixed = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK64
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & MASK64
        passed_ns -= log1p(-((mixed ^ mixed >> 31) >> 11) / (1 << 53)) * mean_ns
        yield zero_ns + int(passed_ns)


SCHEDULES = {"fixed": fixed, "poisson": poisson}


class SharedArrivals:
    """A group's arrivals, of which any free client takes the next one; `most`: how many there are, 0: no limit.

    `schedule(zero_ns)` gives the instants at which they are due; None: `population` callers stand in a queue.
    """

    def __init__(self, schedule, population, most):
        self._schedule, self._population, self._most = schedule, population, most
        self._callers = deque()  # when each stood in the queue again
        self._joined_ns = 0  # when the last one did
        self._lock = Lock()
        self._dues = None
        self._taken = 0

    def take(self, zero_ns):
        """(number, when due) of the next arrival; None: there is none any more."""
        with self._lock:
            number = self._taken
            if number == self._most > 0:
                return None
            self._taken += 1
            if self._schedule is None:
                return number, zero_ns if number < self._population else self._callers.popleft()
            if self._dues is None:
                self._dues = self._schedule(zero_ns)
            return number, next(self._dues)

    def join(self, due_ns):
        """A caller stands at the end of the queue from that instant on, or from when the one before it does."""
        with self._lock:
            self._joined_ns = max(self._joined_ns, due_ns)  # clients may come in another order than they ended in
            self._callers.append(self._joined_ns)


# Both for threads and for tasks; `let_others` gives the interpreter to the process's other clients, without a timer.
WAITING = """
{define} until(instant_ns, spin_ns, control):
    while (left_ns := instant_ns - spin_ns - clock()) > 0:
        {wait}sleep(min(left_ns / 1e9, 0.01))
        if 0 < control[1] <= instant_ns:
            return False
    while clock() < instant_ns:
        {wait}let_others(0)
    return True

{define} begun(control):
    while not control[0]:
        if 0 < control[1] <= clock():
            return 0
        {wait}sleep(0.001)
    return control[0] if {wait}until(control[0], 0, control) else 0
"""


def waiting(define, wait):
    """`until(instant_ns, spin_ns, control)`: False when the end is set to that or before; `begun(control)`: the zero.

    Coroutine functions where `define` makes them so. They serve one client: a poll object is for one thread at a time.
    The zero is 0 of a group that ends before it has begun.
    """
    scope = {"clock": perf_counter_ns, "sleep": sleep, "let_others": select.poll().poll}
    if wait:
        scope["sleep"] = scope["let_others"] = asyncio.sleep
    exec(WAITING.format(define=define, wait=wait), scope)
    return {name: scope[name] for name in ("until", "begun")}


@contextmanager
def punctual():
    """The kernel wakes this thread as exactly as it can; otherwise up to 50 µs late."""
    prctl = ctypes.CDLL(None).prctl
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)
    try:
        yield
    finally:
        prctl(PR_SET_TIMERSLACK, 0, 0, 0, 0)  # back to the thread's own
