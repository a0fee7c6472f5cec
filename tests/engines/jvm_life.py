"""What every engine written in Java promises, asked of H2 and HSQLDB alike."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

import pytest

from rowpath.engines.jvm_engine import JvmEngine, JvmServer, connected
from rowpath.engines.load_through_runner import run
from rowpath.errors import RowpathError
from rowpath.machine.counters import syncs
from rowpath.model.path import AccessPath
from rowpath.runners.process import Runner
from rowpath.workloads.workload_file import load_workload
from tests.engines.insides import files_of
from tests.engines.life import loaded, place
from tests.waiting import gone

WRITES, BATCHES = 20, 5  # its threads sync now and then; a sync per commit is in every count
TAKEN = r"(?i)unique|primary key"
REFUSED = r"(?i)wrong user|authori[sz]ation"
LISTENING = "0A"  # a socket's state in /proc/net/tcp


def any_path(engine: JvmEngine, **more: str) -> AccessPath:
    return AccessPath.of({"engine": engine.name, **more})


def copies_are_identical_and_can_be_opened(engine: JvmEngine, folder: Path) -> None:
    instance = engine.instance("embedded", engine.durabilities[0], place(folder))
    instance.start()
    instance.load(loaded(load_workload("tab1")))
    assert instance.check()
    one, other = any_path(engine), any_path(engine, statement="text")
    for path in (one, other):
        instance.own_copy(path)
    first, second = (Path(instance.options(path)["path"]).parent for path in (one, other))
    assert first != second
    files = sorted(file.relative_to(first) for file in first.rglob("*") if file.is_file())
    assert files
    assert all((first / file).read_bytes() == (second / file).read_bytes() for file in files)
    options = {"deployment": "embedded", **instance.options(one)}
    with connected(engine, options) as runner:
        # The engine goes on numbering after the rows that were loaded.
        run(runner, ["INSERT INTO tab1 (c2, c3, c4, c5, c6) VALUES ('a', 'b', 'c', 'd', 1)"])
        run(runner, ["DELETE FROM tab1 WHERE c1 < 10001", *engine.settle_statements()])
        with pytest.raises(RowpathError), connected(engine, options):
            pass
    taken = "INSERT INTO tab1 (c1, c2, c3, c4, c5, c6) VALUES (10001, 'a', 'b', 'c', 'd', 1)"
    with pytest.raises(RowpathError, match=TAKEN), connected(engine, options) as runner:
        run(runner, [taken])
    assert not engine.lock_file or not (first / engine.lock_file).exists()


def server_life(engine: JvmEngine, folder: Path) -> int:
    """A server of the highest durability from its start to its end; its syncs for 20 commits, as `syncs_of_commits`."""
    where, file = place(folder), syncs.make_file(folder / "syncs")
    where.environment.update(syncs.environment(file))
    instance = engine.instance("server", engine.durabilities[0], where)
    assert isinstance(instance, JvmServer)
    instance.start()
    try:
        tables = loaded(load_workload("keyed"))
        instance.load(tables)
        options = instance.options(any_path(engine))
        pids = instance.pids()
        assert os.sched_getaffinity(pids[0]) == {max(os.sched_getaffinity(0))}
        for secret in instance.secrets():
            assert secret not in Path(f"/proc/{pids[0]}/cmdline").read_text()
            files = [file for file in files_of(instance).rglob("*") if file.is_file()]
            assert [file for file in files if secret.encode() in content(file)] == []
        assert listens_on(pids[0]) == {("127.0.0.1", options["port"])}
        with pytest.raises(RowpathError, match=REFUSED):  # more of them are tried in test_logins
            use(engine, options | {"password": "wrong"})
        settled = instance.settle(any_path(engine))
        assert settled.ns > 0
        assert settled.bytes_written is not None
        instance.load(tables)  # the server may have the database open and must step aside
        assert instance.check()
        made = syncs_of_commits(engine, instance, file)
        instance.stop()
        instance.start()
        with pytest.raises(RowpathError, match=TAKEN):
            use(engine, instance.options(any_path(engine)))
        pids = instance.pids()
        os.kill(pids[0], signal.SIGSTOP)
        os.waitid(os.P_PID, pids[0], os.WSTOPPED | os.WNOWAIT)
        assert not answers_within(instance, 1.0)
        os.kill(pids[0], signal.SIGKILL)
        assert gone(pids)
        assert not instance.check()
        instance.start()
        assert instance.check()
        with pytest.raises(RowpathError, match=TAKEN):
            use(engine, instance.options(any_path(engine)))
        pids = instance.pids()
    finally:
        instance.stop()
    assert gone(pids)
    return made


def content(file: Path) -> bytes:
    """Of a file of a server at work: nothing where it has removed it meanwhile."""
    with contextlib.suppress(FileNotFoundError):
        return file.read_bytes()
    return b""


def answers_within(instance: JvmServer, timeout_s: float) -> bool:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rowpath.engines.jvm_engine.PING_TIMEOUT_S", timeout_s)
        return instance.check()


def syncs_of_a_server(engine: JvmEngine, durability: str, folder: Path) -> int:
    """As `syncs_of_commits`, of a server of its own."""
    file = syncs.make_file(folder / "syncs")
    where = place(folder)
    where.environment.update(syncs.environment(file))
    instance = engine.instance("server", durability, where)
    instance.start()
    try:
        instance.load(loaded(load_workload("keyed")))
        assert isinstance(instance, JvmServer)
        return syncs_of_commits(engine, instance, file)
    finally:
        instance.stop()


def syncs_of_commits(engine: JvmEngine, instance: JvmServer, file: Path) -> int:
    """Syncs that the server asked for while it committed 20 inserts one by one, without those of its own threads."""
    with connected(engine, {"deployment": "server", **instance.options(any_path(engine))}) as runner:
        store(runner, "first")
        counts = []
        for batch in range(BATCHES):
            before = syncs.read(file)["total"]
            for number in range(WRITES):
                store(runner, f"row {batch} {number}")
            counts.append(syncs.read(file)["total"] - before)
        return min(counts)


def store(runner: Runner, key: str) -> None:
    run(runner, [f"INSERT INTO mydata2 VALUES ('{key}', 'row')"])


def use(engine: JvmEngine, options: dict[str, object]) -> None:
    """Insert the row that `syncs_of_commits` stored first."""
    with connected(engine, {"deployment": "server", **options}) as runner:
        store(runner, "first")


def listens_on(pid: int) -> set[tuple[str, int]]:
    """Every address and port that a process listens on, from /proc; `0.0.0.0` or `::` would be everywhere."""
    sockets = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            sockets.add(str(entry.readlink()))
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENING and f"socket:[{fields[9]}]" in sockets:
                address, _, port = fields[1].partition(":")
                found.add((_spelt(address), int(port, 16)))
    return found


def _spelt(address: str) -> str:
    """An address of /proc/net as it is written; an IPv4 one inside IPv6 as IPv4."""
    mapped = "0000000000000000FFFF0000"
    address = address.removeprefix(mapped)
    if len(address) != 8:
        return "::" if set(address) == {"0"} else address
    return ".".join(str(int(address[at : at + 2], 16)) for at in (6, 4, 2, 0))
