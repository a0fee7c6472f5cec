"""Derby: one loader for both deployments; the server's start, login, stop and death."""

from __future__ import annotations

import os
import signal
import socket
import stat
from pathlib import Path

import pytest

from rowpath.engines.derby import ENGINE
from rowpath.engines.jvm_engine import JvmServer, connected
from rowpath.engines.load_through_runner import run
from rowpath.errors import RowpathError, UsageError
from rowpath.model.path import AccessPath
from rowpath.workloads.workload_file import load_workload
from tests.engines.insides import files_of
from tests.engines.life import kill_the_controller, loaded, place
from tests.waiting import gone

pytestmark = pytest.mark.skipif(not ENGINE.availability().ok, reason=ENGINE.availability().reason)
ANY_PATH = AccessPath.of({"engine": "derby"})


def test_embedded_copies_are_identical_and_can_be_opened(tmp_path: Path) -> None:
    instance = ENGINE.instance("embedded", "full", place(tmp_path))
    instance.start()
    instance.load(loaded(load_workload("tab1")))
    assert instance.check()
    other = AccessPath.of({"engine": "derby", "statement": "text"})
    for path in (ANY_PATH, other):
        instance.own_copy(path)
    first, second = (Path(instance.options(path)["path"]) for path in (ANY_PATH, other))
    assert first != second
    files = sorted(file.relative_to(first) for file in first.rglob("*") if file.is_file())
    assert files
    assert all((first / file).read_bytes() == (second / file).read_bytes() for file in files)
    with connected(ENGINE, {"deployment": "embedded", "path": str(first)}) as runner:
        run(
            runner,
            ["INSERT INTO tab1 (c2, c3, c4, c5, c6) VALUES ('a', 'b', 'c', 'd', 1)", *ENGINE.settle_statements()],
        )
        with pytest.raises(RowpathError), connected(ENGINE, {"deployment": "embedded", "path": str(first)}):
            pass
    assert not (first / "db.lck").exists()
    assert not (Path.cwd() / "derby.log").exists()


def test_server_life(tmp_path: Path) -> None:
    instance = ENGINE.instance("server", "full", place(tmp_path))
    assert isinstance(instance, JvmServer)
    instance.start()
    try:
        tables = loaded(load_workload("keyed"))
        instance.load(tables)
        options = instance.options(ANY_PATH)
        pids = instance.pids()
        assert os.sched_getaffinity(pids[0]) == {max(os.sched_getaffinity(0))}
        assert not any(secret in Path(f"/proc/{pids[0]}/cmdline").read_text() for secret in instance.secrets())
        properties = files_of(instance) / "derby.properties"
        assert stat.S_IMODE(properties.stat().st_mode) == 0o600
        with pytest.raises(RowpathError, match="authentication failure"):
            _connect(options | {"password": "wrong"})
        settled = instance.settle(ANY_PATH)  # logs in with the right one
        assert settled.ns > 0
        assert settled.bytes_written is not None
        instance.load(tables)  # the server has the database open and must step aside
        assert instance.check()
        os.kill(instance.pids()[0], signal.SIGKILL)
        assert gone(pids)
        assert not instance.check()
        instance.start()
        assert instance.check()
        _connect(instance.options(ANY_PATH))
        pids = instance.pids()
    finally:
        instance.stop()
    assert gone(pids)


def test_a_port_that_was_asked_for_and_is_taken(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        instance = ENGINE.instance("server", "full", place(tmp_path, port))
        with pytest.raises(UsageError, match=f"port {port} of 127.0.0.1 is in use"):
            instance.start()
        instance.stop()


def test_nothing_survives_the_controller(tmp_path: Path) -> None:
    assert gone(kill_the_controller("derby", tmp_path))


def _connect(options: dict[str, object]) -> None:
    with connected(ENGINE, {"deployment": "server", **options}) as runner:
        run(runner, ["UPDATE mydata2 SET data1 = data1 WHERE key1 = '0000000001'"])
