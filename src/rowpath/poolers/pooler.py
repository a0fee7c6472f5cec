"""A pooler of ours in front of a running server: private like a server, stopped by pid, on loopback only."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shutil
import signal
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from typing_extensions import override

from rowpath.engines import ENGINES
from rowpath.engines.base import Engine, Instance, Place
from rowpath.engines.server import PrivateServer
from rowpath.errors import EnvironmentMissing
from rowpath.machine import certificates, private_directories, processes
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath

FOLDERS = ("/usr/sbin", "/sbin")  # where Debian has them, and few users' PATH
LOOPBACK = "127.0.0.1"
POOL_SIZE = 20  # server connections, as PgBouncer ships
SPARE = 8  # connections beside the path's clients: those that count, look and begin again
DESCRIPTORS_EACH = 2  # files that a pooler has open for a client: its connection and the server's
DESCRIPTORS = 256  # and for itself
CONNECT_TIMEOUT_S = 1.0


class Pooler(PrivateServer[Engine]):
    """A pooler in front of one server, for one path; `clients`: how many connect at once.

    Pooling by session it has a server connection for each of them, by transaction for at most POOL_SIZE.
    """

    name: ClassVar[str]
    engines: ClassVar[tuple[str, ...]]  # before which it stands
    modes: ClassVar[tuple[str, ...]]  # values of `pooler_mode`, the default first
    package: ClassVar[str]
    version_option: ClassVar[str] = "--version"
    has_socket = False
    start_timeout_s = 60.0
    stop_steps: processes.Steps = processes.GENTLE

    def __init__(self, behind: Instance, path: AccessPath, place: Place, clients: int) -> None:
        super().__init__(ENGINES[path.engine], "none", place)
        self.behind: Mapping[str, Any] = behind.options(path)
        self.to_port = int(self.behind["port"])
        self._title = self.name
        self._encrypted = path.tls == "on"
        self._mode = path.get("pooler_mode")
        self.clients = clients
        self._room = clients + SPARE
        self._passwords = {str(self.behind["user"]): str(self.behind["password"])}

    @classmethod
    def program(cls) -> Path | None:
        """The one that its variable names, else the system's; None: there is none."""
        if named := os.environ.get(cls.variable()):
            return Path(named).absolute()
        found = shutil.which(cls.name, path=os.pathsep.join((os.environ.get("PATH", ""), *FOLDERS)))
        return Path(found) if found else None

    @classmethod
    def variable(cls) -> str:
        """The environment variable that names a program of the user's own."""
        return "ROWPATH_" + cls.name.upper()

    @classmethod
    def availability(cls, *, encrypted: bool = False) -> Availability:
        """Whether it can run here; starts nothing."""
        program = cls.program()
        if program is None:
            return Availability(False, cls.name, f"{cls.name} is missing", f"apt-get install {cls.package}")
        if not os.access(program, os.X_OK) or program.is_dir():
            return Availability(False, cls.name, f"there is no program {program}", f"unset {cls.variable()}")
        missing = certificates.problem() if encrypted else ""
        return Availability(not missing, cls.name, missing, certificates.INSTALL if missing else "")

    @classmethod
    def version_here(cls) -> str:
        """`1.18.0`, with the program where the user named it; empty when it does not say."""
        program = cls.program()
        if program is None:
            return ""
        done = processes.run([program, cls.version_option])
        found = re.search(r"\d+(\.\d+)+", done.stdout + done.stderr)
        number = found[0] if found else ""
        return f"{number} ({program})" if os.environ.get(cls.variable()) else number

    @override
    def check(self) -> bool:
        """Whether it listens."""
        if not super().pids():
            return False
        with contextlib.suppress(OSError), socket.create_connection((LOOPBACK, self._port), CONNECT_TIMEOUT_S):
            return bool(super().pids())
        return False

    @override
    def pids(self) -> list[int]:
        """Every process of it now alive, the first one first."""
        return [pid for first in super().pids() for pid in (first, *processes.descendants(first))]

    @override
    def stop(self) -> None:
        """Stop every process of it, by pid; harmless when stopped already."""
        family = {pid: processes.stat_fields(pid)[19:20] for pid in self.pids()}
        super().stop()
        for pid, born in family.items():
            if born and processes.stat_fields(pid)[19:20] == born:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        """What `open` gets instead of the server's own address."""
        return {"host": LOOPBACK, "port": self._port}

    @override
    def _make(self) -> None:
        self._home = private_directories.home(self._place.directory, self._user)

    @override
    def _started(self) -> bool:
        room_for_files(DESCRIPTORS + DESCRIPTORS_EACH * self._room)
        return self._launched(self._command(), {"LC_ALL": "C", "TZ": "UTC"})

    def _command(self) -> list[str | Path]:
        """Write its files; its command line."""
        raise NotImplementedError

    def _program(self) -> Path:
        self.availability(encrypted=self._encrypted).require()
        program = self.program()
        assert program is not None
        return program

    def _written(self, name: str, text: str) -> Path:
        """A file that only its user may read."""
        file = self._files() / name
        private_directories.write_private(file, text, self._user)
        return file

    def _certificate(self) -> tuple[Path, Path]:
        return certificates.make(self._files(), self._user)


def room_for_files(number: int) -> None:
    """Let us, and so what we start, have that many files open. Errors: EnvironmentMissing."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= number:
        return
    if hard != resource.RLIM_INFINITY and hard < number:
        raise EnvironmentMissing(
            f"{number} open files are needed, {hard} are allowed", f"as root: prlimit --nofile={number} --pid $$"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, hard))
