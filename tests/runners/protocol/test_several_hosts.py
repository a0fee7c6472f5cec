"""Adapters that say that they take several hosts: a server behind the second one serves when the first refuses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rowpath.engines.base import Instance
from rowpath.execution.worker import Worker
from rowpath.planning.plan import PlannedPath
from rowpath.planning.selection import lattice
from rowpath.runners import manifest
from tests.runners.c.talk import started

REFUSES = "127.0.0.3"  # servers of ours listen at 127.0.0.1 alone
FOUND = {
    f"{adapter.language}-{adapter.driver}-{engine}": (adapter, engine)
    for adapter in manifest.every_adapter()
    if "any" in adapter.several_hosts
    for engine in adapter.engines
    if engine in ("postgresql", "mariadb")
}


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, Instance]]:
    with started("postgresql") as postgresql, started("mariadb") as mariadb:
        yield {"postgresql": postgresql, "mariadb": mariadb}


@pytest.mark.parametrize(("adapter", "engine"), FOUND.values(), ids=FOUND)
def test_the_second_host_serves(adapter: manifest.Adapter, engine: str, servers: dict[str, Instance]) -> None:
    if not (here := manifest.availability(adapter, adapter.versions[0])).ok:
        pytest.skip(here.reason)
    wanted = {"engine": (engine,), "transport": ("tcp",), "tls": ("off",)}
    path = lattice(adapter, wanted)[0]
    manifest.build([(adapter, path.version)], paths=[path])
    planned = PlannedPath(path, adapter, (), adapter.driver)
    worker = Worker(planned, servers[engine], log=lambda _line: None, timeout_s=60.0)
    try:
        worker.open(host=f"{REFUSES},127.0.0.1")
        worker.disconnect()
    finally:
        worker.close()


def test_libpq_and_its_kin_do() -> None:
    assert {"c-libpq-postgresql", "python-psycopg-postgresql", "java-pgjdbc-postgresql"} <= FOUND.keys()
