"""Projections: known costs in, matrices out, with the reason of every empty cell; and how they are printed."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from rowpath.analysis.analyse import analysis_of, gather
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.model import Analysis
from rowpath.analysis.projection import (
    FILTERED,
    NO_PATH,
    NOT_HERE,
    Choice,
    Entry,
    Matrix,
    Projection,
    measured_ratios,
    project,
)
from rowpath.cli.main import main
from rowpath.errors import UsageError
from rowpath.report import projection as words
from tests.unit import groups_factory, journal_factory

ENGINE_LANGUAGE = Choice(rows=("engine",), columns=("language",))
WIDTHS = (60, 72, 80, 100, 140, 200)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _written(tmp_path_factory.mktemp("usual"), journal_factory.Run())


def _written(directory: Path, run: journal_factory.Run) -> Path:
    return journal_factory.write(directory, journal_factory.records(run))


@cache
def _analysed(directory: Path) -> tuple[Analysis, Evidence]:
    evidence = gather(directory)
    return analysis_of(evidence), evidence


def _project(directory: Path, choice: Choice) -> Projection:
    analysis, evidence = _analysed(directory)
    return project(analysis, choice, measured_ratios(evidence))


def _matrix(projection: Projection, *title: str) -> Matrix:
    (found,) = [each for each in projection.matrices if each.title[: len(title)] == title]
    return found


def _entry(matrix: Matrix, row: str, column: str) -> Entry:
    (found,) = [each for each in matrix.rows if " ".join(each.values) == row]
    return found.entries[[" ".join(values) for values in matrix.columns].index(column)]


def _placed(cost_ns: dict[str, float]) -> list[journal_factory.MadePath]:
    """One path for each placement, and its time."""
    return [
        journal_factory.path(f"libpq {place}", f"postgresql server c libpq placement={place}", {"keyed.read": cost})
        for place, cost in cost_ns.items()
    ]


def test_cells_hold_the_true_costs_and_ratios_to_the_first_column(usual: Path) -> None:
    matrix = _matrix(_project(usual, ENGINE_LANGUAGE), "keyed.read", "steady")
    assert matrix.columns == (("c",), ("java",), ("python",))  # the fastest path's first
    for engine, language, cost, times in (
        ("sqlite", "python", 8_900, 8_900 / 5_700),
        ("postgresql", "java", 24_000, 24 / 16.9),
    ):
        entry = _entry(matrix, engine, language)
        assert entry.median == pytest.approx(cost, rel=0.05)
        assert entry.against is not None
        assert entry.against.ratio == pytest.approx(times, rel=0.03)
        assert entry.against.low is not None
        assert entry.against.high is not None
        assert entry.against.low < entry.against.ratio < entry.against.high < 1.05 * entry.against.ratio
    assert _entry(matrix, "sqlite", "c").against is None
    assert _entry(matrix, "derby", "java").against is None  # its row has no figure in the first column


def test_a_cell_with_several_paths_shows_the_fastest_and_what_varies_is_named(usual: Path) -> None:
    shown = _project(usual, ENGINE_LANGUAGE)
    entry = _entry(_matrix(shown, "keyed.read", "steady"), "postgresql", "python")
    assert (entry.name, entry.paths) == ("psycopg tcp", 2)
    assert entry.median == pytest.approx(61_000, rel=0.05)  # not the mean with 80,000
    assert all(each.several for each in shown.matrices)
    assert shown.hidden == ("result", "transport")
    ignoring = _project(usual, Choice(("engine",), ("language",), ignored=("transport", "result")))
    assert ignoring.hidden == ()
    assert all(each.several for each in ignoring.matrices)


def test_every_empty_cell_has_its_reason(usual: Path) -> None:
    scan = _matrix(_project(usual, Choice(("driver",), ("transport",))), "scan.read", "steady")
    assert _entry(scan, "psycopg", "unix").reason.startswith("wrong: digest 6070:")
    assert _entry(scan, "derbyclient", "tcp").reason.startswith("failed: connect 08001: connection refused")
    assert _entry(scan, "sqlite", "tcp").reason == NO_PATH
    keyed = _matrix(_project(usual, Choice(("language",), ("engine",))), "keyed.read", "steady")
    assert ("file",) not in keyed.columns
    both = _project(usual, Choice(("engine",), ("phase",), filters={"regime": ("steady",)}))
    assert _entry(both.matrices[0], "file", "keyed.read").reason == NOT_HERE
    filtered = Choice(
        ("engine",), ("language",), filters={"transport": ("none", "tcp"), "driver": ("libpq", "sqlite3", "sqlite")}
    )
    assert _entry(_matrix(_project(usual, filtered), "keyed.read", "steady"), "postgresql", "python").reason == FILTERED


def test_a_dropped_path_says_why_it_did_not_run(tmp_path: Path) -> None:
    records = journal_factory.records(journal_factory.Run(sets=2))
    for record in records:
        if record["record"] == "dropped":
            record["coordinates"] |= {"engine": "sqlite", "driver": "pgjdbc", "placement": "same"}
    shown = _project(journal_factory.write(tmp_path, records), Choice(("driver",), ("engine",)))
    entry = _entry(_matrix(shown, "keyed.read", "steady"), "pgjdbc", "sqlite")
    assert entry.reason == "not run: no JDK 17 was found → apt-get install openjdk-17-jdk-headless"
    assert _entry(_matrix(shown, "keyed.read", "steady"), "libpq", "sqlite").reason == NO_PATH


def test_what_is_ranked_apart_has_tables_of_its_own_unless_it_is_an_axis(tmp_path: Path) -> None:
    directory = _written(tmp_path, journal_factory.Run(paths=_placed({"same": 17_000, "split": 90_000})))
    apart = _project(directory, Choice(("engine",), ("language",), filters={"regime": ("steady",)}))
    assert [each.title for each in apart.matrices] == [
        ("keyed.read", "steady", "placement=same"),
        ("keyed.read", "steady", "placement=split"),
    ]
    assert [each.rows[0].entries[0].paths for each in apart.matrices] == [1, 1]
    assert apart.beside == ()
    beside = _project(directory, Choice(("engine",), ("placement",), filters={"regime": ("steady",)}))
    (matrix,) = beside.matrices
    against = _entry(matrix, "postgresql", "split").against
    assert against is not None
    assert against.ratio == pytest.approx(90 / 17, rel=0.05)
    assert beside.beside == ("placement",)


def test_regimes_have_a_ratio_and_phases_have_none(usual: Path) -> None:
    regimes = _project(usual, Choice(("path",), ("regime",), filters={"phase": ("keyed.read",)}))
    against = _entry(regimes.matrices[0], "sqlite c", "cold").against
    assert against is not None
    assert against.ratio == pytest.approx(2.0, rel=0.1)
    phases = _project(usual, Choice(("path",), ("phase",), filters={"regime": ("steady",)}))
    assert not any(entry.against for each in phases.matrices for row in each.rows for entry in row.entries)


def test_counted_figures_have_exact_ratios_and_no_regime(usual: Path) -> None:
    shown = _project(usual, Choice(("transport",), ("driver",), metric="round_trips"))
    assert [each.title[0] for each in shown.matrices] == ["scan.read", "keyed.read"]
    assert all("steady" not in each.title and "cold" not in each.title for each in shown.matrices)
    scan = shown.matrices[0]
    assert _entry(scan, "tcp", "pgjdbc").median == 8
    only = _project(
        usual, Choice(("transport",), ("driver",), filters={"driver": ("libpq", "pgjdbc")}, metric="round_trips")
    )
    against = _entry(_matrix(only, "scan.read"), "tcp", "pgjdbc").against
    assert against is not None
    assert (against.ratio, against.low) == (8, None)
    time_like = _project(usual, Choice(("engine",), ("language",), metric="client_cpu"))
    assert not any(entry.against for each in time_like.matrices for row in each.rows for entry in row.entries)


def test_filters_give_the_order_and_so_the_first_column(usual: Path) -> None:
    choice = Choice(("engine",), ("language",), filters={"language": ("java", "c"), "engine": ("postgresql", "sqlite")})
    matrix = _matrix(_project(usual, choice), "keyed.read", "steady")
    assert matrix.columns == (("java",), ("c",))
    assert [row.values for row in matrix.rows] == [("postgresql",), ("sqlite",)]
    against = _entry(matrix, "postgresql", "c").against
    assert against is not None
    assert against.ratio == pytest.approx(16.9 / 24, rel=0.03)


def test_numbers_are_columns_in_their_order(tmp_path: Path) -> None:
    paths = [
        journal_factory.path(
            f"pgjdbc {size}", f"postgresql server java pgjdbc result=cursor:{size}", {"scan.read": cost}
        )
        for size, cost in ((1000, 8e6), (9, 30e6), (100, 9e6))
    ]
    shown = _project(_written(tmp_path, journal_factory.Run(paths=paths, sets=2)), Choice(("driver",), ("result",)))
    assert shown.matrices[0].columns == (("cursor:9",), ("cursor:100",), ("cursor:1000",))


def test_rows_and_columns_that_nobody_names_are_the_first_that_vary(usual: Path, tmp_path: Path) -> None:
    shown = _project(usual, Choice())
    assert (shown.rows, shown.columns) == (("engine",), ("language",))
    assert _project(usual, Choice(columns=("engine",))).rows == ("language",)
    one = _project(_written(tmp_path, journal_factory.Run(paths=_placed({"same": 17_000}), sets=2)), Choice())
    assert (one.rows, one.columns, one.matrices[0].columns) == (("path",), (), ((),))


def test_floors_are_left_out_unless_they_are_named(usual: Path) -> None:
    engines = {row.values[0] for each in _project(usual, ENGINE_LANGUAGE).matrices for row in each.rows}
    assert engines == {"file", "sqlite", "postgresql", "derby"}
    named = _project(usual, Choice(("path",), filters={"engine": ("null",)}))
    assert {row.values[0] for each in named.matrices for row in each.rows} == {"null c", "ping c"}


def test_groups_at_work_at_once_have_tables_by_stage_and_group(tmp_path: Path) -> None:
    directory = journal_factory.write(tmp_path, groups_factory.records())
    shown = _project(directory, Choice(columns=("deployment",)))
    assert shown.metric == "group_rate"
    readers = _matrix(shown, "together", "readers")
    rates = {column[0]: entry.median for column, entry in zip(readers.columns, readers.rows[0].entries, strict=True)}
    assert rates == {"embedded": pytest.approx(1_000), "server": pytest.approx(500)}
    assert readers.columns[0] == ("embedded",)  # the better rate first


@pytest.mark.parametrize(
    ("choice", "message", "hint"),
    [
        (Choice(rows=("engin",)), "unknown coordinate 'engin' in --row", "one of: path, phase, regime, engine, "),
        (Choice(rows=("path",), columns=("path",)), "path is named twice: in --row and --col", "name path only once"),
        (Choice(metric="tim"), "unknown metric 'tim'", "one of: time, rate, "),
        (Choice(metric="syncs"), "this run has no figure of the metric 'syncs'", "one of: time, rate, "),
        (Choice(filters={"engine": ("sqlit",)}), "no path has engine=sqlit", "did you mean 'sqlite'?"),
        (Choice(filters={"motor": ("x",)}), "unknown coordinate 'motor' in --filter", "one of: path, "),
        (
            Choice(filters={"engine": ("sqlite",), "driver": ("libpq",)}),
            "nothing to show: no path has engine=sqlite driver=libpq",
            "leave out one --filter",
        ),
        (
            Choice(ignored=("phase",)),
            "--ignore phase would put different work into one cell: scan.read, keyed.read",
            "--filter phase=scan.read",
        ),
    ],
)
def test_what_is_not_there_is_an_error_with_what_there_is(usual: Path, choice: Choice, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        _project(usual, choice)
    assert caught.value.message.startswith(message)
    assert caught.value.hint.startswith(hint)


def _printed(projection: Projection, width: int) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, color_system=None, highlight=False, markup=False, emoji=False)
    words.render(projection, console)
    return file.getvalue()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "choice", [ENGINE_LANGUAGE, Choice(("engine", "driver"), ("transport", "result")), Choice(("path",), ("driver",))]
)
def test_no_line_is_wider_than_the_terminal_and_every_cell_is_printed(usual: Path, width: int, choice: Choice) -> None:
    shown = _project(usual, choice)
    text = _printed(shown, width)
    assert max(map(len, text.splitlines())) <= width
    reasons = words.Reasons()
    for matrix in shown.matrices:
        for row in matrix.rows:
            for entry in row.entries:
                for line in words.cell_lines(entry, shown.unit, reasons):
                    assert line in text
    assert "…" not in text


def test_notes_say_what_a_cell_hides(usual: Path) -> None:
    text = _printed(_project(usual, ENGINE_LANGUAGE), 100)
    assert "(of 2)" in text
    assert "A cell with several paths shows the fastest of them (of n); within cells vary result and transport." in text
    assert "×: relative to the first column of the row." in text
    assert "Ranked apart: sqlite-jdbc carries its own SQLite 3.46.0." in text
    assert "Provisional" not in text


def test_too_few_sets_are_provisional(tmp_path: Path) -> None:
    directory = _written(tmp_path, journal_factory.Run(sets=3))
    assert "Provisional: too few sets for a claim." in _printed(_project(directory, ENGINE_LANGUAGE), 100)


def test_ratios_through_an_anchor_are_marked(tmp_path: Path) -> None:
    paths = [
        replace(path, fault="")
        for path in journal_factory.usual_paths()
        if "libpq" in path.name or "sqlite" in path.name
    ]
    names = [path.name for path in paths if path.name != "sqlite c"]
    run = journal_factory.Run(
        paths=paths, groups=[["sqlite c", names[0]], ["sqlite c", *names[1:]]], anchors=("sqlite c",)
    )
    text = _printed(_project(_written(tmp_path, run), Choice(("language",), ("path",))), 200)
    assert "(a: through an anchor path)" not in _printed(_project(_written(tmp_path / "b", run), ENGINE_LANGUAGE), 200)
    choice = Choice(("placement",), ("path",), filters={"path": tuple(names)})
    text = _printed(_project(tmp_path, choice), 200)
    assert "×: relative to the first column of the row (a: through an anchor path)." in text
    assert ") a\n" in "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def _main(capsys: pytest.CaptureFixture[str], *words: Any) -> tuple[int, str, str]:
    code = main([*map(str, words)])
    return code, *capsys.readouterr()


def test_show_prints_a_projection_and_exports_it(
    usual: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("show", usual, "--row", "engine", "--col", "language", "--filter", "regime=steady", "phase=keyed.read")
    code, out, _err = _main(capsys, *command)
    assert code == 0
    assert out.startswith("time by engine and language\n\nkeyed.read · steady · placement=same\n")
    assert "Report:" not in out
    code, out, _err = _main(capsys, *command, "--export-markdown", "-")
    assert out.splitlines()[4] == "| engine | c | java | python |"
    assert "| derby | · | 1" in out
    file = tmp_path / "cells.csv"
    code, out, _err = _main(capsys, *command, "--export-csv", file)
    assert "sqlite" in out
    rows = list(csv.DictReader(file.open(encoding="utf-8", newline="")))
    assert [row["engine"] for row in rows[:3]] == ["sqlite"] * 3
    assert [row["language"] for row in rows[:3]] == ["c", "java", "python"]
    assert float(rows[0]["median"]) == pytest.approx(5_700, rel=0.05)
    assert rows[0]["ratio"] == ""
    assert float(rows[1]["ratio_low"]) < float(rows[1]["ratio"]) < float(rows[1]["ratio_high"])
    assert [row["reason"] for row in rows if row["engine"] == "derby"] == [NO_PATH, "", NO_PATH]


def test_show_refuses_what_a_projection_cannot_be(usual: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for option in (("--tables",), ("--export-json", "-"), ("--export-timeline", "-")):
        code, out, err = _main(capsys, "show", usual, "--row", "engine", *option)
        assert (code, out) == (2, "")
        assert err == (
            f"error: {option[0]} shows the whole run, not a projection\n\n"
            "hint: --export-markdown FILE or --export-csv FILE\n"
        )
    code, _out, err = _main(capsys, "show", usual, "--filter", "engine")
    assert code == 2
    assert err.startswith("error: expected COORDINATE=VALUE, got 'engine'")
