"""What must be there: acknowledged writes in the table and in a backup, and an engine after a kill."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rowpath.engines.base import BackedUp, Backup, External, Instance
from rowpath.errors import RowpathError
from rowpath.execution.prepared_phases import PreparedPhase, PreparedWorkload, select_whole
from rowpath.execution.worker import Worker
from rowpath.journal.mixed_load_records import AcknowledgedRecord, BackupCheck, KillRecord
from rowpath.machine import processes
from rowpath.model.workload import Column, PhaseName, Table
from rowpath.planning.plan import PlannedPath
from rowpath.runners.process import RunnerFailure
from rowpath.workloads import codec, generators
from rowpath.workloads.expected_scan import whole_table

KEPT_NAME = "ledger.rows"
GONE_S = 30.0  # for which dead processes are waited for: on a busy machine they wait for the CPU to end


@dataclass
class Ledger:
    """What the clients were promised since the ledger's starting state; counts by parameter row."""

    known: NDArray[np.uint32]  # acknowledged
    doubtful: NDArray[np.uint32]  # failed or under way: they may be there or not

    @classmethod
    def of(cls, work: PreparedPhase) -> Ledger:
        """An empty ledger for that counting phase."""
        return cls(*(np.zeros(work.parameter_count, dtype=np.uint32) for _ in range(2)))

    def add(self, known: NDArray[np.uint32], doubtful: NDArray[np.uint32]) -> None:
        """What one group of one stage was promised, as `SharedCounters.acknowledged` has it."""
        self.known = self.known + known
        self.doubtful = self.doubtful + doubtful

    def copy(self) -> Ledger:
        """A copy of what it has now."""
        return Ledger(self.known.copy(), self.doubtful.copy())


def check(
    worker: Worker,
    prepared_workload: PreparedWorkload,
    work: PreparedPhase,
    ledger: Ledger,
    folder: Path,
    after: Ledger | None = None,
) -> AcknowledgedRecord:
    """The counting phase's table read through the runner: each row counts what was acknowledged, or in doubt too.

    With `after` an instant between two ledgers: at least what was known in the first, at most known or in doubt after.
    `folder` takes the rows for the while. A runner that cannot read the table makes it not ok; one that is gone raises
    RunnerFailure.
    """
    assert work.after is not None
    after = after or ledger
    record = AcknowledgedRecord(writes=int(ledger.known.sum()), in_doubt=int(after.doubtful.sum()))
    kept = folder / KEPT_NAME
    try:
        worker.prepare(work.after)
        table = prepared_workload.workload.tables[work.phase.after]
        reply = worker.verify(work.after, 0, 1, max_rows=table.rows + 1, keep=str(kept))
        rows = list(kept_rows(kept, work.after.columns))
        record.rows, record.digest = len(rows), reply.digest
        reasons = ["the runner's row file does not match its digest"]
        if codec.digest(rows, work.after.columns) == reply.digest:
            record.lost, record.doubled, reasons = _compared(table, work, rows, ledger, after)
    except RunnerFailure as failure:
        if failure.fatal:
            raise
        reasons = [f"cannot read the ledger: {failure.text}"]
    finally:
        kept.unlink(missing_ok=True)
    record.ok, record.reason = not reasons, "; ".join(reasons)
    return record


def kept_rows(file: Path, columns: tuple[Column, ...]) -> Iterator[generators.Row]:
    """The rows of a file that `verify` kept: of each its length (u32, little endian) and its codec bytes.

    RunnerFailure when the file ends within a row, or there is none.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise RunnerFailure("verify", f"the runner wrote no row file: {error.strerror}") from error
    at = 0
    while at < len(data):
        end = at + 4 + int.from_bytes(data[at : at + 4], "little")
        if end > len(data):
            raise RunnerFailure("verify", "the runner's row file ends within a row")
        yield codec.decode_row(data[at + 4 : end], columns)
        at = end


def _by_row(work: PreparedPhase, rows: int, counts: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Counts by row of the table from counts by parameter row: several of those may be the same row."""
    assert work.phase.parameters is not None
    indexes = np.fromiter(generators.parameter_indexes(work.phase.parameters), dtype=np.int64)
    by_row = np.zeros(rows, dtype=np.int64)
    np.add.at(by_row, indexes, counts)
    return by_row


