"""Groups of clients of the Rust runner: on no engine, on SQLite in its own process, on a PostgreSQL server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rowpath.engines import ENGINES
from rowpath.runners.manifest import toolchain
from tests.runners.protocol import group_cases
from tests.runners.protocol.group_cases import Case
from tests.runners.protocol.group_talk import Subject, subject

rust: Any = toolchain("rust")
pytestmark = pytest.mark.skipif(rust._tools_problem() is not None, reason="no Rust")
DRIVERS = {"rusqlite": "sqlite", "tokio-postgres": "postgresql"}


@pytest.fixture(scope="module")
def null(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    with subject("rust", "null", tmp_path_factory.mktemp("null")) as ready:
        yield ready


@pytest.fixture(scope="module", params=DRIVERS)
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    available = ENGINES[DRIVERS[request.param]].availability()
    if not available.ok:
        pytest.skip(available.reason)
    with subject("rust", request.param, tmp_path_factory.mktemp(request.param)) as ready:
        yield ready


@pytest.mark.parametrize("case", group_cases.NULL, ids=group_cases.name_of)
def test_on_no_engine(null: Subject, case: Case) -> None:
    case(null)


@pytest.mark.parametrize("case", group_cases.LEDGER, ids=group_cases.name_of)
def test_on_an_engine(engine: Subject, case: Case) -> None:
    case(engine)
