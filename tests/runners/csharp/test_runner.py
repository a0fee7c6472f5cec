"""What the C# runner alone does: its collector, stopping a statement in Mono's drivers, and what it misses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.errors import UsageError
from rowpath.runners.manifest import Adapter, toolchain
from tests.runners.protocol.talk import K, LineTalk, Start, V, adapter, on_sqlite, sqlite_file, talks

csharp: Any = toolchain("csharp")
pytestmark = pytest.mark.skipif(csharp.tools_problem() is not None, reason="no Mono")


@pytest.fixture
def start() -> Iterator[Start]:
    yield from talks("csharp")


def opened(start: Start, driver: str, folder: Path) -> LineTalk:
    found = csharp.availability(adapter("csharp", driver), "system")
    if not found.ok:
        pytest.skip(found.reason)
    return start(driver, on_sqlite(sqlite_file(folder)))


def test_more_columns_than_declared(start: Start, tmp_path: Path) -> None:
    talk = opened(start, "mono-data-sqlite", tmp_path)
    phase = {"name": "x", "kind": "query", "sql": "SELECT k, v FROM t", "columns": [K]}
    talk.ask("prepare", phase=phase, parameters=None)
    error = talk.ask("verify", phase="x", first=0, count=1)["error"]
    assert (error["kind"], "2 columns where 1 are declared" in error["text"]) == ("verify", True), error


def test_collections_are_counted(start: Start, tmp_path: Path) -> None:
    talk = opened(start, "mono-data-sqlite", tmp_path)
    phase = {"name": "x", "kind": "query", "sql": "SELECT k, v FROM t", "columns": [K, V]}
    talk.ask("prepare", phase=phase, parameters=None)
    for _ in range(30):
        sampled = talk.sample("x", duration_ns=300_000_000)
        if sampled["collections"]:
            break
    assert sampled["collections"] > 0
    assert sampled["collector_ns"] == 0


@pytest.mark.parametrize(
    ("driver", "behaviour", "honoured", "words"),
    [
        ("ado-libsqliteodbc", "cancel", True, "interrupted"),
        ("ado-libsqliteodbc", "timeout", False, "went on"),  # the driver takes a timeout and forgets it
        ("mono-data-sqlite", "cancel", False, "went on"),  # its Cancel is empty
    ],
)
def test_stopping_a_long_statement_as_observed(
    start: Start, tmp_path: Path, driver: str, behaviour: str, honoured: bool, words: str
) -> None:
    talk = opened(start, driver, tmp_path)
    slow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1e12) SELECT count(*) FROM n"
    reply = talk.ask("interrupt", kind=behaviour, sql=slow, after_ms=1_000, most_ms=40_000 if honoured else 3_000)
    assert (reply["honoured"], reply["usable"]) == (honoured, honoured), reply
    assert words in reply["text"]
    assert reply["took_ns"] >= 1_000_000_000


def test_behaviours_that_are_none(start: Start, tmp_path: Path) -> None:
    talk = opened(start, "mono-data-sqlite", tmp_path)
    asked = {"sql": "SELECT 1", "after_ms": 100, "most_ms": 2_000}
    assert talk.ask("interrupt", kind="dance", **asked)["error"]["kind"] == "unsupported"
    ended = talk.ask("interrupt", kind="timeout", **asked)
    assert (ended["honoured"], ended["usable"], ended["text"]) == (False, True, "the statement came to its own end")


def fewer(found: Adapter, **changed: Any) -> Adapter:
    return msgspec.structs.replace(found, build=found.build | changed)


def test_an_unknown_family_is_named() -> None:
    with pytest.raises(UsageError, match="no sources in runners/csharp/families/nowhere"):
        csharp.build([(fewer(adapter("csharp", "null"), families=["nowhere"]), "bundled")])


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = adapter("csharp", "ado-psqlodbc")
    monkeypatch.setattr(csharp, "assembly_file", lambda name: None)
    lacking = csharp.availability(found, "system")
    assert (lacking.ok, lacking.remedy) == (False, "apt-get install libmono-system-core4.0-cil")
    monkeypatch.setattr(csharp, "assembly_file", lambda name: Path("/x.dll"))
    lacking = csharp.availability(fewer(found, libraries={"libnowhere.so.1": "libnowhere1"}), "system")
    assert (lacking.reason, lacking.remedy) == (
        "the library libnowhere.so.1 is missing",
        "apt-get install libnowhere1",
    )
    odbc = {"file": "odbc/nowhere.so", "package": "odbc-nowhere"}
    lacking = csharp.availability(fewer(found, odbc=odbc, libraries={}), "system")
    assert (lacking.reason, lacking.remedy) == (
        "the ODBC driver odbc/nowhere.so is missing",
        "apt-get install odbc-nowhere",
    )
    assert "/no/such.so is missing" in csharp.availability(fewer(found, libraries={}), "/no/such.so").reason
    monkeypatch.setattr("shutil.which", lambda name: None)
    lacking = csharp.availability(found, "system")
    assert (lacking.ok, lacking.remedy) == (False, "apt-get install mono-runtime mono-mcs")
    assert "Mono is missing" in lacking.reason
