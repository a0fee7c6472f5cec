"""A probe that is asked from another host: the same rows, runners there, the password nowhere, what it found kept."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from rowpath.hosts import cluster, node
from rowpath.journal import reader
from rowpath.journal.records import SampleRecord, WorkerRecord
from rowpath.probe import from_host
from tests.end_to_end.command import every_pid, proc
from tests.hosts import broken_network, own_postgresql
from tests.hosts.lab import ROOT, Lab
from tests.hosts.own_postgresql import PASSWORD, ROWS, url
from tests.waiting import until

FORMS = tuple({PASSWORD, quote(PASSWORD, safe=""), quote_plus(PASSWORD), json.dumps(PASSWORD)[1:-1]})
QUERY = "SELECT a, b FROM t ORDER BY a"
FEW = ("--language", "c,python", "--driver", "libpq,psycopg2")
NOTICED_S = 60.0

Server = tuple[str, int]


@pytest.fixture(name="server", scope="module")
def server_fixture(namespaces: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A user's PostgreSQL on host db."""
    with own_postgresql.serving(namespaces, "db", tmp_path_factory.mktemp("own")) as found:
        yield found


def _words(lab: Lab, server: Server, directory: Path, budget: str = "5s") -> list[str]:
    user, port = server
    words = ["probe", url(user, lab.addresses["db"], port), "--query", QUERY, *FEW, "--budget", budget]
    return [*words, "--seed", "7", "-o", str(directory)]


def _from(lab: Lab) -> list[str]:
    return ["--hosts", str(lab.file), "--from", "app1"]


def _watched(
    lab: Lab, words: list[str], each: Callable[[subprocess.Popen[str]], None] = lambda _command: None
) -> tuple[int, str]:
    """Runs a command to its end, `each` called again and again; its status, and what it printed."""
    under_way = lab.begun(*words)
    try:
        while under_way.poll() is None:
            each(under_way)
            time.sleep(0.02)
        printed = "".join(under_way.communicate())
    finally:
        under_way.kill()
        under_way.communicate()
    assert "Traceback" not in printed, printed
    return under_way.returncode, printed


def _seen_in_processes(lab: Lab, own: int, begun: bool) -> list[str]:
    """What shows the password: a command line of anybody, the environment of whatever belongs to a host."""
    shown = [proc(pid, "cmdline") for pid in every_pid() if pid != own or begun]
    shown += [proc(pid, "environ") for pid in lab.mine()]
    return [text for text in shown if any(form in text for form in FORMS)]


def _files_of_hosts(lab: Lab) -> Iterator[Path]:
    """Every file that hosts and what joins them have."""
    for name in ("controller", *lab.addresses):
        private = node.folder(cluster.name_of(lab.file), name)
        for place in (private, Path((private / "session").read_text())):
            yield from (file for file in place.rglob("*") if file.is_file())


def _with_password(files: Iterator[Path], known: dict[Path, tuple[int, int]] | None = None) -> list[Path]:
    """Those that hold it, without those that are as they were when last looked at."""
    wanted = [form.encode() for form in FORMS]
    found = []
    for file in files:
        try:
            state = file.stat()
            if known is not None and known.get(file) == (state.st_mtime_ns, state.st_size):
                continue
            data = file.read_bytes()
        except OSError:  # it has gone
            continue
        if known is not None:
            known[file] = state.st_mtime_ns, state.st_size
        found += [file] if any(form in data for form in wanted) else []
    return found


def _programs(lab: Lab) -> list[Path]:
    """The folders of programs beside the agent of app1."""
    session = node.folder(cluster.name_of(lab.file), "app1") / "session"
    return list(Path(session.read_text()).glob("rowpath-program-*"))


def _wait_until_gone(lab: Lab) -> None:
    """Until nothing of a probe is left on the hosts."""

    def left() -> list[str]:
        titles = (proc(pid, "cmdline") for pid in lab.mine())
        return [*broken_network.started(lab), *(title for title in titles if from_host.__name__ in title)]

    until(lambda: not left(), "end of all that the probe started")


def _proven(records: reader.Records) -> tuple[str, int, int]:
    """Digest, rows, and how many paths delivered them; there is one group only."""
    (group,) = (each.digest_group for each in records.probe if each.digest_group is not None)
    return group.digest, group.rows, len(group.names)


