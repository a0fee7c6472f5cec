"""The suite's engines, one at a time, and the connection of the path that is being tested."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conformance import plugin
from tests.conformance.certificate_servers import Certificates, CertifiedServer
from tests.conformance.selection import project_paths
from tests.engines.life import reaching

from rowpath.checks.conformance.fixture import EngineFixture
from rowpath.checks.conformance.paths import reason_against
from rowpath.checks.conformance.report import opened_fixture
from rowpath.machine import certificates
from rowpath.planning.plan import PlannedPath, key_of

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of one engine instance stand together, so that it is started once."""
    places = [place for place, item in enumerate(items) if HERE in item.path.parents]
    groups: dict[object, list[pytest.Item]] = {}
    for item in (items[place] for place in places):
        callspec = getattr(item, "callspec", None)
        path = callspec.params.get("planned") if callspec else None
        groups.setdefault(key_of(path.path) if path else None, []).append(item)
    for place, item in zip(places, itertools.chain.from_iterable(groups.values()), strict=True):
        items[place] = item


@pytest.fixture(scope="session")
def fixture() -> Iterator[EngineFixture]:
    """Everything is stopped and removed at the end."""
    with opened_fixture(project_paths()) as suite:
        yield suite


@pytest.fixture
def planned(request: pytest.FixtureRequest) -> PlannedPath:
    """The path, by indirect parameter; skipped where it cannot run here."""
    path: PlannedPath = request.param
    if reason := reason_against(path):
        pytest.skip(reason)
    return path


@pytest.fixture
def seen(planned: PlannedPath) -> dict[str, Any]:
    """What the suite saw on this path so far."""
    empty: dict[str, Any] = {
        "adapter": plugin.adapter_of(planned),
        "checks": {},
        "behaviours": {},
        "types": {},
        "syncs": {},
    }
    return plugin.OBSERVED.setdefault(planned.name, empty)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    if problem := certificates.problem():
        pytest.skip(problem)
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory, made: Certificates) -> Iterator[Callable[[str], CertifiedServer]]:
    """One server of each engine, started when it is asked for."""
    running: dict[str, CertifiedServer] = {}

    def of(engine: str) -> CertifiedServer:
        if engine not in running:
            folder = tmp_path_factory.mktemp(engine)
            for parent in reaching(folder):
                parent.chmod(0o755)
            running[engine] = CertifiedServer(engine, folder, made)
        return running[engine]

    yield of
    for each in running.values():
        each.stop()
