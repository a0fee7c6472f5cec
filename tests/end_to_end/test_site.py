"""A site from real runs and from made-up ones: links resolve, nothing comes from elsewhere, everyone can use it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

import pytest
from typing_extensions import override

from tests.end_to_end.chromium import Chromium, program
from tests.end_to_end.command import SQLITE_C, SQLITE_PYTHON, called, error_form, rowpath, write_experiment
from tests.end_to_end.test_page_accessibility import AXE, OPEN, RUN, WAYS
from tests.unit import site_factory

TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"

with_browser = pytest.mark.skipif(
    program() is None, reason="no Chromium: apt-get install --no-install-recommends chromium"
)
with_axe = pytest.mark.skipif(not AXE.exists(), reason="no axe-core: npm ci --prefix web")


class _Links(HTMLParser):
    """Every address and every id of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.ids: set[str] = set()

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src", "action", "srcset", "poster", "data") and value:
                self.addresses.append(value)
            if name == "id" and value:
                self.ids.add(value)


def _parsed(file: Path) -> _Links:
    links = _Links()
    links.feed(file.read_text(encoding="utf-8"))
    return links


def _broken(site: Path) -> Iterator[str]:
    """Every link of every page that leads out of the site, to no file, or to no place in it."""
    known = {file.resolve(): _parsed(file) for file in sorted(site.rglob("*.html"))}
    for file, links in known.items():
        for address in links.addresses:
            path, place = urldefrag(address)
            target = (file.parent / unquote(path)).resolve() if path else file
            if ":" in address or address.startswith("//") or target not in known:
                yield f"{file}: {address}"
            elif place and place not in known[target].ids:
                yield f"{file}: no place {address}"


def _entries(site: Path) -> list[dict[str, str]]:
    text = (site / "index.html").read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="entries">(.*?)</script>', text, re.DOTALL)
    assert found
    return list(json.loads(found.group(1)))


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two real runs of two paths, and the second one again, cut short, in a folder."""
    folder = tmp_path_factory.mktemp("real")
    experiment = write_experiment(folder, [SQLITE_C, SQLITE_PYTHON])
    for name in ("one", "two"):
        done = rowpath("run", experiment, "-o", folder / "runs" / name, "-q")
        assert done.returncode == 0, done.stderr
    shutil.copytree(folder / "runs" / "two", folder / "runs" / "cut")
    journal = folder / "runs" / "cut" / "samples.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-3]))
    return folder


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the usual made-up runs."""
    folder = tmp_path_factory.mktemp("made-up")
    site_factory.write_usual(folder / "runs")
    done = called("site", folder / "runs", "-o", folder / "a site")
    assert done.returncode == 0, done.stderr
    return folder / "a site"


def test_real_runs_become_a_site_whose_links_resolve(real: Path) -> None:
    done = rowpath("site", real / "runs", "-o", real / "site")
    assert done.returncode == 0, done.stderr
    assert f"refused  {real}/runs/cut: it is partial" in done.stderr
    assert "2 runs, 1 left out" in done.stderr
    site = real / "site"
    assert done.stdout == f"{site}/index.html\n"
    assert list(_broken(site)) == []
    reports = sorted(file.parent.name for file in site.glob("runs/*/index.html"))
    assert len(reports) == 2
    entries = _entries(site)
    assert {"sqlite", "short"} <= {each["t"] for each in entries}
    assert {each["k"] for each in entries} == {"engine", "driver", "experiment", "path", "run"}
    assert all((site / urldefrag(each["u"])[0]).is_file() for each in entries)
    for page in ("index.html", "engines/sqlite.html", "drivers/c-sqlite.html", "experiments/short.html"):
        links = _parsed(site / page).addresses
        assert any(f"runs/{run}/index.html" in link for run in reports for link in links), page
    left_out = (site / "runs.html").read_text(encoding="utf-8")
    assert "<b>cut</b>" in left_out
    assert str(real) not in left_out  # where a run lies is nobody's business


