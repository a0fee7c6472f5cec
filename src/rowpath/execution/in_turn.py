"""Calls to workers one after another, one call for those on one host; what several workers used in the meantime."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rowpath.execution.worker import Worker
from rowpath.journal.records import MemoryRecord
from rowpath.machine.counters import memory
from rowpath.runners.process import RunnerFailure


@dataclass(frozen=True)
class WorkerCall:
    """A method of a worker, with its arguments."""

    worker: Worker
    method: str
    arguments: tuple[Any, ...] = ()
    named: dict[str, int] = field(default_factory=dict)


CallOutcome = Callable[[], Any]  # what a call returned; errors: RunnerFailure


def in_turn(calls: Sequence[WorkerCall]) -> Iterator[tuple[Worker, CallOutcome]]:
    """Each call's worker and its outcome, in that order. A call here is made when its outcome is asked for."""
    for together, those in itertools.groupby(calls, key=lambda call: call.worker.together):
        part = list(those)
        if together is not None:
            outcomes = together(part)
        else:
            outcomes = [partial(getattr(call.worker, call.method), *call.arguments, **call.named) for call in part]
        yield from zip((call.worker for call in part), outcomes, strict=True)


def of_each(workers: Sequence[Worker], method: str) -> Iterator[tuple[Worker, CallOutcome]]:
    """One method of each of these workers, without arguments."""
    return in_turn([WorkerCall(worker, method) for worker in workers])


def helpers_cpu_ns(workers: Iterable[Worker]) -> int | None:
    """CPU time so far of the helper threads of these; None where none has any."""
    helped = [worker for worker in workers if worker.has_helpers]
    return sum(worker.helpers_cpu_ns() for worker in helped) if helped else None


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
