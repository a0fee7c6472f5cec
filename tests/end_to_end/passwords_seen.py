"""What shows a password: a private server with a role that has one, commands watched while they run, and all files."""

from __future__ import annotations

import os
import re
import secrets
import string
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rowpath.engines import ENGINES
from rowpath.model.path import AccessPath
from rowpath.scrubber import PART
from tests.end_to_end.command import PROGRAM, Command, every_pid, proc
from tests.engines import mariadb_life
from tests.engines.insides import psql, rows_of
from tests.engines.life import place, reaching

ROLE = "plain"
QUERY = "SELECT id, name FROM sample ORDER BY id"
SHORT = ["--query", QUERY, "--language", "python"]
# What is found does not matter: a search of a second, and as many full sets as two runs need to be compared.
QUICK = """
import sys
from rowpath.cli import main, probe
from tests import side_by_side
probe.LEAST_BUDGET_S = 1.0
side_by_side.take_every_block_as_undisturbed()
sys.exit(main.main())
"""
COMPARABLY = (sys.executable, "-c", QUICK)
DRIVERS = {"postgresql": "psycopg,psycopg2", "mariadb": "pymysql"}


@dataclass
class Server:
    """A private server with the table `sample`, and a role that may read it."""

    engine: str
    instance: Any

    def set_password(self, password: str) -> None:
        literal = password.replace("'", "''")
        if self.engine == "postgresql":
            psql(self.instance, f"ALTER ROLE {ROLE} PASSWORD '{literal}';", "postgres", "postgres")
        else:
            literal = literal.replace("\\", "\\\\")
            rows_of(self.instance, f"ALTER USER '{ROLE}'@'%' IDENTIFIED BY '{literal}';")

    def url(self, password: str) -> str:
        """With every character of the password percent-encoded."""
        options = self.instance.options(AccessPath.of({}))
        encoded = "".join(f"%{octet:02X}" for octet in password.encode())
        return f"{self.engine}://{ROLE}:{encoded}@127.0.0.1:{options['port']}/{options['database']}"


@contextmanager
def serving(engine: str, folder: Path) -> Iterator[Server]:
    """A started server of that engine with its files in the folder."""
    for parent in reaching(folder):
        parent.chmod(parent.stat().st_mode | 0o055)
    (folder / "s").mkdir(mode=0o777)
    (folder / "s").chmod(0o777)
    table = "CREATE TABLE sample (id integer PRIMARY KEY, name varchar(40))"
    rows = "INSERT INTO sample VALUES (1, 'one'), (2, 'two'), (3, NULL)"
    instance: Any
    if engine == "postgresql":
        instance = ENGINES["postgresql"].instance("server", "none", place(folder))
    else:
        instance = mariadb_life.made("mariadb", folder, "innodb")
    instance.start()
    try:
        if engine == "postgresql":
            psql(instance, f"CREATE ROLE {ROLE} LOGIN;", "postgres", "postgres")
            psql(instance, f"{table}; {rows}; GRANT SELECT ON sample TO {ROLE};")
        else:
            database = instance.options(AccessPath.of({}))["database"]
            for statement in (
                f"USE {database}; {table}; {rows}",
                f"CREATE USER '{ROLE}'@'%'",
                f"GRANT SELECT ON {database}.* TO '{ROLE}'@'%'",
            ):
                rows_of(instance, statement + ";")
        yield Server(engine, instance)
    finally:
        instance.stop()


def probing(server: Server, target: str, drivers: str = "") -> list[str]:
    """The command that probes the table for a second, by these drivers or all of its engine's."""
    return ["probe", target, *SHORT, "--budget", "1s", "--driver", drivers or DRIVERS[server.engine]]


def canary() -> str:
    """A random password of 12 characters that no text holds by chance."""
    return "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(12))


def parts(secret: str) -> list[str]:
    return [secret[at : at + PART] for at in range(len(secret) - PART + 1)]


def leaks(text: str, secret: str) -> list[str]:
    """The parts of a secret that stand in a text, as they are or with every character percent-encoded."""
    encoded = re.sub("%([0-9A-Fa-f]{2})", lambda match: chr(int(match[1], 16)), text)
    return [part for part in parts(secret) if part in text or part in encoded]


def files_that_leak(directory: Path, secret: str, read: dict[Path, tuple[int, ...]] | None = None) -> list[str]:
    """`read`: the files that were read before, which are left out while they are as they were."""
    found = []
    for folder, _folders, names in os.walk(directory):  # which says nothing where a folder is removed meanwhile
        for file in (Path(folder) / name for name in names):
            with suppress(FileNotFoundError):
                state = file.stat()
                now = (state.st_ino, state.st_mtime_ns, state.st_size)
                if not file.is_file() or (read is not None and read.get(file) == now):
                    continue
                if leaks(file.read_bytes().decode("latin-1"), secret):
                    found.append(str(file))
                elif read is not None:
                    read[file] = now
    return found


def watched(
    secret: str,
    directory: Path,
    *arguments: str,
    added: Mapping[str, str] = {},
    program: tuple[str, ...] = PROGRAM,
    gets_it: bool = False,
) -> tuple[int, str]:
    """A command to its end, its processes looked at again and again: its exit code, and what it printed.

    `gets_it`: the command that it starts has the password in its environment.
    """
    shown: list[str] = []
    read: dict[Path, tuple[int, ...]] = {}
    hidden = False
    with Command(*arguments, added=added, program=program) as command:
        while command.process.poll() is None:
            own = command.process.pid
            hidden = hidden or (bool(proc(own, "cmdline")) and not leaks(proc(own, "cmdline"), secret))
            for pid in every_pid():
                if pid != own or hidden:  # once it was read it must not come back
                    shown += [line for line in (proc(pid, "cmdline"),) if leaks(line, secret)]
            for pid in () if gets_it else command.processes():
                line = proc(pid, "cmdline")  # before it executes a program it is a copy of the command itself
                if not line.startswith(" ".join(program)) and leaks(proc(pid, "environ"), secret):
                    shown.append(f"environment of {line}")
            shown += files_that_leak(directory, secret, read)
            time.sleep(0.05)
        done = command.end()
    assert hidden, done.stdout + done.stderr
    assert not shown, shown
    assert not leaks(done.stdout + done.stderr, secret)
    return done.returncode, done.stdout + done.stderr
