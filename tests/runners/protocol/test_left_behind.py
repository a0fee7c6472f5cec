"""What a driver writes outside our directories by itself: it is gone when its runner has ended."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath.engines.base import Instance
from rowpath.execution.worker import Worker
from rowpath.planning.plan import PlannedPath
from rowpath.planning.selection import lattice
from rowpath.runners import manifest
from tests.runners.c.talk import started

ABOVE_PSQLODBC = [("c", "psqlodbc"), ("csharp", "ado-psqlodbc"), ("python", "arrow-odbc"), ("python", "pyodbc")]


@pytest.fixture(scope="module")
def postgresql() -> Iterator[Instance]:
    with started("postgresql") as instance:
        yield instance


@pytest.mark.parametrize(("language", "driver"), ABOVE_PSQLODBC)
def test_psqlodbc_leaves_no_log(language: str, driver: str, postgresql: Instance) -> None:
    adapter = manifest.adapter_of(language, driver)
    path = lattice(adapter, {"engine": ("postgresql",), "tls": ("off",)})[0]
    if not (here := manifest.availability(adapter, path.version, path)).ok:
        pytest.skip(here.reason)
    manifest.build([(adapter, path.version)], paths=[path])
    worker = Worker(PlannedPath(path, adapter, (), driver), postgresql, log=lambda _line: None, timeout_s=60.0)
    worker.open()
    worker.disconnect()
    pid = worker.runner.pid
    if language != "csharp":  # Mono disconnects as it ends
        assert list(Path("/tmp").glob(f"psqlodbc_*{pid}.log"))
    worker.close()
    assert not list(Path("/tmp").glob(f"psqlodbc_*{pid}.log"))
