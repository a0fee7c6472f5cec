"""Parts of a delimited file read by several Java threads, and an aggregate computed over its lines."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.machine import jvm
from rowpath.model.workload import Column
from rowpath.workloads import codec
from rowpath.workloads.generators import delimited_value
from tests.runners.protocol.talk import Start, talks

pytestmark = pytest.mark.skipif(bool(jvm.compiler_problem()), reason="no JDK")
COLUMNS = (
    Column("k", "integer", bits=64),
    Column("v", "text", nullable=True),
    Column("m", "decimal", precision=15, scale=2, nullable=True),
    Column("d", "date"),
)
ROWS = [
    (k, None if k % 5 == 0 else "é|\n\\" * (k % 7), None if k == 3 else Decimal(k) / 100, date(1992, 1, 1 + k))
    for k in range(1, 24)
]
BOUNDS = (Column("begin", "integer", bits=64), Column("end", "integer", bits=64))
WHOLE = codec.digest(ROWS, COLUMNS)
AGGREGATE = (
    Column("count", "integer", bits=64),
    Column("sum_m", "decimal", precision=38, scale=2, nullable=True),
    Column("min_d", "date", nullable=True),
    Column("max_v", "text", nullable=True),
    Column("sum_k", "decimal", precision=38, nullable=True),
    Column("max_k", "integer", bits=64, nullable=True),
)


@pytest.fixture
def start() -> Iterator[Start]:
    yield from talks("java")


def specs(columns: tuple[Column, ...]) -> list[dict[str, Any]]:
    return [msgspec.to_builtins(column) for column in columns]


def made(folder: Path, rows: list[tuple[Any, ...]] = ROWS) -> int:
    """Bytes of the file."""
    lines = ["|".join(map(delimited_value, row)) + "\n" for row in rows]
    return (folder / "t.tbl").write_bytes("".join(lines).encode())


def segment_phase(folder: Path, bounds: list[tuple[int, int]]) -> dict[str, Any]:
    count = codec.write_rows(folder / "bounds.rows", bounds, BOUNDS)
    phase = {"name": "s", "kind": "query", "table": "t", "access": "segment", "columns": specs(COLUMNS)}
    phase["parameter_columns"] = specs(BOUNDS)
    return {"phase": phase, "parameters": {"file": str(folder / "bounds.rows"), "first": 0, "count": count}}


def test_wherever_the_file_is_cut_every_line_comes_once(start: Start, tmp_path: Path) -> None:
    size = made(tmp_path)
    talk = start("file", {"path": str(tmp_path)})
    cuts = [(0, cut) for cut in range(size + 1)] + [(cut, size) for cut in range(size + 1)]
    talk.ask("prepare", **segment_phase(tmp_path, cuts))
    for cut in range(size + 1):
        low, high = (talk.ask("verify", phase="s", first=first, count=1) for first in (cut, size + 1 + cut))
        assert low["rows"] + high["rows"] == len(ROWS), cut
        hashes = sum(int(each["digest"].partition(":")[2], 16) for each in (low, high)) % 2**64
        assert f"{len(ROWS)}:{hashes:016x}" == WHOLE, cut


def test_each_thread_takes_its_part(start: Start, tmp_path: Path) -> None:
    size = made(tmp_path)
    parts = [(part * size // 3, (part + 1) * size // 3) for part in range(3)]
    talk = start("file", {"path": str(tmp_path), "clients": "3", "concurrency": "threads"})
    talk.ask("prepare", **segment_phase(tmp_path, parts))
    assert talk.ask("verify", phase="s", first=0, count=3)["digest"] == WHOLE
    for _retrieval in range(2):
        reply = talk.sample("s", operations=3, first=0)
        assert (reply["operations"], reply["failed"], reply["rows"]) == (3, 0, len(ROWS))
        assert all(client["rows"] > 0 for client in reply["clients"])


def aggregate_of(folder: Path, start: Start, columns: tuple[Column, ...]) -> Any:
    talk = start("file", {"path": str(folder)})
    phase = {"name": "a", "kind": "query", "table": "t", "access": "aggregate", "columns": specs(columns)}
    prepared = talk.ask("prepare", phase=phase | {"table_columns": specs(COLUMNS)}, parameters=None)
    return prepared if "error" in prepared else talk.ask("verify", phase="a", first=0, count=2)


def test_an_aggregate_over_the_lines(start: Start, tmp_path: Path) -> None:
    made(tmp_path)
    amounts = [row[2] for row in ROWS if row[2] is not None]
    texts = [row[1] for row in ROWS if row[1] is not None]
    row = (len(ROWS), sum(amounts), date(1992, 1, 2), max(texts), sum(row[0] for row in ROWS), ROWS[-1][0])
    verified = aggregate_of(tmp_path, start, AGGREGATE)
    assert verified["digest"] == codec.digest([row, row], AGGREGATE)


def test_an_aggregate_over_no_line(start: Start, tmp_path: Path) -> None:
    made(tmp_path, [])
    row = (0, None, None, None, None, None)
    assert aggregate_of(tmp_path, start, AGGREGATE)["digest"] == codec.digest([row, row], AGGREGATE)


@pytest.mark.parametrize("name", ["median_k", "sum_nothing", "sum"])
def test_an_aggregate_that_is_none(start: Start, tmp_path: Path, name: str) -> None:
    made(tmp_path)
    error = aggregate_of(tmp_path, start, (Column(name, "integer"),))["error"]
    assert error["kind"] == "unsupported"
    assert name in error["text"]
