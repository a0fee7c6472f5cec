"""Groups at work at once in the reports: what is withheld and counted, the time line's panels, table and records."""

from __future__ import annotations

import csv
import io
import json
import re

import jsonschema  # type: ignore[import-untyped]
import msgspec

from rowpath.analysis.chapters.mixed_load import MixedLoadReport, sections
from rowpath.analysis.chapters.mixed_load.time_line import Series, TimeLine, table, thinned
from rowpath.analysis.chapters.mixed_load.time_line_drawing import draw
from rowpath.drawing.grid import Grid
from rowpath.report.json import schema, write_json
from rowpath.report.long_table import write_timeline
from rowpath.report.view import view
from tests.golden.groups_fixture import analysis, report

LINE = report().lines[2]


def _grids(shown: MixedLoadReport) -> dict[str, Grid]:
    return {section.key.removeprefix("groups-"): section.grid for section in sections(shown) if section.grid.rows}


def _grid(key: str, shown: MixedLoadReport | None = None) -> Grid:
    return _grids(shown or report())[key]


def _cell(grid: Grid, row: int, title: str) -> str:
    return str(grid.rows[row].cells[[column.title for column in grid.columns].index(title)])


def test_percentiles_are_withheld_where_the_rate_was_not_reached() -> None:
    grid = _grid("path-1")
    assert [_cell(grid, 6, title) for title in ("p50", "p99", "p99.9", "longest")] == ["–", "not reached", "–", "–"]
    assert "readers (open loop): 113,402" in grid.note
    embedded = _grid("path-0")
    assert "Not reached" not in embedded.note


def test_an_open_loop_shows_latency_and_the_service_time_beside_it() -> None:
    grid = _grid("path-0")
    assert (_cell(grid, 6, "p99"), _cell(grid, 6, "service p99")) == ("540 µs", "333 µs")
    assert (_cell(grid, 0, "p99"), _cell(grid, 0, "service p99")) == ("333 µs", "")


def test_failures_are_listed_by_kind_and_stand_beside_the_rate() -> None:
    assert _cell(_grid("path-1"), 5, "failed") == "14"
    grid = _grid("failures")
    assert [row.cells[3:6] for row in grid.rows] == [("lock timeout", "40XL1", "12"), ("deadlock", "40001", "2")]


def test_a_backup_that_cannot_be_restored_and_a_lost_write_are_failures() -> None:
    assert [row.status for row in _grid("backups").rows] == ["ok", "failed"]
    assert "3 acknowledged writes are missing" in _grid("backups").note
    assert [row.status for row in _grid("acknowledged").rows] == ["ok", "ok", "failed"]
    moves = _grid("moves")
    assert [row.status for row in moves.rows] == ["ok", "wrong"]
    assert moves.note == "Derby 10.8.2.2 embedded: ERROR XSLAN: not <b>compatible."


def test_a_rate_search_is_shown_in_order_with_the_highest_rate_that_kept_the_bound() -> None:
    grid = _grid("rates-0")
    assert grid.caption.endswith("under 5.00 ms: 6.40 k/s")
    assert [(row.cells[0], row.cells[-1]) for row in grid.rows] == [
        ("3.20 k/s", "yes"),
        ("6.40 k/s", "yes"),
        ("12.8 k/s", "no"),
    ]
    assert _grid("rates-1").caption.endswith("under 1.00 ms: none of the rates tried")


def test_nothing_is_shown_of_what_there_is_none_of() -> None:
    assert _grids(MixedLoadReport()) == {}
    one = msgspec.structs.replace(report(), figures=report().figures[:7], ratios=())
    assert "beside" not in _grids(one)
    empty = view(msgspec.structs.replace(analysis(), chapters={}))
    assert (empty.mixed_load, empty.time_lines) == ((), ())


def test_means_by_stage_are_those_of_its_seconds() -> None:
    line = TimeLine(
        name="a",
        path_id="a",
        set=0,
        at_s=(1.0, 2.0, 3.5, 4.5),
        stages=(("x", 0.0, 2.0), ("y", 2.5, 4.5)),
        backups=(),
        kills=(),
        series=(Series("sent", "connections", "bytes/s", (100.0, 300.0, None, 7.0)),),
    )
    grid = _grid("processes", MixedLoadReport(lines=(line,)))
    assert [row.cells for row in grid.rows] == [("a", "x", "200 B/s"), ("a", "y", "7 B/s")]


