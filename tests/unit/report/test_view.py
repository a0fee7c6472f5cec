"""The view model: order, ranks, reasons, and what is left out."""

from __future__ import annotations

import re

import msgspec

from rowpath.analysis.model import Analysis
from rowpath.journal.records import RunRecord
from rowpath.model.workload import Column, Phase, Table, Workload
from rowpath.report import html
from rowpath.report.path_panel import statement
from rowpath.report.view import View, view
from tests.golden.analysis_fixture import analysis
from tests.golden.whole import whole


def _view() -> View:
    return view(whole(analysis()))


def test_tied_paths_share_a_rank_and_unranked_ones_come_last_with_their_reason() -> None:
    rows = _view().operations[0].rankings[0].section.grid.rows
    ranks = {row.cells[1]: row.cells[0] for row in rows}
    assert ranks["libpq unix prepared"] == ranks["libpq tcp prepared"] == "4="
    assert [row.tier for row in rows[-2:]] == [-1, -1]
    assert rows[-2].reason.startswith("wrong: digest")
    assert rows[-1].reason == "failed: connect: SQLState 08001: connection refused <b>at 127.0.0.1:1527</b>"


def test_steady_comes_before_cold_and_errors_before_notes() -> None:
    shown = _view()
    regimes = [ranking.regime for ranking in shown.operations[0].rankings]
    assert list(dict.fromkeys(regimes)) == ["steady", "cold"]
    assert regimes == sorted(regimes, reverse=True)
    assert [finding.severity for finding in shown.findings] == ["error", "warning", "warning", "note"]


def test_scans_show_rows_per_second_and_keyed_reads_operations() -> None:
    keyed, scan = _view().operations
    assert "operations/s" in [column.title for column in keyed.rankings[0].section.grid.columns]
    assert "rows/s" in [column.title for column in scan.rankings[0].section.grid.columns]


def test_no_wrong_path_is_drawn() -> None:
    for operation in _view().operations:
        for ranking in operation.rankings:
            assert ranking.picture is not None
            assert "psycopg server cursor" not in {row.name for row in (*ranking.picture.rows, *ranking.picture.more)}


def test_the_first_screen_has_the_leading_ranking_and_no_picture_comes_twice() -> None:
    shown = _view()
    assert [picture.title for picture in shown.lead] == ["keyed.read"]
    leading = [ranking for operation in shown.operations for ranking in operation.rankings if ranking.leading]
    assert [ranking.picture for ranking in leading] == list(shown.lead)
    assert (leading[0].regime, shown.operations[0].rankings[0]) == ("steady", leading[0])
    keys = [ranking.picture.key for each in shown.operations for ranking in each.rankings if ranking.picture]
    assert len(keys) == len(set(keys)) == 5


def test_every_path_of_a_phase_opens_once_and_its_other_rows_lead_there() -> None:
    shown = _view()
    for operation in shown.operations:
        rows = [row for each in operation.rankings if each.picture for row in (*each.picture.rows, *each.picture.more)]
        named = [row for row in rows if row.path >= 0]
        opening = {row.key: row.name for row in named if row.panel}
        assert len(set(opening.values())) == len(opening) >= 9
        assert {row.href for row in named if not row.panel} <= opening.keys()
        assert all(opening[row.href] == row.name.removesuffix(" split") for row in named if not row.panel)


def test_findings_are_marked_beside_the_rows_that_they_are_about() -> None:
    marked = {row.name: [mark.href for mark in row.marks] for row in _view().lead[0].rows if row.marks}
    assert marked == {
        "derby server": ["finding-periodic-cost"],
        "derby embedded": ["finding-periodic-cost"],
    }


def test_means_that_hide_a_periodic_cost_stand_beside_the_medians() -> None:
    grid = _view().operations[0].rankings[0].section.grid
    at = [column.title for column in grid.columns].index("mean ratio")
    assert next(row.cells[at] for row in grid.rows if row.cells[1] == "derby server") == "9.40×"


def test_cold_stands_beside_steady_with_the_best_of_five() -> None:
    sections = {section.key: section for section in _view().operations[0].sections}
    grid = sections["keyed-read-regimes"].grid
    assert [column.title for column in grid.columns][1:3] == ["cold", "cold, best of five"]
    assert len(grid.rows) == 9


def test_the_floor_is_stated_below_its_table() -> None:
    keyed, _ = _view().operations
    assert "3.30 µs" in keyed.rankings[0].remarks[-1]


def test_an_empty_analysis_is_shown_as_such() -> None:
    shown = view(Analysis(run=RunRecord(), names={}, results=(), rankings=(), findings=(), verdict=()))
    assert (shown.title, shown.operations, shown.commands, shown.diagnostics) == ("run", (), (), ())


def test_records_of_unknown_shape_are_shown_all_the_same() -> None:
    odd = msgspec.structs.replace(
        analysis(), diagnostics={"order": ["a", "b"], "new_thing": {"x": {"at_ns": 5}, "y": {"at_ns": 7000}}}
    )
    diagnostics = {section.key: section.grid for section in view(odd).diagnostics}
    assert [row.cells for row in diagnostics["trust-order"].rows] == [("a",), ("b",)]
    assert [row.cells for row in diagnostics["trust-new-thing"].rows] == [("x", "5.00 ns"), ("y", "7.00 µs")]


def test_the_command_reproduces_with_the_seed() -> None:
    assert _view().commands == ("./rowpath run tour -o 'runs/a b' --seed 42",)
    without = msgspec.structs.replace(analysis().run, command=["rowpath", "run", "tour"])
    assert view(msgspec.structs.replace(analysis(), run=without)).commands == ("rowpath run tour --seed 42",)


def test_a_query_names_its_columns() -> None:
    columns = tuple(Column(name, "integer") for name in ("a", "b"))
    phases = (
        Phase("read", "query", sql="SELECT {columns:t} FROM t", dialects={"h2": "SELECT {result} FROM t"}, table="t"),
        Phase("make", "execute", sql="{create:t}"),
    )
    run = RunRecord(workloads={"w": Workload("w", "", {"t": Table(columns, 1, "g")}, phases)})
    made = Analysis(run=run, names={}, results=(), rankings=(), findings=(), verdict=())
    assert statement(made, "w", "read") == "SELECT a, b FROM t"
    assert statement(made, "w", "read", "h2") == "SELECT a, b FROM t"
    assert statement(made, "w", "read", "derby") == ""
    assert statement(made, "w", "make") == "CREATE TABLE t"
    assert statement(made, "w", "unknown") == ""


def test_paths_that_are_not_ranked_for_one_reason_share_a_line() -> None:
    made = whole(analysis())
    rankings = tuple(
        msgspec.structs.replace(
            ranking,
            rows=tuple(
                row if row.rank else msgspec.structs.replace(row, status="disturbed", reason="busy")
                for row in ranking.rows
            ),
        )
        for ranking in made.rankings
    )
    page = html.page(msgspec.structs.replace(made, rankings=rankings))
    (line,) = set(re.findall(r'<li class="disturbed">(.*?)<(?:li|/ul)', page))
    assert line.count("<b>") == 2
    assert line.endswith(": disturbed: busy")
