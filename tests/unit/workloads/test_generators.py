"""The generators: the specification's number sequences, determinism, and delimited files."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath.errors import UsageError
from rowpath.model.workload import Parameters
from rowpath.workloads import generators
from rowpath.workloads.workload_file import load_workload, names
from tests.runners.protocol.codec_vectors import VECTORS


def test_splitmix64() -> None:
    assert [f"{generators.draw(0, i):016x}" for i in range(3)] == [
        "e220a8397b1dcdaf", "6e789e6aa1b965f4", "06c45d188009454f",
    ]  # fmt: skip
    assert f"{generators.draw(42, 10**6):016x}" == "b053c53312ac3ffb"
    for vector in VECTORS["draw"]:
        assert f"{generators.draw(vector['seed'], vector['index']):016x}" == vector["value"]


def test_key_sequences() -> None:
    assert [generators.uniform(42, 1000, i) for i in range(8)] == [706, 145, 929, 882, 625, 531, 462, 954]
    assert [generators.uniform(42, 6071, i) for i in range(4)] == [550, 5460, 4334, 1555]
    order = [generators.halves(1000, i) for i in range(1001)]
    assert order[:5] == [0, 500, 1, 501, 2]
    assert order[998:] == [499, 999, 0]
    assert [generators.halves(5, i) for i in range(6)] == [0, 3, 1, 4, 2, 0]
    assert [generators.stride(1000, 7, i) for i in (142, 143)] == [994, 1]
    assert sorted(generators.stride(1000, 7, i) for i in range(1000)) == list(range(1000))


def test_a_stride_with_a_common_divisor_is_refused() -> None:
    with pytest.raises(UsageError, match="common divisor"):
        generators.parameter_indexes(Parameters(generator="stride", count=3, n=10, k=4))


@pytest.mark.parametrize("name", names())
def test_rows_fit_their_columns_and_repeat(name: str) -> None:
    for table in load_workload(name).tables.values():
        made = list(generators.rows(table, 200))
        assert made == list(generators.rows(table, 200))
        for row in made:
            assert len(row) == len(table.columns)
            for value, column in zip(row, table.columns, strict=True):
                assert value is not None or column.nullable
                if column.type in ("char", "varchar") and value is not None:
                    assert len(value) <= column.length
                    assert value.isascii() or name == "films"  # names of people
                if column.type == "integer" and value is not None:
                    assert -(1 << column.bits - 1) <= value < 1 << column.bits - 1


def test_speed_tables_are_ascii_and_keys_differ() -> None:
    table = load_workload("keyed").tables["mydata2"]
    keys = {row[0] for row in generators.rows(table)}
    assert len(keys) == 1000
    hits = load_workload("scan").tables["hits"]
    assert sum(row[5] is None for row in generators.rows(hits)) > 100
    assert any(row[2] == "" for row in generators.rows(hits))


def test_a_slice_needs_no_state() -> None:
    table = load_workload("tab1").tables["tab1"]
    assert generators.row_maker(table)(7) == list(generators.rows(table, 8))[7]
    assert generators.row_maker(table, ("c6", "c1"))(7) == (generators.row_maker(table)(7)[5], 8)


def test_parameter_rows() -> None:
    keyed = load_workload("keyed")
    columns, rows = generators.parameter_rows(keyed, keyed.phase("read"))
    assert [column.name for column in columns] == ["KEY1"]
    assert [row[0] for row in rows][:3] == ["0000000001", "0000000501", "0000000002"]
    assert generators.parameter_rows(keyed, keyed.phase("create"))[0] == ()


def test_delimited_file(tmp_path: Path) -> None:
    table = load_workload("types").tables["types"]
    generators.write_delimited(tmp_path / "types.tbl", table)
    lines = (tmp_path / "types.tbl").read_bytes().decode().split("\n")
    assert len(lines) == 7
    assert lines[-1] == ""
    fields = lines[0].split("|")
    names_ = [column.name for column in table.columns]
    at = dict(zip(names_, fields, strict=True))
    assert at["c_decimal"] == "12345.678"
    assert at["c_boolean"] == "t"
    assert at["c_binary"] == "\\\\x00ff"
    assert at["c_timestamp"] == "2000-11-07 01:02:03.456789"
    assert at["c_interval"] == "P14M-3DT3723.500000S"
    assert at["c_array"] == "{1,2,3}"
    assert lines[3] == "4" + "|\\N" * (len(names_) - 1)
    assert "a\\|b\\\\c\\nd\\re\tf" in lines[5]


def test_a_column_that_no_generator_makes() -> None:
    table = load_workload("keyed").tables["mydata2"]
    with pytest.raises(UsageError, match="makes no column 'KEY9'"):
        generators.row_maker(table, ("KEY9",))
