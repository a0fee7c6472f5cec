"""The page in a real browser: from disk, without network, with and without scripts, dark, narrow, by keyboard."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from rowpath.analysis.model import Analysis
from rowpath.report import html
from tests.end_to_end.chromium import Chromium, program
from tests.golden import groups_fixture, probe_fixture
from tests.golden.analysis_fixture import analysis
from tests.golden.whole import whole

pytestmark = pytest.mark.skipif(
    program() is None, reason="no Chromium: apt-get install --no-install-recommends chromium"
)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "report with a spaçe.html"
    html.write(whole(analysis()), file)
    return file


def _requests(browser: Chromium) -> list[str]:
    return [
        event["params"]["request"]["url"]
        for event in browser.events
        if event.get("method") == "Network.requestWillBeSent"
    ]


def _shown(browser: Chromium, selector: str) -> int:
    return int(
        browser.evaluate(f"[...document.querySelectorAll({selector!r})].filter(each => each.checkVisibility()).length")
    )


def test_from_disk_it_asks_for_nothing_else_and_nothing_is_wrong(browser: Chromium, page: Path) -> None:
    browser.open(page, 1280)
    assert browser.evaluate("document.documentElement.dataset.drawn") == "yes"
    assert browser.complaints() == []
    assert _requests(browser) == [page.resolve().as_uri()]


def _written(directory: Path, made: Analysis) -> Path:
    file = directory / "page.html"
    html.write(whole(made), file)
    return file


@pytest.mark.parametrize("made", [analysis, groups_fixture.analysis, probe_fixture.analysis])
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
@pytest.mark.parametrize("scripts", [True, False])
def test_question_answer_and_first_picture_stand_on_the_first_screen(
    browser: Chromium, tmp_path: Path, made: Callable[[], Analysis], width: int, height: int, scripts: bool
) -> None:
    browser.open(_written(tmp_path, made()), width, height=height, scripts=scripts)
    ends = browser.evaluate(
        """['h1', '.certainty summary', '#answer p', '.picture .bars', '.picture svg.axis']
           .map(at => document.querySelector(at).getBoundingClientRect())
           .map(box => [box.top, box.bottom, box.height])"""
    )
    assert all(tall > 0 for _top, _bottom, tall in ends)
    tops = [top for top, _bottom, _tall in ends]
    assert tops == sorted(tops)
    assert ends[-1][1] <= height


def test_bars_and_their_axis_agree(browser: Chromium, page: Path) -> None:
    for width in (390, 1280):
        browser.open(page, width)
        drawn = browser.evaluate(
            """[...document.querySelectorAll('.leading .row')].map(row => {
                 const parts = [...row.querySelectorAll('svg.bar rect')].map(part => part.getBoundingClientRect());
                 const text = row.querySelector('.line > :nth-child(4)').textContent.split(' ');
                 return [Math.max(...parts.map(part => part.right)), parseFloat(text[0])];
               })"""
        )
        ticks = browser.evaluate(
            """[...document.querySelectorAll('.leading svg.axis text')].map(text => {
                 const box = text.getBoundingClientRect();
                 return [(box.left + box.right) / 2, parseFloat(text.textContent)];
               })"""
        )
        lines = browser.evaluate(
            "[...document.querySelectorAll('.leading svg.lines line:not(.floor)')]"
            ".map(line => line.getBoundingClientRect().left)"
        )
        (x1, first), (x2, last) = ticks[0], ticks[-1]
        for x, value in [*drawn, *ticks]:
            expected = x1 + (x2 - x1) * math.log(value / first) / math.log(last / first)
            assert x == pytest.approx(expected, abs=2.5)
        assert lines == pytest.approx([x for x, _ in ticks], abs=2.5)


def test_a_row_opens_by_keyboard_and_the_address_names_it(browser: Chromium, page: Path) -> None:
    browser.open(page, 1280)
    browser.evaluate("document.querySelector('.leading summary.line').focus()")
    browser.press("Enter", 13, "\r")
    assert browser.evaluate("document.querySelector('.leading .row details').open")
    assert _shown(browser, ".leading .panel") == 1
    browser.until("location.hash === '#open=lead-0-1'")


def test_an_address_shows_what_was_chosen(browser: Chromium, page: Path) -> None:
    browser.open(page, 1280, at="operation=scan-read&regime=cold&language=java&open=lead-0-3")
    assert _shown(browser, ".operation") == 1
    assert browser.evaluate("[...document.querySelectorAll('.operation')].find(each => !each.hidden).id") == "scan-read"
    assert _shown(browser, ".regime") == 1
    assert _shown(browser, ".leading .panel") == 1
    names = browser.evaluate(
        "[...document.querySelectorAll('.leading .row:not([hidden]) .line > :nth-child(2)')]"
        ".map(each => each.firstChild.textContent)"
    )
    assert names and all("derby" in name or "pgjdbc" in name for name in names)
    pressed = browser.evaluate("[...document.querySelectorAll('[aria-pressed=true]')].map(each => each.textContent)")
    assert pressed == ["scan · read", "cold", "java"]
    assert "hidden" in browser.evaluate("document.getElementById('chosen').textContent")


def test_a_finding_opens_from_the_row_that_it_is_about(browser: Chromium, page: Path) -> None:
    browser.open(page, 1280)
    browser.evaluate("document.querySelector('.leading .mark').click()")
    browser.until("document.querySelector('#finding-periodic-cost details').open")


def test_with_scripts_off_everything_can_be_opened(browser: Chromium, page: Path) -> None:
    browser.open(page, 1280, scripts=False)
    assert browser.evaluate("document.querySelectorAll('table').length") > 12
    assert _shown(browser, ".leading svg.bar") == 9
    assert _shown(browser, "#chooser, button") == 0
    browser.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert _shown(browser, "main table") == browser.evaluate("document.querySelectorAll('main table').length")
    assert _shown(browser, ".panel") == browser.evaluate("document.querySelectorAll('.panel').length") > 9
    assert browser.complaints() == []


@pytest.mark.parametrize("width", [400, 800, 1280])
@pytest.mark.parametrize("scripts", [True, False])
def test_nothing_hangs_over_the_edge(browser: Chromium, page: Path, width: int, scripts: bool) -> None:
    browser.open(page, width, scripts=scripts)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width


def test_dark_and_light_are_told_apart_and_both_are_readable(browser: Chromium, page: Path) -> None:
    contrast = """(() => {
      const light = (rgb) => rgb.match(/[0-9.]+/g).slice(0, 3).map(Number)
        .map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
      const paper = light(getComputedStyle(document.body).backgroundColor);
      const inks = ['body', '.remark', '.facts', '.error .severity', '.warning .severity', 'a', '.unranked .wrong b',
        '.line > :first-child', '.line > :last-child', '.mark', '.how'];
      return [paper, ...inks
        .map(at => light(getComputedStyle(document.querySelector(at)).color))
        .map(ink => (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05))];
    })()"""
    browser.open(page, 1280)
    light, *contrasts = browser.evaluate(contrast)
    assert min(contrasts) >= 4.5
    browser.open(page, 1280, dark=True)
    dark, *contrasts = browser.evaluate(contrast)
    assert min(contrasts) >= 4.5
    assert dark < 0.05
    assert light > 0.9


def test_the_chooser_is_made_of_buttons_and_goes_by_arrow_keys(browser: Chromium, page: Path) -> None:
    browser.open(page, 1280)
    assert _shown(browser, ".operation") == 2
    browser.evaluate("document.querySelector('#chooser details').open = true")
    browser.evaluate("document.querySelector('#chooser button').focus()")
    browser.press("ArrowRight", 39)
    assert browser.evaluate("document.activeElement.textContent") == "scan · read"
    assert browser.evaluate("document.activeElement.getAttribute('aria-pressed')") == "false"
    browser.evaluate("document.activeElement.click()")
    assert browser.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
    assert browser.evaluate("[...document.querySelectorAll('.operation')].find(each => !each.hidden).id") == "scan-read"
    assert browser.evaluate("location.hash") == "#operation=scan-read"
    browser.evaluate("document.activeElement.click()")
    assert _shown(browser, ".operation") == 2
    assert browser.evaluate("location.hash") == ""


def test_paper_shows_every_ranking_and_what_is_folded(browser: Chromium, page: Path) -> None:
    for scripts in (True, False):
        browser.open(page, 1280, scripts=scripts)
        browser.call("Emulation.setEmulatedMedia", media="print")
        pictures = browser.evaluate("document.querySelectorAll('.picture').length")
        assert _shown(browser, ".picture") == pictures == 6  # five rankings, one published column
        assert _shown(browser, ".regime table") == 5
        assert _shown(browser, ".panel") > 9
        assert _shown(browser, "#chooser, nav") == 0


def test_the_browser_runs_nothing_but_the_pages_own_scripts(browser: Chromium, page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8").replace("</main>", "</main><script>window.foreign = 1</script>")
    changed = tmp_path / "changed.html"
    changed.write_text(text, encoding="utf-8")
    browser.open(changed, 1280)
    assert browser.evaluate("window.foreign") is None
    assert any("Content Security Policy" in complaint for complaint in browser.complaints())
