"""The flame graphs of `rowpath explain`, of a real path and in a browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rowpath.explain import perf
from rowpath.report import flame_graph
from tests.end_to_end.chromium import Chromium, program
from tests.end_to_end.command import rowpath
from tests.end_to_end.test_page_accessibility import AXE, RUN
from tests.unit.flame_factory import flame

in_browser = pytest.mark.skipif(
    program() is None, reason="no Chromium: apt-get install --no-install-recommends chromium"
)


@pytest.mark.skipif(bool(perf.problem()), reason=perf.problem())
def test_stacks_of_both_sides_come_out_whole(tmp_path: Path) -> None:
    words = ("tour", "engine=postgresql", "language=c", "transport=tcp", "statement=text", "--phase", "keyed.read")
    done = rowpath("explain", *words, "-q", "-b", "1", "-o", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    (page,) = (tmp_path / "run").glob("flame-PostgreSQL-C-*-keyed.read.html")
    (scope,) = (tmp_path / "run").glob("flame-PostgreSQL-C-*-keyed.read.speedscope.json")
    assert f"flame graph: {page}, and .speedscope.json" in done.stdout
    document = json.loads(scope.read_text())
    frames = document["shared"]["frames"]
    client, server = (
        [[frames[number]["name"] for number in sample] for sample in side["samples"]] for side in document["profiles"]
    )
    for stacks, outer, inner in (
        (client, "rp_run_operations", "PQexec"),
        (server, "PostgresMain", "PortalRun"),
    ):
        whole = [stack for stack in stacks if outer in stack and inner in stack]
        assert whole, inner
        assert all(stack.index(outer) < stack.index(inner) for stack in whole)
        assert any("do_syscall_64" in stack for stack in stacks) or perf.USER_ONLY in done.stdout
    assert "exec_simple_query" in page.read_text(encoding="utf-8")
    assert not (tmp_path / "run" / "work").exists()


@in_browser
@pytest.mark.skipif(not AXE.exists(), reason="no axe-core: npm ci --prefix web")
@pytest.mark.parametrize("dark", [False, True])
def test_no_violation_on_the_page(browser: Chromium, tmp_path: Path, dark: bool) -> None:
    for before in (None, flame("other", 9_000.0)):
        flame_graph.write(flame(notes=("a note",)), tmp_path / "page.html", before)
        browser.open(tmp_path / "page.html", 390 if dark else 1280, dark=dark)
        browser.evaluate(AXE.read_text(encoding="utf-8"))
        assert browser.evaluate(RUN) == []


KEY = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {{key: '{}', bubbles: true}}))"
WIDTHS = "[...document.querySelectorAll('.client svg.flame > svg:not([hidden])')].map(e => e.getAttribute('width'))"
FOCUSED = "document.activeElement.getAttribute('aria-label').split(' ')[0]"


@in_browser
def test_search_and_zoom_by_keyboard(browser: Chromium, tmp_path: Path) -> None:
    flame_graph.write(flame(), tmp_path / "page.html")
    browser.open(tmp_path / "page.html", 1280)
    assert browser.evaluate(WIDTHS) == ["100.00%", "99.95%", "60.00%", "60.00%"]
    browser.evaluate("document.querySelector('.client svg[tabindex=\"0\"]').focus()")
    for _step in range(2):
        browser.evaluate(KEY.format("ArrowDown"))
    assert browser.evaluate(FOCUSED) == "__send"
    assert browser.evaluate("document.getElementById('now').textContent").startswith("__send")
    browser.evaluate(KEY.format("Enter"))
    assert browser.evaluate(WIDTHS) == ["100%"] * 4
    browser.evaluate(KEY.format("Escape"))
    assert browser.evaluate(WIDTHS) == ["100%", "99.95%", "60%", "60%"]
    browser.evaluate(KEY.format("/"))
    assert browser.evaluate("document.activeElement.id") == "search"
    browser.evaluate(
        "document.activeElement.value = 'kernel'; document.activeElement.dispatchEvent(new Event('input'))"
    )
    assert browser.evaluate("document.getElementById('matched').textContent") == (
        "client: 1 frames, 60.0 %; server: 0 frames, 0.0 %"
    )
