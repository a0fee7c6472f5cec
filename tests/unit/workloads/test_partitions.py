"""Ranges: every key in exactly one of them, whatever the keys; the article's drop what they dropped."""

from __future__ import annotations

import itertools
import random
import struct
from pathlib import Path

import msgspec
import pytest

from rowpath.engines.base import Place
from rowpath.engines.table_files import TextFolder
from rowpath.errors import UsageError
from rowpath.execution import prepared_phases
from rowpath.execution.measured import book_as_one
from rowpath.model.path import AccessPath
from rowpath.model.workload import Workload
from rowpath.runners.protocol import SampleReply
from rowpath.workloads import partitions
from rowpath.workloads.codec import decode_row
from rowpath.workloads.workload_file import load_workload
from tests.unit.planning.test_make_plan import Select, planned

NUMBERS = (1, 2, 3, 7, 100)


def taken(keys: list[int], parts: list[partitions.Range]) -> list[int]:
    return [sum(low < key <= high for low, high in parts) for key in keys]


@pytest.mark.parametrize("n", NUMBERS)
def test_bounds_take_every_key_once_and_share_them_out(n: int) -> None:
    keys = sorted(random.Random(n).sample(range(-50, 6_000_000), 1500))
    parts = partitions.bounds(keys, n, 32)
    assert len(parts) == n
    assert taken(keys, parts) == [1] * len(keys)
    each = [sum(low < key <= high for key in keys) for low, high in parts]
    assert max(each) - min(each) <= 1
    assert parts[-1][1] == 2**31 - 1, "open above"
    assert taken([2**31 - 1], parts) == [1], "a row that comes later is not lost"


def test_the_first_bound_is_nought_where_keys_are_above_it() -> None:
    assert partitions.bounds([5, 9], 1, 16) == [(0, 2**15 - 1)]
    assert partitions.bounds([0, 9], 2, 64) == [(-1, 0), (0, 2**63 - 1)]


def test_more_clients_than_rows_are_refused() -> None:
    with pytest.raises(UsageError):
        partitions.bounds([1, 2], 3, 32)


