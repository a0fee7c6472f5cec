"""Data directories for MariaDB's library: the bytes that servers begin with, one copy a path, one process at a time."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath.engines.base import Place
from rowpath.engines.mariadb import MariadbDirectory, template_directory
from rowpath.engines.mariadb.server import MariadbServer
from rowpath.errors import RowpathError
from rowpath.model.path import AccessPath
from tests.engines.insides import data_of
from tests.engines.mariadb_life import ANY_PATH, engine_of, logged_in, tables_of

LOADED = ("keyed", "tab1", "types")
HOLDER = """
import fcntl, sys, time
file = open(sys.argv[1], "r+")
fcntl.lockf(file, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(600)
"""


def pair(folder: Path, storage: str) -> tuple[MariadbServer, MariadbDirectory]:
    """A server and a directory of the same run, not yet started."""
    engine = engine_of("mariadb")
    found = []
    for deployment in ("server", "embedded"):
        here = folder / f"mariadb-{deployment}"
        durability = engine.durabilities_of(storage)[0]
        found.append(engine.instance(deployment, durability, Place(here, here, (), storage=storage)))
    server, directory = found
    assert isinstance(server, MariadbServer)
    assert isinstance(directory, MariadbDirectory)
    return server, directory


def digests(folder: Path) -> dict[str, str]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): hashlib.blake2s(file.read_bytes()).hexdigest() for file in files}


@contextlib.contextmanager
def at_the_start_of(server: MariadbServer) -> Iterator[list[dict[str, str]]]:
    """What the server's directory held each time that it was started."""
    seen: list[dict[str, str]] = []
    start = server.start

    def watched() -> None:
        if server.home() is not None:
            server.stop()
            seen.append(digests(data_of(server)))
        start()

    server.start = watched  # type: ignore[method-assign]
    yield seen
    server.stop()


# Who loads first is one decision for all storages: both ways for one of them.
@pytest.mark.parametrize(
    ("storage", "first"),
    [("innodb", "server"), ("innodb", "embedded"), ("myisam", "embedded"), ("aria", "server")],
)
def test_servers_and_the_library_begin_with_the_same_bytes(tmp_path: Path, storage: str, first: str) -> None:
    server, directory = pair(tmp_path, storage)
    tables = tables_of(engine_of("mariadb"), *LOADED)
    with at_the_start_of(server) as seen:
        directory.start()
        if first == "embedded":
            directory.load(tables)
        server.start()
        server.load(tables)
        if first == "server":
            directory.load(tables)
        paths = [AccessPath.of({"engine": "mariadb", "deployment": "embedded", "statement": each}) for each in "ab"]
        copies = []
        for path in paths:
            directory.own_copy(path)
            copies.append(Path(directory.options(path)["path"]))
        assert copies[0] != copies[1]
        assert digests(copies[0]) == digests(copies[1]) == seen[-1]
        assert directory.check()
        with logged_in(server) as runner:
            assert runner.ask("SELECT count(*) FROM tab1;") == [["10000"]]
    assert not list(tmp_path.glob("*-loading/mariadb/data")), "what only loaded keeps its seed alone"


def test_other_tables_are_loaded_beside_the_first(tmp_path: Path) -> None:
    _, directory = pair(tmp_path, "myisam")
    engine = engine_of("mariadb")
    directory.start()
    directory.load(tables_of(engine, "keyed"))
    directory.load(tables_of(engine, "types"))
    directory.own_copy(ANY_PATH)
    kept = {file.name for file in (Path(directory.options(ANY_PATH)["path"]) / "rowpath").glob("*.MYD")}
    assert {"mydata2.MYD", "types.MYD"} <= kept


def test_the_library_gets_the_servers_settings(tmp_path: Path) -> None:
    engine = engine_of("mariadb")
    told = {}
    for storage in engine.storages:
        directory = engine.instance("embedded", "none", Place(tmp_path, tmp_path, (), storage=storage))
        directory.start()
        options = directory.options(ANY_PATH)
        assert options["storage"] == storage
        told[storage] = options["server_arguments"].split("\n")
        assert told[storage][0] == "--no-defaults"
        for needed in ("datadir", "lc-messages-dir", "character-sets-dir", "plugin-dir", "innodb-buffer-pool-size"):
            assert any(each.startswith(f"--{needed}=") for each in told[storage])
    assert "--default-storage-engine=MyISAM" in told["myisam"]
    (file,) = (each.partition("=")[2] for each in told["aria"] if each.startswith("--init-file="))
    assert Path(file).read_text() == "SET GLOBAL aria_group_commit = 'soft';\n"
    assert not any(each.startswith("--init-file=") for each in told["innodb"])


@pytest.mark.parametrize("name", template_directory.LOCKED)
def test_whose_a_directory_is(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    template_directory.refuse_two(tmp_path)
    other = subprocess.Popen([sys.executable, "-c", HOLDER, tmp_path / name], stdout=subprocess.PIPE)
    assert other.stdout is not None
    try:
        other.stdout.readline()
        assert template_directory.holder(tmp_path) == other.pid
        with pytest.raises(RowpathError, match=f"in use by process {other.pid}") as caught:
            template_directory.refuse_two(tmp_path)
        assert str(other.pid) in caught.value.hint
    finally:
        other.kill()
        other.wait()
        other.stdout.close()
    assert template_directory.holder(tmp_path) is None
    shutil.rmtree(tmp_path)
    assert template_directory.holder(tmp_path) is None
