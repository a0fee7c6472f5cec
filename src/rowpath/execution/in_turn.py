"""Calls to workers one after another; what goes to workers on one host goes there as one call."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from rowpath.execution.worker import Worker


@dataclass(frozen=True)
class WorkerCall:
    """A method of a worker, with its arguments."""

    worker: Worker
    method: str
    arguments: tuple[Any, ...] = ()
    named: dict[str, int] = field(default_factory=dict)


CallOutcome = Callable[[], Any]  # what a call returned; errors: RunnerFailure


class Together(Protocol):
    """Carries out calls to its workers as one; once a call of a worker has failed, the worker's next are not made."""

    def __call__(self, calls: Sequence[WorkerCall]) -> list[CallOutcome]: ...


def in_turn(calls: Sequence[WorkerCall]) -> Iterator[tuple[Worker, CallOutcome]]:
    """Each call's worker and its outcome, in that order. A call here is made when its outcome is asked for."""
    for together, those in itertools.groupby(calls, key=lambda call: call.worker.together):
        part = list(those)
        outcomes = together(part) if together is not None else [_here(call) for call in part]
        yield from zip((call.worker for call in part), outcomes, strict=True)


def of_each(workers: Sequence[Worker], method: str) -> Iterator[tuple[Worker, CallOutcome]]:
    """One method of each of these workers, without arguments."""
    return in_turn([WorkerCall(worker, method) for worker in workers])


def _here(call: WorkerCall) -> CallOutcome:
    return lambda: getattr(call.worker, call.method)(*call.arguments, **call.named)
