"""What grows: the table of a sweep, the table of very many operations, and what became of a published order."""

from __future__ import annotations

import pytest

from rowpath.analysis.claims import order_sentences
from rowpath.analysis.curves_model import Coefficient, Leader, Sweep, SweepLine
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.model import Analysis, Published, Result
from rowpath.journal.records import RunRecord
from rowpath.report.growth import leading, many_grid, sweep_grid


def line(name: str, fixed_ns: float, row_ns: float, known: bool = True) -> SweepLine:
    def told(ns: float) -> Coefficient:
        return Coefficient(ns, ns * 0.9, ns * 1.1, known)

    return SweepLine(name, told(fixed_ns), told(row_ns), 6)


def test_who_leads_from_which_size_on() -> None:
    leaders = (Leader("a", 1, None, None), Leader("b", 40, 35, 46), Leader("c", 900, None, None))
    sweep = Sweep("all paths", 1, 5000, (line("c", 9000, 10), line("b", 3000, 50), line("a", 1000, 100)), leaders)
    assert dict(leading(sweep)) == {
        "a": "from 1 to 40 rows",
        "b": "from 40 (35–46) to 900 rows",
        "c": "from 900 rows on",
    }
    grid = sweep_grid(sweep)
    assert [row.cells[0] for row in grid.rows] == ["c", "b", "a"]
    assert grid.rows[0].cells[1] == "9.00 µs ± 10.0 %"


def test_a_single_leader_leads_everywhere() -> None:
    sweep = Sweep("all paths", 1, 5000, (line("a", 1, 1, known=False),), (Leader("a", 1, None, None),))
    grid = sweep_grid(sweep)
    assert grid.rows[0].cells[1] == "≈ 0"
    assert "all sizes" in grid.rows[0].cells


def result(name: str, metric: str, unit: str, median: float, engine: str = "mariadb") -> Result:
    path = {"engine": engine, "deployment": name}
    return Result("tab1-scaled", "select", "cold", metric, unit, path, name, median=median)


def test_what_a_hundred_thousand_operations_take() -> None:
    results = (
        result("server", "time", "ns/operation", 15_000),
        result("server", "client_cpu", "ns/operation", 4_000),
        result("server", "server_cpu", "ns/operation", 9_000),
        result("embedded", "time", "ns/operation", 10_000),
        result("embedded", "client_cpu", "ns/operation", 9_900),
        result("nothing", "time", "ns/operation", 25, engine="null"),
    )
    analysis = Analysis(RunRecord(), {}, results, (), (), ())
    lookup = Lookup(analysis)
    measured = lookup.measured("tab1-scaled", "select", "cold")
    grid = many_grid(measured, ["server", "embedded", "nothing"], lookup, 100_000)
    assert [row.cells[:2] for row in grid.rows] == [("embedded", "1.00"), ("server", "1.50")]
    assert grid.rows[0].cells[2:5] == ("0.99", "–", "0.99")
    assert grid.rows[1].cells[2:5] == ("0.40", "0.90", "1.30")
    assert "100,000 operations (cold)" in grid.caption


def published(row: str, value: float, here: float | None, unit: str = "records/s") -> Published:
    return Published("on the server", row, value, unit, 1.0, f"path of {row}", here, 1.0)


@pytest.mark.parametrize(
    ("rows", "unit", "expected"),
    [
        ([("a", 9, 90.0), ("b", 5, 50.0), ("c", 1, 10.0)], "records/s", "a, is fastest here too"),
        ([("a", 9, 10.0), ("b", 5, 50.0), ("c", 1, 90.0)], "records/s", "fastest row is a, here it is c (path of c"),
        ([("a", 9, 10.0), ("b", 5, 50.0), ("c", 1, 90.0)], "s", "fastest row is c, here it is a (path of a"),
        (
            [("a", 9, 90.0), ("b", 5, None), ("c", 1, 10.0), ("d", 0.5, 20.0)],
            "records/s",
            "2 keep their order (66.7 %)",
        ),
    ],
)
def test_what_became_of_the_order(rows: list[tuple[str, float, float | None]], unit: str, expected: str) -> None:
    (sentence,) = order_sentences(tuple(published(*row, unit=unit) for row in rows))
    assert expected in sentence


def test_two_measured_rows_are_no_order() -> None:
    assert not list(order_sentences((published("a", 9, 1.0), published("b", 5, 2.0), published("c", 1, None))))
