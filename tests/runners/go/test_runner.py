"""What the Go runner alone does: its collector's time, its settings, stopping a statement, what it misses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.runners.manifest import toolchain
from tests.runners.protocol.talk import K, LineTalk, Start, V, adapter, on_sqlite, sqlite_file, talks

go: Any = toolchain("go")
pytestmark = pytest.mark.skipif(go.tools_problem() is not None, reason="no Go")
SLOW = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1e12) SELECT count(*) FROM n"


@pytest.fixture
def start() -> Iterator[Start]:
    yield from talks("go")


def opened(start: Start, folder: Path, driver: str = "mattn-sqlite3") -> LineTalk:
    return start(driver, on_sqlite(sqlite_file(folder)))


def test_the_collectors_time_is_told(start: Start, tmp_path: Path) -> None:
    talk = opened(start, tmp_path)
    phase = {"name": "x", "kind": "query", "sql": "SELECT k, v FROM t", "columns": [K, V]}
    talk.ask("prepare", phase=phase, parameters=None)
    for _ in range(30):
        sampled = talk.sample("x", duration_ns=300_000_000)
        if sampled["collections"] and sampled["collector_ns"]:
            break
    assert sampled["collections"] > 0
    assert 0 < sampled["collector_ns"] < 2 * sampled["window_ns"]


def test_what_decides_about_the_runtime_is_told(start: Start, tmp_path: Path) -> None:
    facts = opened(start, tmp_path).ask("facts")
    assert (facts["settings"]["gogc"], facts["settings"]["gomemlimit"]) == ("100", "off")
    assert int(facts["settings"]["gomaxprocs"]) >= 1
    assert facts["runtime"].startswith(go.go_version())
    assert facts["driver_version"] == adapter("go", "mattn-sqlite3").versions[0]


@pytest.mark.parametrize("driver", ["mattn-sqlite3", "modernc-sqlite", "ncruces-sqlite"])
@pytest.mark.parametrize(("behaviour", "words"), [("cancel", "interrupt"), ("timeout", "interrupt")])
def test_stopping_a_long_statement(start: Start, tmp_path: Path, driver: str, behaviour: str, words: str) -> None:
    talk = opened(start, tmp_path, driver)
    reply = talk.ask("interrupt", kind=behaviour, sql=SLOW, after_ms=1_000, most_ms=40_000)
    assert (reply["honoured"], reply["usable"]) == (True, True), reply
    assert any(word in reply["text"] for word in (words, "context"))
    assert reply["took_ns"] >= 1_000_000_000


def test_behaviours_that_are_none(start: Start, tmp_path: Path) -> None:
    talk = opened(start, tmp_path)
    asked = {"sql": "SELECT 1", "after_ms": 5_000, "most_ms": 20_000}
    assert talk.ask("interrupt", kind="dance", **asked)["error"]["kind"] == "unsupported"
    ended = talk.ask("interrupt", kind="timeout", **asked)
    assert (ended["honoured"], ended["usable"], ended["text"]) == (False, True, "the statement came to its own end")


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = adapter("go", "mattn-sqlite3")
    lacking = go.availability(found, "1.0.0")
    assert (lacking.reason, lacking.remedy) == (
        "go mattn-sqlite3 has no version '1.0.0': go.mod pins it",
        f"version={found.versions[0]}",
    )
    monkeypatch.setenv("CC", "no-such-compiler")
    assert "which cgo takes" in go.availability(found, found.versions[0]).reason
    monkeypatch.setattr(go, "go_version", lambda: "go1.19.8")
    assert go.availability(found, found.versions[0]).reason == "go1.19.8 is too old: go.mod wants 1.26"
    monkeypatch.setattr(go, "go", lambda: "")
    lacking = go.availability(found, found.versions[0])
    assert (lacking.ok, lacking.reason) == (False, "Go is missing (no program go)")
    assert "https://go.dev/dl" in lacking.remedy


def test_manifest_and_go_mod_name_the_same_versions() -> None:
    modules = (Path(go.__file__).parent / "go.mod").read_text(encoding="utf-8")
    drivers = [each for each in map(msgspec.structs.asdict, _adapters()) if each["build"].get("module")]
    assert len(drivers) > 4
    for each in drivers:
        assert f"\t{each['build']['module']} v{each['versions'][0]}\n" in modules


def _adapters() -> list[Any]:
    from rowpath.runners.manifest import load_manifest

    return list(load_manifest("go").adapter)
