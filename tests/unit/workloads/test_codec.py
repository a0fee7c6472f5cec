"""The controller's codec against the vectors that every runner shares."""

from __future__ import annotations

import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.model.workload import Column
from rowpath.workloads import codec
from rowpath.workloads.generators import rows
from rowpath.workloads.workload_file import load_workload
from tests.runners.protocol.codec_vectors import VECTORS, natural

# The specification's own figures, so that regenerating the vector file cannot hide a change.
FIXED = {
    "e934a84adb052768", "79b45dc1d92ea30e", "cacb5a21fec42f89", "b28aa90e225450be", "09a06dc90340e669",
    "91b189360bc03147", "42276fbebbc50e04", "2a6599e2d3061929", "a739043e713812e1", "83d11de3dad37cd4",
    "a1f4a086dbe2eecf", "d34e40f132e0c3ba", "d7ea4783527bba48", "ef54954323058d8c", "9607d2da8a3cfe70",
    "a54e566e9b055c8a", "d5c40bf818fcd630", "5a2c5b66ade9f790", "5f01ebeda68de012", "36e2716183d5f7cd",
    "4da7709d7517bd78", "207759dddc1e9c2e", "1fc8e0cc0d56bf98",
}  # fmt: skip


def column_of(vector: dict[str, Any]) -> Column:
    return msgspec.convert({"name": "v", "type": vector["type"], **vector.get("column", {})}, Column)


@pytest.mark.parametrize("vector", VECTORS["values"], ids=lambda v: f"{v['type']}-{v['value']}"[:40])
def test_value(vector: dict[str, Any]) -> None:
    column = column_of(vector)
    value = natural(vector["value"], column)
    encoded = codec.encode_value(value, column)
    assert encoded.hex() == vector["bytes"]
    assert f"{codec.row_hash(encoded):016x}" == vector["hash"]
    assert f"{codec.touch_value(value, column):016x}" == vector["touch"]
    if "touch_padded" in vector:
        assert f"{codec.touch_value(value, column, padded=True):016x}" == vector["touch_padded"]
    if "touch_utf16" in vector:
        assert f"{codec.touch_value(value, column, unit='utf-16'):016x}" == vector["touch_utf16"]
        assert f"{codec.touch_value(value, column, unit='bytes'):016x}" == vector["touch_bytes"]


PARAMETERS = [vector for vector in VECTORS["values"] if vector.get("parameter", True)]


@pytest.mark.parametrize("vector", PARAMETERS, ids=lambda v: f"{v['type']}-{v['value']}"[:40])
def test_a_parameter_is_read_again(vector: dict[str, Any]) -> None:
    column, encoded = column_of(vector), bytes.fromhex(vector["bytes"])
    again = codec.decode_row(encoded, [column])[0]
    assert codec.encode_value(again, column) == encoded


def test_the_specifications_own_hashes_are_among_the_vectors() -> None:
    assert {vector["hash"] for vector in VECTORS["values"]} >= FIXED
    assert [row["hash"] for row in VECTORS["rows"]] == ["0b977fa22ac69eab", "c178887bbd6f96c5"]
    assert [one["digest"] for one in VECTORS["digests"]] == [
        "0:0000000000000000", "2:cd10081de8363570", "2:cd10081de8363570", "3:8e889099a5a5cc35",
    ]  # fmt: skip


def test_rows_and_digests() -> None:
    columns = [Column(**spec) for spec in VECTORS["row_columns"]]
    made = []
    for vector in VECTORS["rows"]:
        row = tuple(natural(value, column) for value, column in zip(vector["value"], columns, strict=True))
        encoded = codec.encode_row(row, columns)
        assert encoded.hex() == vector["bytes"]
        assert f"{codec.row_hash(encoded):016x}" == vector["hash"]
        assert f"{codec.touch_row(row, columns):016x}" == vector["touch"]
        assert f"{codec.touch_row(row, columns, padded=True):016x}" == vector["touch_padded"]
        made.append(row)
    for vector in VECTORS["digests"]:
        chosen = [made[index] for index in vector["rows"]]
        assert codec.digest(chosen, columns) == vector["digest"]
        total = sum(codec.touch_row(row, columns) for row in chosen) & codec.MASK64
        assert f"{total:016x}" == vector["touch"]


def test_a_changed_a_missing_and_a_doubled_row_change_the_digest() -> None:
    table = load_workload("scan").tables["hits"]
    right = list(rows(table, 50))
    whole = codec.digest(right, table.columns)
    wrong = right[:]
    wrong[7] = (*wrong[7][:4], wrong[7][4] + 1, *wrong[7][5:])
    for other in (wrong, right[:-1], [*right, right[3]], [*right[:-1], right[3]]):
        assert codec.digest(other, table.columns) != whole
    assert codec.digest(right[::-1], table.columns) == whole


def test_parameter_file(tmp_path: Path) -> None:
    table = load_workload("types").tables["types"]
    made = list(rows(table))
    assert codec.write_rows(tmp_path / "p.rows", made, table.columns) == 6
    data = (tmp_path / "p.rows").read_bytes()
    count, *offsets = struct.unpack_from("<8Q", data, len(codec.MAGIC))
    assert count == 6
    assert offsets[-1] == len(data)
    assert [codec.decode_row(data[begin:end], table.columns) for begin, end in pairwise(offsets)] == made


def test_an_empty_parameter_file(tmp_path: Path) -> None:
    codec.write_rows(tmp_path / "none.rows", [], [])
    assert (tmp_path / "none.rows").read_bytes() == b"RPROWS1\n" + bytes(8) + (24).to_bytes(8, "little")


def test_a_row_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="argument 2 is longer"):
        codec.encode_row((1,), [Column(name="a", type="integer"), Column(name="b", type="integer")])
