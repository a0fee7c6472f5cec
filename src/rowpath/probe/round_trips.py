"""Round trips and bytes of one execution, counted by a proxy where the database listens on this machine."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

from rowpath.errors import RowpathError
from rowpath.execution.counting import counting_proxy
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.journal.records import CountedRecord
from rowpath.machine.counters import counting_proxy as proxy
from rowpath.planning.plan import PlannedPath
from rowpath.probe.throttled_worker import ThrottledWorker
from rowpath.runners.process import RunnerFailure

SETTLING, COUNTED = 2, 1
OPERATIONS = SETTLING + COUNTED
AHEAD = 1  # processes that start while another one counts: nothing is timed then


def started_ahead(
    paths: Sequence[PlannedPath], start: Callable[[PlannedPath], ThrottledWorker]
) -> Generator[ThrottledWorker | RunnerFailure | RowpathError, None, None]:
    """A process for each of these paths, in their order, or why there is none; the next one comes up meanwhile.

    Each is stopped when the next one is asked for.
    """
    with contextlib.ExitStack() as cleanup:
        started: list[ThrottledWorker | RunnerFailure | RowpathError] = []
        for number in range(len(paths)):
            for planned in paths[len(started) : number + 1 + AHEAD]:
                try:
                    worker = start(planned)
                    cleanup.callback(worker.close)
                    started.append(worker)
                except (RunnerFailure, RowpathError) as failure:
                    started.append(failure)
            found = started[number]
            yield found
            if isinstance(found, ThrottledWorker):
                found.close()


def counted(worker: ThrottledWorker, work: PreparedPhase, directory: Path) -> CountedRecord | None:
    """By a process that is not connected, as the journal has it, without where; None where nothing can be in between.

    Errors: RunnerFailure.
    """
    with counting_proxy(worker.planned.path, worker.instance, directory) as counting:
        if counting is None:
            return None
        worker.open(**counting.overrides)
        worker.prepare(work)
        worker.sample(work, "warm", operations=SETTLING, first=0)
        counting.proxy.reset()
        reply = worker.sample(work, "warm", operations=COUNTED, first=0).reply
        counts = counting.proxy.read()
        return CountedRecord(
            operations=reply.operations,
            round_trips=counts.round_trips,
            bytes_sent=counts.bytes_sent,
            bytes_received=counts.bytes_received,
            method={"bytes": proxy.MEANS},
        )
