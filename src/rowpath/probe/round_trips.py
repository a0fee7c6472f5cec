"""Round trips and bytes of one execution, counted by a proxy where the database listens on this machine."""

from __future__ import annotations

from pathlib import Path

from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.verification_pass import counting_proxy
from rowpath.journal.records import CountedRecord
from rowpath.machine.counters import counting_proxy as proxy
from rowpath.probe.throttled_worker import ThrottledWorker

SETTLING, COUNTED = 2, 1
OPERATIONS = SETTLING + COUNTED


def counted(worker: ThrottledWorker, work: PreparedPhase, directory: Path) -> CountedRecord | None:
    """Count through a process that is not connected; the record lacks its place. None where no proxy can be in between.

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
            method={"bytes": proxy.METHOD},
        )
