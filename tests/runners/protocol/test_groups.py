"""Groups of clients in C, C#, Go and Rust: on no engine, on SQLite in its own process, on a PostgreSQL server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rowpath.engines import ENGINES
from rowpath.runners import manifest
from tests.runners.protocol import group_cases
from tests.runners.protocol.group_cases import Case
from tests.runners.protocol.group_talk import Subject, subject
from tests.runners.protocol.talk import adapter

DRIVERS = {
    ("c", "sqlite"): "sqlite",
    ("c", "libpq"): "postgresql",
    ("csharp", "mono-data-sqlite"): "sqlite",
    ("csharp", "ado-psqlodbc"): "postgresql",
    ("go", "mattn-sqlite3"): "sqlite",
    ("go", "pgx"): "postgresql",
    ("rust", "rusqlite"): "sqlite",
    ("rust", "tokio-postgres"): "postgresql",
}


def skip_without(language: str, driver: str) -> None:
    """Skip the test where this adapter cannot be built."""
    found = adapter(language, driver)
    there = manifest.availability(found, found.versions[0])
    if not there.ok:
        pytest.skip(there.reason)


@pytest.fixture(scope="module", params=dict.fromkeys(language for language, _driver in DRIVERS))
def null(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    skip_without(request.param, "null")
    with subject(request.param, "null", tmp_path_factory.mktemp("null")) as ready:
        yield ready


@pytest.fixture(scope="module", params=DRIVERS, ids="-".join)
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    language, driver = request.param
    skip_without(language, driver)
    available = ENGINES[DRIVERS[request.param]].availability()
    if not available.ok:
        pytest.skip(available.reason)
    with subject(language, driver, tmp_path_factory.mktemp(driver)) as ready:
        yield ready


@pytest.mark.parametrize("case", group_cases.NULL, ids=group_cases.name_of)
def test_on_no_engine(null: Subject, case: Case) -> None:
    case(null)


@pytest.mark.parametrize("case", group_cases.LEDGER, ids=group_cases.name_of)
def test_on_an_engine(engine: Subject, case: Case) -> None:
    case(engine)