def test_a_check_says_of_each_run_whether_it_is_accepted(real: Path) -> None:
    done = called("site", "--check", real / "runs")
    assert done.returncode == 1
    words = re.sub(r": .*", "", done.stdout).split()
    first, *later = zip(words[::2], words[1::2], strict=True)
    assert first == ("accepted", f"{real}/runs/one")
    assert sorted(later) == [("accepted", f"{real}/runs/two"), ("refused", f"{real}/runs/cut")]
    assert called("site", "--check", real / "runs" / "one").returncode == 0


def test_a_second_build_removes_pages_that_are_gone_and_nothing_else(real: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    assert called("site", real / "runs", "-o", site, "-q").returncode == 0
    (site / "CNAME").write_text("rows.example\n", encoding="utf-8")
    assert called("site", real / "runs" / "two", "-o", site, "--without-pages").returncode == 0
    assert list(site.glob("runs/**/*")) == []
    assert (site / "CNAME").exists()
    assert list(_broken(site)) == []


def test_what_cannot_be_built_is_an_error_with_a_hint(real: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "index.html").write_text("mine", encoding="utf-8")
    for arguments, message in (
        ((real / "runs", "-o", tmp_path / "mine"), "has an index.html that Rowpath did not write"),
        ((tmp_path / "mine", "-o", tmp_path / "new"), "no run directory in"),
        ((tmp_path / "absent", "-o", tmp_path / "new"), "is not a directory"),
        ((real / "runs",), "no directory for the site"),
        ((real / "runs" / "cut", "-o", tmp_path / "new"), "every run was refused"),
    ):
        done = called("site", *arguments)
        assert done.returncode == 2
        assert message in error_form(done.stderr)[0]


def test_made_up_runs_have_sound_links_and_the_change_that_they_were_given(made_up: Path) -> None:
    assert list(_broken(made_up)) == []
    front = (made_up / "index.html").read_text(encoding="utf-8")
    changed = front.partition('id="changes"')[2].partition("</section>")[0]
    assert re.findall(r"<b>(.*?)</b>", changed) == ["pgjdbc 42.7.4 → 42.7.5"]
    assert len(re.findall(r"8 % slower \(\d+–\d+\)", changed)) == 2


@with_browser
def test_from_disk_it_asks_for_nothing_and_finds_by_words(browser: Chromium, made_up: Path) -> None:
    file = made_up / "index.html"
    browser.open(file, 1280)
    assert browser.complaints() == []
    requests = [
        event["params"]["request"]["url"]
        for event in browser.events
        if event.get("method") == "Network.requestWillBeSent"
    ]
    assert requests == [file.resolve().as_uri()]
    browser.press("/", 191, "/")
    for letter in "pgjdbc java":
        browser.press(letter, ord(letter.upper()), letter)
    found: list[dict[str, Any]] = browser.evaluate(
        "[...document.querySelectorAll('#found a')].map(each => ({text: each.textContent, href: each.href}))"
    )
    assert found[0]["text"] == "pgjdbc (Java)"
    assert found[0]["href"] == (made_up / "drivers" / "java-pgjdbc.html").resolve().as_uri()
    assert browser.evaluate("document.getElementById('count').textContent") == f"{len(found)} found"
    browser.open(file, 1280, scripts=False)
    assert browser.complaints() == []


@with_browser
@with_axe
@pytest.mark.parametrize(("dark", "width", "everything_open"), WAYS)
def test_axe_finds_no_violation(
    browser: Chromium, made_up: Path, dark: bool, width: int, everything_open: bool
) -> None:
    pages = ("index", "runs", "machines", "engines/postgresql", "drivers/java-pgjdbc", "experiments/tour")
    fold = ("index", "engines/postgresql")  # one of each template that has something to open
    for page in pages:
        browser.open(made_up / f"{page}.html", width, dark=dark)
        assert browser.evaluate(TOO_WIDE) is False, page
        if not everything_open and page not in fold:
            continue
        browser.evaluate(AXE.read_text(encoding="utf-8"))
        if everything_open:
            browser.evaluate(OPEN)
        assert browser.evaluate(RUN) == [], page
