"""What was acknowledged against what the ledger says, on tables made by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from rowpath.execution.mixed_load import durability
from rowpath.execution.mixed_load.durability import Ledger
from rowpath.execution.prepared_phases import PhaseCache, PreparedPhase, PreparedWorkload
from rowpath.execution.worker import Worker
from rowpath.journal.mixed_load_records import AcknowledgedRecord
from rowpath.runners.process import RunnerFailure
from rowpath.workloads import codec, generators
from rowpath.workloads.workload_file import at_scale, load_workload

ROWS = 20
Rows = list[list[Any]]


@pytest.fixture
def works(tmp_path: Path) -> tuple[PreparedWorkload, PreparedPhase]:
    workload = at_scale(load_workload("library"), ROWS / 20_000)
    prepared_workload = PhaseCache(tmp_path / "params").prepared_workload(workload, "sqlite")
    return prepared_workload, prepared_workload.phases["library.write"]


class Reader:
    """Stands for a runner over that table."""

    def __init__(self, rows: Rows, spoil: Callable[[bytes], bytes] = bytes) -> None:
        self.rows = rows
        self.spoil = spoil

    def prepare(self, work: PreparedPhase) -> int:
        self.columns = work.columns
        return 0

    def verify(self, work: PreparedPhase, first: int, count: int, max_rows: int, keep: str) -> Any:
        assert max_rows > ROWS
        encoded = [codec.encode_row(row, self.columns) for row in self.rows]
        data = b"".join(len(row).to_bytes(4, "little") + row for row in encoded)
        Path(keep).write_bytes(self.spoil(data))
        return SimpleNamespace(digest=codec.digest(self.rows, self.columns))


def table(prepared_workload: PreparedWorkload, counts: dict[int, int]) -> Rows:
    """The ledger's rows with these counts by row."""
    rows = [list(row) for row in generators.rows(prepared_workload.workload.tables["ledger"])]
    for index, count in counts.items():
        rows[index][1] = count
    return rows


def promised(work: PreparedPhase, known: dict[int, int], doubtful: dict[int, int]) -> Ledger:
    """By parameter row."""
    ledger = Ledger.of(work)
    counts = [np.zeros(work.parameter_count, dtype=np.uint32) for _ in range(2)]
    for array, wanted in zip(counts, (known, doubtful), strict=True):
        for position, count in wanted.items():
            array[position] = count
    ledger.add(*counts)
    return ledger


def row_of(work: PreparedPhase, position: int) -> int:
    assert work.phase.parameters
    return list(generators.parameter_indexes(work.phase.parameters))[position]


def found(
    works: tuple[PreparedWorkload, PreparedPhase], rows: Rows, before: Ledger, after: Ledger, folder: Path
) -> AcknowledgedRecord:
    result = durability.check(cast(Worker, Reader(rows)), *works, before, folder, after)
    assert not (folder / durability.KEPT_NAME).exists()
    return result


def test_a_table_with_what_was_promised(works: tuple[PreparedWorkload, PreparedPhase], tmp_path: Path) -> None:
    prepared_workload, work = works
    ledger = promised(work, {0: 3, 5: 1, 7: 2}, {7: 1})
    for times in (2, 3):  # the write in doubt may be there or not
        rows = table(prepared_workload, {row_of(work, 0): 3, row_of(work, 5): 1, row_of(work, 7): times})
        result = durability.check(cast(Worker, Reader(rows)), prepared_workload, work, ledger, tmp_path)
        digest = codec.digest(rows, prepared_workload.workload.tables["ledger"].columns)
        right = AcknowledgedRecord(rows=ROWS, writes=6, in_doubt=1, digest=digest)
        assert result == right


