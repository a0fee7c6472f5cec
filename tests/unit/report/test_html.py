"""The page's text: whole without scripts, closed to the network, safe against what drivers say."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from rowpath.analysis.model import Analysis
from rowpath.errors import UsageError
from rowpath.journal.records import RunRecord
from rowpath.report import html
from tests.golden.analysis_fixture import analysis as of_paths
from tests.golden.groups_fixture import analysis as of_groups
from tests.golden.whole import whole

VOID = {"meta", "link", "br", "img", "input", "hr"}
IMPLIED = {"td", "th", "tr", "li", "dt", "dd"}  # ended by what follows them, or by the end of what they are in


class Outline(HTMLParser):
    """Collects elements and checks that every one is closed in its place."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag not in IMPLIED
        while self.open[-1] in IMPLIED:
            self.open.pop()
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def text() -> str:
    return html.page(whole(of_paths()))


@pytest.fixture(scope="module")
def outline(text: str) -> Outline:
    parsed = Outline()
    parsed.feed(text)
    assert parsed.open == []
    return parsed


def test_every_table_has_a_caption_and_every_id_is_there_once(text: str, outline: Outline) -> None:
    tags = [tag for tag, _ in outline.elements]
    assert tags.count("table") == tags.count("caption") > 12
    ids = [attributes["id"] for _, attributes in outline.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in outline.elements:
        if "aria-labelledby" in attributes:
            assert attributes["aria-labelledby"] in ids


def test_every_link_leads_to_a_place_in_the_page_and_nothing_is_fetched(outline: Outline) -> None:
    ids = {attributes.get("id") for _, attributes in outline.elements}
    for tag, attributes in outline.elements:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base", "form"}
        assert "src" not in attributes
        assert not any(name.startswith("on") for name in attributes)
        if tag == "a":
            assert (attributes["href"] or "")[1:] in ids


def test_the_policy_names_the_pages_script_and_style_and_nothing_else(text: str, outline: Outline) -> None:
    policy = next(a["content"] for tag, a in outline.elements if a.get("http-equiv") == "Content-Security-Policy")
    scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
    assert len(scripts) == 1
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in (policy or "")
    assert (policy or "").startswith("default-src 'none'; script-src 'sha256-")
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.S)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}';" in (policy or "")
    assert "unsafe-inline" not in (policy or "")


def test_what_drivers_say_is_text(text: str) -> None:
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "<b>at 127" not in text
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", re.sub(r"<script>.*?</script>", "", text, flags=re.S))


def test_embedded_data_is_json_that_cannot_end_its_element() -> None:
    text = html.page(whole(of_groups()))
    found = dict(re.findall(r'<script type="application/json" id="(\w+)">(.*?)</script>', text, re.S))
    assert found.keys() == {"paths"}
    assert not any("<" in data for data in found.values())
    assert len(json.loads(found["paths"])) == 2


def test_an_empty_analysis_makes_a_page() -> None:
    page = html.page(Analysis(run=RunRecord(), names={}, results=(), rankings=(), findings=(), verdict=()))
    assert "No comparison" in page


def test_a_page_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        html.write(of_paths(), tmp_path / "missing" / "report.html")
    assert "missing/report.html" in caught.value.message


def test_the_page_is_checked_with_locked_packages_of_any_registry() -> None:
    lock = json.loads((Path(__file__).parents[3] / "web" / "package-lock.json").read_text())
    for name, package in lock["packages"].items():
        assert "resolved" not in package
        assert not name or "integrity" in package