def test_the_same_rows_from_another_host_and_the_password_nowhere(
    namespaces: Lab, server: Server, tmp_path: Path
) -> None:
    lab, there = namespaces, tmp_path / "there"
    shown: list[str] = []
    found: list[Path] = []
    of_app1: set[int] = set()
    known: dict[Path, tuple[int, int]] = {}

    def look(command: subprocess.Popen[str]) -> None:
        begun = (there / "samples.jsonl").exists()
        shown.extend(_seen_in_processes(lab, command.pid, begun))
        of_app1.update(node.pids(cluster.name_of(lab.file), "app1"))
        if begun:
            found.extend(_with_password(_files_of_hosts(lab), known))

    status, printed = _watched(lab, [*_words(lab, server, there), *_from(lab)], look)
    assert status == 0, printed
    assert not shown
    assert not found
    assert not _with_password(file for file in there.rglob("*") if file.is_file())
    assert not any(form in printed for form in FORMS)
    far = reader.read(there)
    assert far.outcome == "complete"
    assert far.run.options["from_host"] == "app1"
    assert printed.count(" from host app1") >= 1
    assert " from host app1" in far.run.experiment.title
    assert " from host app1" in (there / "report.html").read_text()
    assert {file.name for file in there.iterdir()} >= {"fastest-c.c", "fastest-python.py", "logs"}
    workers = {each.pid for each in far.all(WorkerRecord)}
    assert workers
    assert workers <= of_app1
    assert not _programs(lab)
    _wait_until_gone(lab)
    here = lab.rowpath(*_words(lab, server, tmp_path / "here"))
    assert here.returncode == 0, here.stderr
    digest, rows, paths = _proven(far)
    assert paths > 1
    assert (digest, rows) == _proven(reader.read(tmp_path / "here"))[:2]
    assert rows == ROWS
    assert "from_host" not in reader.read(tmp_path / "here").run.options


def test_parameters_of_a_file_here_and_what_one_uses_now(namespaces: Lab, server: Server, tmp_path: Path) -> None:
    user, port = server
    (tmp_path / "keys.csv").write_text("key:int\n7\n8\n")
    (tmp_path / "query.sql").write_text("SELECT a, b FROM t WHERE a = ?;\n")
    words = ["probe", url(user, namespaces.addresses["db"], port), "--query-file", str(tmp_path / "query.sql")]
    words += ["--params", str(tmp_path / "keys.csv"), "--mine", "psycopg2", *FEW, "--budget", "5s"]
    done = namespaces.rowpath(*words, *_from(namespaces), "-o", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    records = reader.read(tmp_path / "run")
    assert _proven(records)[1] == 2
    mine = [each.tried.path["driver"] for each in records.probe if each.tried and each.tried.baseline == "yours"]
    assert set(mine) == {"psycopg2"}


def test_a_file_of_the_host(namespaces: Lab, tmp_path: Path) -> None:
    file = tmp_path / "own.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE t (a INTEGER, b TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(i, f"text {i}") for i in range(50)])
        connection.commit()
    words = ["probe", str(file), "--table", "t", "--language", "c", "--budget", "5s", *_from(namespaces)]
    done = namespaces.rowpath(*words, "-o", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    assert "was copied" in done.stderr
    assert "from host app1" in done.stderr
    assert _proven(reader.read(tmp_path / "run"))[1] == 50
    assert not _programs(namespaces)


def test_localhost_is_the_host_that_asks(namespaces: Lab, tmp_path_factory: pytest.TempPathFactory) -> None:
    directory = tmp_path_factory.mktemp("run") / "run"
    with own_postgresql.serving(namespaces, "app1", tmp_path_factory.mktemp("own"), "127.0.0.1") as (user, port):
        words = ["probe", url(user, "localhost", port), "--query", QUERY, *FEW, "--budget", "5s"]
        done = namespaces.rowpath(*words, *_from(namespaces), "-o", str(directory))
    assert done.returncode == 0, done.stderr
    assert "localhost of the URL is host app1 itself" in done.stderr
    found = reader.read(directory)
    assert _proven(found)[1] == ROWS
    assert "localhost of the URL is host app1 itself" in found.notes


def test_what_cannot_be_there_is_said_by_that_host(namespaces: Lab, server: Server, tmp_path: Path) -> None:
    user, port = server
    wrong = url(user, namespaces.addresses["db"], port, "hunter2")
    asked = ["--query", QUERY, *FEW, *_from(namespaces), "-o", str(tmp_path / "run")]
    done = namespaces.rowpath("probe", wrong, *asked)
    assert done.returncode == 3
    assert "error: on host app1: cannot connect to" in done.stderr
    assert "hunter2" not in done.stderr
    done = namespaces.rowpath("probe", f"postgresql://{user}:hunter2@localhost:{port}/rowpath", *asked)
    assert "error: on host app1: cannot connect to" in done.stderr  # nothing listens there
    done = namespaces.rowpath("probe", "/no/such.db", *asked)
    assert done.returncode == 2
    assert "error: on host app1: no file '/no/such.db'" in done.stderr
    assert not (tmp_path / "run").exists()
    assert not _programs(namespaces)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--hosts", "{file}", "--from", "app9"], "--from app1, or --from app2"),
        (["--hosts", "{file}", "--from", "db"], "host 'db' has neither the role client nor load"),
        (["--hosts", "{file}"], "--from is missing: name the host to probe from"),
        (["--from", "app1"], "no hosts file was given"),
        (["--hosts", "{file}", "--cluster", "10.0.0.1:1", "--from", "app1"], "exclude each other"),
        (["--hosts", "{file}", "--from", "app1", "--connections", "1"], "expected 2 or more"),
        (["--hosts", "{file}", "--from", "app1", "--query", "DELETE FROM t"], "only a single SELECT"),
        (["--hosts", "{file}", "--from", "app1", "--adapters", "{adapters}"], "--adapters is not available with"),
        (["--hosts", "{file}", "--from", "app1", "--jar", "own.jar"], "its path must be absolute"),
    ],
)  # fmt: skip
def test_mistakes_are_found_before_hosts_are_joined(namespaces: Lab, words: list[str], said: str) -> None:
    adapters = ROOT / "runners" / "example" / "adapters.toml"
    given = [word.format(file=namespaces.file, adapters=adapters) for word in words]
    done = namespaces.rowpath("probe", "postgresql://a:hunter2@10.77.0.2/x", "--query", QUERY, *given)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert "joining" not in done.stderr
    assert "hunter2" not in done.stderr


