"""What the tests of the MySQL family share: a server of one engine and storage, a client with the runners' login."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.mariadb import Mariadb
from rowpath.engines.mariadb.programs import Console
from rowpath.engines.mariadb.server import MariadbServer
from rowpath.machine import private_directories
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table
from rowpath.workloads.workload_file import for_engine, load_workload
from tests.engines.insides import client_of, files_of
from tests.engines.life import place

ANY_PATH = AccessPath.of({"engine": "mariadb"})


def engine_of(name: str) -> Mariadb:
    engine = ENGINES[name]
    assert isinstance(engine, Mariadb)
    if not engine.availability().ok:
        pytest.skip(engine.availability().reason)
    return engine


def tables_of(engine: Mariadb, *names: str) -> dict[str, Table]:
    """Every table of these workloads as far as the engine has their types; `types` has all of those."""
    return {
        name: table
        for workload in names
        for name, table in for_engine(load_workload(workload), engine.supports)[0].tables.items()
    }


def made(name: str, folder: Path, storage: str, durability: str = "", port: int = 0) -> MariadbServer:
    engine = engine_of(name)
    here = place(folder, port)
    here.storage = storage
    server = engine.instance("server", durability or engine.durabilities_of(storage)[0], here)
    assert isinstance(server, MariadbServer)
    return server


@contextlib.contextmanager
def logged_in(server: MariadbServer, tcp: bool = False) -> Iterator[Console]:
    """The runners' own login."""
    options = server.options(ANY_PATH)
    where = [f'socket="{options["socket"]}"', "protocol=socket"]
    if tcp:
        where = [f"host={options['host']}", f"port={options['port']}", "protocol=tcp"]
    login = files_of(server) / "runner.cnf"
    lines = ["[client]", f"user={options['user']}", f'password="{options["password"]}"', *where]
    private_directories.write_private(login, "\n".join([*lines, f"database={options['database']}", "[mariadb]", ""]))
    console = Console(client_of(server), login)
    try:
        yield console
    finally:
        console.close()
