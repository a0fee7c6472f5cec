"""Where a server keeps its files: private, and reachable by the user that it runs as."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import fcntl
import os
import pwd
import secrets
import shutil
import socket
import tempfile
from pathlib import Path
from typing import IO

from rowpath.errors import EnvironmentMissing, RowpathError
from rowpath.machine import processes
from rowpath.machine.directories import cache_dir, unwritable_cache

SOCKET_PATH_LIMIT_BYTES = 107
LONGEST_SOCKET_NAME = "/.s.PGSQL.65535"
_held: list[IO[str]] = []  # locks on homes in use, open as long as we live


def server_user() -> str | None:
    """The user that servers run as: nobody when we are root (PostgreSQL refuses root), else ourselves (None)."""
    return "nobody" if os.geteuid() == 0 else None


def reachable(directory: Path, user: str | None) -> bool:
    """Whether that user may pass through every existing folder above `directory`."""
    if user is None:
        return True
    entry = pwd.getpwnam(user)
    for folder in directory.absolute().parents:
        try:
            status = folder.stat()
        except FileNotFoundError:
            continue
        bit = 0o100 if status.st_uid == entry.pw_uid else 0o010 if status.st_gid == entry.pw_gid else 0o001
        if not status.st_mode & bit:
            return False
    return True


def give(path: Path, user: str | None) -> None:
    """Make a file or folder that server user's own; nothing to do when the server runs as ourselves."""
    if user is not None:
        entry = pwd.getpwnam(user)
        os.chown(path, entry.pw_uid, entry.pw_gid)


def give_all(folder: Path, user: str | None) -> None:
    """Make a folder and everything in it that server user's own."""
    for path in (folder, *folder.rglob("*")):
        give(path, user)


def home(preferred: Path, user: str | None) -> Path:
    """A private folder (0700) of the server's user: `preferred`, or one in the cache where that is closed to the user.

    Folders in the cache that a killed run left behind are removed. Errors: EnvironmentMissing when neither is usable.
    """
    chosen = preferred if reachable(preferred, user) else _in_cache()
    try:
        chosen.mkdir(mode=0o700, parents=True, exist_ok=True)
        chosen.chmod(0o700)
        give(chosen, user)
    except OSError as error:
        raise EnvironmentMissing(f"{chosen} is not writable: {error.strerror}", "choose another with -o DIR") from error
    if not reachable(chosen, user):
        raise EnvironmentMissing(f"the server's user {user} cannot access {chosen}", "ROWPATH_CACHE=DIR")
    return chosen


def socket_home(preferred: Path, user: str | None) -> Path:
    """A private folder for a socket: the first that is short and reachable of `preferred`, the cache, /tmp."""
    if _short(preferred) and reachable(preferred, user):
        return home(preferred, user)
    if _short(cache_dir() / "instances" / "0123456789ab"):
        return home(_in_cache(), user)
    chosen = Path(tempfile.mkdtemp(prefix="rowpath-", dir="/tmp"))
    give(chosen, user)
    return chosen


def _short(folder: Path) -> bool:
    return len(os.fsencode(folder)) + len(LONGEST_SOCKET_NAME) <= SOCKET_PATH_LIMIT_BYTES


def write_private(file: Path, text: str, user: str | None = None) -> None:
    """Write a file that only its owner may read, never readable by others in between."""
    file.unlink(missing_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
        handle.write(text)
    give(file, user)


def free_port(address: str = "127.0.0.1") -> int:
    """A TCP port of our address that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind((address, 0))
        return int(probe.getsockname()[1])


def port_taken(port: int, address: str = "127.0.0.1") -> bool:
    """Whether something else holds that port of our address."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError:
            return True
        return False


def size_bytes(path: Path) -> int:
    """Bytes of a file, or of all files in a folder; files that vanish during the count are left out."""
    if path.is_file():
        return path.stat().st_size
    total = 0
    for file in (Path(parent) / name for parent, _, names in os.walk(path) for name in names):
        with contextlib.suppress(OSError):
            total += file.lstat().st_size
    return total


def sync(path: Path) -> None:
    """Write out everything that the file system of `path` holds back."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        ctypes.CDLL(None).syncfs(descriptor)
    finally:
        os.close(descriptor)


def copy(source: Path, target: Path, user: str | None) -> None:
    """A byte-identical copy of a folder (blocks are shared where the file system can), the user's own, synced.

    It replaces `target`. Errors: RowpathError.
    """
    shutil.rmtree(target, ignore_errors=True)
    done = processes.run(["cp", "-r", "--reflink=auto", source, target], timeout_s=3600)
    if done.returncode != 0:
        why = done.stderr.strip()[-500:]
        raise RowpathError(f"cannot copy {source}: {why}", f"free disk space: df {target.parent}")
    target.chmod(0o700)
    give_all(target, user)
    sync(target)


def _in_cache() -> Path:
    instances = cache_dir() / "instances"
    try:
        instances.mkdir(mode=0o711, parents=True, exist_ok=True)
        instances.chmod(0o711)
        for lock in instances.glob("*.lock"):
            with lock.open("w") as handle, contextlib.suppress(BlockingIOError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
                lock.unlink(missing_ok=True)
        chosen = instances / secrets.token_hex(6)
        ours = chosen.with_suffix(".lock").open("w")
    except OSError as error:
        raise unwritable_cache(instances, error) from error
    fcntl.flock(ours, fcntl.LOCK_EX)
    if not _held:
        atexit.register(_remove_held)
    _held.append(ours)
    return chosen


def _remove_held() -> None:
    processes.stop_all()  # nothing may still write there
    for lock in _held:
        shutil.rmtree(Path(lock.name).with_suffix(""), ignore_errors=True)
        Path(lock.name).unlink(missing_ok=True)
