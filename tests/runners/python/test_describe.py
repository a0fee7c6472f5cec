"""What the Python runner says of the columns of files and of wide results; engines' are in tests/runners/protocol."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.runners import protocol as p
from rowpath.runners.process import RunnerFailure
from tests.runners.python.talk import ADAPTERS, Talk, command_of, kept_fixture, living_fixture, start_fixture  # noqa: F401

MAKE_FILES = """
import datetime, decimal, sys
from pathlib import Path
import pyarrow as pa, pyarrow.parquet
folder = Path(sys.argv[1])
table = pa.table({
    "i": pa.array([1, None], pa.int32()),
    "u": pa.array([1, 2], pa.uint64()),
    "d": pa.array([decimal.Decimal("1.50"), None], pa.decimal128(9, 2)),
    "s": pa.array(["x", None]),
    "e": pa.array(["x", "y"]).dictionary_encode(),
    "t": pa.array([datetime.datetime(2000, 1, 1), None], pa.timestamp("us")),
    "z": pa.array([datetime.datetime(2000, 1, 1), None], pa.timestamp("ms", "UTC")),
    "l": pa.array([[1, 2], None], pa.list_(pa.int64())),
    "r": pa.array([{"a": 1}, None]),
    "n": pa.array([1577836800123456789, -1], pa.timestamp("ns")),
    "x": pa.array([[1577836800123456789, None], []], pa.list_(pa.timestamp("ns"))),
    "m": pa.array([[("b", 1), ("a", None)], []], pa.map_(pa.string(), pa.int32())),
    "o": pa.array([1, None], pa.duration("s")),
})
pyarrow.parquet.write_table(table, folder / "t.parquet")
with pa.ipc.new_file(folder / "t.arrow", table.schema) as writer:
    writer.write_table(table)
"""

MAKE_STREAM = """
import sys
from pathlib import Path
import pyarrow as pa
folder = Path(sys.argv[1])
table = pa.table({
    "i": [1, 2, 3],
    "t": pa.array([1577836800123456789, None, 1577836800000000001], pa.timestamp("ns")),
    "i ": ["a", None, "b"],
})
with pa.ipc.new_stream(folder / "t.arrow", table.schema) as writer:
    writer.write_table(table, max_chunksize=2)
wide = pa.table({f"a_rather_long_name_of_column_{number}": [1] for number in range(12_000)})
with pa.ipc.new_file(folder / "wide.arrow", wide.schema) as writer:
    writer.write_table(wide)
"""

READERS = (("pyarrow", "columnar"), ("polars", "row"), ("polars", "columnar"))


def described(talk: Talk, sql: str) -> list[p.DescribedColumn]:
    return talk.runner.request(p.Describe, 20, sql=sql, expect=p.DescribeReply).columns


def types(columns: list[p.DescribedColumn]) -> list[str]:
    return [column.type for column in columns]


@pytest.fixture(name="made", scope="module")
def made_fixture(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folder of each form's files."""
    folders = {form: tmp_path_factory.mktemp(form) for form in ("columnar", "stream")}
    command = command_of(ADAPTERS["pyarrow"])
    for (_form, folder), program in zip(folders.items(), (MAKE_FILES, MAKE_STREAM), strict=True):
        subprocess.run([command.arguments[0], "-c", program, str(folder)], env=command.environment, check=True)
    return folders


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_columnar_files_by_their_schema(kept: Callable[..., Talk], made: dict[str, Path], form: str) -> None:
    folder = made["columnar"]
    talk = kept("pyarrow")
    talk.open(engine=form, path=str(folder))
    columns = described(talk, "t")
    assert [column.name for column in columns] == list("iudsetzlrnxmo")
    assert types(columns) == [
        *("integer", "integer", "decimal", "text", "text", "timestamp", "timestamptz", "array", "struct", "timestamp"),
        *("array", "map", "opaque"),
    ]
    assert (columns[1].bits, columns[2].precision, columns[2].scale, columns[7].fields[0].bits) == (128, 9, 2, 64)
    assert [(field.name, field.type) for field in columns[8].fields] == [("a", "integer")]
    assert [(field.name, field.type) for field in columns[11].fields] == [("key", "text"), ("value", "integer")]
    cut = [msgspec.structs.replace(column, unit_ns=1000) for column in columns]  # polars' rows have no nanoseconds
    digests = {digest(kept, driver, fetch, form, cut, folder) for driver, fetch in READERS}
    assert digests == {digest(kept, "pyarrow", "row", form, cut, folder)}
    assert digests.pop().startswith("2:")
    exact = {digest(kept, *reader, form, columns, folder) for reader in READERS if reader != ("polars", "row")}
    assert exact == {digest(kept, "pyarrow", "row", form, columns, folder)}


