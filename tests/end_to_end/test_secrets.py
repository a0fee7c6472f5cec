"""No password is shown anywhere, whatever drivers say; and no word of ours has a hole where the password is one."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from rowpath.cli.options import EXPORTS
from rowpath.execution.worker import Worker
from rowpath.model.path import AccessPath
from rowpath.model.workload import Phase
from rowpath.own_database.candidates import Wanted, candidates
from rowpath.own_database.instances import ProbedServer
from rowpath.own_database.target import Target, read_target
from rowpath.planning.plan import PlannedPath
from rowpath.runners import manifest
from rowpath.runners.process import RunnerFailure
from rowpath.scrubber import MASK
from rowpath.tape.format import read
from tests.end_to_end.command import called, records, rowpath
from tests.end_to_end.passwords_seen import (
    COMPARABLY,
    DRIVERS,
    QUERY,
    ROLE,
    SHORT,
    Server,
    canary,
    files_that_leak,
    leaks,
    probing,
    serving,
    watched,
)
from tests.end_to_end.quick_probe import FIRST_TRIES

FORMS = [form.replace("_", "-") for form in EXPORTS]
NEUTRAL = "Neutral-0-word"
WORDS = ["postgres", "1234", "a", "id", "sample", '"', "\\", "psycopg", "rp", ROLE]
# A command to record: it has the password in its environment, as docs/tape.md says.
CLIENT = """
import os, sys, urllib.parse
url = urllib.parse.urlsplit(os.environ["ROWPATH_URL"])
words = {"postgresql": ["psql", "-X", "-A", "-t", sys.argv[1], "-c"], "mariadb": [
    "mariadb", "--no-defaults", "-h", url.hostname, "-P", str(url.port), "-u", url.username, url.path[1:], "-e"]}