def _compared(
    table: Table, work: PreparedPhase, rows: list[generators.Row], before: Ledger, after: Ledger
) -> tuple[int, int, list[str]]:
    """Writes lost, writes doubled, and what is wrong in words."""
    names = [column.name for column in table.columns]
    counted, keys = names.index(work.phase.counted), [names.index(name) for name in table.primary_key]
    least = _by_row(work, table.rows, before.known)
    most = _by_row(work, table.rows, after.known) + _by_row(work, table.rows, after.doubtful)
    by_key = {tuple(row[key] for key in keys): row for row in rows}
    lost = doubled = missing = changed = 0
    for index, right in enumerate(generators.rows(table)):
        row = by_key.pop(tuple(right[key] for key in keys), None)
        if row is None:
            missing += 1
            lost += int(least[index])
            continue
        times = row[counted] - right[counted]
        lost += max(0, int(least[index]) - times)
        doubled += max(0, times - int(most[index]))
        changed += row[:counted] + row[counted + 1 :] != right[:counted] + right[counted + 1 :]
    foreign = len(by_key) + len(rows) - len({tuple(row[key] for key in keys) for row in rows})
    said = (
        (lost, "acknowledged writes are not in the table"),
        (doubled, "unrequested writes are in the table"),
        (missing, "rows of the table are missing"),
        (foreign, "rows in the table were never loaded"),
        (changed, "rows differ in columns that no operation wrote"),
    )
    return lost, doubled, [f"{count:,} {words}" for count, words in said if count]


@dataclass(frozen=True)
class Restored:
    """What came of a restored backup: whole tables whose digest was compared, and the ledger's writes."""

    ok: bool
    reason: str = ""
    checked: BackupCheck = field(default_factory=BackupCheck)


def counting(planned: PlannedPath, works: dict[str, PreparedWorkload]) -> tuple[PreparedWorkload, PreparedPhase] | None:
    """The path's phase that counts its writes in a table, and its workload; None when it has none."""
    for name in planned.phases:
        prepared_workload = works[PhaseName.of(name).workload]
        if prepared_workload.phases[name].phase.counted:
            return prepared_workload, prepared_workload.phases[name]
    return None


def restore_check(
    backup: Backup,
    instance: Instance,
    planned: PlannedPath,
    works: dict[str, PreparedWorkload],
    before: Ledger,
    after: Ledger,
    folder: Path,
    log: Callable[[str], None],
    timeout_s: float,
) -> Restored:
    """Restore the backup into `folder` (made, and removed afterwards) and read every loaded table through a runner.

    A table that no one writes has the digest of what was loaded; the ledger has at least what was acknowledged when
    the backup began, at most what was acknowledged or in doubt when it ended. Never raises for what the backup, the
    engine or the runner did wrong: that is the answer.
    """
    if not isinstance(instance, BackedUp):
        return Restored(False, f"{planned.path.get('engine')} cannot restore a backup")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with contextlib.ExitStack() as cleanup:
            cleanup.callback(shutil.rmtree, folder, ignore_errors=True)
            restored = instance.restored(backup, folder)
            cleanup.callback(restored.stop)
            worker = Worker(planned, restored, log=log, timeout_s=timeout_s)
            cleanup.callback(worker.close)
            worker.open()
            checked = BackupCheck()
            phases = [works[PhaseName.of(name).workload].phases[name].phase for name in planned.phases]
            written = {phase.after or phase.table for phase in phases if phase.writes}
            loaded = [item for workload in works.values() for item in workload.loaded_tables().items()]
            for name, table in (item for item in loaded if item[0] not in written):
                checked.tables, checked.rows = checked.tables + 1, checked.rows + table.rows
                digest = digest_of(worker, name, table)
                if digest != (expected := whole_table(table, table.columns).digest(1, table.rows)):
                    return Restored(False, f"{name} has digest {digest}, expected {expected}", checked)
            if (counted := counting(planned, works)) is None:
                return Restored(True, "", checked)
            record = check(worker, *counted, before, folder, after)
            checked.tables, checked.rows = checked.tables + 1, checked.rows + record.rows
            checked.writes, checked.lost, checked.doubled = record.writes, record.lost, record.doubled
            return Restored(record.ok, f"{counted[1].phase.after}: {record.reason}" if record.reason else "", checked)
    except RowpathError as error:
        return Restored(False, f"the restore failed: {error.message}")
    except RunnerFailure as failure:
        return Restored(False, f"cannot read the restored database: {failure}")


def digest_of(worker: Worker, name: str, table: Table) -> str:
    """The digest of a whole table, read through the runner. Errors: RunnerFailure."""
    work = select_whole(f"whole.{name}", name, table)
    worker.prepare(work)
    return worker.verify(work, 0, 1, max_rows=table.rows + 1).digest


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
        pids = [pid for worker in workers for pid in (worker.runner.pid, *processes.descendants(worker.runner.pid))]
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
