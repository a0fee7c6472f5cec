"""Which drivers take part in a probe, without a database: those that are only named, those of which a part is here."""

from __future__ import annotations

import pytest

from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.model.workload import Phase
from rowpath.own_database.candidates import Candidates, Wanted, candidates
from rowpath.runners.manifest import Adapter, every_adapter

QUERY = Phase("query", "query", "SELECT 1")


def drivers_of(found: Candidates) -> set[str]:
    return {planned.adapter.driver for planned in found.paths}


def test_a_driver_with_forms_of_its_own_takes_part_only_where_it_is_named() -> None:
    only_named = {each.driver for each in every_adapter() if each.only_named}
    flight = {"adbc-flightsql", "arrow-go-flightsql", "flight-sql-jdbc"}
    assert only_named == flight | {"arrow-odbc", "pandas", "polars-database", "psqlpy", "pyodbc"}
    assert not only_named & drivers_of(candidates(Wanted("postgresql", "server", QUERY, languages=("python",))))
    assert drivers_of(candidates(Wanted("postgresql", "server", QUERY, drivers=("pandas",)))) == {"pandas"}
    mine = candidates(Wanted("postgresql", "server", QUERY, drivers=("libpq",), mine="pandas,through=psycopg2"))
    assert drivers_of(mine) == {"libpq", "pandas"}


def test_an_implementation_that_is_not_here_is_dropped_and_the_others_are_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def here(adapter: Adapter, version: str, path: AccessPath) -> Availability:
        there = path.get("implementation") != "python"
        return Availability(there, adapter.driver, "" if there else "no libpq", "" if there else "fetch it")

    monkeypatch.setattr("rowpath.own_database.candidates.availability", here)
    found = candidates(Wanted("postgresql", "server", QUERY, drivers=("psycopg",)))
    assert {planned.path.get("implementation") for planned in found.paths} == {"binary"}  # `c` has another version
    (dropped,) = [each for each in found.dropped if each.path.get("implementation") == "python"]
    assert (dropped.reason, dropped.remedy) == ("no libpq", "fetch it")


@pytest.fixture
def everything_here(monkeypatch: pytest.MonkeyPatch) -> None:
    here = Availability(True, "")
    monkeypatch.setattr("rowpath.own_database.candidates.availability", lambda _adapter, _version, _path: here)


@pytest.mark.usefixtures("everything_here")
@pytest.mark.parametrize("engine", ["postgresql", "mariadb", "mysql"])
@pytest.mark.parametrize("tls", ["off", "on", "verify-ca", "verify-full"])
def test_every_driver_takes_part_or_is_left_out_with_a_reason(engine: str, tls: str) -> None:
    found = candidates(Wanted(engine, "server", QUERY, tls=tls))
    here = {planned.adapter.driver for planned in found.paths} | {floor.adapter.driver for floor in found.floors}
    out = {dropped.path.driver for dropped in found.dropped if dropped.reason}
    fitting = {
        adapter.driver
        for adapter in every_adapter()
        if engine in adapter.engines and "server" in adapter.deployments and not adapter.only_named
    }
    assert fitting - here - out == set()


@pytest.mark.usefixtures("everything_here")
def test_a_way_of_loading_keeps_no_driver_from_a_query() -> None:
    found = candidates(Wanted("mariadb", "server", QUERY, tls="on", languages=("rust",), drivers=("mysql",)))
    assert {planned.path.get("bulk") for planned in found.paths} == {"load-data"}
