"""Peaks of memory of workers and their servers while something goes on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from rowpath.execution.in_turn import of_each
from rowpath.execution.worker import Worker
from rowpath.journal.records import MemoryRecord
from rowpath.machine.counters import memory
from rowpath.runners.process import RunnerFailure


@contextlib.contextmanager
def peak_memory(workers: Sequence[Worker]) -> Iterator[list[MemoryRecord]]:
    """A record of each worker, filled in once the body has ended: the runner's peak, and the server's memory then."""
    records = [MemoryRecord(method=memory.METHOD) for _worker in workers]
    for _worker, reset in of_each(workers, "reset_peaks"):
        with contextlib.suppress(RunnerFailure):
            reset()
    yield records
    for record, (_worker, peaks) in zip(records, of_each(workers, "peaks"), strict=True):
        with contextlib.suppress(RunnerFailure):
            record.client_peak_bytes, record.server_peak_bytes = peaks()
