"""Servers that a user starts to look at, with `rowpath engine up`: one folder per engine, and who owns its server.

`python -m rowpath.engines.by_hand REQUEST` is the process that owns one: its supervisor, which holds the folder's lock.
The server ends with it, as every server ends with its controller. It prints one line of JSON once the server is up, or
why it is not; it stops the server, removes its files and ends on SIGTERM, or when the server ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance, Place
from rowpath.errors import RowpathError, UsageError
from rowpath.machine import cpus, private_directories, processes
from rowpath.machine.directories import cache_dir, unwritable_cache
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table
from rowpath.workloads.workload_file import at_scale, for_engine, load_workload

STOP_WITHIN_S = 60.0
KILLED_WITHIN_S = 30.0
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
LOOK_EACH_S = 1.0


class StartedServer(msgspec.Struct, frozen=True):
    """A server that is up, as its supervisor wrote it down; no password is in it."""

    engine: str
    version: str
    durability: str
    storage: str  # `none` where the engine keeps tables in one way only
    loaded: tuple[str, ...]  # workloads
    supervisor_pid: int
    since: str  # ISO 8601
    port: int
    socket: str  # file or folder; empty without one
    directory: str
    connect: tuple[str, ...]  # what to type, or the URL and where its password is


def folder(engine: str) -> Path:
    """Where the server of that engine has its files; other users may pass through, its parts are private."""
    return cache_dir() / "up" / engine


def private(engine: str) -> Path:
    """Private: the state, what clients log in with, the supervisor's output."""
    return folder(engine) / "private"


def known() -> list[str]:
    """Engines that were up at some time."""
    return sorted(lock.stem for lock in (cache_dir() / "up").glob("*.lock"))


@contextlib.contextmanager
def claimed(engine: str) -> Iterator[None]:
    """The engine's lock, for as long as the body runs, with a new folder; the folder is removed at the end.

    Errors: UsageError when another supervisor holds it, EnvironmentMissing when the cache cannot be written.
    """
    try:
        folder(engine).parent.mkdir(mode=0o711, parents=True, exist_ok=True)
        handle = _lock(engine).open("w")
    except OSError as error:
        raise unwritable_cache(cache_dir(), error) from error
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(
                f"{engine} is already running", f"rowpath engine status, or: rowpath engine down {engine}"
            ) from error
        _remove(engine)
        folder(engine).mkdir(mode=0o711)
        private(engine).mkdir(mode=0o700)
        try:
            yield
        finally:
            _remove(engine)


def write(state: StartedServer) -> None:
    """Keep it, readable only by us."""
    private_directories.write_private(private(state.engine) / "state.json", msgspec.json.encode(state).decode())


def read(engine: str) -> StartedServer | None:
    """The server of that engine when it is up; what a supervisor that was killed left behind is removed."""
    if not is_kept(engine):
        return None
    try:
        return msgspec.json.decode((private(engine) / "state.json").read_bytes(), type=StartedServer)
    except OSError:
        return None  # its supervisor is still starting it, or stopping it


def is_kept(engine: str) -> bool:
    """Whether a living supervisor holds the engine's lock; else what is left of a server is removed."""
    if not _lock(engine).is_file():
        return False
    with _lock(engine).open("r+") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        _remove(engine)
    return False


def stop(state: StartedServer) -> None:
    """Ask the supervisor to stop its server and itself, else kill it; returns when it and its files are gone."""
    for number, within_s in ((signal.SIGTERM, STOP_WITHIN_S), (signal.SIGKILL, KILLED_WITHIN_S)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(state.supervisor_pid, number)
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            fields = processes.stat_fields(state.supervisor_pid)
            if not is_kept(state.engine) and (not fields or fields[0] == "Z"):
                return
            time.sleep(0.05)


def _lock(engine: str) -> Path:
    return folder(engine).with_name(f"{engine}.lock")


def _remove(engine: str) -> None:
    """The folder, also when a server that lost its supervisor is still writing its last files."""
    deadline = time.monotonic() + KILLED_WITHIN_S
    while folder(engine).exists() and time.monotonic() < deadline:
        shutil.rmtree(folder(engine), ignore_errors=True)
        if folder(engine).exists():
            time.sleep(0.05)


class StartRequest(msgspec.Struct, frozen=True):
    """What is to be started; empty fields take the engine's first value."""

    engine: str
    durability: str
    storage: str = ""
    version: str = ""
    load: tuple[str, ...] = ()


class StartAnswer(msgspec.Struct, frozen=True):
    """What came of it: a state, or an error as a user meets it."""

    state: StartedServer | None = None
    error: str = ""
    hint: str = ""
    exit_code: int = 0


def main() -> int:
    """Start the server, report it, keep it up, stop it."""
    request = msgspec.json.decode(sys.argv[1], type=StartRequest)
    for number in SIGNALS:
        signal.signal(number, _end)
    try:
        with contextlib.ExitStack() as cleanup:
            cleanup.enter_context(claimed(request.engine))
            cleanup.callback(processes.stop_all)
            state, instance = _start(request, cleanup)
            write(state)
            _say(StartAnswer(state))
            while instance.pids():
                time.sleep(LOOK_EACH_S)
    except RowpathError as error:
        _say(StartAnswer(None, error.message, error.hint, error.exit_code))
    except KeyboardInterrupt:
        pass  # a signal requested the end; everything was stopped on the way here
    return 0


def _start(request: StartRequest, cleanup: contextlib.ExitStack) -> tuple[StartedServer, Instance]:
    engine = ENGINES[request.engine]
    home = folder(request.engine) / "instance"
    place = Place(home, home, cpus.usable(), version=request.version, storage=request.storage)
    instance = engine.instance("server", request.durability, place)
    cleanup.callback(instance.stop)
    instance.start()
    tables: dict[str, Table] = {}
    for name in request.load:  # a later workload's definition of a table's name counts
        narrowed, _ = for_engine(at_scale(load_workload(name), 0.0), engine.supports)
        tables |= {table_name: table for table_name, table in narrowed.tables.items() if table.rows}
    instance.load(tables)
    options = instance.options(AccessPath.of({"engine": request.engine, "deployment": "server"}))
    state = StartedServer(
        engine=request.engine,
        version=instance.version,
        durability=request.durability,
        storage=request.storage or "none",
        loaded=request.load,
        supervisor_pid=os.getpid(),
        since=datetime.now(UTC).isoformat(timespec="seconds"),
        port=int(options["port"]),
        socket=str(options.get("socket") or options.get("socket_dir") or ""),
        directory=str(folder(request.engine)),
        connect=engine.connect_lines(options, private(request.engine)),
    )
    return state, instance


def _say(answer: StartAnswer) -> None:
    """Print the answer, and release the process that started us."""
    sys.stdout.write(msgspec.json.encode(answer).decode() + "\n")
    sys.stdout.flush()
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)


def _end(_number: int, _frame: object) -> None:
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # the way out is taken once
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