def test_a_write_that_is_gone_and_one_that_came_twice(
    works: tuple[PreparedWorkload, PreparedPhase], tmp_path: Path
) -> None:
    prepared_workload, work = works
    ledger = promised(work, {0: 3, 5: 1}, {})
    result = found(works, table(prepared_workload, {row_of(work, 0): 1, row_of(work, 5): 2}), ledger, ledger, tmp_path)
    assert (result.ok, result.lost, result.doubled) == (False, 2, 1)
    assert "2 acknowledged writes are not in the table" in result.reason
    # What is too much in one row does not make up for what is missing in another.
    result = found(works, table(prepared_workload, {row_of(work, 0): 2, row_of(work, 5): 2}), ledger, ledger, tmp_path)
    assert (result.ok, result.lost, result.doubled) == (False, 1, 1)


def test_rows_that_are_gone_foreign_twice_or_changed(
    works: tuple[PreparedWorkload, PreparedPhase], tmp_path: Path
) -> None:
    prepared_workload, work = works
    ledger = promised(work, {0: 2}, {})
    whole = table(prepared_workload, {row_of(work, 0): 2})
    without = [row for index, row in enumerate(whole) if index != row_of(work, 0)]
    result = found(works, without, ledger, ledger, tmp_path)
    assert (result.ok, result.rows, result.lost) == (False, ROWS - 1, 2)
    assert "1 rows of the table are missing" in result.reason
    for added in ([ROWS + 1, 0, "x"], whole[3]):
        result = found(works, [*whole, added], ledger, ledger, tmp_path)
        assert (result.ok, result.lost) == (False, 0)
        assert "1 rows in the table were never loaded" in result.reason
    changed = [[*row[:2], "other"] if index == 4 else row for index, row in enumerate(whole)]
    result = found(works, changed, ledger, ledger, tmp_path)
    assert not result.ok
    assert "1 rows differ in columns that no operation wrote" in result.reason


def test_a_copy_made_between_two_instants(works: tuple[PreparedWorkload, PreparedPhase], tmp_path: Path) -> None:
    prepared_workload, work = works
    before, after = promised(work, {0: 3}, {}), promised(work, {0: 6}, {0: 1})
    for times, ok in ((2, False), (3, True), (5, True), (7, True), (8, False)):
        result = found(works, table(prepared_workload, {row_of(work, 0): times}), before, after, tmp_path)
        assert (result.ok, result.writes, result.in_doubt) == (ok, 3, 1)
        assert (result.lost, result.doubled) == (max(0, 3 - times), max(0, times - 7))


def test_promises_add_up_over_groups_and_a_copy_stays(works: tuple[PreparedWorkload, PreparedPhase]) -> None:
    ledger = promised(works[1], {0: 1}, {1: 1})
    copy = ledger.copy()
    ledger.add(ledger.known.copy(), ledger.doubtful.copy())
    assert (int(ledger.known[0]), int(ledger.doubtful[1])) == (2, 2)
    assert (int(copy.known[0]), int(copy.doubtful[1])) == (1, 1)


def test_kept_rows_that_are_cut_or_other_than_digested(
    works: tuple[PreparedWorkload, PreparedPhase], tmp_path: Path
) -> None:
    prepared_workload, work = works
    ledger = Ledger.of(work)
    for spoil, reason in (
        (lambda data: data[:-1], "ends within a row"),
        (lambda _data: b"", "not match its digest"),
    ):
        reader = cast(Worker, Reader(table(prepared_workload, {}), spoil))
        result = durability.check(reader, prepared_workload, work, ledger, tmp_path)
        assert not result.ok
        assert reason in result.reason


def test_a_table_that_cannot_be_read(works: tuple[PreparedWorkload, PreparedPhase], tmp_path: Path) -> None:
    class Broken(Reader):
        kind = "sql"

        def verify(self, work: PreparedPhase, first: int, count: int, max_rows: int, keep: str) -> Any:
            raise RunnerFailure(self.kind, "no such table")

    reader = Broken([])
    result = durability.check(cast(Worker, reader), *works, Ledger.of(works[1]), tmp_path)
    assert (result.ok, result.reason) == (False, "cannot read the ledger: no such table")
    reader.kind = "crashed"
    with pytest.raises(RunnerFailure):
        durability.check(cast(Worker, reader), *works, Ledger.of(works[1]), tmp_path)
