"""Groups of clients in every language but Java: on no engine, on one in its own process, on a PostgreSQL server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from rowpath.engines import ENGINES
from rowpath.runners import manifest, protocol
from rowpath.runners.process import RunnerFailure
from tests.runners.protocol import group_cases as cases
from tests.runners.protocol import shared_cases
from tests.runners.protocol.group_cases import LEDGER, NULL, Case
from tests.runners.protocol.group_talk import NOTHING, Group, Subject, subject
from tests.runners.protocol.talk import adapter
from tests.waiting import PATIENCE_S

LANGUAGES = tuple(name for name in manifest.languages() if name != "java")  # its groups have tests beside its own


class On(NamedTuple):
    """A path, and what it is held to."""

    language: str
    driver: str
    coordinates: dict[str, str] = {}
    cases: tuple[Case, ...] = LEDGER


UNIX = {"transport": "unix"}
PROCESSES = {"transport": "unix", "concurrency": "processes"}
SOME = (cases.reads_and_writes, cases.regions, cases.failures, cases.killed)
FEW = (cases.reads_and_writes, cases.failures, cases.killed)
# Groups are a runner's core: one path of each language is held to every case; tasks, processes, servers and other
# drivers to what they do in a way of their own.
PATHS = {
    "c-sqlite": On("c", "sqlite", {}, (*LEDGER, *shared_cases.LEDGER)),
    "c-libpq": On("c", "libpq", {}, FEW),
    "csharp-mono-data-sqlite": On("csharp", "mono-data-sqlite"),
    "csharp-ado-psqlodbc": On("csharp", "ado-psqlodbc", {}, FEW),
    "go-mattn-sqlite3": On("go", "mattn-sqlite3"),
    "go-pgx": On("go", "pgx", {}, FEW),
    "node-better-sqlite3": On("node", "better-sqlite3"),
    "node-node-sqlite": On("node", "node-sqlite", {}, FEW),
    "node-pg": On("node", "pg", UNIX, SOME),
    "python-sqlite3": On("python", "sqlite3", {}, (*LEDGER, *shared_cases.LEDGER)),
    "python-psycopg": On("python", "psycopg", UNIX, FEW),
    "python-processes": On("python", "psycopg", PROCESSES, (cases.reads_and_writes, cases.regions, cases.killed)),
    "python-tasks": On(
        "python", "asyncpg", UNIX, (cases.reads_and_writes, cases.failures, cases.regions, *shared_cases.LEDGER)
    ),
    "python-duckdb": On("python", "duckdb", {}, (cases.reads_and_writes, cases.killed, cases.keep)),
    "rust-rusqlite": On("rust", "rusqlite"),
    "rust-tokio-postgres": On("rust", "tokio-postgres", {}, FEW),
}
PAIRS = [(name, case) for name, path in PATHS.items() for case in path.cases]


def skip_without(language: str, driver: str) -> None:
    """Skip the test where this adapter cannot be built or its engine cannot run."""
    found = adapter(language, driver)
    for there in (manifest.availability(found, found.versions[0]), ENGINES[found.engines[0]].availability()):
        if not there.ok:
            pytest.skip(there.reason)


@pytest.fixture(scope="module", params=LANGUAGES)
def null(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    skip_without(request.param, "null")
    with subject(request.param, "null", tmp_path_factory.mktemp("null")) as ready:
        yield ready


@pytest.fixture(scope="module")
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    """The path of that name, its engine started once for all of its cases."""
    language, driver, coordinates, _cases = PATHS[request.param]
    skip_without(language, driver)
    with subject(language, driver, tmp_path_factory.mktemp(driver), **coordinates) as ready:
        yield ready


@pytest.mark.parametrize("case", NULL, ids=cases.name_of)
def test_on_no_engine(null: Subject, case: Case) -> None:
    case(null)


@pytest.mark.parametrize("case", shared_cases.NULL, ids=cases.name_of)
def test_shared_dispatch(null: Subject, case: Case) -> None:
    """A runner that does not have it refuses it."""
    if manifest.language(null.adapter.language).shared_dispatch:
        case(null)
        return
    with null.talk(clients=2) as talk:
        talk.prepare_nothing()
        with pytest.raises(RunnerFailure) as refused, talk.groups(Group(NOTHING, dispatch="shared", population=2)):
            pass
        assert refused.value.kind == "unsupported"


def test_bye_ends_a_runner_whose_groups_are_at_work(null: Subject) -> None:
    with null.talk(clients=2) as talk:
        talk.prepare_nothing()
        with talk.groups(Group(NOTHING, clients=2)) as working:
            working.begin()
            talk.ask(protocol.Bye, protocol.Reply)
            assert talk.runner.process.wait(timeout=PATIENCE_S) == 0


@pytest.mark.parametrize(
    ("path", "case"), PAIRS, ids=[f"{name}-{cases.name_of(case)}" for name, case in PAIRS], indirect=["path"]
)
def test_on_an_engine(path: Subject, case: Case) -> None:
    case(path)
