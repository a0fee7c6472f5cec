"""Tables of several paths: clients at once, ways of loading; and ranking together on request."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from rowpath.analysis.analyse import analyse
from rowpath.drawing.grid import Grid
from rowpath.report.view import view
from rowpath.workloads.workload_file import load_workload
from tests.unit import journal_factory
from tests.unit.journal_factory import MadePath, Run


def made(tmp_path: Path, paths: list[MadePath], workload: str = "", shares: tuple[int, ...] = ()) -> Path:
    """A run of these paths; `shares` are the operations of each client of a path with several."""
    records = journal_factory.records(Run(paths=paths, rounds=5, regimes=("steady",)))
    records[0]["workloads"] = {workload: msgspec.to_builtins(load_workload(workload))} if workload else {}
    several = {path.path_id for path in paths if path.coordinates.get("clients", "1") != "1"}
    for record in records:
        if record["record"] == "sample" and record["path_id"] in several:
            record["clients"] = [{"operations": operations} for operations in shares]
    return journal_factory.write(tmp_path / "run", records)


def section(directory: Path, key: str) -> Grid:
    shown = view(analyse(directory))
    found = [*shown.across, *(each for operation in shown.operations for each in operation.sections)]
    (grid,) = [each.grid for each in found if each.key == key]
    return grid


def test_clients_stand_beside_one_with_their_fairness(tmp_path: Path) -> None:
    words = "postgresql server c libpq transport=tcp clients="
    paths = [
        journal_factory.path("libpq 1 client", f"{words}1", {"keyed.read": 20_000}),
        journal_factory.path("libpq 4 clients", f"{words}4", {"keyed.read": 10_000}),
    ]
    grid = section(made(tmp_path, paths, shares=(30, 10, 10, 10)), "keyed-read-clients")
    one, four = (dict(zip((column.title for column in grid.columns), row.cells, strict=True)) for row in grid.rows)
    assert (one["clients"], four["clients"]) == ("1", "4")
    assert four["relative to one client"].startswith(("1.9", "2.0"))
    assert four["wait per client"].startswith(("39", "40", "41"))
    assert four["fairness"] == "0.750"  # 60² / (4 · (900 + 3 · 100))
    assert one["fairness"] == "–"


def test_a_path_that_was_measured_with_one_client_alone_is_left_out(tmp_path: Path) -> None:
    paths = [journal_factory.path("libpq", "postgresql server c libpq transport=tcp", {"keyed.read": 20_000})]
    with pytest.raises(ValueError, match="not enough values"):
        section(made(tmp_path, paths), "keyed-read-clients")


def test_ways_of_loading_are_compared_by_rows(tmp_path: Path) -> None:
    costs = {"load.single": 1e6, "load.batch-100": 1e7, "load.bulk": 1e8}
    paths = [journal_factory.path("libpq", "postgresql server c libpq transport=tcp bulk=copy", costs)]
    grid = section(made(tmp_path, paths, workload="load"), "load-loading")
    (row,) = grid.rows
    cells = dict(zip((column.title for column in grid.columns), row.cells, strict=True))
    assert cells["bulk way"] == "copy"
    rates = [cells[f"{phase}, rows/s"] for phase in ("single", "batch-100", "bulk")]
    assert [rate.partition(" ")[2] for rate in rates[1:]] == ["k/s", "k/s"]
    assert float(rates[2].split()[0]) / float(rates[1].split()[0]) == pytest.approx(10, rel=0.05)
    assert cells["fastest ÷ slowest"].startswith(("97", "98", "99", "100", "101", "102", "103"))


def test_forms_are_ranked_together_only_when_asked(tmp_path: Path) -> None:
    paths = [
        journal_factory.path("rows", "duckdb embedded python duckdb fetch=row", {"scan.read": 9e6}),
        journal_factory.path("columns", "duckdb embedded python duckdb fetch=columnar", {"scan.read": 1e6}),
    ]
    directory = made(tmp_path, paths)
    lines = (directory / "samples.jsonl").read_text().splitlines()
    bent = [
        line.replace('"comparison":"placement=same"', f'"comparison":"placement=same, fetch={form}"')
        for line in lines
        for form in ["columnar" if "fetch=columnar" in line else "row"]
    ]
    (directory / "samples.jsonl").write_text("\n".join(bent) + "\n")
    apart = analyse(directory).rankings
    assert [len(ranking.rows) for ranking in apart] == [1, 1]
    (together,) = analyse(directory, ("fetch",)).rankings
    assert [row.name for row in together.rows] == ["columns", "rows"]
    assert any("The work differs" in note for note in together.notes)
