"""Groups of clients of the C runner: on no engine, on SQLite in its own process, on a PostgreSQL server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.runners.toolchains import c
from tests.runners.protocol import group_cases
from tests.runners.protocol.group_cases import Case
from tests.runners.protocol.group_talk import NOTHING, Group, Subject, subject

pytestmark = pytest.mark.skipif(shutil.which(c._compiler()[0]) is None, reason="no C compiler")
DRIVERS = {"sqlite": "sqlite", "libpq": "postgresql"}


@pytest.fixture(scope="module")
def null(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    with subject("c", "null", tmp_path_factory.mktemp("null")) as ready:
        yield ready


@pytest.fixture(scope="module", params=DRIVERS)
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    available = ENGINES[DRIVERS[request.param]].availability()
    if not available.ok:
        pytest.skip(available.reason)
    with subject("c", request.param, tmp_path_factory.mktemp(request.param)) as ready:
        yield ready


@pytest.mark.parametrize("case", group_cases.NULL, ids=group_cases.name_of)
def test_on_no_engine(null: Subject, case: Case) -> None:
    case(null)


@pytest.mark.parametrize("case", group_cases.LEDGER, ids=group_cases.name_of)
def test_on_an_engine(engine: Subject, case: Case) -> None:
    case(engine)


def test_over_a_socket(tmp_path: Path) -> None:
    with subject("c", "ping", tmp_path) as ready:
        group_cases.closed_counts(ready)


def test_a_runner_that_is_told_to_end_stops_its_groups(null: Subject) -> None:
    with null.talk(clients=2, stall_ns="20000000", stall_every="1") as talk:
        talk.prepare_nothing()
        with talk.groups(Group(NOTHING, "works"), Group(NOTHING, "pauses", pause_ns=10**12)) as working:
            working.begin()
            working.wait(
                lambda: all(working.shared_counters.snapshot(name, 0).operations for name in ("works", "pauses"))
            )
            talk.runner.stop()
            assert talk.runner.process.returncode == 0