def test_a_second_begins_where_the_one_before_ended_or_with_its_stage() -> None:
    line = msgspec.structs.replace(
        LINE, at_s=(1.0, 2.0, 3.5, 4.5), stages=(("x", 0.0, 2.0), ("y", 2.5, 4.5)), series=()
    )
    assert line.seconds == [(0.0, 1.0, 0), (1.0, 2.0, 0), (2.5, 3.5, 1), (3.5, 4.5, 1)]


def test_a_long_time_line_is_thinned_and_keeps_its_worst_seconds() -> None:
    at_s = tuple(float(second) for second in range(1, 1001))
    slow = tuple(9e9 if second == 777 else 1e6 for second in range(1000))
    series = (
        Series("p99", "readers", "ns", slow),
        Series("failed", "readers", "operations", tuple(1.0 for _ in at_s)),
        Series("rate", "readers", "operations/s", tuple(float(second) for second in range(1000))),
    )
    line = msgspec.structs.replace(LINE, at_s=at_s, stages=(("x", 0.0, 503.0), ("y", 503.0, 1000.0)), series=series)
    thin, step = thinned(line, 120)
    assert len(thin.at_s) <= 120
    assert max(value or 0 for value in thin.series[0].values) == 9e9
    assert sum(value or 0 for value in thin.series[1].values) == 1000
    assert 503.0 in thin.at_s
    assert thin.at_s[-1] == 1000.0
    assert thin.series[2].values[0] == (step - 1) / 2
    grid = table(line)
    assert len(grid.rows) <= 120
    assert f"up to {step} seconds" in grid.note


def test_a_line_of_very_many_stages_is_still_thinned() -> None:
    at_s = tuple(float(second) for second in range(1, 401))
    stages = tuple((f"s{number}", number * 2.0, number * 2.0 + 2.0) for number in range(200))
    series = (Series("rate", "readers", "operations/s", at_s),)
    line = msgspec.structs.replace(LINE, at_s=at_s, stages=stages, series=series)
    assert len(table(line).rows) == 100


def test_the_table_marks_backups_kills_and_stalls() -> None:
    grid = table(LINE)
    assert not grid.note
    marks = [row.cells[2] for row in grid.rows]
    assert marks.count("backup") == 32
    assert marks[70] == "killed"
    assert [_cell(grid, row, "writers stalled") for row in (39, 40, 41, 42)] == ["", "1.00 s", "2.00 s", ""]
    assert _cell(grid, 2, "writers p99") == "–"


def test_the_drawing_has_a_lane_for_each_quantity_and_marks_what_happened() -> None:
    drawn = str(draw(LINE))
    assert re.findall(r"<p>([^<]+?) ?(?:<span|</p>)", drawn) == [
        "readers, operations/s",
        "writers, operations/s",
        "99th percentile, ms",
        "CPU, cores",
        "memory, MiB",
        "our connections, MiB/s",
        "disk writes (╌ reads), MiB/s",
    ]
    lanes = drawn.split('<svg class="lane">')[1:]
    assert all(lane.count('class="backup"') == lane.count('class="kill"') == 1 for lane in lanes)
    assert [lane.count("<title>stalled") for lane in lanes] == [0, 1, 0, 0, 0, 0, 0]
    assert "stalled 2.0 s" in lanes[1]
    assert lanes[1].count("<title>failed operations") == 2
    assert draw(msgspec.structs.replace(LINE, at_s=(), series=())) == ""


def test_each_second_is_exported_as_records() -> None:
    file = io.StringIO(newline="")
    write_timeline(analysis(), file)
    rows = list(csv.DictReader(io.StringIO(file.getvalue(), newline="")))
    known = sum(value is not None for line in report().lines for each in line.series for value in each.values)
    assert len(rows) == known
    first = rows[0]
    assert (first["name"], first["set"], first["stage"], first["backup"]) == ("Derby embedded", "0", "reads", "no")
    assert (first["quantity"], first["of"], first["unit"]) == ("rate", "readers", "operations/s")
    assert float(first["value"]) == report().lines[0].series[0].values[0]
    during = [row for row in rows if row["backup"] == "yes"]
    assert {float(row["end_s"]) for row in during} == {float(second) for second in range(25, 57)}
    nothing = io.StringIO(newline="")
    write_timeline(msgspec.structs.replace(analysis(), chapters={}), nothing)
    assert nothing.getvalue().count("\r\n") == 1


def test_the_json_export_holds_every_second_and_follows_the_schema() -> None:
    file = io.StringIO()
    write_json(analysis(), file)
    export = json.loads(file.getvalue())
    jsonschema.validate(export, json.loads(msgspec.json.encode(schema())))
    assert msgspec.convert(export["mixed_load"], MixedLoadReport) == report()