os.execvp(words[url.scheme][0], [*words[url.scheme], "SELECT name FROM sample ORDER BY id"])
"""


@pytest.fixture(name="server", params=DRIVERS, scope="module")
def server_fixture(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(request.param, tmp_path_factory.mktemp("kept")) as server:
        yield server


def test_no_part_of_a_password_is_seen_while_a_probe_runs_or_after_it(server: Server, tmp_path: Path) -> None:
    secret = canary()
    server.set_password(secret)
    directory = tmp_path / "run"
    run = str(directory)
    arguments = [*probing(server, server.url(secret)), "-o", run]
    code, printed = watched(secret, directory, *arguments, program=COMPARABLY)
    assert (code, MASK in printed) == (0, False), printed
    files = [tmp_path / f"exported.{form}" for form in FORMS]
    exports = [word for form, file in zip(FORMS, files, strict=True) for word in (f"--export-{form}", str(file))]
    for words in (["show", run, *exports], ["compare", run, run], ["site", "--check", run]):
        shown = (rowpath if words[0] == "show" else called)(*words)
        assert (shown.returncode, words[0]) in ((0, "show"), (0, "compare"), (1, "site")), shown.stderr
        assert not leaks(shown.stdout + shown.stderr, secret)
        assert MASK not in shown.stdout + shown.stderr
    assert all(file.stat().st_size for file in files)
    (packed,) = (file for file in files if file.suffix == ".parquet")
    assert not leaks(str(parquet.read_table(packed).to_pydict()), secret)
    assert not files_that_leak(tmp_path, secret)
    assert (directory / "fastest-python.py").is_file()


def test_no_part_of_a_wrong_password_is_seen(server: Server, tmp_path: Path) -> None:
    server.set_password(NEUTRAL)
    secret = canary()
    code, printed = watched(secret, tmp_path / "run", "probe", server.url(secret), *SHORT, "-o", str(tmp_path / "run"))
    assert code != 0
    assert "cannot connect to" in printed
    assert not files_that_leak(tmp_path, secret)


def ways(server: Server, secret: str, folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """The ways in which a password comes in, but for a plain URL: what is probed, and variables."""
    options = server.instance.options(AccessPath.of({}))
    port, database = options["port"], options["database"]
    url = f"{server.engine}://{ROLE}@127.0.0.1:{port}/{database}"
    yield url, {"ROWPATH_PROBE_PASSWORD": secret}
    yield f"jdbc:{server.engine}://127.0.0.1:{port}/{database}?user={ROLE}&password={secret}", {}
    name = "PostgreSQL" if server.engine == "postgresql" else "MariaDB"
    where = f"Server=127.0.0.1;Port={port};Database={database};Uid={ROLE}"
    yield f"Driver={{{name} Unicode}};{where};Pwd={{{secret}}}", {}

    def private(file: str, text: str) -> str:
        (folder / file).write_text(text, encoding="utf-8")
        (folder / file).chmod(0o600)
        return str(folder / file)

    if server.engine == "mariadb":
        yield url, {"MYSQL_PWD": secret}
        private(".my.cnf", f"[client]\nuser={ROLE}\npassword='{secret}'\n")
        yield url, {"HOME": str(folder)}
        return
    yield url, {"PGPASSWORD": secret}
    yield url.replace("127.0.0.1", "127.0.0.1:1,127.0.0.1"), {"PGPASSFILE": private("saved", f"*:*:*:*:{secret}\n")}
    yield f"{url}?passfile={folder}/saved", {}
    yield f"host=127.0.0.1,127.0.0.1 port=1,{port} user={ROLE} dbname={database} password='{secret}'", {}
    where = f"host=127.0.0.1\nport={port}\nuser={ROLE}\ndbname={database}"
    yield "service=mine", {"PGSERVICEFILE": private("services", f"[mine]\n{where}\npassword={secret}\n")}


def test_no_part_of_a_password_is_seen_however_it_comes_in(server: Server, tmp_path: Path) -> None:
    secret = canary()
    server.set_password(secret)
    (tmp_path / "home").mkdir()
    for number, (target, added) in enumerate(ways(server, secret, tmp_path / "home")):
        directory = tmp_path / f"run-{number}"
        words = [*probing(server, target, DRIVERS[server.engine].partition(",")[0]), "-o", str(directory)]
        code, printed = watched(secret, directory, *words, added=added, program=FIRST_TRIES)
        assert (code, MASK in printed) == (0, False), f"{number}: {printed}"


def test_no_part_of_a_password_is_seen_while_its_conversation_is_recorded(server: Server, tmp_path: Path) -> None:
    for number, (secret, role_has) in enumerate(((canary(), True), (canary(), False), (ROLE, True))):
        server.set_password(secret if role_has else NEUTRAL)
        tape = tmp_path / f"{number}.tape"
        words = (sys.executable, "-c", CLIENT, "{url}")
        arguments = ["record", server.url(secret), "-o", str(tape), "--", *words]
        if secret == ROLE:  # the name stands in the URL too
            printed = (done := rowpath(*arguments)).stdout + done.stderr
            code = done.returncode
        else:
            code, printed = watched(secret, tmp_path / "none", *arguments, gets_it=True)
        assert MASK not in printed
        assert code == (0 if role_has else 2), printed
        assert ("nothing was recorded" in printed) != role_has
        if role_has:
            assert not leaks(read(tape).content.decode("latin-1"), secret)
            again = rowpath("replay", tape, "--", *words)
            assert again.returncode == 0, again.stderr
            assert "two" in again.stdout
            assert MASK not in again.stdout + again.stderr


def one_of_each_driver(engine: str) -> list[PlannedPath]:
    found = candidates(Wanted(engine, "server", Phase("query", "query", QUERY))).paths
    return list({(each.path.language, each.path.driver): each for each in reversed(found)}.values())


def log_in(planned: PlannedPath, target: Target, log: list[str], statement: str) -> tuple[bool, str]:
    """Whether the driver connects, and what it says of that or of the statement."""
    worker = Worker(planned, ProbedServer(target), log=log.append, timeout_s=60.0)
    connected = False
    try:
        worker.open()
        connected = True
        log.append(json.dumps(worker.facts()))
        worker.run([statement])
    except RunnerFailure as failure:
        return connected, f"{failure.text} {failure.code} {failure}"
    finally:
        worker.close()
        log += worker.runner.noise
    return connected, ""


def test_no_driver_shows_a_part_of_a_password_that_is_right_or_wrong(server: Server) -> None:
    secret, wrong = canary(), canary()
    server.set_password(secret)
    chosen = one_of_each_driver(server.engine)
    manifest.build([(each.adapter, each.path.version) for each in chosen], paths=[each.path for each in chosen])
    target = read_target(server.url(secret), {})
    quote = '"' if server.engine == "postgresql" else "`"
    for planned in chosen:
        log: list[str] = []
        statement = f"SELECT * FROM {quote}{secret}{quote}"
        connected, quoted = log_in(planned, target, log, statement)
        assert connected, f"{planned.name}: {quoted}"
        executes = "unsupported:" not in quoted  # the server's error names the table
        assert quoted if not executes else MASK in quoted, f"{planned.name}: {quoted}"
        connected, refused = log_in(planned, replace(target, password=wrong), log, statement)
        assert not connected and refused, planned.name
        said = quoted + refused
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
    done = rowpath(*probing(server, server.url(password)), "-o", directory, program=FIRST_TRIES)
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
