"""The chapter Choose in a real browser: what its script makes of the data is what the analysis makes of the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath import text as fmt
from rowpath.analysis.analyse import analyse
from rowpath.analysis.model import Analysis
from rowpath.analysis.projection import Choice, Matrix, Projection, project, to_the_fastest
from rowpath.report import html
from rowpath.report.choose import note
from rowpath.report.projection import half_width, ratio
from tests.end_to_end.chromium import Chromium, program
from tests.end_to_end.test_page_accessibility import AXE, RUN
from tests.unit import journal_factory

pytestmark = pytest.mark.skipif(
    program() is None, reason="no Chromium: apt-get install --no-install-recommends chromium"
)

CELLS = """Object.fromEntries([...document.querySelectorAll('.matrix tbody tr')].flatMap(row =>
  [...row.querySelectorAll('td')].map((cell, at) => [
    `${row.firstChild.textContent} × ${document.querySelectorAll('.matrix thead th')[at + 1].textContent}`,
    [cell.firstChild.textContent, ...[...cell.querySelectorAll('small')].map(part => part.textContent), cell.title],
  ])))"""
NOTE = "document.getElementById('matrix-note').textContent"
REASONS = "[...document.querySelectorAll('#matrix-reasons li')].map(each => each.textContent)"
HASH = "decodeURIComponent(location.hash)"
AXES = ("engine", "language", "driver", "transport", "placement", "phase", "regime")
# Each two axes meet once, each axis is as often rows as columns.
MEETING = [(rows, AXES[(at + step) % len(AXES)]) for step in (1, 2, 3) for at, rows in enumerate(AXES)]


def _paths() -> list[journal_factory.MadePath]:
    """The usual ones, and some of them on another placement."""
    again = [
        journal_factory.path(f"{name} split", f"{words} placement=split", {"keyed.read": cost}, client_share=0.3)
        for name, words, cost in (
            ("libpq unix", "postgresql server c libpq transport=unix", 90_000),
            ("psycopg tcp", "postgresql server python psycopg transport=tcp", 150_000),
        )
    ]
    return [*journal_factory.usual_paths(), *again]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    records = journal_factory.records(journal_factory.Run(paths=_paths()))
    for record in records:
        if record["record"] == "dropped":
            record["coordinates"] |= {"engine": "derby", "language": "python", "placement": "same", "transport": "unix"}
    return journal_factory.write(tmp_path_factory.mktemp("run"), records)


@pytest.fixture(scope="module")
def analysis(run: Path) -> Analysis:
    return analyse(run)


@pytest.fixture(scope="module")
def page(run: Path, analysis: Analysis) -> Path:
    html.write(analysis, run / "report.html")
    return run / "report.html"


def _expected(shown: Projection, matrix: Matrix) -> dict[str, list[str]]:
    """The texts of each cell and its title, as the page should have them; an empty one only its reason."""
    cells = {}
    for row in matrix.rows:
        for column, entry in zip(matrix.columns, row.entries, strict=True):
            several = f"of {entry.paths}" if entry.paths > 1 else ""
            parts = (fmt.figure(entry.median, shown.unit), half_width(entry.median, entry.low, entry.high), several)
            texts = [*filter(None, (*parts, ratio(entry))), entry.name]
            cells[f"{row.values[0]} × {column[0]}"] = [entry.reason] if entry.median is None else texts
    return cells


def _select(browser: Chromium, name: str, value: str) -> None:
    """As a reader does it: the value, then the event."""
    browser.evaluate(
        f"(select => {{ select.value = {value!r}; select.dispatchEvent(new Event('change')); }})"
        f"(document.querySelector('#axes [name={name}]'))"
    )


def _axis(part: str) -> str:
    """The axis of a part of a table's title."""
    return part.partition("=")[0] if "=" in part else "regime" if part in ("steady", "cold") else "phase"


@pytest.mark.parametrize(("rows", "columns"), MEETING)
def test_every_matrix_of_the_page_is_that_of_the_analysis(
    browser: Chromium, analysis: Analysis, page: Path, rows: str, columns: str
) -> None:
    shown = project(analysis, Choice((rows,), (columns,)), to_the_fastest(analysis))
    browser.open(page, 1280, at=f"rows={rows}&columns={columns}")
    titles = browser.evaluate("[...document.querySelector('[name=table]').options].map(each => each.textContent)")
    for number, title in enumerate(titles, 1):
        parts = [part for part in title.split(" · ") if _axis(part) not in (rows, columns)]
        (matrix,) = [each for each in shown.matrices if list(each.title) == parts]
        _select(browser, "table", str(number))
        found = browser.evaluate(CELLS)
        assert all(texts[0] == "·" or texts[0].startswith("– [") or len(texts) > 2 for texts in found.values())
        assert {at: texts[1:] if texts[0][0] in "·–" else texts for at, texts in found.items()} == _expected(
            shown, matrix
        )
        assert browser.evaluate(NOTE) == note(matrix)
    assert browser.complaints() == []


