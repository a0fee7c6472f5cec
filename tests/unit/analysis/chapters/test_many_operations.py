"""What very many operations take."""

from __future__ import annotations

from rowpath.analysis.chapters import many_operations
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.model import Analysis, Result
from rowpath.journal.records import RunRecord


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
    grid = many_operations.grid(measured, ["server", "embedded", "nothing"], lookup, 100_000)
    assert [row.cells[:2] for row in grid.rows] == [("embedded", "1.00"), ("server", "1.50")]
    assert grid.rows[0].cells[2:5] == ("0.99", "–", "0.99")
    assert grid.rows[1].cells[2:5] == ("0.40", "0.90", "1.30")
    assert "100,000 operations (cold)" in grid.caption
