"""No password is shown anywhere, whatever drivers say; and no word of ours has a hole where the password is one."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import string
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines import ENGINES
from rowpath.execution.worker import Worker
from rowpath.model.path import AccessPath
from rowpath.model.workload import Phase
from rowpath.own_database.candidates import Wanted, candidates
from rowpath.own_database.instances import ProbedServer
from rowpath.own_database.target import Target, read_target
from rowpath.planning.plan import PlannedPath
from rowpath.runners import manifest
from rowpath.runners.process import RunnerFailure
from rowpath.scrubber import MASK, PART
from tests.end_to_end.command import Command, every_pid, proc, records, rowpath
from tests.engines import mariadb_life
from tests.engines.insides import psql, rows_of
from tests.engines.life import place, reaching

ROLE = "plain"
ENGINE_NAMES = ("postgresql", "mariadb")
QUERY = "SELECT id, name FROM sample ORDER BY id"
EXPORTS = ("markdown", "csv", "json")
NEUTRAL = "Neutral-0-word"
WORDS = ["postgres", "1234", "a", "id", "sample", '"', "\\", "psycopg", "rp", ROLE]
SHORT = ["--query", QUERY, "--language", "python"]
# What is found does not matter: a search of a second is enough.
QUICK = "import sys; from rowpath.cli import main, probe; probe.LEAST_BUDGET_S = 1.0; sys.exit(main.main())"
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


@pytest.fixture(name="server", params=ENGINE_NAMES, scope="module")
def server_fixture(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("kept")
    for parent in reaching(folder):
        parent.chmod(parent.stat().st_mode | 0o055)
    (folder / "s").mkdir(mode=0o777)
    (folder / "s").chmod(0o777)
    table = "CREATE TABLE sample (id integer PRIMARY KEY, name varchar(40))"
    rows = "INSERT INTO sample VALUES (1, 'one'), (2, 'two'), (3, NULL)"
    instance: Any
    if request.param == "postgresql":
        instance = ENGINES["postgresql"].instance("server", "none", place(folder))
    else:
        instance = mariadb_life.made("mariadb", folder, "innodb")
    instance.start()
    try:
        if request.param == "postgresql":
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
        yield Server(request.param, instance)
    finally:
        instance.stop()


def canary() -> str:
    """A random password of 12 characters that no text holds by chance."""
    return "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(12))


def parts(secret: str) -> list[str]:
    return [secret[at : at + PART] for at in range(len(secret) - PART + 1)]


def leaks(text: str, secret: str) -> list[str]:
    """The parts of a secret that stand in a text, as they are or with every character percent-encoded."""
    encoded = re.sub("%([0-9A-Fa-f]{2})", lambda match: chr(int(match[1], 16)), text)
    return [part for part in parts(secret) if part in text or part in encoded]


def files_that_leak(directory: Path, secret: str) -> list[str]:
    found = []
    for folder, _folders, names in os.walk(directory):  # which says nothing where a folder is removed meanwhile
        for file in (Path(folder) / name for name in names):
            with suppress(FileNotFoundError):
                if file.is_file() and leaks(file.read_bytes().decode("latin-1"), secret):
                    found.append(str(file))
    return found


def watched(secret: str, directory: Path, *arguments: str) -> tuple[int, str]:
    """A command to its end, its processes looked at again and again: its exit code, and what it printed."""
    shown: list[str] = []
    hidden = False
    with Command(*arguments, "-o", directory) as command:
        while command.process.poll() is None:
            own = command.process.pid
            hidden = hidden or (bool(proc(own, "cmdline")) and not leaks(proc(own, "cmdline"), secret))
            for pid in every_pid():
                if pid != own or hidden:  # once it was read it must not come back
                    shown += leaks(proc(pid, "cmdline"), secret)
            for pid in command.processes():
                shown += leaks(proc(pid, "environ"), secret)
            shown += files_that_leak(directory, secret)
            time.sleep(0.05)
        done = command.end()
    assert hidden, done.stdout + done.stderr
    assert not shown
    assert not leaks(done.stdout + done.stderr, secret)
    return done.returncode, done.stdout + done.stderr


def test_no_part_of_a_password_is_seen_while_a_probe_runs_or_after_it(server: Server, tmp_path: Path) -> None:
    secret = canary()
    server.set_password(secret)
    directory = tmp_path / "run"
    arguments = ["probe", server.url(secret), *SHORT, "--budget", "5s", "--driver", DRIVERS[server.engine]]
    code, printed = watched(secret, directory, *arguments)
    assert (code, MASK in printed) == (0, False), printed
    files = [tmp_path / f"exported.{form}" for form in EXPORTS]
    exports = [word for form, file in zip(EXPORTS, files, strict=True) for word in (f"--export-{form}", str(file))]
    shown = rowpath("show", directory, *exports)
    assert shown.returncode == 0, shown.stderr
    assert all(file.stat().st_size for file in files)
    assert not leaks(shown.stdout + shown.stderr, secret)
    assert not files_that_leak(tmp_path, secret)
    assert (directory / "fastest-python.py").is_file()


def test_no_part_of_a_wrong_password_is_seen(server: Server, tmp_path: Path) -> None:
    server.set_password(NEUTRAL)
    secret = canary()
    code, printed = watched(secret, tmp_path / "run", "probe", server.url(secret), *SHORT)
    assert code != 0
    assert "cannot connect to" in printed
    assert not files_that_leak(tmp_path, secret)


def one_of_each_driver(engine: str) -> list[PlannedPath]:
    found = candidates(Wanted(engine, "server", Phase("query", "query", QUERY))).paths
    return list({(each.path.language, each.path.driver): each for each in reversed(found)}.values())


def log_in(planned: PlannedPath, target: Target, log: list[str], statement: str = "") -> str:
    """What the driver says of it, and of a statement; empty when it connects and executes it."""
    worker = Worker(planned, ProbedServer(target), log=log.append, timeout_s=60.0)
    try:
        worker.open()
        log.append(json.dumps(worker.facts()))
        worker.run([statement] if statement else [])
    except RunnerFailure as failure:
        return f"{failure.text} {failure.code} {failure}"
    finally:
        worker.close()
        log += worker.runner.noise
    return ""


def test_no_driver_shows_a_part_of_a_password_that_is_right_or_wrong(server: Server) -> None:
    secret, wrong = canary(), canary()
    server.set_password(secret)
    chosen = one_of_each_driver(server.engine)
    manifest.build([(each.adapter, each.path.version) for each in chosen], paths=[each.path for each in chosen])
    target = read_target(server.url(secret), {})
    quote = '"' if server.engine == "postgresql" else "`"
    for planned in chosen:
        log: list[str] = []
        said = log_in(planned, target, log)
        assert not said, planned.name
        quoted = log_in(planned, target, log, f"SELECT * FROM {quote}{secret}{quote}")
        executes = "unsupported:" not in quoted  # the server's error names the table
        assert quoted if not executes else MASK in quoted, f"{planned.name}: {quoted}"
        said = quoted + log_in(planned, replace(target, password=wrong), log)
        assert said != quoted, planned.name
        assert not leaks(said + "\n".join(log), secret), planned.name
        assert not leaks(said + "\n".join(log), wrong), planned.name


def shape(directory: Path) -> dict[str, Any]:
    """What two probes of one query have in common, whatever they measured: words, keys, and which names there are."""
    kept = records(directory)
    head = next(record for record in kept if record["record"] == "run")
    for name in ("started", "seed", "environment"):
        del head[name]
    head["experiment"]["measure"] = head["command"] = None
    return {
        "head": head,
        "keys": {record["record"]: sorted(record) for record in kept if record["record"] != "end"},
        "dropped": [record for record in kept if record["record"] == "dropped"],
        "notes": [record for record in kept if record["record"] == "note" and " said: " not in record["text"]],
    }  # fmt: skip


def probed(server: Server, password: str, directory: Path) -> tuple[str, str]:
    """What a probe with that password prints, and its command as the journal has it."""
    server.set_password(password)
    words = [*SHORT, "--budget", "1s", "--driver", DRIVERS[server.engine], "-o", str(directory)]
    done = rowpath("probe", server.url(password), *words, program=(sys.executable, "-c", QUICK))
    assert done.returncode == 0, done.stdout + done.stderr
    (head,) = records(directory, "run")
    return done.stdout + done.stderr, " ".join(head["command"]).replace(str(directory), "DIR")


def test_no_word_of_ours_has_a_hole_where_the_password_is_one(server: Server, tmp_path: Path) -> None:
    chosen = {"languages": ("python",), "drivers": tuple(DRIVERS[server.engine].split(","))}
    wanted = Wanted(server.engine, "server", Phase("query", "query", QUERY), **chosen)
    neutral = tmp_path / "neutral"
    usual = probed(server, NEUTRAL, neutral)[1]
    for password in WORDS if server.engine == "postgresql" else WORDS[-1:]:
        directory = tmp_path / "run"
        printed, command = probed(server, password, directory)
        assert MASK not in printed
        assert command == usual
        assert shape(directory) == shape(neutral)
        names = {planned.name for planned in candidates(wanted).paths}
        tried = [record["tried"] for record in records(directory, "probe") if record["tried"]]
        assert tried
        assert {path["name"] for path in tried} <= names
        for file in directory.rglob("*"):
            if file.is_file():
                assert MASK not in file.read_text(encoding="utf-8"), file
        shutil.rmtree(directory)