def test_the_script_leaves_the_first_matrix_as_it_was_written(browser: Chromium, page: Path) -> None:
    found = []
    for scripts in (False, True):
        browser.open(page, 1280, scripts=scripts)
        found.append(
            [
                browser.evaluate(each)
                for each in (CELLS, NOTE, REASONS, "document.querySelector('.matrix caption').textContent")
            ]
        )
        assert browser.evaluate("document.getElementById('axes').checkVisibility()") == scripts
        assert browser.evaluate("document.getElementById('of').checkVisibility()") != scripts
    assert found[0] == found[1]
    assert found[0][3] == "time by engine and language"


def test_reasons_are_numbered_below_the_matrix(browser: Chromium, page: Path) -> None:
    browser.open(page, 1280, at="rows=driver&columns=transport")
    cells, reasons = browser.evaluate(CELLS), browser.evaluate(REASONS)
    assert reasons[-1] == "· no such path in this run"
    for mark, reason in (each for each in cells.values() if each[0].startswith("–")):
        assert f"{mark.removeprefix('– ')} {reason}" in reasons


def test_a_choice_is_in_the_address_and_the_address_makes_it_again(browser: Chromium, page: Path) -> None:
    browser.open(page, 1280)
    for name, value in (("rows", "driver"), ("columns", "regime"), ("metric", "client_cpu"), ("table", "2")):
        _select(browser, name, value)
    address = browser.evaluate(HASH)
    assert address == "#rows=driver&columns=regime&metric=client_cpu&table=2"
    before = browser.evaluate(CELLS)
    assert (
        browser.evaluate("document.querySelector('.matrix caption').textContent") == "client CPU by driver and regime"
    )
    browser.open(page, 1280, at=address[1:])
    assert browser.evaluate(CELLS) == before
    assert abs(browser.evaluate("document.getElementById('choose').getBoundingClientRect().top")) < 900
    _select(browser, "table", "1")
    _select(browser, "metric", "time")
    assert browser.evaluate(HASH) == "#rows=driver&columns=regime"
    browser.open(page, 1280, at="rows=nonsense&columns=driver&table=99")
    assert browser.evaluate("document.querySelector('.matrix caption').textContent") == "time by engine and driver"
    assert browser.complaints() == []


def test_rows_and_columns_change_places_when_one_takes_the_others_axis(browser: Chromium, page: Path) -> None:
    browser.open(page, 1280)
    _select(browser, "rows", "language")
    assert browser.evaluate("document.querySelector('.matrix caption').textContent") == "time by language and engine"
    assert browser.evaluate(HASH) == "#columns=engine&rows=language"


def test_a_cell_leads_to_its_path_and_the_choice_stays(browser: Chromium, page: Path) -> None:
    browser.open(page, 1280, at="rows=driver&columns=transport")
    browser.evaluate("document.querySelector('.matrix a').click()")
    browser.until("location.hash.includes('open=')")
    opened = browser.evaluate(HASH)
    assert opened.startswith("#rows=driver&columns=transport&open=")
    assert browser.evaluate(f"document.getElementById({opened.rpartition('=')[2]!r}).open")
    assert browser.evaluate("document.querySelector('.matrix caption').textContent") == "time by driver and transport"


def test_paths_that_the_chips_hide_are_in_no_cell(browser: Chromium, page: Path) -> None:
    browser.open(page, 1280, at="engine=sqlite,postgresql&language=c,python")
    cells = browser.evaluate(CELLS)
    assert {at.partition(" × ")[0] for at in cells} == {"sqlite", "postgresql"}
    assert {at.partition(" × ")[2] for at in cells} == {"c", "python"}
    browser.open(page, 1280, at="transport=none,tcp&driver=libpq,sqlite3,sqlite")
    assert browser.evaluate(CELLS)["postgresql × python"][1] == "left out by the choice above"


def test_selects_are_reached_and_changed_by_keyboard(browser: Chromium, page: Path) -> None:
    browser.open(page, 1280)
    browser.evaluate("document.querySelector('#axes [name=rows]').focus()")
    browser.press("ArrowDown", 40)
    assert browser.evaluate("document.querySelector('.matrix caption').textContent") == "time by language and engine"
    browser.press("Tab", 9)
    assert browser.evaluate("document.activeElement.name") == "columns"


@pytest.mark.parametrize("width", [390, 1280])
def test_a_wide_matrix_scrolls_inside_its_box(browser: Chromium, page: Path, width: int) -> None:
    browser.open(page, width, at="rows=engine&columns=path")
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate("(box => box.scrollWidth > box.clientWidth)(document.getElementById('matrix'))")


def test_axe_finds_nothing_in_any_state_of_the_chapter(browser: Chromium, page: Path) -> None:
    if not AXE.exists():
        pytest.skip("no axe-core: npm ci --prefix web")
    for width, dark in ((390, False), (1280, True)):  # each theme and each width
        browser.open(page, width, at="rows=driver&columns=transport", dark=dark)
        browser.evaluate(AXE.read_text(encoding="utf-8"))
        assert browser.evaluate(RUN) == []
