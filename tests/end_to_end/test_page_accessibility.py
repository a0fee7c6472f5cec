"""axe-core over the page of every made-up run: no violation in any theme or width, folded or not."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from rowpath.analysis.analyse import analyse
from rowpath.analysis.model import Analysis
from rowpath.journal.records import RunRecord
from rowpath.report import html
from tests.end_to_end.chromium import Chromium, program
from tests.golden import analysis_fixture, groups_fixture, probe_fixture
from tests.golden.whole import whole
from tests.unit import journal_factory
from tests.unit.analysis.chapters import test_links as link_prediction
from tests.unit.analysis.chapters import test_retrievals as bulk_retrieval
from tests.unit.analysis.chapters import test_scalings as test_scaling
from tests.unit.analysis.chapters import test_sweeps as size_sweep

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
OPEN = "document.querySelectorAll('details').forEach(each => { each.open = true; })"
RUN = """axe.run(document, {resultTypes: ["violations"]}).then(found =>
    found.violations.flatMap(each => each.nodes.map(node => `${each.id}: ${node.target} ${node.failureSummary}`)))"""

# (dark, width, everything open): each two values meet. Contrast, which costs most, is looked at in each.
WAYS = ((False, 390, False), (False, 1280, True), (True, 390, True), (True, 1280, False))
OPENED = tuple(way for way in WAYS if way[2])  # each theme and each width, with all that folds unfolded

pytestmark = [
    pytest.mark.skipif(program() is None, reason="no Chromium: apt-get install --no-install-recommends chromium"),
    pytest.mark.skipif(not AXE.exists(), reason="no axe-core: npm ci --prefix web"),
]


def _empty() -> Analysis:
    return Analysis(run=RunRecord(), names={}, results=(), rankings=(), findings=(), verdict=())


def test_no_violation_on_the_usual_page(browser: Chromium, tmp_path: Path) -> None:
    """What is closed looks the same on every page; all other pages are looked at with everything open."""
    _check(browser, whole(analysis_fixture.analysis()), tmp_path / "page.html", WAYS)


@pytest.mark.parametrize("made", [groups_fixture.analysis, probe_fixture.analysis, _empty])
def test_no_violation_on_the_page_of_a_made_up_run(
    browser: Chromium, tmp_path: Path, made: Callable[[], Analysis]
) -> None:
    _check(browser, whole(made()), tmp_path / "page.html")


def test_no_violation_on_the_page_of_a_journal(browser: Chromium, tmp_path: Path) -> None:
    directory = journal_factory.write(tmp_path / "run", journal_factory.records(journal_factory.Run()))
    _check(browser, analyse(directory), tmp_path / "page.html")


@pytest.mark.parametrize(
    "made",
    [
        lambda directory: size_sweep.swept(directory, {"start": (10_000, 500), "rows": (60_000, 250)}),
        bulk_retrieval.bulk,
        lambda directory: test_scaling.analysed(directory, test_scaling.CONTENDED),
        lambda directory: link_prediction.analysed(directory, link_prediction.WITHOUT_NS + link_prediction.ADDED_NS),
    ],
    ids=["sizes", "retrieval", "parts", "link"],
)
def test_no_violation_in_the_chapters_of_an_experiment(
    browser: Chromium, tmp_path: Path, made: Callable[[Path], Analysis]
) -> None:
    _check(browser, made(tmp_path), tmp_path / "page.html")


def test_each_two_values_meet() -> None:
    for first, second in itertools.combinations(range(3), 2):
        assert len({(way[first], way[second]) for way in WAYS}) == 4


def _check(browser: Chromium, made: Analysis, file: Path, ways: tuple[tuple[bool, int, bool], ...] = OPENED) -> None:
    html.write(made, file)
    for dark, width, everything_open in ways:
        browser.open(file, width, dark=dark)
        browser.evaluate(AXE.read_text(encoding="utf-8"))
        if everything_open:
            browser.evaluate(OPEN)
        assert browser.evaluate(RUN) == [], (dark, width, everything_open)
