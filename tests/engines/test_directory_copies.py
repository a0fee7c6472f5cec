"""Derby's databases moved by copying their directories, between deployments and versions, on real Derby."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from rowpath.engines import derby
from rowpath.engines.derby import ENGINE
from rowpath.engines.jvm_engine import JvmDirectory, connected
from rowpath.errors import RowpathError
from rowpath.execution.mixed_load import directory_copies
from rowpath.journal.mixed_load_records import DirectoryCopyRecord
from rowpath.journal.record_base import Record
from rowpath.journal.records import NoteRecord
from rowpath.machine import cpus
from rowpath.model.experiment import CopyEnd, DirectoryCopyTable
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table
from rowpath.workloads.expected_scan import whole_table
from rowpath.workloads.workload_file import at_scale, load_workload
from tests.engines.insides import database_of

pytestmark = pytest.mark.skipif(not ENGINE.availability().ok, reason=ENGINE.availability().reason)
HERE, OLD, OLDEST = CopyEnd(), CopyEnd(derby.OLD), CopyEnd(derby.OLDEST)


@pytest.fixture
def tables() -> dict[str, Table]:
    cpus.usable()
    return at_scale(load_workload("library"), 0.002).tables


def carried_out(move: DirectoryCopyTable, tables: dict[str, Table], folder: Path) -> list[DirectoryCopyRecord]:
    return list(directory_copies.carry_out(move, tables, "none", folder, lambda _line: None, 60.0))


def test_an_embedded_database_under_the_network_server(tables: dict[str, Table], tmp_path: Path) -> None:
    (moved,) = carried_out(DirectoryCopyTable(HERE, CopyEnd(deployment="server")), tables, tmp_path)
    assert moved.ok, moved.reason
    assert moved.digest == moved.expected
    assert moved.expected.startswith(f"items={tables['items'].rows}:")
    assert moved.target == f"Derby {ENGINE.version()} server"
    assert moved.bytes > 0
    assert moved.ns > 0
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


def test_a_database_of_the_oldest_version_opened_and_upgraded(
    tables: dict[str, Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for artefacts in derby.BY_VERSION.values():
        if not artefacts.fetched():
            pytest.skip(artefacts.availability().reason)
    kept: list[Path] = []

    def keep(instance: Any) -> Any:
        kept.append(instance.options(directory_copies.planned_at(move, CopyEnd(), "none").path)["path"])
        return instance

    monkeypatch.setattr("rowpath.execution.mixed_load.directory_copies.backup.passing", keep)
    move = DirectoryCopyTable(OLDEST, OLD)
    opened, upgraded = carried_out(move, tables, tmp_path)
    for moved in (opened, upgraded):
        assert moved.ok, moved.reason
        assert moved.source == "Derby 10.3.1.4 embedded"
    assert (opened.target, upgraded.target) == ("Derby 10.8.2.2 embedded", "Derby 10.8.2.2 embedded, upgraded")
    # It was upgraded for good: the version that made it refuses it now.
    database = Path(kept[0])
    assert database.is_relative_to(tmp_path / "target")
    oldest = type(ENGINE)(derby.OLDEST)
    with (
        pytest.raises(RowpathError, match=r"10\.8"),
        connected(oldest, {"deployment": "embedded", "path": str(database)}),
    ):
        pass


def test_rows_that_are_others_at_the_target_or_at_the_source(
    tables: dict[str, Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = " ".join(
        f"{name}={whole_table(table, table.columns).digest(1, table.rows)}" for name, table in tables.items()
    )
    other = right.replace("items=", "items=1")
    answers: list[str] = []
    monkeypatch.setattr(directory_copies, "_read", lambda *_args, **_more: answers.pop(0))
    monkeypatch.setattr(JvmDirectory, "load", lambda self, _tables: database_of(self).mkdir())
    for found, reason in (
        ([right, other], "its rows differ from the source's"),
        ([other], "does not hold the rows that were loaded"),
    ):
        answers += found
        (moved,) = carried_out(DirectoryCopyTable(HERE, HERE), tables, tmp_path / str(len(found)))
        assert (moved.ok, moved.digest, moved.expected) == (False, other, right)
        assert reason in moved.reason


def test_what_is_not_here_is_left_out_by_name(tables: dict[str, Table], tmp_path: Path) -> None:
    here = directory_copies.availability(DirectoryCopyTable(CopyEnd("9.9"), HERE))
    assert (here.ok, here.what) == (False, f"Derby 9.9 embedded → Derby {ENGINE.version()} embedded")
    missing = DirectoryCopyTable(OLDEST, HERE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rowpath.machine.maven.missing", list)
        here = directory_copies.availability(missing)
    assert not here.ok
    assert here.remedy == "rowpath engine fetch derby-10.3"


def test_a_run_carries_out_what_it_can_and_names_the_rest(
    tables: dict[str, Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = (
        DirectoryCopyRecord(
            source="here", target="there", bytes=1, ns=2, digest="x", expected="x", ok=ok, reason="" if ok else "why"
        )
        for ok in (True, False)
    )
    carried: list[dict[str, Table]] = []

    def carry_out(move: DirectoryCopyTable, tables: dict[str, Table], *_args: Any) -> list[DirectoryCopyRecord]:
        carried.append(tables)
        return [good, bad]

    monkeypatch.setattr(directory_copies, "carry_out", carry_out)
    written: list[Record] = []
    notes: list[str] = []
    workload = SimpleNamespace(tables={**tables, "empty": replace(tables["ledger"], rows=0)})
    experiment = SimpleNamespace(
        directory_copies=(DirectoryCopyTable(CopyEnd("9.9"), HERE), DirectoryCopyTable(HERE, HERE))
    )

    def run(engine: str) -> None:
        path = SimpleNamespace(path=AccessPath.of({"engine": engine}))
        plan: Any = SimpleNamespace(experiment=experiment, workloads={"library": workload}, paths=[path])

        directory_copies.carry_out_all(plan, tmp_path, written.append, notes.append, notes.append, 1.0)

    run("sqlite")
    assert not (written or carried)
    run("derby")
    assert carried == [tables]
    assert [type(record) for record in written] == [NoteRecord, DirectoryCopyRecord, DirectoryCopyRecord]
    assert isinstance(written[0], NoteRecord) and "unknown version 9.9 of Derby" in written[0].text
    assert written[1] == good
    assert notes[-1] == "here → there: why"