def test_a_stream_of_arrow_is_read_as_one(kept: Callable[..., Talk], made: dict[str, Path]) -> None:
    folder = made["stream"]
    talk = kept("pyarrow")
    talk.open(engine="arrow", path=str(folder))
    columns = described(talk, "t")
    assert types(columns) == ["integer", "timestamp", "text"]
    every = (("pyarrow", "row"), *READERS)
    cut = [msgspec.structs.replace(column, unit_ns=1000) for column in columns]  # polars' rows have no nanoseconds
    digests = {digest(kept, driver, fetch, "arrow", cut, folder) for driver, fetch in every}
    assert len(digests) == 1
    exact = [digest(kept, *reader, "arrow", columns, folder) for reader in every if reader != ("polars", "row")]
    assert exact == exact[:1] * 3
    assert digests.pop().startswith("3:")
    talk.open(engine="arrow", path=str(folder))
    with pytest.raises(RunnerFailure, match="12,000 columns take") as refused:
        described(talk, "wide")
    assert refused.value.kind == "unsupported"


def digest(kept: Callable[..., Talk], driver: str, fetch: str, form: str, columns: Any, folder: Path) -> str:
    """What a reader makes of the described columns of table `t`."""
    talk = kept(driver)
    talk.open(engine=form, path=str(folder), fetch=fetch, result="whole")
    spec = p.PhaseSpec(name="t", kind="query", table="t", scan=True, columns=columns)
    talk.runner.request(p.Prepare, 20, phase=spec, expect=p.PrepareReply)
    return talk.verify("t").digest


def test_delimited_files_by_what_every_value_fits(start: Callable[..., Talk], tmp_path: Path) -> None:
    (tmp_path / "t.tbl").write_text(
        "1|1.5|x|t|2000-01-31|\\N|5\n\\N|2|a\\|b|f|2000-02-29|\\N|6\n3|\\N|é|\\N|\\N|\\N|y\n", encoding="utf-8"
    )
    (tmp_path / "empty.tbl").write_text("")
    talk = start("file")
    talk.open(engine="file", path=str(tmp_path))
    columns = described(talk, "t")
    assert [column.name for column in columns] == [f"f{number}" for number in range(7)]
    assert types(columns) == ["integer", "float64", "text", "boolean", "date", "text", "text"]
    assert all(column.nullable and "whole file" in column.engine_type for column in columns)
    assert described(talk, "empty") == []


def test_a_driver_without_describe_says_so(start: Callable[..., Talk], tmp_path: Path) -> None:
    talk = start("adbc-sqlite")
    talk.open(engine="sqlite", path=str(tmp_path / "db"), durability="none")
    with pytest.raises(RunnerFailure) as failure:
        described(talk, "SELECT 1")
    assert failure.value.kind == "unsupported"


def test_the_requirement_is_known(start: Callable[..., Talk]) -> None:
    hello: dict[str, Any] = {"adapter": "sqlite3", "requires": ("describe",)}
    assert start("sqlite3").runner.hello(**hello).adapter == "sqlite3"


def test_a_description_of_1600_columns_fits_into_a_reply(start: Callable[..., Talk], tmp_path: Path) -> None:
    talk = start("duckdb")
    talk.open(engine="duckdb", path=str(tmp_path / "db"), durability="none")
    wide = "SELECT " + ", ".join(f"{number} AS a_rather_long_name_of_column_{number}" for number in range(1600))
    columns = described(talk, wide)
    assert len(columns) == 1600
    assert len(json.dumps([column.name for column in columns])) < p.REPLY_LIMIT_BYTES