def test_a_relative_name_is_no_file_of_a_host(namespaces: Lab) -> None:
    done = namespaces.rowpath("probe", "own.db", "--table", "t", *_from(namespaces))
    assert done.returncode == 2
    assert "own.db is not a URL, so it is a file of host app1: its path must be absolute" in done.stderr


def test_an_interrupted_probe_keeps_what_it_found(namespaces: Lab, server: Server, tmp_path: Path) -> None:
    directory = tmp_path / "run"
    interrupted = False

    def interrupt(command: subprocess.Popen[str]) -> None:
        nonlocal interrupted
        if not interrupted and _tried(directory):
            interrupted = True
            command.send_signal(signal.SIGINT)

    status, printed = _watched(
        namespaces, [*_words(namespaces, server, directory, "60s"), *_from(namespaces)], interrupt
    )
    assert status == 130, printed
    assert "error: interrupted" in printed
    assert reader.read_as_written(directory).outcome == "interrupted"
    assert (directory / "report.html").exists()
    assert not _programs(namespaces)


def _tried(directory: Path) -> bool:
    """Whether a try is in the journal."""
    file = directory / "samples.jsonl"
    return file.exists() and '"tried":{' in file.read_text()


def test_nothing_goes_on_there_without_the_controller(namespaces: Lab, server: Server, tmp_path: Path) -> None:
    directory = tmp_path / "run"
    under_way = namespaces.begun(*_words(namespaces, server, directory, "60s"), *_from(namespaces))
    try:
        broken_network.wait_for(lambda: _tried(directory), under_way)
    finally:
        under_way.kill()
        under_way.communicate()
    _wait_until_gone(namespaces)


@pytest.mark.parametrize("when", ["tries", "full sets"])
def test_a_lost_host_is_named_and_what_was_measured_is_kept(
    namespaces: Lab, server: Server, tmp_path: Path, when: str
) -> None:
    lab, directory = namespaces, tmp_path / "run"
    budget = "60s" if when == "tries" else "5s"
    killed = 0.0

    def kill(_command: subprocess.Popen[str]) -> None:
        nonlocal killed
        reached = _tried(directory) if when == "tries" else _samples(directory) > 3
        if not killed and reached:
            names = lab.mine()
            mine = node.pids(cluster.name_of(lab.file), "app1")
            os.kill(next(pid for pid in mine if names.get(pid, "").startswith("ray::Agent")), signal.SIGKILL)
            killed = time.monotonic()

    status, printed = _watched(lab, [*_words(lab, server, directory, budget), *_from(lab)], kill)
    assert killed
    assert time.monotonic() - killed < NOTICED_S
    assert status == 3, printed
    assert "error: host app1 was lost" in printed
    assert f"rowpath show {directory}" in printed
    records = reader.read_as_written(directory)
    assert records.outcome == "interrupted"
    assert any(each.tried and each.tried.execution_ns for each in records.probe)
    _wait_until_gone(lab)
    shown = lab.rowpath("show", str(directory), "--tables")
    assert shown.returncode == 0, shown.stderr
    assert "libpq" in shown.stdout
    assert "The probe was cut off" in shown.stdout


def _samples(directory: Path) -> int:
    return broken_network.count(directory, SampleRecord) if (directory / "samples.jsonl").exists() else 0
