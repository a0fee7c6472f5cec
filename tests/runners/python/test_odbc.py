"""pyodbc and arrow-odbc over the system's ODBC drivers, against the controller's expected rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines import ENGINES
from rowpath.model.path import AccessPath
from rowpath.runners.manifest import toolchain
from rowpath.runners.process import RunnerFailure
from rowpath.workloads import workload_file
from tests.runners.python.engines import postgresql_fixture, sqlite_file_fixture, sqlite_loaded_fixture  # noqa: F401
from tests.runners.python.talk import ADAPTERS, Talk, kept_fixture, living_fixture, start_fixture  # noqa: F401
from tests.runners.python.test_adapters import EVERY_WORKLOAD, SOME_WORKLOADS, check_every_phase

python: Any = toolchain("python")


@pytest.mark.parametrize(
    ("statement", "fetch", "result", "profile"),
    [
        ("prepared", "row", "whole", "tuned"),
        ("bound", "block:100", "cursor:1000", "tuned"),
        ("text", "row", "whole", "tuned"),
        ("prepared", "row", "whole", "shipped"),
    ],
)
def test_pyodbc_postgresql(
    kept: Callable[..., Talk], postgresql: dict[str, Any], statement: str, fetch: str, result: str, profile: str
) -> None:
    needs_odbc("pyodbc", "postgresql")
    talk = kept("pyodbc", engine="postgresql")
    options = {**postgresql, "engine": "postgresql", "statement": statement, "fetch": fetch, "result": result}
    options |= {"profile": profile, "transport": "unix", "tls": "off"}
    with pytest.raises(RunnerFailure) as caught:
        talk.open(**options | {"password": "wr{on};g"})
    assert caught.value.kind == "connect"
    assert "wr{on" not in caught.value.text
    assert Path(f"/proc/{talk.open(**options).server_pid}").exists()
    check_every_phase(talk, ENGINES["postgresql"], EVERY_WORKLOAD if profile == "shipped" else SOME_WORKLOADS)
    facts = talk.facts()
    assert facts.driver_version == ADAPTERS["pyodbc"].versions[0]
    assert facts.libraries["odbc driver"].startswith("psqlodbcw.so")
    assert facts.settings["autocommit"] == ("off" if profile == "shipped" else "on")
    assert (facts.settings["tls"], facts.settings["TimeZone"]) == ("off", "UTC")
    scan = workload_file.load_workload("scan")
    with pytest.raises(RunnerFailure) as caught:
        talk.verify(talk.prepare(scan, scan.phases[0], "SELECT * FROM nowhere"))
    assert (caught.value.kind, caught.value.code) == ("sql", "42P01")


@pytest.mark.parametrize("result", ["whole", "single-row"])
def test_pyodbc_sqlite(kept: Callable[..., Talk], sqlite_file: Path, result: str) -> None:
    needs_odbc("pyodbc", "sqlite")
    talk = kept("pyodbc", engine="sqlite")
    talk.open(engine="sqlite", path=str(sqlite_file), statement="prepared", result=result, durability="full")
    check_every_phase(talk, ENGINES["sqlite"], ("keyed",))
    settings = talk.facts().settings
    assert (settings["synchronous"], settings["journal_mode"]) == ("FULL", "wal")


@pytest.mark.parametrize(("fetch", "result"), [("columnar", "chunked:65535"), ("row", "chunked:1000")])
def test_arrow_odbc_postgresql(kept: Callable[..., Talk], postgresql: dict[str, Any], fetch: str, result: str) -> None:
    needs_odbc("arrow-odbc", "postgresql")
    talk = kept("arrow-odbc", engine="postgresql")
    how = {"statement": "text", "fetch": fetch, "result": result, "transport": "unix", "tls": "off"}
    talk.open(**postgresql, engine="postgresql", **how)
    check_every_phase(talk, ENGINES["postgresql"], ("scan", "aggregate"))
    facts = talk.facts()
    assert facts.driver_version == ADAPTERS["arrow-odbc"].versions[0]
    assert (facts.settings["tls"], facts.settings["TimeZone"]) == ("off", "UTC")


def needs_odbc(driver: str, engine: str) -> None:
    adapter = ADAPTERS[driver]
    here = python.availability(adapter, adapter.versions[0], AccessPath.of({"driver": driver, "engine": engine}))
    if not here.ok:
        pytest.skip(here.reason)


def test_a_missing_odbc_driver_is_said_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = ADAPTERS["pyodbc"]
    here = {"odbc/psqlodbcw.so": None}
    monkeypatch.setattr(python, "system_library", lambda name: here.get(name, Path("/there")))
    for engine, remedy in (("postgresql", "apt-get install odbc-postgresql"), ("sqlite", "")):
        found = python.availability(adapter, adapter.versions[0], AccessPath.of({"engine": engine}))
        assert (found.ok, found.remedy) == (not remedy, remedy)
    assert python.availability(adapter, adapter.versions[0]).ok  # through another engine's driver
