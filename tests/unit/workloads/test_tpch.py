"""TPC-H's tables: the rows that everybody knows, made once, whole or not at all."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path

import msgspec
import pytest

from rowpath.errors import EnvironmentMissing, InternalError
from rowpath.model.workload import Table
from rowpath.workloads import generators, load_progress, tpch
from rowpath.workloads.workload_file import at_scale, load_workload


def table(name: str, scale: float) -> Table:
    return at_scale(load_workload("tpch"), scale).tables[name]


def test_the_first_customer_and_the_first_order_are_the_published_ones() -> None:
    customer, orders = table("customer", 0.01), table("orders", 0.01)
    first = next(generators.rows(customer))
    assert first[:7] == (
        1,
        "Customer#000000001",
        "IVhzIApeRb ot,c,E",
        15,
        "25-989-741-2988",
        Decimal("711.56"),
        "BUILDING",
    )
    assert generators.row_maker(orders)(0) == (
        1,
        370,
        "O",
        Decimal("172799.49"),
        date(1996, 1, 2),
        "5-LOW",
        "Clerk#000000951",
        0,
        "nstructions sleep furiously among ",
    )


@pytest.mark.parametrize(("scale", "greatest"), [(0.01, 60_000), (0.1, 600_000)])
def test_keys_of_orders_are_sparse_and_ascending(scale: float, greatest: int) -> None:
    alone = msgspec.structs.replace(table("orders", scale), columns=table("orders", scale).columns[:1])
    keys = [key for (key,) in generators.rows(alone)]
    assert keys == sorted(keys)
    assert len(keys) == 1_500_000 * scale
    assert keys[-1] == generators.row_maker(alone)(len(keys) - 1)[0] == greatest
    assert generators.row_maker(alone)(8)[0] == keys[8] == 33


def test_a_row_by_its_index_is_the_row_that_iterating_comes_to() -> None:
    orders = table("orders", 0.001)
    rows = list(generators.rows(orders))
    make = generators.row_maker(orders)
    assert [make(index) for index in range(orders.rows)] == rows
    assert list(generators.rows(orders, 7)) == rows[:7]
    some = generators.row_maker(orders, ("o_comment", "o_orderkey"))
    assert some(1499) == (rows[1499][8], rows[1499][0])


def test_every_number_of_rows_has_a_scale_that_makes_exactly_so_many() -> None:
    for name, whole in (("customer", 150_000), ("orders", 1_500_000)):
        given = table(name, 1)
        for rows in (*range(1, 3000), 18_519, 149_999, 1_500_001, 44_999_999):
            assert int(whole * tpch.scale_of(msgspec.structs.replace(given, rows=rows))) == rows


@pytest.mark.parametrize("rows", [1, 9, 600, 60_000])
def test_lines_of_orders_are_as_many_as_asked(rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    lines = msgspec.structs.replace(load_workload("lineitem").tables["lineitem"], rows=rows)
    made = list(generators.rows(lines))
    assert len(made) == rows
    assert made[0][4:8] == (Decimal(17), *(made[0][5:6]), Decimal("0.04"), Decimal("0.02"))
    keys = [row[:1] + row[3:4] for row in made]
    assert keys == sorted(set(keys))


MAKE = """
from rowpath.workloads import tpch
from rowpath.workloads.workload_file import at_scale
from rowpath.workloads.workload_file import load_workload
file = tpch.file_of(at_scale(load_workload("tpch"), 0.002).tables["customer"])
print(file, file.stat().st_ino)
"""


def test_two_that_want_the_same_rows_get_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(Path(tpch.__file__).parents[2]))
    both = [subprocess.Popen([sys.executable, "-c", MAKE], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = {process.communicate(timeout=600)[0] for process in both}
    assert len(said) == 1
    file = Path(said.pop().split()[0])
    assert file.read_text().count("\n") == 300
    assert not any(line.endswith("|") for line in file.read_text().splitlines())
    assert {each.suffix for each in file.parent.iterdir()} == {".tbl", ".lock"}


def test_rows_that_are_not_all_there_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    program = tmp_path / "cut-short"
    program.write_text("#!/bin/sh\necho '1|a|'\necho no room >&2\nexit 1\n")
    program.chmod(0o755)
    with monkeypatch.context() as patched:
        patched.setattr(tpch.shutil, "which", lambda *_args, **_more: str(program))
        with pytest.raises(InternalError, match=r"1 rows of customer, not 150 .*no room"):
            tpch.file_of(table("customer", 0.001))
    assert not list(tmp_path.rglob("*.tbl"))
    seen: list[tuple[str, int, int]] = []
    with load_progress.watched(lambda *told: seen.append(told)):
        assert tpch.file_of(table("customer", 0.001)).is_file()
    assert seen[-1] == (f"making {tpch.path_of(table('customer', 0.001)).name}", 150, 150)


def test_a_cache_that_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path / "file"))
    with pytest.raises(EnvironmentMissing, match="cannot be written") as caught:
        tpch.file_of(table("customer", 0.001))
    assert caught.value.hint == "ROWPATH_CACHE=DIR"
