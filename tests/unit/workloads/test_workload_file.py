"""Workload files: those that come along, and mistakes in a user's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from rowpath.engines.base import Engine
from rowpath.errors import UsageError
from rowpath.model.workload import Table
from rowpath.workloads import workload_file as workloads

GOOD = """
name = "mine"
title = "A user's own"

[tables.t]
rows = 10
generator = "mydata2"
columns = [{ name = "KEY1", type = "char", length = 10 }, { name = "DATA1", type = "char", length = 30 }]

[[phases]]
name = "read"
kind = "query"
sql = "SELECT KEY1, DATA1 FROM t WHERE KEY1 = ?"
table = "t"
parameters = { generator = "uniform", n = 10, count = 5, columns = ["KEY1"] }
expected = "by-key"
"""


class Toy:
    name = "toy"

    def create(self, name: str, table: Table) -> str:
        return f"MAKE {name} {len(table.columns)}"

    def drop(self, name: str) -> str:
        return f"LOSE {name}"


TOY = cast(Engine, Toy())


def load(tmp_path: Path, text: str) -> Any:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    return workloads.load_workload(file)


def test_those_that_come_along() -> None:
    assert set(workloads.names()) >= {"aggregate", "connect", "keyed", "null", "scan", "tab1", "types"}
    for name in workloads.names():
        assert workloads.load_workload(name).name == name
    scan = workloads.load_workload("scan")
    assert scan.tables["hits"].rows == 6071
    assert scan.tables == workloads.load_workload("aggregate").tables


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    assert load(tmp_path, GOOD).phase("read").kind == "query"


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        ('generator = "mydata2"', 'generator = "mydata3"', "unknown generator 'mydata3'", "did you mean 'mydata2'?"),
        ('kind = "query"\nsql', 'kind = "query"\nsqll', "sqll", "sql"),
        ('table = "t"', 'table = "tt"', "unknown table 'tt'", "did you mean 't'?"),
        ('columns = ["KEY1"]', 'columns = ["KEY2"]', "unknown parameters 'KEY2'", "did you mean 'KEY1'?"),
        ('"uniform", n = 10', '"stride", n = 10, k = 4', "k = 4 and n = 10", "choose k"),
        ('"uniform", n = 10', '"uniform"', "n = 0", "number of rows"),
        ("count = 5", "count = 0", "count = 0", "at least 1"),
        ('sql = "SELECT KEY1, DATA1 FROM t WHERE KEY1 = ?"', "", "has no sql", "needs sql"),
        ('sql = "SELECT', 'sql = "{create:u} SELECT', "unknown SQL 'u'", "one of: t"),
        ('kind = "query"', 'kind = "quarry"', "quarry", ""),
        ('expected = "by-key"', "writes = true", "no operations", "operations ="),
        ('expected = "by-key"', 'also_after = ["tt"]', "unknown after 'tt'", "did you mean 't'?"),
        ('"query"\nsql', '"objects"\nsql', "does not name what it delivers", "access = "),
        ("rows = 10", "rows = ten", "mine.toml", ""),
    ],
)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, message: str, hint: str) -> None:
    assert old in GOOD
    with pytest.raises(UsageError) as caught:
        load(tmp_path, GOOD.replace(old, new))
    assert "mine.toml" in caught.value.message
    assert message in caught.value.message
    assert hint in caught.value.message + caught.value.hint


def test_a_phase_twice(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="duplicate phase 'read'"):
        load(tmp_path, GOOD + GOOD[GOOD.index("[[phases]]") :])


def test_an_unknown_name() -> None:
    with pytest.raises(UsageError) as caught:
        workloads.load_workload("scam")
    assert "did you mean 'scan'?" in caught.value.hint


def test_sql_in_the_engines_dialect() -> None:
    keyed = workloads.load_workload("keyed")
    assert workloads.sql_for(keyed, keyed.phase("create"), TOY) == "MAKE mydata2_new 2"
    assert workloads.reset_for(keyed, keyed.phase("insert"), TOY) == ("LOSE mydata2_new", "MAKE mydata2_new 2")
    assert (
        workloads.whole_sql(keyed.phase("insert").after, keyed.tables[keyed.phase("insert").after])
        == "SELECT KEY1, DATA1 FROM mydata2_new"
    )
    connect = workloads.load_workload("connect")
    assert workloads.sql_for(connect, connect.phase("first"), TOY) == "SELECT 1"
    derby = cast(Engine, type("Derby", (Toy,), {"name": "derby"})())
    assert workloads.sql_for(connect, connect.phase("first"), derby) == "VALUES 1"


def test_only_a_conformance_workload_is_narrowed() -> None:
    scan = workloads.load_workload("scan")
    assert workloads.for_engine(scan, lambda _kind: "no") == (scan, {})
    types = workloads.load_workload("types")
    narrowed, reasons = workloads.for_engine(types, lambda kind: "" if kind == "integer" else "no")
    assert workloads.sql_for(narrowed, narrowed.phase("read"), TOY) == "SELECT id, c_small, c_integer, c_big FROM types"
    assert len(reasons) == len(types.tables["types"].columns) - 4


COUNTING = """
name = "mine"
title = "A ledger of one's own"

[tables.ledger]
rows = 10
generator = "ledger"
primary_key = ["id"]
columns = [{ name = "id", type = "integer" }, { name = "n", type = "integer" }, { name = "note", type = "char" }]

[[phases]]
name = "write"
kind = "execute"
sql = "UPDATE ledger SET n = n + 1 WHERE id = ?"
table = "ledger"
counted = "n"
parameters = { generator = "stride", n = 10, k = 7, count = 10, columns = ["id"] }
writes = true
operations = 5
reset = ["UPDATE ledger SET n = 0"]
after = "ledger"
"""


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('counted = "n"', 'counted = "m"', "unknown counted 'm'"),
        ('counted = "n"', 'counted = "note"', "unknown counted 'note'"),
        ('after = "ledger"', "", "the table cannot show"),
        ('columns = ["id"]', 'columns = ["n"]', "the table cannot show"),
        ("writes = true", "", "the table cannot show"),
        ('reset = ["UPDATE ledger SET n = 0"]', "", "adds to existing counts"),
    ],
)
def test_a_phase_whose_counting_could_not_be_checked(tmp_path: Path, right: str, wrong: str, said: str) -> None:
    assert load(tmp_path, COUNTING).phase("write").counted == "n"
    with pytest.raises(UsageError, match=said):
        load(tmp_path, COUNTING.replace(right, wrong))
