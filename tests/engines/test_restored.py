"""A backup made on real SQLite, restored and read: right, or refused for exactly what is wrong with it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from rowpath.engines.base import BackedUp, Backup
from rowpath.execution.mixed_load.durability import Ledger, Restored, restore_check
from tests.engines.crashes import CLIENTS, Killing


@pytest.fixture
def subject(tmp_path: Path) -> Iterator[Killing]:
    found = Killing(tmp_path, "c", "sqlite", "embedded", "none")
    try:
        yield found
    finally:
        found.bench.close()


def backed_up(subject: Killing) -> tuple[Backup, Ledger]:
    """What a backup kept, after some acknowledged writes."""
    worker = subject.opened(CLIENTS)
    worker.reset(subject.work)
    worker.prepare(subject.work)
    ledger = Ledger.of(subject.work)
    subject.write(worker, ledger, kill=False)
    assert isinstance(subject.instance, BackedUp)
    backup = subject.instance.backup("vacuum-into", subject.planned.path, subject.folder)
    worker.run([*backup.before, backup.statement, *backup.afterwards])
    worker.close()
    return backup, ledger


def looked_at(subject: Killing, backup: Backup, ledger: Ledger) -> Restored:
    folder = subject.folder / "restored"
    path, works, log = subject.planned, subject.works, lambda _line: None
    found = restore_check(backup, subject.instance, path, works, ledger, ledger, folder, log, 60.0)
    assert not folder.exists()
    return found


def spoiled(backup: Backup, statement: str) -> None:
    with closing(sqlite3.connect(backup.kept)) as connection:
        assert connection.execute(statement).rowcount > 0
        connection.commit()


def test_a_backup_that_holds_everything(subject: Killing) -> None:
    backup, ledger = backed_up(subject)
    found = looked_at(subject, backup, ledger)
    tables = subject.prepared_workload.loaded_tables()
    assert found.ok, found.reason
    assert msgspec.structs.asdict(found.checked) == {
        "tables": 2,
        "rows": sum(table.rows for table in tables.values()),
        "writes": int(ledger.known.sum()),
        "lost": 0,
        "doubled": 0,
    }


def test_a_backup_without_a_write_with_other_rows_or_without_a_row(subject: Killing) -> None:
    backup, ledger = backed_up(subject)
    whole = backup.kept.read_bytes()
    spoiled(backup, "UPDATE ledger SET n = n - 1 WHERE id = (SELECT MIN(id) FROM ledger WHERE n > 0)")
    found = looked_at(subject, backup, ledger)
    assert (found.ok, found.checked.lost) == (False, 1)
    assert found.reason.startswith("ledger: ")
    for statement in ("UPDATE items SET note = 'other' WHERE id = 7", "DELETE FROM items WHERE id = 5000"):
        backup.kept.write_bytes(whole)
        spoiled(backup, statement)
        found = looked_at(subject, backup, ledger)
        assert not found.ok
        assert found.reason.startswith("items has digest ")


def test_a_backup_that_is_cut_or_gone(subject: Killing) -> None:
    backup, ledger = backed_up(subject)
    backup.kept.write_bytes(backup.kept.read_bytes()[:9000])
    assert "cannot be restored" in looked_at(subject, backup, ledger).reason
    backup.kept.unlink()
    assert not looked_at(subject, backup, ledger).ok
