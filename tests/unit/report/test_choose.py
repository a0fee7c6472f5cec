"""The page's chapter Choose: the first matrix, its options, and the data for others."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath import text as fmt
from rowpath.analysis.analyse import analyse
from rowpath.analysis.model import Analysis
from rowpath.journal.records import RunRecord
from rowpath.report import html
from rowpath.report.choose import Choose, ShownCell
from rowpath.report.path_panel import FEW_PATHS
from rowpath.report.view import view
from tests.unit import groups_factory, journal_factory


def _made(directory: Path, run: journal_factory.Run) -> Analysis:
    return analyse(journal_factory.write(directory, journal_factory.records(run)))


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return _made(tmp_path_factory.mktemp("usual"), journal_factory.Run())


def _choose(analysis: Analysis) -> Choose:
    found = view(analysis).choose
    assert found is not None
    return found


def _cell(shown: Choose, row: str, column: str) -> ShownCell:
    return dict(shown.rows)[row][shown.columns.index(column)]


def test_the_first_matrix_is_of_what_answers_the_question(usual: Analysis) -> None:
    shown = _choose(usual)
    leading = usual.answer.phases[0]
    assert shown.tables[0] == f"{leading.workload}.{leading.phase} · {leading.regime} · placement=same"
    assert shown.chosen == ("engine", "language")
    assert shown.caption == "time by engine and language"
    assert len(shown.tables) == 4


def test_a_cell_says_how_much_how_certain_and_of_how_many_and_leads_to_its_path(usual: Analysis) -> None:
    shown = _choose(usual)
    cell = _cell(shown, "postgresql", "c")
    leading = usual.answer.phases[0]
    bar = next(bar for bar in leading.bars if bar.name == cell.name)
    assert cell.name in ("libpq unix", "libpq tcp")
    assert (cell.several, cell.figure) == ("of 2", fmt.duration(bar.cost_ns))
    assert cell.half.startswith("±")
    assert cell.ratio == f"{fmt.ratio(bar.ratio)} ({fmt.interval(bar.ratio_low, bar.ratio_high)})"
    page = html.page(usual)
    for _value, cells in shown.rows:
        for each in cells:
            assert bool(each.href) != bool(each.reason)
            assert not each.href or f'id="{each.href}"' in page


def test_own_builds_have_no_ratio_because_they_are_ranked_alone(usual: Analysis) -> None:
    shown = _choose(usual)
    cell = _cell(shown, "sqlite", "java")
    assert (cell.name, cell.ratio) == ("sqlite java", "")
    assert shown.apart == ("Ranked apart: sqlite-jdbc carries its own SQLite 3.46.0.",)


def test_empty_cells_have_their_reason(usual: Analysis) -> None:
    shown = _choose(usual)
    cell = _cell(shown, "derby", "c")
    assert (cell.figure, cell.reason) == ("·", "no such path in this run")
    assert shown.reasons[-1] == "· no such path in this run"


def test_data_has_every_path_once_in_each_table_and_its_reason_where_it_has_no_figure(usual: Analysis) -> None:
    data = _choose(usual).data
    names = list(usual.names.values())
    for source in data["sources"]:
        numbers = [row[0] for row in source["rows"]]
        assert len(numbers) == len(set(numbers))
        assert "null c" not in {names[number] for number in numbers}
    scan = next(s for s in data["sources"] if s["is"]["phase"] == "scan.read" and s["is"]["regime"] == "steady")
    (failed,) = [row for row in scan["rows"] if names[row[0]] == "derby server"]
    assert data["reasons"][failed[1]].startswith("failed: connect 08001")
    assert data["names"] == {names.index("derby server"): "derby server"}  # every other stands in a row of the page


def test_a_page_of_many_paths_has_one_metric_and_regime(usual: Analysis, tmp_path: Path) -> None:
    assert [name for name, _words in _choose(usual).metrics][:3] == ["time", "client_cpu", "server_cpu"]
    paths = [
        journal_factory.path(
            f"p{size}", f"postgresql server c libpq result=cursor:{size}", {"keyed.read": 9_000.0 + size}
        )
        for size in range(1, FEW_PATHS + 2)
    ]
    many = _choose(_made(tmp_path, journal_factory.Run(paths=paths, sets=2, rounds=2)))
    assert [name for name, _words in many.metrics] == ["time"]
    assert [source["is"]["regime"] for source in many.data["sources"]] == ["steady"]
    assert "regime" not in {name for name, _words in many.axes}


def test_groups_at_work_at_once_can_be_chosen_by_stage_and_group(tmp_path: Path) -> None:
    made = analyse(journal_factory.write(tmp_path, groups_factory.records()))
    shown = _choose(made)
    assert shown.metrics == (("group_rate", "group rate"),)
    assert {"stage", "client_group", "deployment"} <= {name for name, _words in shown.axes}
    assert shown.tables[0].startswith("together · readers · library.read")


def test_a_run_in_which_nothing_varies_has_no_such_chapter(tmp_path: Path) -> None:
    empty = Analysis(run=RunRecord(), names={}, results=(), rankings=(), findings=(), verdict=())
    one = _made(tmp_path, journal_factory.Run(paths=journal_factory.usual_paths()[3:4], sets=2))
    for each in (empty, one):
        assert view(each).choose is None
        page = html.page(each)
        assert 'id="choose"' not in page
        assert 'id="cells"' not in page
