"""One runner process serves all paths of its command, one connection at a time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rowpath.checks.conformance.fixture import EngineFixture
from rowpath.checks.conformance.paths import planned
from rowpath.checks.conformance.report import opened_fixture
from rowpath.planning.plan import PlannedPath
from rowpath.runners import manifest

PYTHON = {adapter.driver: adapter for adapter in manifest.load_manifest("python").adapter}


def paths_of(driver: str) -> tuple[PlannedPath, ...]:
    adapter = PYTHON[driver]
    return tuple(planned(adapter, "values", {"engine": adapter.engines[:1]}))


@pytest.fixture(name="sqlite", scope="module")
def engine_fixture() -> Iterator[EngineFixture]:
    with opened_fixture(paths_of("sqlite3")) as fixture:
        yield fixture


def test_the_next_path_is_opened_in_the_same_process(sqlite: EngineFixture) -> None:
    workers = [sqlite.connected(path) for path in paths_of("sqlite3")]
    assert len(workers) > 3
    assert len({worker.runner.pid for worker in workers}) == 1


def test_checks_that_follow_one_another_share_the_connection(sqlite: EngineFixture) -> None:
    path = paths_of("sqlite3")[0]
    assert sqlite.connected(path) is sqlite.connected(path)
    assert sqlite.connected(path, clients=2) is not sqlite.connected(path)


def test_a_process_that_is_gone_is_replaced(sqlite: EngineFixture) -> None:
    path = paths_of("sqlite3")[0]
    lost = sqlite.connected(path)
    lost.runner.kill()
    assert sqlite.connected(path).runner.pid != lost.runner.pid
    assert sqlite.connected(path).facts()["driver_version"]


def test_an_exclusive_process_is_the_only_one(sqlite: EngineFixture) -> None:
    path = paths_of("sqlite3")[0]
    shared = sqlite.connected(path)
    worker = sqlite.exclusive(path)
    try:
        assert not shared.runner.alive()
        assert worker.runner.alive()
    finally:
        worker.close()


def test_a_pool_of_threads_that_a_process_makes_once_has_a_process_of_its_own() -> None:
    default, *others = paths_of("polars")
    more = next(path for path in others if path.path.get("threads") != default.path.get("threads"))
    with opened_fixture((default, more)) as fixture:
        pids = {fixture.connected(path).runner.pid for path in (default, more)}
    assert len(pids) == 2
