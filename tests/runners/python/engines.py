"""Real engines for the tests of the Python runner's adapters, loaded with the shipped workloads."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines.base import Place
from rowpath.engines.postgresql import Postgresql
from rowpath.engines.sqlite import Sqlite
from rowpath.model.path import AccessPath
from rowpath.workloads import workload_file
from tests.engines.insides import database_of
from tests.engines.life import reaching

LOADED = ("scan", "keyed", "tab1", "types")


@pytest.fixture(name="sqlite_loaded", scope="module")
def sqlite_loaded_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sqlite")
    engine = Sqlite()
    instance = engine.instance("embedded", "full", Place(folder, folder, (0,)))
    instance.start()
    for name in LOADED:
        workload, _ = workload_file.for_engine(workload_file.load_workload(name), engine.supports)
        instance.load(workload.tables)
    return database_of(instance)


@pytest.fixture(name="sqlite_file")
def sqlite_file_fixture(sqlite_loaded: Path, tmp_path: Path) -> Path:
    own = tmp_path / "own é.sqlite"
    shutil.copy(sqlite_loaded, own)
    return own


@pytest.fixture(name="postgresql", scope="module")
def postgresql_fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    engine = Postgresql()
    if not engine.availability().ok:
        pytest.skip(engine.availability().reason)
    yield from running(tmp_path_factory.mktemp("pg"), LOADED)


def running(folder: Path, names: tuple[str, ...], version: str = "", scale: float = 0) -> Iterator[dict[str, Any]]:
    """What `open` needs of a PostgreSQL server that holds these workloads' tables and is stopped afterwards."""
    engine = Postgresql()
    for parent in reaching(folder):
        parent.chmod(parent.stat().st_mode | 0o055)
    (folder / "s").mkdir(mode=0o777)
    (folder / "s").chmod(0o777)
    (folder / "d").mkdir()
    place = Place(folder / "d", folder / "s", (max(os.sched_getaffinity(0)),), version=version)
    instance = engine.instance("server", "none", place)
    instance.start()
    try:
        for name in names:
            workload, _ = workload_file.for_engine(
                workload_file.at_scale(workload_file.load_workload(name), scale), engine.supports
            )
            instance.load(workload.tables)
        yield instance.options(AccessPath.of({"engine": "postgresql"}))
    finally:
        instance.stop()
