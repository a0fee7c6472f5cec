"""The time line in a real browser: one axis for all panels, marks where they belong, with scripts off too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.analysis.chapters.mixed_load import report_of
from rowpath.report import html
from tests.end_to_end.chromium import Chromium, program
from tests.golden.groups_fixture import BACKUP, KILLED_S, STRETCHES, analysis
from tests.golden.whole import whole

pytestmark = pytest.mark.skipif(
    program() is None, reason="no Chromium: apt-get install --no-install-recommends chromium"
)

END_S = STRETCHES[-1][2]
LINES = "document.querySelectorAll('.time-line')"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "groups.html"
    html.write(whole(analysis()), file)
    return file


def _ends(browser: Chromium, selector: str, drawing: int) -> list[list[float]]:
    """Left and right edge of each element of a drawing, in pixels of the page."""
    found: Any = browser.evaluate(
        f"[...{LINES}[{drawing}].querySelectorAll({selector!r})]"
        ".map(each => each.getBoundingClientRect()).map(box => [box.left, box.right])"
    )
    return [[float(end) for end in pair] for pair in found]


def test_there_is_a_drawing_for_each_set_of_each_path_and_nothing_is_wrong(browser: Chromium, page: Path) -> None:
    browser.open(page, 1280)
    assert browser.complaints() == []
    assert browser.evaluate(f"{LINES}.length") == 4
    assert browser.evaluate(f"[...{LINES}].every(each => each.getAttribute('role') === 'img' && each.ariaLabel)")
    assert browser.evaluate(f"[...{LINES}].map(each => each.querySelectorAll('svg.lane').length)") == [6, 6, 7, 7]


@pytest.mark.parametrize("width", [400, 1280])
def test_all_panels_lie_over_one_axis_and_the_marks_on_it(browser: Chromium, page: Path, width: int) -> None:
    browser.open(page, width)
    # CPU, memory, bytes and disk are known in every second, readers in the first and the last.
    spans = _ends(browser, "svg.lane path", 2)
    left, right = min(begin for begin, _ in spans), max(end for _, end in spans)
    whole = [
        (begin, end)
        for begin, end in spans
        if begin == pytest.approx(left, abs=1) and end == pytest.approx(right, abs=1)
    ]
    assert len(spans) == 2 + 2 + 3 + 3 + 2 + 6
    assert len(whole) == len(spans) - 2

    def place(at_s: float) -> float:
        return left + at_s / END_S * (right - left)

    for begin, end in _ends(browser, "rect.backup", 2):
        assert (begin, end) == pytest.approx((place(BACKUP[0]), place(BACKUP[1])), abs=1)
    for killed, _ in _ends(browser, "line.kill", 2):
        assert killed == pytest.approx(place(KILLED_S), abs=1.5)
    borders = [border for border, _ in _ends(browser, "line.border", 2)]
    lanes = len(borders) // len(STRETCHES)
    assert lanes == len(_ends(browser, "rect.backup", 2)) == len(_ends(browser, "line.kill", 2)) == 7
    assert borders == pytest.approx([place(each[1]) for each in STRETCHES] * lanes, abs=1.5)


def test_a_group_that_rested_leaves_a_gap_and_one_that_stalled_a_line_at_zero(browser: Chromium, page: Path) -> None:
    browser.open(page, 1280)
    pieces = browser.evaluate(
        f"[...{LINES}[2].querySelectorAll('svg.lane')].slice(0, 2)"
        ".map(panel => (panel.querySelector('path').getAttribute('d').match(/M/g) ?? []).length)"
    )
    assert pieces == [2, 1]
    titles = browser.evaluate(f"[...{LINES}[2].querySelectorAll('title')].map(each => each.textContent)")
    assert "stalled 2.0 s" in titles
    assert titles.count("failed operations") == 2
    assert "backup, 30.8 s" in titles
    assert browser.evaluate(f"{LINES}[0].querySelectorAll('line.kill').length") == 0


def test_every_text_of_a_drawing_lies_within_the_page(browser: Chromium, page: Path) -> None:
    for width in (400, 800, 1280):
        browser.open(page, width)
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
        furthest = browser.evaluate(
            f"Math.max(...[...{LINES}[2].querySelectorAll('text')].map(each => each.getBoundingClientRect().right))"
        )
        assert furthest <= width


def test_with_scripts_off_the_seconds_are_drawn_and_a_table(browser: Chromium, tmp_path: Path) -> None:
    shown = analysis()
    line = report_of(shown).lines[0]
    times = 9
    long = msgspec.structs.replace(
        line,
        at_s=tuple(float(second) for second in range(1, times * len(line.at_s) + 1)),
        series=tuple(msgspec.structs.replace(each, values=each.values * times) for each in line.series),
    )
    groups = msgspec.structs.replace(report_of(shown), lines=(long, *report_of(shown).lines[1:]))
    file = tmp_path / "long.html"
    html.write(msgspec.structs.replace(shown, chapters={"mixed_load": groups}), file)
    browser.open(file, 1280, scripts=False)
    assert browser.complaints() == []
    assert browser.evaluate(f"{LINES}.length") == 4
    assert browser.evaluate(f"{LINES}[0].querySelector('svg.lane path').getBoundingClientRect().width") > 500
    rows = browser.evaluate(
        "[...document.querySelectorAll('#time-line table')].map(each => each.tBodies[0].rows.length)"
    )
    assert rows[1:] == [72, 72, 72]
    assert 60 < rows[0] <= 120
    browser.evaluate("document.querySelector('#time-line details').open = true")
    assert browser.evaluate("document.querySelector('#time-line table').getClientRects().length") == 1
    assert "One line for up to" in browser.evaluate("document.querySelector('#time-line details').textContent")
