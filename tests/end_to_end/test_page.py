"""The page in a real browser: from disk, without network, with and without scripts, dark, narrow, by keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath.report import html
from tests.end_to_end.chromium import Chromium, program
from tests.golden.analysis_fixture import analysis

pytestmark = pytest.mark.skipif(
    program() is None, reason="no Chromium: apt-get install --no-install-recommends chromium"
)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "report with a spaçe.html"
    html.write(analysis(), file)
    return file


def _requests(browser: Chromium) -> list[str]:
    return [
        event["params"]["request"]["url"]
        for event in browser.events
        if event.get("method") == "Network.requestWillBeSent"
    ]


def _shown(browser: Chromium, selector: str) -> int:
    return int(
        browser.evaluate(
            f"[...document.querySelectorAll({selector!r})].filter(each => each.getClientRects().length).length"
        )
    )


def test_from_disk_it_asks_for_nothing_else_and_nothing_is_wrong(browser: Chromium, page: Path) -> None:
    browser.open(page, 1280)
    assert browser.evaluate("document.documentElement.dataset.drawn") == "yes"
    assert browser.complaints() == []
    assert _requests(browser) == [page.resolve().as_uri()]


def test_plots_are_drawn_over_the_tables_and_say_what_they_are(browser: Chromium, page: Path) -> None:
    browser.open(page, 1280)
    assert browser.evaluate("document.querySelectorAll('figure svg[role=img]').length") == 8
    assert browser.evaluate("[...document.querySelectorAll('figure svg[role=img]')].every(s => s.ariaLabel)")
    first = "document.querySelector('.regime figure')"
    assert browser.evaluate(f"{first}.querySelectorAll('svg[role=img] [aria-label=dot] path').length") == 9
    assert browser.evaluate(f"{first}.nextElementSibling.querySelectorAll('table tbody tr').length") == 9


def test_with_scripts_off_all_tables_are_there(browser: Chromium, page: Path) -> None:
    browser.open(page, 1280, scripts=False)
    tables = browser.evaluate("document.querySelectorAll('table').length")
    assert tables > 12
    assert _shown(browser, "main > section:not(#trust) table") == browser.evaluate(
        "document.querySelectorAll('main > section:not(#trust) table').length"
    )
    assert _shown(browser, "#chooser, figure, button") == 0
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
      const inks = ['body', '.remark', '.facts', '.error .severity', '.warning .severity', 'a', '.unranked .wrong b'];
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
    assert _shown(browser, ".operation") == 1
    assert _shown(browser, ".regime") == 2
    browser.evaluate("document.querySelector('#chooser button').focus()")
    for key in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=key, key="ArrowRight", code="ArrowRight", windowsVirtualKeyCode=39)
    assert browser.evaluate("document.activeElement.textContent") == "scan · read"
    assert browser.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
    assert browser.evaluate("[...document.querySelectorAll('.operation')].find(each => !each.hidden).id") == "scan-read"
    for key in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=key, key="End", code="End", windowsVirtualKeyCode=35)
    assert _shown(browser, ".operation") == 2


def test_paper_shows_every_ranking(browser: Chromium, page: Path) -> None:
    browser.open(page, 1280)
    browser.call("Emulation.setEmulatedMedia", media="print")
    assert _shown(browser, ".regime table") == 5
    assert _shown(browser, ".regime figure svg[role=img]") == 5
    assert _shown(browser, "#chooser, nav") == 0


def test_the_browser_runs_nothing_but_the_pages_own_scripts(browser: Chromium, page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8").replace("</main>", "</main><script>window.foreign = 1</script>")
    changed = tmp_path / "changed.html"
    changed.write_text(text, encoding="utf-8")
    browser.open(changed, 1280)
    assert browser.evaluate("window.foreign") is None
    assert any("Content Security Policy" in complaint for complaint in browser.complaints())