def test_counted_ranges_drop_the_remainder_and_what_lies_beyond() -> None:
    assert partitions.count(10, 3) == [(0, 3), (3, 6), (6, 9)]
    assert sum(taken(list(range(1, 13)), partitions.count(12, 4))) == 12
    sparse = [32 * (i // 8) + i % 8 + 1 for i in range(1500)]  # as TPC-H numbers its orders
    assert sum(taken(sparse, partitions.count(1500, 4))) == pytest.approx(1500 / 4, abs=8)


@pytest.mark.parametrize("n", NUMBERS)
def test_segments_are_the_whole_file(n: int) -> None:
    parts = partitions.segments(98_765, n)
    assert [begin for begin, _ in parts] == [0, *(end for _, end in parts[:-1])]
    assert parts[-1][1] == 98_765


def sparse_workload() -> Workload:
    """The hits with keys in parts, small."""
    phase = {
        "name": "hits-ranges",
        "kind": "query",
        "sql": "SELECT ID, GEOID FROM hits WHERE ID > ? AND ID <= ?",
        "table": "hits",
        "union": True,
        "expected": "whole-table",
        "parameters": {"generator": "ranges", "table": "hits", "key": "ID", "columns": ["ID", "ID"], "count": 1},
    }
    table = {
        "rows": 50,
        "generator": "hits-numbered",
        "columns": [{"name": "ID", "type": "integer"}, {"name": "GEOID", "type": "integer", "bits": 16}],
    }
    return msgspec.convert({"name": "u", "title": "u", "tables": {"hits": table}, "phases": [phase]}, Workload)


def path_of(engine: str, clients: int, how: str = "bounds") -> AccessPath:
    return AccessPath.of({"engine": engine, "deployment": "file", "clients": str(clients), "ranges": how})


def test_each_path_gets_parameters_of_its_own(tmp_path: Path) -> None:
    workload = sparse_workload()
    folder = TextFolder(Place(tmp_path, tmp_path, ()))
    folder.start()
    folder.load(workload.tables)
    size = (tmp_path / "file" / "hits.tbl").stat().st_size
    shop = prepared_phases.PhaseCache(tmp_path / "params")

    def of(engine: str, clients: int, how: str = "bounds") -> list[tuple[int, ...]]:
        made = shop.path_work(workload, path_of(engine, clients, how), folder).phases["u.hits-ranges"]
        assert made.parameter_count == clients
        assert made.parameter_file is not None
        data = made.parameter_file.read_bytes()
        offsets = struct.unpack_from(f"<{clients + 1}Q", data, 16)
        return [decode_row(data[begin:end], made.parameter_columns) for begin, end in itertools.pairwise(offsets)]

    assert of("sqlite", 2) == [(0, 25), (25, 2**31 - 1)]
    assert of("sqlite", 3, "count") == [(0, 16), (16, 32), (32, 48)]
    assert of("file", 2) == [(0, size // 2), (size // 2, size)]
    assert of("parquet", 5)[-1] == (40, 50)
    assert "u.hits-ranges" not in shop.prepared_workload(workload, "sqlite").phases


def test_paths_with_ranges_serve_retrievals_in_parts_and_nothing_else() -> None:
    phases = ("tpch.orders", "tpch.orders-ranges", "tpch.orders-bounds")
    asked: Select = {"driver": "sqlite3", "clients": ("1", "3"), "ranges": ("bounds", "count"), "placement": "free"}
    plan = planned(asked, {"driver": "sqlite3"}, phases=phases)
    *parted, whole = plan.paths
    assert {(path.path.get("clients"), path.path.get("ranges")) for path in parted} == {
        ("1", "bounds"),
        ("3", "bounds"),
        ("1", "count"),
        ("3", "count"),
    }
    assert {path.phases for path in parted} == {("tpch.orders-ranges",)}
    assert whole.phases == ("tpch.orders", "tpch.orders-bounds")
    assert {path.path.get("placement") for path in parted} == {"free"}


def test_a_family_stays_in_one_set() -> None:
    many = tuple(str(n) for n in range(1, 9))
    asked: Select = {
        "driver": "sqlite3",
        "clients": many,
        "ranges": ("bounds", "count"),
        "statement": ("prepared", "bound"),
    }
    plan = planned(asked, phases=("tpch.customer-ranges",))
    assert len(plan.batches) > 1
    for how, statement in {(p.path.get("ranges"), p.path.get("statement")) for p in plan.paths}:
        family = [p for p in plan.paths if (p.path.get("ranges"), p.path.get("statement")) == (how, statement)]
        assert any(all(member in group for member in family) for group in plan.batches), (how, statement)


def reply(operations: int, failed: int = 0) -> SampleReply:
    return SampleReply(
        id=1, ns=900, operations=operations, failed=failed, rows=30, values=60, touch="0" * 16, first=0,
        lead_in_operations=0, window_ns=1000, window_cpu_ns=800, cpu_ns=700, min_ns=100, max_ns=900, first_row_ns=90,
    )  # fmt: skip


def test_the_parts_are_booked_as_one_operation() -> None:
    whole = reply(3)
    book_as_one(whole, 3)
    assert (whole.operations, whole.failed, whole.rows, whole.ns, whole.min_ns) == (1, 0, 30, 900, 900)
    assert whole.first_row_ns == 30, "a part's own, on average"
    for broken in (reply(2, 1), reply(2)):
        book_as_one(broken, 3)
        assert (broken.operations, broken.failed) == (0, 1)


def test_a_union_phase_without_ranges_is_a_mistake(tmp_path: Path) -> None:
    text = """name = "u"
title = "u"
[tables.t]
rows = 5
generator = "hits-numbered"
columns = [{ name = "ID", type = "integer" }, { name = "REQTYPE", type = "char", length = 4 }]
[[phases]]
name = "p"
kind = "query"
sql = "SELECT ID, REQTYPE FROM t WHERE ID > ? AND ID <= ?"
table = "t"
union = true
expected = "EXPECTED"
parameters = { generator = "GENERATOR", table = "t", key = "KEY", columns = ["ID", "ID"], count = 1, n = 5 }
"""

    def read(expected: str, generator: str, key: str) -> Workload:
        file = tmp_path / "u.toml"
        file.write_text(text.replace("EXPECTED", expected).replace("GENERATOR", generator).replace("KEY", key))
        return load_workload(file)

    assert read("whole-table", "ranges", "ID").phases[0].union
    for mistake in (("whole-table", "uniform", "ID"), ("none", "ranges", "ID"), ("whole-table", "ranges", "REQTYPE")):
        with pytest.raises(UsageError):
            read(*mistake)
