"""Rows that `verify` kept, as a person reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.model.workload import Column
from rowpath.probe.differences import example
from rowpath.workloads import codec
from rowpath.workloads.kept_rows import kept_values, shown
from tests.runners.protocol.codec_vectors import VECTORS, natural

# What begins a value that holds others of unknown number, or none that a person reads.
SKIPPED = ("rows",)
WALKED = [vector for vector in VECTORS["values"] if vector["type"] not in SKIPPED]


def kept(file: Path, rows: list[list[bytes]]) -> Path:
    encoded = [b"".join(row) for row in rows]
    file.write_bytes(b"".join(len(row).to_bytes(4, "little") + row for row in encoded))
    return file


@pytest.mark.parametrize("vector", WALKED, ids=lambda v: f"{v['type']}-{v['value']}"[:40])
def test_every_value_ends_where_it_ends(vector: dict[str, Any], tmp_path: Path) -> None:
    value = bytes.fromhex(vector["bytes"])
    kept(tmp_path / "kept", [[value, b"L\x01"]])
    assert list(kept_values(tmp_path / "kept")) == [[value, b"L\x01"]]


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("decimal", "NaN", "nan"),
        ("text", "a'b", '"a\'b"'),
        ("text", {"hex": "ff41"}, "'\\xffA'"),
        ("binary", "00ff", "x'00ff'"),
        ("bits", "101000001", "b'101000001'"),
        ("date", "0044-03-15 BC", "0044-03-15 BC"),
        ("date", "12000-02-29", "12000-02-29"),
        ("date", "0000-00-00", "0000-00-00"),
        ("time", "-838:59:59.5", "-838:59:59.5"),
        ("timestamp", "1969-12-31 23:59:59.999999999", "1969-12-31 23:59:59.999999999"),
        ("timestamp", "0044-03-15 12:00:00 BC", "0044-03-15 12:00:00 BC"),
        ("timestamptz", "2020-01-01 00:00:00+00:00", "2020-01-01 00:00:00+00:00"),
        ("interval", [14, -3, -1500000000], "14 months -3 days -00:00:01.5"),
        ("array", [[1, None], []], "[[1, NULL], []]"),
        ("array", {"lower": 0, "elements": [1]}, "[0:][1]"),
        ("boolean", True, "true"),
    ],
)
def test_a_value_as_a_person_reads_it(kind: str, value: Any, text: str) -> None:
    column = msgspec.convert({"name": "v", "type": kind, "nullable": True}, Column)
    assert shown(codec.encode_value(natural(value, column), column)) == text


@pytest.mark.parametrize("vector", WALKED, ids=lambda v: f"{v['type']}-{v['value']}"[:40])
def test_every_kept_value_is_read_and_touched(vector: dict[str, Any], tmp_path: Path) -> None:
    column = msgspec.convert({"name": "v", "type": vector["type"], **vector.get("column", {})}, Column)
    kept(tmp_path / "kept", [[bytes.fromhex(vector["bytes"])]])
    ((value,),) = codec.read_kept(tmp_path / "kept", [column])
    if vector["type"] != "char":
        assert f"{codec.touch_value(value, column):016x}" == vector["touch"] or "unit_ns" in vector.get("column", {})


def number(value: int) -> bytes:
    return codec.encode_value(value, Column(name="n", type="integer"))


def test_the_first_row_that_differs_is_found_in_any_order() -> None:
    rows = [[number(1), number(10)], [number(2), number(20)], [number(3), number(30)]]
    changed = [rows[0], [number(2), number(21)], rows[2]]
    for theirs in (changed, changed[::-1]):
        assert example((rows, theirs), 1) == (2, "20", "21")
    assert example((rows, rows[::-1]), 0) is None
