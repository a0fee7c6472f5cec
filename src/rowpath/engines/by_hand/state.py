"""Servers started by hand: one folder per engine in the cache, and a lock that its supervisor holds."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from rowpath.errors import UsageError
from rowpath.machine import private_directories, processes
from rowpath.machine.directories import cache_dir, unwritable_cache

STOP_WITHIN_S = 60.0
KILLED_WITHIN_S = 30.0


class State(msgspec.Struct, frozen=True):
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


def write(state: State) -> None:
    """Keep it, readable only by us."""
    private_directories.write_private(private(state.engine) / "state.json", msgspec.json.encode(state).decode())


def read(engine: str) -> State | None:
    """The server of that engine when it is up; what a supervisor that was killed left behind is removed."""
    if not is_kept(engine):
        return None
    try:
        return msgspec.json.decode((private(engine) / "state.json").read_bytes(), type=State)
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


def stop(state: State) -> None:
    """Ask the supervisor to stop its server and itself, else kill it; returns when it and its files are gone."""
    for number, within_s in ((signal.SIGTERM, STOP_WITHIN_S), (signal.SIGKILL, KILLED_WITHIN_S)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(state.supervisor_pid, number)
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            if not is_kept(state.engine) and _ended(state.supervisor_pid):
                return
            time.sleep(0.05)


def _ended(pid: int) -> bool:
    fields = processes.stat_fields(pid)
    return not fields or fields[0] == "Z"


def _lock(engine: str) -> Path:
    return folder(engine).with_name(f"{engine}.lock")


def _remove(engine: str) -> None:
    """The folder, also when a server that lost its supervisor is still writing its last files."""
    deadline = time.monotonic() + KILLED_WITHIN_S
    while folder(engine).exists() and time.monotonic() < deadline:
        shutil.rmtree(folder(engine), ignore_errors=True)
        if folder(engine).exists():
            time.sleep(0.05)
