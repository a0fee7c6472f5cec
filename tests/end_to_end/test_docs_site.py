"""The documents as a site: it builds without a warning, loads nothing from elsewhere, and holds every document."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typing_extensions import override

from tests.end_to_end.command import ROOT

LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
# Their tags alone are parsed: most of a page is code in colours.
LOADING = re.compile(rf"<(?:{'|'.join(LOADS)})\b(?:[^>\"']|\"[^\"]*\"|'[^']*')*>", re.IGNORECASE)


class Addresses(HTMLParser):
    """What a page loads by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name == LOADS.get(tag) and value]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    added = {"PYTHONPATH": str(ROOT / "src"), "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **added}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_document_is_a_page(site: Path) -> None:
    documents = [page.relative_to(ROOT / "docs").with_suffix(".html") for page in (ROOT / "docs").rglob("*.md")]
    for page in [*documents, Path("index.html"), Path("protocol.html")]:
        assert "<article" in (site / page).read_text(encoding="utf-8"), page


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = Addresses()
        loaded.feed("".join(LOADING.findall(page.read_text(encoding="utf-8"))))
        assert loaded.found, page
        assert not [address for address in loaded.found if re.match(r"(\w+:)?//", address)], page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*[\"']?(\w+:)?//", sheet.read_text(encoding="utf-8")), sheet


def test_a_source_that_a_document_links_to_has_a_page(site: Path) -> None:
    listed = (site / "source" / "experiments.html").read_text(encoding="utf-8")
    assert 'href="experiments/tour.toml.html"' in listed
    assert "SQLite C" in (site / "source" / "experiments" / "tour.toml.html").read_text(encoding="utf-8")


def test_nested_lists_stay_nested(site: Path) -> None:
    cache = (site / "architecture.html").read_text(encoding="utf-8").partition("The cache</strong>")[2]
    assert "<ul>" in cache.partition("</li>")[0]


def test_words_can_be_searched(site: Path) -> None:
    assert '"findings.html#wrong-rows"' in (site / "search" / "search_index.json").read_text(encoding="utf-8")
