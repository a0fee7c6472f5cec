"""Whether every acknowledged write is in the database: the ledger read back, row by row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rowpath.execution.prepared_phases import PreparedPhase, PreparedWorkload
from rowpath.execution.worker import Worker
from rowpath.journal.mixed_load_records import AcknowledgedRecord
from rowpath.model.workload import Column, Table
from rowpath.runners.process import RunnerFailure
from rowpath.workloads import codec, generators

KEPT_NAME = "ledger.rows"


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
    worker: Worker, prepared_workload: PreparedWorkload, work: PreparedPhase, ledger: Ledger, folder: Path
) -> AcknowledgedRecord:
    """The counting phase's table read through the runner: each row counts what was acknowledged, or in doubt too.

    `folder` takes the rows for the while. A runner that cannot read the table makes it not ok; one that is gone raises
    RunnerFailure.
    """
    return check_between(worker, prepared_workload, work, ledger, ledger, folder)


def check_between(
    worker: Worker,
    prepared_workload: PreparedWorkload,
    work: PreparedPhase,
    before: Ledger,
    after: Ledger,
    folder: Path,
) -> AcknowledgedRecord:
    """Check an instant between two: at least what was known `before`, at most known or in doubt `after`.

    Errors: RunnerFailure (the runner is gone).
    """
    assert work.after is not None
    found = AcknowledgedRecord(writes=int(before.known.sum()), in_doubt=int(after.doubtful.sum()))
    kept = folder / KEPT_NAME
    try:
        worker.prepare(work.after)
        table = prepared_workload.workload.tables[work.phase.after]
        reply = worker.verify(work.after, 0, 1, max_rows=table.rows + 1, keep=str(kept))
        rows = list(kept_rows(kept, work.after.columns))
        found.rows, found.digest = len(rows), reply.digest
        reasons = ["the runner's row file does not match its digest"]
        if codec.digest(rows, work.after.columns) == reply.digest:
            found.lost, found.doubled, reasons = _compared(table, work, rows, before, after)
    except RunnerFailure as failure:
        if failure.fatal:
            raise
        reasons = [f"cannot read the ledger: {failure.text}"]
    finally:
        kept.unlink(missing_ok=True)
    found.ok, found.reason = not reasons, "; ".join(reasons)
    return found


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
    found = np.zeros(rows, dtype=np.int64)
    np.add.at(found, indexes, counts)
    return found


def _compared(
    table: Table, work: PreparedPhase, rows: list[generators.Row], before: Ledger, after: Ledger
) -> tuple[int, int, list[str]]:
    """Writes lost, writes doubled, and what is wrong in words."""
    names = [column.name for column in table.columns]
    counted, keys = names.index(work.phase.counted), [names.index(name) for name in table.primary_key]
    least = _by_row(work, table.rows, before.known)
    most = _by_row(work, table.rows, after.known) + _by_row(work, table.rows, after.doubtful)
    found = {tuple(row[key] for key in keys): row for row in rows}
    lost = doubled = missing = changed = 0
    for index, right in enumerate(generators.rows(table)):
        row = found.pop(tuple(right[key] for key in keys), None)
        if row is None:
            missing += 1
            lost += int(least[index])
            continue
        times = row[counted] - right[counted]
        lost += max(0, int(least[index]) - times)
        doubled += max(0, times - int(most[index]))
        changed += row[:counted] + row[counted + 1 :] != right[:counted] + right[counted + 1 :]
    foreign = len(found) + len(rows) - len({tuple(row[key] for key in keys) for row in rows})
    said = (
        (lost, "acknowledged writes are not in the table"),
        (doubled, "unrequested writes are in the table"),
        (missing, "rows of the table are missing"),
        (foreign, "rows in the table were never loaded"),
        (changed, "rows differ in columns that no operation wrote"),
    )
    return lost, doubled, [f"{count:,} {words}" for count, words in said if count]
