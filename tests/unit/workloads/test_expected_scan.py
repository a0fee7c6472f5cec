"""What a scan must deliver, added up in one pass: the same as the simple way finds."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from rowpath.model.workload import CODEC_VERSION, Workload
from rowpath.workloads import codec, expected_scan, generators
from rowpath.workloads.codec import payload_of
from rowpath.workloads.expected import Expected
from rowpath.workloads.expected_scan import VARIANTS, WholeTable, whole_table
from rowpath.workloads.workload_file import at_scale, load_workload

MASK64 = codec.MASK64
SMALL = at_scale(load_workload("tpch"), 0.001)


def a_workload(name: str) -> tuple[Workload, str]:
    return {"tpch": (SMALL, "orders"), "types": (load_workload("types"), "types")}[name]


@pytest.mark.parametrize("name", ["tpch", "types"])
def test_touches_payload_and_digests(name: str) -> None:
    workload, table_name = a_workload(name)
    table = workload.tables[table_name]
    rows = list(generators.rows(table))
    whole = WholeTable(table, table.columns)
    right = {sum(codec.touch_row(row, table.columns, *way) for row in rows) & MASK64 for way in VARIANTS}
    assert set(whole.touches) == right
    assert len(right) > 1  # CHAR, stripped or padded
    assert whole.payload_bytes == sum(payload_of(value) for row in rows for value in row)
    for scans, most in ((1, len(rows)), (1, 3), (2, 10**6), (3, 2 * len(rows) + 1), (1, 0)):
        assert whole.digest(scans, most) == codec.digest((rows * scans)[:most], table.columns)


def test_some_columns_in_another_order() -> None:
    table = SMALL.tables["orders"]
    columns = (table.columns[8], table.columns[0])
    whole = WholeTable(table, columns)
    rows = [(row[8], row[0]) for row in generators.rows(table)]
    assert whole.digest(1, 10**6) == codec.digest(rows, columns)
    assert len(whole.touches) == 1  # no CHAR, and the table is ASCII


@pytest.mark.parametrize("phase", ["customer-aggregate", "orders-aggregate"])
def test_aggregates(phase: str) -> None:
    expected = Expected(SMALL)
    asked = SMALL.phase(phase)
    names = [column.name for column in SMALL.tables[asked.table].columns]
    rows = list(generators.rows(SMALL.tables[asked.table]))
    functions = {"sum": sum, "min": min, "max": max}
    answer = []
    for column in asked.columns:
        function, _, of = column.name.partition("_")
        values = [row[names.index(of)] for row in rows] if of else rows
        answer.append(len(values) if function == "count" else functions[function](values))  # type: ignore[operator]
    assert expected.verify_digest(phase, 0, 1, 10) == codec.digest([answer], asked.columns)


@pytest.mark.parametrize("name", ["customer", "hits"])
def test_what_was_found_is_kept(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    table = {**SMALL.tables, **load_workload("scan").tables}[name]
    found = WholeTable(table, table.columns)
    touches, digest = found.touches, found.digest(1, 100)
    beside = next(tmp_path.rglob("*.json"))
    kept = json.loads(beside.read_text())
    assert len(kept) == 2
    again = WholeTable(table, table.columns)
    monkeypatch.setattr(generators, "rows", lambda *_: pytest.fail("the rows were read again"))
    assert (again.touches, again.digest(1, 100)) == (touches, digest)
    other = msgspec.structs.replace(table, columns=table.columns[:2])
    with pytest.raises(pytest.fail.Exception):
        assert WholeTable(other, other.columns).touches == touches
    assert CODEC_VERSION == 2  # part of the key: another codec hashes the rows again


def test_rows_made_by_other_code_are_added_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    table = load_workload("types").tables["types"]
    assert WholeTable(table, table.columns).payload_bytes
    (kept,) = (tmp_path / "expected").iterdir()
    monkeypatch.setattr(expected_scan, "_code", lambda: "another")
    monkeypatch.setattr(expected_scan, "payload_of", lambda _value: 0)
    assert WholeTable(table, table.columns).payload_bytes == 0
    assert {each.name for each in kept.parent.iterdir()} == {kept.name, "types-another.json"}


def test_two_engines_share_what_was_found() -> None:
    table = SMALL.tables["orders"]
    assert whole_table(table, table.columns) is whole_table(msgspec.structs.replace(table), table.columns)
