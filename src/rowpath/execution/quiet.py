"""Waiting before measuring: for compilers to end their backlog, for other programs to leave the measured cores."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rowpath.execution.core_share import capped
from rowpath.execution.worker import Worker
from rowpath.machine.counters.core_users import look, users
from rowpath.model.choices import WAIT_FOR_QUIET_S

COMPILERS_WINDOW_S = 0.1
COMPILERS_WINDOWS = 2  # in a row: one may be a lull
COMPILERS_SHARE = 0.05  # of one core, by all runtimes together
COMPILERS_CAP_S = 6.0
OTHERS_WINDOW_S = 0.5
OTHERS_SHARE = 0.05  # of the cores, by any process: none of our own runs then


def helpers_cpu_ns(workers: Iterable[Worker]) -> int | None:
    """CPU time so far of the helper threads of these; None where none has any."""
    helped = [worker for worker in workers if worker.has_helpers]
    return sum(worker.helpers_cpu_ns() for worker in helped) if helped else None


def wait_for_compilers(spent_ns: Callable[[], int | None]) -> None:
    """Wait until no compiler has a backlog, COMPILERS_CAP_S at most: what it compiles changes what is measured next.

    `spent_ns`: as `helpers_cpu_ns`, of those that are not lost meanwhile.
    """
    begun = time.monotonic()
    quiet = 0
    before: int | None = None
    while quiet < COMPILERS_WINDOWS and time.monotonic() - begun < COMPILERS_CAP_S:
        if (now := spent_ns()) is None:
            return
        if before is not None:
            quiet = quiet + 1 if now - before < COMPILERS_SHARE * COMPILERS_WINDOW_S * 1e9 else 0
        before = now
        time.sleep(COMPILERS_WINDOW_S)


@dataclass
class Patience:
    """How long a run still waits for other programs."""

    left_s: float = WAIT_FOR_QUIET_S

    def wait_for_quiet(self, cpus: frozenset[int], note: Callable[[str], None]) -> bool:
        """Wait until no process uses these cores; whether they are quiet now. What it waits for is noted."""
        noted = not cpus  # of paths on other hosts: nothing here is measured
        while cpus and self.left_s > 0:
            before = look(cpus)
            time.sleep(OTHERS_WINDOW_S)
            after = look(cpus)
            self.left_s -= OTHERS_WINDOW_S
            elapsed_ns = (after.at_ns - before.at_ns) * len(cpus)
            busy = 1 - (after.idle_ns - before.idle_ns) / elapsed_ns
            if busy <= OTHERS_SHARE:
                return True
            if not noted:
                noted = True
                named = capped(users(before, after, cpus, frozenset()), elapsed_ns)
                who = ", ".join(user.name for user in named) or "another program"
                note(
                    f"the measured core is {busy:.0%} busy ({who}): waiting until it is quiet, "
                    f"at most {self.left_s:.0f} s"
                )
        return False
