"""The hosts of these tests, brought up once for all files that use them; each file meets them whole."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath.hosts import setup
from rowpath.machine import postgresql_programs
from rowpath.runners import manifest
from tests.hosts import broken_network, foreign_cluster, lab
from tests.hosts.foreign_cluster import Foreign
from tests.hosts.lab import Lab

# Drivers that are fetched; the last of Python describes a file that is probed.
FETCHED = (("python", "psycopg"), ("python", "psycopg2"), ("python", "pyarrow"), ("java", "pgjdbc"))
LOSSES = ("test_losses.py", "test_network_losses.py")
LONG_FIRST = [
    Path(__file__).with_name(f"test_{name}.py")
    for name in ("foreign_losses", "losses", "network_losses", "foreign_cluster", "run", "probe", "faults", "ssh")
]
EXPERIMENT = """schema_version = 1
name = "{name}"
title = "PostgreSQL and MariaDB over a network"
phases = ["keyed.read", "null.nothing"]

[measure]
sets = {sets}
max_sets = {sets}
rounds = {rounds}
block_ms = 5.0
regimes = ["steady"]
warm_cap_s = 0.5

[[paths]]
name = "null"
[paths.select]
engine = "null"
deployment = "none"
language = "c"
driver = "null"

[[paths]]
[paths.select]
engine = {engines}
deployment = "server"
language = {languages}
driver = {drivers}
transport = "tcp"
"""

# The head of an experiment with client groups on a small library.
LIBRARY = """schema_version = 1
name = "{name}"
title = "{title}"
phases = ["library.read", "library.write"]
scale = {scale}

[measure]
sets = 1
max_sets = 1
warm_cap_s = 0.3

[[paths]]
[paths.select]
engine = "{engine}"
deployment = "server"
language = {language}
driver = {driver}
statement = "prepared"
transport = "tcp"
processes = "shared"
"""
GROUPS = """
[[client_groups]]
name = "readers"
phase = "library.read"
clients = 3
over = "load"

[[client_groups]]
name = "arrivals"
phase = "library.read"
clients = 2
over = "load"
pacing = "poisson"
rate_per_s = 100

[[client_groups]]
name = "writers"
phase = "library.write"
clients = 2
over = "load"

[[client_groups]]
name = "observer"
phase = "library.read"
pacing = "fixed"
rate_per_s = 20

[[stages]]
name = "mixed"
client_groups = ["readers", "writers", "observer"]
seconds = {seconds}

[[stages]]
name = "open loop"
client_groups = ["arrivals"]
seconds = 1.0
"""


CLOSED_LOOP = re.compile(r'(over = "load")$(?!\npacing)', re.MULTILINE)


def load_experiment(
    folder: Path, seconds: float, *, language: str = '"c"', driver: str = '"libpq"', paced: bool = False
) -> str:
    """The file of an experiment with groups over all hosts in the role `load`, and one on the client's host.

    `paced`: no client asks as fast as it can, for tests in which something else happens meanwhile.
    """
    file = folder / "load.toml"
    values = {"name": "load", "title": "Clients of several hosts on one server", "scale": 0.01, "engine": "postgresql"}
    text = (LIBRARY + GROUPS).format(**values, seconds=seconds, language=language, driver=driver)
    if paced:
        text = CLOSED_LOOP.sub(r'\1\npacing = "poisson"\nrate_per_s = 100', text)
    file.write_text(text)
    return str(file)


def experiment(
    folder: Path, name: str, *, sets: int = 1, rounds: int = 3, engines: str = '"postgresql"', languages: str = '"c"'
) -> str:
    """The file of a small experiment."""
    drivers = '["libpq", "psycopg", "pgjdbc", "libmariadb"]'
    values = {"name": name, "sets": sets, "rounds": rounds, "engines": engines, "languages": languages}
    file = folder / f"{name}.toml"
    file.write_text(EXPERIMENT.format(**values, drivers=drivers))
    return str(file)


@pytest.hookimpl(tryfirst=True)  # before what is collected is counted
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Losses take a minute each: only where they are named, or everything is run.

    Long files are first: one that a worker begins last would be left over.
    """
    items.sort(key=lambda item: LONG_FIRST.index(item.path) if item.path in LONG_FIRST else len(LONG_FIRST))
    if config.option.full:
        return
    named = any(name in word for word in config.args for name in LOSSES)
    dropped = [item for item in items if item.path.name in LOSSES and not named]
    config.hook.pytest_deselected(items=dropped)
    items[:] = [item for item in items if item not in dropped]


@functools.cache
def require() -> None:
    """Skip where Ray is not; else fetch what hosts in namespaces need: they reach only each other."""
    if not setup.is_here():
        pytest.skip(f"Ray is not here ({setup.HINT})")
    postgresql_programs.install()
    used = [manifest.adapter_of(*each) for each in FETCHED]
    manifest.build([(adapter, adapter.versions[0]) for adapter in used])


@pytest.fixture(scope="session")
def loopback_of_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Hosts on addresses of the loopback."""
    require()
    with lab.on_loopback(tmp_path_factory.mktemp("hosts")) as hosts:
        yield hosts


@pytest.fixture(scope="module")
def loopback(loopback_of_all: Lab) -> Lab:
    """Hosts on addresses of the loopback, up."""
    broken_network.make_whole(loopback_of_all)
    return loopback_of_all


@pytest.fixture(scope="session")
def namespaces_of_all(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Hosts in namespaces of their own; where there are none, on the loopback: those prove no clocks."""
    require()
    if lab.missing():
        yield request.getfixturevalue("loopback_of_all")
        return
    with lab.in_namespaces(tmp_path_factory.mktemp("hosts")) as hosts:
        yield hosts


@pytest.fixture(scope="module")
def namespaces(namespaces_of_all: Lab) -> Lab:
    """Hosts in namespaces of their own, or on the loopback; up."""
    broken_network.make_whole(namespaces_of_all)
    return namespaces_of_all


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Foreign]:
    """A cluster that others brought up, with a token and TLS."""
    require()
    if why := lab.missing():
        pytest.skip(why)
    with lab.in_namespaces(tmp_path_factory.mktemp("foreign")) as hosts:
        try:
            yield foreign_cluster.up(hosts)
        finally:
            foreign_cluster.down(hosts)
