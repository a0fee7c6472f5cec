"""The texts of a report, kept whole: a change to any of them is seen in review.

ROWPATH_UPDATE_GOLDEN=1 pytest tests/golden writes them anew.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from rowpath.analysis.model import Analysis
from rowpath.report import terminal, terminal_tables
from rowpath.report.markdown import write_markdown
from tests.golden import groups_fixture, probe_fixture, sizing_fixture
from tests.golden.analysis_fixture import analysis

HERE = Path(__file__).parent


DIRECTORY = Path("rowpath-runs/tour")
WIDTHS = (60, 72, 80, 100, 140, 200)
MADE = {
    "tour": analysis,
    "groups": groups_fixture.analysis,
    "probe": probe_fixture.analysis,
    "sizing": sizing_fixture.analysis,
}


def _console(file: io.StringIO, width: int) -> Console:
    return Console(file=file, width=width, color_system=None, highlight=False, markup=False, emoji=False)


def _answer(width: int, shown: Analysis) -> str:
    file = io.StringIO()
    terminal.render(shown, _console(file, width), DIRECTORY, DIRECTORY / "report.html")
    return file.getvalue()


def _tables(width: int, shown: Analysis | None = None) -> str:
    file = io.StringIO()
    terminal_tables.render(shown or analysis(), _console(file, width), DIRECTORY / "report.html")
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def _markdown(shown: Analysis | None = None) -> str:
    file = io.StringIO()
    write_markdown(shown or analysis(), file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("answer-60.txt", lambda: _answer(60, analysis())),
        ("answer-100.txt", lambda: _answer(100, analysis())),
        ("answer-groups-100.txt", lambda: _answer(100, groups_fixture.analysis())),
        ("answer-probe-100.txt", lambda: _answer(100, probe_fixture.analysis())),
        ("answer-sizing-100.txt", lambda: _answer(100, sizing_fixture.analysis())),
        ("sizing-100.txt", lambda: _tables(100, sizing_fixture.analysis())),
        ("tables-80.txt", lambda: _tables(80)),
        ("tables-140.txt", lambda: _tables(140)),
        ("report.md", _markdown),
        ("groups-80.txt", lambda: _tables(80, groups_fixture.analysis())),
        ("groups-120.txt", lambda: _tables(120, groups_fixture.analysis())),
        ("groups.md", lambda: _markdown(groups_fixture.analysis())),
        ("probe-100.txt", lambda: _tables(100, probe_fixture.analysis())),
        ("probe.md", lambda: _markdown(probe_fixture.analysis())),
    ],
)
def test_text_is_the_kept_one(name: str, made: Callable[[], str]) -> None:
    kept = HERE / name
    if os.environ.get("ROWPATH_UPDATE_GOLDEN"):
        kept.write_text(made(), encoding="utf-8")
    assert made() == kept.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", MADE)
def test_the_answer_fits_one_screen(name: str, width: int) -> None:
    text = _answer(width, MADE[name]())
    assert len(text.splitlines()) <= terminal.LINES
    assert max(map(len, text.splitlines())) <= width
    assert not [line for line in text.splitlines() if line != line.rstrip()]


@pytest.mark.parametrize("width", [60, 80, 100, 140, 200])
def test_no_line_is_wider_than_the_terminal_and_no_figure_is_cut(width: int) -> None:
    text = _tables(width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text.replace("9f31…c2", "").replace("4be0…77", "")
    for figure in ("5.71 µs", "10.7×", "61.2 µs"):
        assert figure in text


@pytest.mark.parametrize("width", [60, 80, 120])
def test_tables_of_groups_fit_the_terminal_and_keep_what_counts(width: int) -> None:
    text = _tables(width, groups_fixture.analysis())
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    for figure in ("8.37 k/s", "not reached", "30.8 s", "0.375×", "7,980"):
        assert figure in text
