"""A worker on a user's database: read only, busy for at most half of the time, watching whether rows change."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from typing_extensions import override

from rowpath.engines.base import Instance
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Measured, Worker
from rowpath.journal.records import WorkerRecord
from rowpath.machine import cpus
from rowpath.model.workload import Column, Phase, PhaseName
from rowpath.planning.plan import PlannedPath
from rowpath.probe.candidates import NAME
from rowpath.probe.row_consistency import RowConsistency
from rowpath.runners.protocol import DescribedColumn, VerifyReply

WHOLE = 1 << 40  # rows of a digest: all of them, for different paths may deliver them in different orders
WORKLOAD, PHASE = PhaseName.of(NAME)


def work_of(sql: str, columns: tuple[DescribedColumn, ...], *, table: str = "", scan: bool = False) -> PreparedPhase:
    """The query as a phase: only the engine knows what it delivers; it described the columns."""
    fields = Column.__struct_fields__
    kept = tuple(Column(**{field: getattr(column, field) for field in fields}) for column in columns)
    phase = Phase(PHASE, "query", sql, table=table, scan=scan, columns=kept, stamps=True)
    return PreparedPhase(NAME, phase, sql, kept, table_columns=kept if scan else ())


class ThrottledWorker(Worker):
    """A living runner that takes one path of its adapter after another, and rests as long as it was busy.

    `before`: what every connection executes right after it was opened. `changed` is called with a block that delivered
    other rows than the executions before it, and says whether it counts all the same.
    """

    def __init__(
        self,
        planned: PlannedPath,
        instance: Instance,
        *,
        before: tuple[str, ...],
        busy_share: float,
        sameness: RowConsistency,
        changed: Callable[[ThrottledWorker, PreparedPhase], None] = lambda _worker, _work: None,
        log: Callable[[str], None],
        timeout_s: float,
    ) -> None:
        super().__init__(planned, instance, log=log, timeout_s=timeout_s)
        self.connected = False
        self.execution_s = 0.0  # the last one that took a sample or a digest
        self.fresh = True  # started for this path: its runtime has compiled nothing yet
        self._before = list(before)
        self._rest = 1 / busy_share - 1
        self._sameness = sameness
        self._changed = changed

    def greet(self) -> None:
        """Wait until the process is up, so that starting it can be told from connecting."""
        self.runner.hello(self.planned.adapter.driver, self.timeout_s)

    @override
    def open(self, **overrides: Any) -> WorkerRecord:
        """Connect, and make the connection harmless before anything else."""
        record = super().open(**overrides)
        self.connected = True
        self.run(self._before)
        return record

    @override
    def disconnect(self) -> None:
        """Close the connection where there is one, keep the process; never raises."""
        if self.connected:
            self.connected = False
            super().disconnect()

    def turn_to(self, planned: PlannedPath) -> None:
        """Go on with another path of the same program; connects again."""
        self.disconnect()
        self.planned = planned
        self.cpus = cpus.client_cpus(planned.path.placement, planned.path.threads)
        self.open()

    @override
    def sample(self, work: PreparedPhase, regime: str, **how: int) -> Measured:
        """One sample, then a rest."""
        measured = super().sample(work, regime, **how)
        self._rest_after(measured.reply.window_ns / 1e9)
        if self.planned.path.fetch_form != "drain" and not self._sameness.fits(measured.reply):
            self._changed(self, work)
        return measured

    @override
    def verify(self, work: PreparedPhase, first: int, count: int, max_rows: int = WHOLE, keep: str = "") -> VerifyReply:
        """The digest of whole executions, then a rest."""
        began = time.monotonic()
        reply = super().verify(work, first, count, max_rows, keep)
        self.execution_s = time.monotonic() - began
        self._rest_after(self.execution_s)
        return reply

    def _rest_after(self, busy_s: float) -> None:
        if self._rest > 0:
            time.sleep(busy_s * self._rest)
