"""Whether a backup can be restored, and holds what it must: a backup that cannot is a failed backup."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rowpath.engines.base import BackedUp, Backup, Instance
from rowpath.errors import RowpathError
from rowpath.execution.mixed_load.acknowledged_writes import Ledger, check_between
from rowpath.execution.prepared_phases import PreparedPhase, PreparedWorkload, select_whole
from rowpath.execution.worker import Worker
from rowpath.journal.mixed_load_records import BackupCheck
from rowpath.model.workload import PhaseName, Table
from rowpath.planning.plan import PlannedPath
from rowpath.runners.process import RunnerFailure
from rowpath.workloads.expected_scan import whole_table


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
            return _read(worker, planned, works, before, after, folder)
    except RowpathError as error:
        return Restored(False, f"the restore failed: {error.message}")
    except RunnerFailure as failure:
        return Restored(False, f"cannot read the restored database: {failure}")


def _read(
    worker: Worker,
    planned: PlannedPath,
    works: dict[str, PreparedWorkload],
    before: Ledger,
    after: Ledger,
    folder: Path,
) -> Restored:
    found = counting(planned, works)
    checked = BackupCheck()
    for name, table in _unwritten(planned, works):
        checked.tables, checked.rows = checked.tables + 1, checked.rows + table.rows
        digest, expected = digest_of(worker, name, table), whole_table(table, table.columns).digest(1, table.rows)
        if digest != expected:
            return Restored(False, f"{name} has digest {digest}, expected {expected}", checked)
    if found is None:
        return Restored(True, "", checked)
    seen = check_between(worker, *found, before, after, folder)
    checked.tables, checked.rows = checked.tables + 1, checked.rows + seen.rows
    checked.writes, checked.lost, checked.doubled = seen.writes, seen.lost, seen.doubled
    return Restored(seen.ok, f"{found[1].phase.after}: {seen.reason}" if seen.reason else "", checked)


def _unwritten(planned: PlannedPath, works: dict[str, PreparedWorkload]) -> Iterator[tuple[str, Table]]:
    phases = [works[PhaseName.of(name).workload].phases[name].phase for name in planned.phases]
    written = {phase.after or phase.table for phase in phases if phase.writes}
    for prepared_workload in works.values():
        yield from ((name, table) for name, table in prepared_workload.loaded_tables().items() if name not in written)


def digest_of(worker: Worker, name: str, table: Table) -> str:
    """The digest of a whole table, read through the runner. Errors: RunnerFailure."""
    work = select_whole(f"whole.{name}", name, table)
    worker.prepare(work)
    return worker.verify(work, 0, 1, max_rows=table.rows + 1).digest
