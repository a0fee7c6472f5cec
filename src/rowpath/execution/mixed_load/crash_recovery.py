"""An engine killed with SIGKILL while clients write, and its way back: what it takes until the first answer."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable

from rowpath.engines.base import External, Instance
from rowpath.errors import RowpathError
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.journal.mixed_load_records import KillRecord
from rowpath.machine import processes
from rowpath.runners.process import RunnerFailure

GONE_S = 30.0  # for which dead processes are waited for: on a busy machine they wait for the CPU to end


def kill(instance: Instance, workers: list[Worker]) -> tuple[list[int], int]:
    """SIGKILL to every process that has the database open, all at once; their pids, once they are gone, and when.

    A server: its processes, the first one first. Embedded: the runners and what they started. A server that was
    given to us is not touched (nothing is killed then).
    """
    if isinstance(instance, External):
        return [], time.monotonic_ns()
    if instance.deployment == "server":
        pids = instance.pids()
    else:
        pids = [pid for each in workers for pid in (each.runner.pid, *processes.descendants(each.runner.pid))]
    at_ns = time.monotonic_ns()
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + GONE_S
    while any(map(_runs, pids)) and time.monotonic() < deadline:
        time.sleep(0.005)
    return pids, at_ns


def recover(
    start: Callable[[], int], opened: Callable[[], Worker], work: PreparedPhase | None
) -> tuple[Worker | None, KillRecord]:
    """Bring a killed engine back: `start` it (a server; 0 otherwise), connect, and read its table once.

    `start` returns what it took, in ns. Each part is measured where it happens, so no way to a host is in it.

    The record has what it took, or why it did not come back. `opened` starts a runner and connects it; only its
    connecting counts, for the process itself is ours. A database may wait until it no longer takes its dead process for
    a living one (HSQLDB's lock, ten seconds); it does so then. `work`: a counting phase, whose table is read for the
    first answer; None: connecting is the answer. The caller closes the worker.
    """
    try:
        ns = start()
        worker = opened()
    except RowpathError as error:
        return None, KillRecord(reason=f"it did not restart: {error.message}")
    except RunnerFailure as failure:
        return None, KillRecord(reason=f"no connection after the restart: {failure.text}")
    try:
        ns += worker.first_answer_ns(work.after if work is not None else None)
    except RunnerFailure as failure:
        worker.close()
        return None, KillRecord(reason=f"no reply after the restart: {failure.text}")
    return worker, KillRecord(recovery_ns=ns)


def _runs(pid: int) -> bool:
    """Whether any thread of it still runs: until the last has ended its files are open and locked."""
    fields = processes.stat_fields(pid)
    return bool(fields) and (fields[0] != "Z" or len(processes.threads(pid)) > 1)
