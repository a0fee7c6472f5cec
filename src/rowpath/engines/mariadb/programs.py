"""MariaDB's programs: those of the system's packages or of a named folder, and its client kept alive over a pipe."""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import select
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from rowpath.errors import RowpathError, TimedOut
from rowpath.machine import processes
from rowpath.model.availability import Availability

INSTALL_SERVER = "apt-get install --no-install-recommends mariadb-server"
INSTALL_CLIENT = "apt-get install --no-install-recommends mariadb-client"
BY_NAME = "ROWPATH_MARIADB"
SEARCHED = ("/usr/sbin", "/usr/libexec", "/usr/local/sbin", "/usr/local/bin")  # where no user's PATH leads

_known: dict[tuple[str, str], Path] = {}  # by program and folders: a list of paths asks a thousand times


@dataclass(frozen=True)
class Programs:
    """What a server of the MySQL family is run with; `arguments` name the folders of its own files."""

    server: Path
    client: Path
    arguments: tuple[str, ...]
    maker: tuple[str | Path, ...]  # the command that makes an empty data directory


def named() -> Path | None:
    """The prefix (a folder with `sbin/mariadbd`) that $ROWPATH_MARIADB names, None when it is not set."""
    value = os.environ.get(BY_NAME)
    return Path(value).absolute() if value else None


def find(program: str) -> Path | None:
    """One of MariaDB's programs; None when it is not here."""
    prefix = named()
    folders = [str(prefix / name) for name in ("sbin", "bin", "libexec", "scripts")] if prefix else []
    path = os.pathsep.join(folders or [*os.environ.get("PATH", os.defpath).split(os.pathsep), *SEARCHED])
    if (program, path) not in _known and (file := shutil.which(program, path=path)):
        _known[program, path] = Path(file)
    return _known.get((program, path))


def availability() -> Availability:
    """Whether MariaDB can run here; fetches and starts nothing."""
    what = f"MariaDB {version_here()}"
    prefix = named()
    for program, remedy in (
        ("mariadbd", INSTALL_SERVER),
        ("mariadb-install-db", INSTALL_SERVER),
        ("mariadb", INSTALL_CLIENT),
    ):
        if find(program) is None:
            if prefix is not None:
                return Availability(False, what, f"there is no {program} in {prefix} ({BY_NAME})", f"unset {BY_NAME}")
            return Availability(False, "MariaDB", f"MariaDB's program {program} is missing", remedy)
    return Availability(True, what + (f" in {prefix} (named by {BY_NAME})" if prefix else ""))


def version_here() -> str:
    """The version that would run here, such as `10.11.14`; `unknown` when there is none."""
    server = find("mariadbd")
    return version(server) if server is not None else "unknown"


@functools.cache
def version(server: Path) -> str:
    """The version that a server program of the family prints; `unknown` when it does not run."""
    try:
        output = processes.asked([server, "--version"], 60, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return output.partition("Ver ")[2].split()[0].partition("-")[0]


@functools.cache
def has_checkpoint() -> bool:
    """Whether the MariaDB that is here has a statement that makes InnoDB's checkpoint (10.11.12 and later have)."""
    server = find("mariadbd")
    if server is None:
        return False
    done = processes.asked([server, "--no-defaults", "--verbose", "--help"], 60)
    return "innodb-log-checkpoint-now" in done.stdout


def programs() -> Programs:
    """The programs of the MariaDB that is here. Errors: EnvironmentMissing."""
    availability().require()
    server, client, install = find("mariadbd"), find("mariadb"), find("mariadb-install-db")
    assert server is not None and client is not None and install is not None
    arguments = tuple(f"--{name}={folder}" for name, folder in folders().items())
    # One login, of the system's root over the socket; its server gives it a password before it lets anyone in.
    login = ("--auth-root-authentication-method=socket", "--auth-root-socket-user=root", "--skip-test-db")
    prefix = named()
    where = (f"--basedir={prefix}",) if prefix else ()
    return Programs(server, client, arguments, (install, "--no-defaults", *where, *login, "--skip-name-resolve"))


def folders() -> dict[str, Path]:
    """Where the server's own files are, by the option for each; the library takes the same."""
    prefix = named() or Path("/usr")
    share = next((path for path in (prefix / "share/mysql", prefix / "share/mariadb") if path.is_dir()), prefix)
    libraries = ("lib/mysql/plugin", "lib64/mysql/plugin", "lib/mariadb/plugin", "lib/plugin")
    plugins = next((prefix / name for name in libraries if (prefix / name).is_dir()), prefix / "lib")
    return {
        "basedir": prefix,
        "lc-messages-dir": share,
        "character-sets-dir": share / "charsets",
        "plugin-dir": plugins,
    }


class Console:
    """One connection of the superuser; its login is in a private file, never on a command line."""

    def __init__(self, client: Path, login: Path) -> None:
        self._client = client
        self._login = login
        self._process: processes.Process | None = None

    def ask(self, statements: str, timeout_s: float = 60.0) -> list[list[str]]:
        """Execute statements, each ended by `;`; the rows of all their results, values as text.

        Errors: RowpathError with the server's message, TimedOut. The next one begins with a fresh connection then.
        """
        if self._process is None or self._process.poll() is not None:
            self.close()
            options = ("--batch", "--skip-column-names", "--unbuffered", "--skip-reconnect", "--local-infile=1")
            self._process = processes.start(
                [self._client, f"--defaults-file={self._login}", *options, "--max-allowed-packet=64M"],
                environment={"LC_ALL": "C.UTF-8"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        mark = secrets.token_hex(12)
        try:
            answer = self._exchange(f"{statements}\nSELECT '{mark}';\n", f"{mark}\n".encode(), timeout_s)
        except BaseException:
            self.close()
            raise
        return [line.split("\t") for line in answer.split("\n")[:-1]]

    def close(self) -> None:
        """End the client; harmless when it has ended."""
        if self._process is not None:
            processes.stop(self._process, processes.AT_ONCE)
            self._process = None

    def _exchange(self, text: str, end: bytes, timeout_s: float) -> str:
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        deadline = time.monotonic() + timeout_s
        with contextlib.suppress(BrokenPipeError):  # its last output is read below
            process.stdin.write(text.encode())
            process.stdin.flush()
        output = b""
        while not output.endswith(end):
            readable, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not readable:
                raise TimedOut(f"the server did not answer within {timeout_s:g} s", "try again on a quieter machine")
            piece = os.read(process.stdout.fileno(), 1 << 16)
            if not piece:
                words = output.decode(errors="replace").strip()
                raise RowpathError(f"the server refused: {words[-500:]}", "read the server's log")
            output += piece
        return output[: -len(end)].decode(errors="replace")
