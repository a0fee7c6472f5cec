"""kill -9 of a real engine while clients write: with durability full every acknowledged write is there afterwards."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from tests.engines.crashes import LEAST, Killing
from tests.waiting import alive

FULL = {
    "SQLite": ("c", "sqlite", "embedded", {}),
    "DuckDB": ("python", "duckdb", "embedded", {}),
    "Derby embedded": ("java", "derby", "embedded", {}),
    "HSQLDB embedded": ("java", "hsqldb", "embedded", {}),
    "PostgreSQL": ("c", "libpq", "server", {}),
    "MariaDB": ("c", "libmariadb", "server", {"engine": "mariadb"}),
    "Derby server": ("java", "derby", "server", {}),
}


@contextlib.contextmanager
def killing(
    folder: Path, language: str, driver: str, deployment: str, durability: str, more: dict[str, str]
) -> Iterator[Killing]:
    engine = more.get("engine", driver)
    here = ENGINES[engine].availability() if engine in ENGINES else None
    if here is not None and not here.ok:
        pytest.skip(here.reason)
    subject = Killing(folder, language, driver, deployment, durability, **more)
    try:
        yield subject
    finally:
        subject.bench.close()


@pytest.mark.parametrize("name", FULL)
def test_no_acknowledged_write_is_lost(name: str, tmp_path: Path) -> None:
    language, driver, deployment, more = FULL[name]
    with killing(tmp_path, language, driver, deployment, "full", more) as subject:
        result = subject.crashed()
        assert result.pids
        assert not any(map(alive, result.pids))
        assert result.found is not None, result.recovery.reason
        assert result.recovery.recovery_ns is not None
        assert result.recovery.recovery_ns > 0
        assert result.found.ok, result.found.reason
        assert result.found.writes >= LEAST
        assert result.found.lost == result.found.doubled == 0
        assert result.found.rows == subject.prepared_workload.workload.tables["ledger"].rows


def test_what_durability_none_loses_is_told(tmp_path: Path, record_property: pytest.RecordProperty) -> None:
    with killing(tmp_path, "c", "libmariadb", "server", "none", {"engine": "mariadb"}) as subject:
        result = subject.crashed()
        assert result.found is not None, result.recovery.reason
        record_property("acknowledged writes lost", result.found.lost)
        # How many is chance; that the answer says so when there are any is not.
        assert result.found.ok == (result.found.lost == result.found.doubled == 0)
        assert bool(result.found.reason) != result.found.ok
        assert result.found.rows == subject.prepared_workload.workload.tables["ledger"].rows


def test_a_calm_end_then_a_write_taken_away(tmp_path: Path) -> None:
    """The check itself: right without a kill, and it sees one row that somebody set back."""
    from rowpath.execution.mixed_load import durability
    from rowpath.execution.mixed_load.durability import Ledger

    with killing(tmp_path, "c", "sqlite", "embedded", "none", {}) as subject:
        worker = subject.opened(2)
        worker.reset(subject.work)
        worker.prepare(subject.work)
        ledger = Ledger.of(subject.work)
        assert subject.write(worker, ledger, kill=False) == []
        look = (worker, subject.prepared_workload, subject.work, ledger, tmp_path)
        found = durability.check(*look)
        assert found.ok
        assert found.in_doubt == 0
        worker.run(["UPDATE ledger SET n = n - 1 WHERE id = (SELECT MIN(id) FROM ledger WHERE n > 0)"])
        found = durability.check(*look)
        assert (found.ok, found.lost, found.doubled) == (False, 1, 0)
