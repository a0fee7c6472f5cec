"""`rowpath probe --clients`: connections sized on real servers for a few seconds, and what is refused before that."""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Place
from rowpath.execution.mixed_load.shared_counters import Snapshot
from rowpath.machine import cpus
from rowpath.model.path import AccessPath
from rowpath.model.progress import Silent
from rowpath.model.workload import Phase
from rowpath.own_database.access import open_access
from rowpath.own_database.candidates import Wanted, candidates
from rowpath.own_database.question import ProbeOptions
from rowpath.own_database.target import read_target
from rowpath.own_database.throttled_worker import Budget, DatabaseRest, RowConsistency, ThrottledWorker
from rowpath.probe import command
from rowpath.probe.sentinel import Sentinel
from rowpath.probe.sizing import SizingRun
from rowpath.runners.manifest import build
from rowpath.runners.process import RunnerFailure
from tests.end_to_end.command import error_form, records, rowpath

# It fails in every session that may write.
READ_ONLY = "SELECT 1 / (CASE WHEN current_setting('transaction_read_only') = 'on' THEN 1 ELSE 0 END) AS a"
MARIADB_READ_ONLY = "SELECT (SELECT 1 UNION SELECT 2 FROM DUAL WHERE @@SESSION.tx_read_only = 0) AS a"
SHORT = ("--budget", "6s", "--seed", "7")


def url_of(options: dict[str, Any], scheme: str = "postgresql") -> str:
    login = f"{options['user']}:{options['password']}"
    return f"{scheme}://{login}@127.0.0.1:{options['port']}/{options['database']}"


def blocks(run: Path) -> list[dict[str, Any]]:
    return [one["block"] for one in records(run, "sizing") if one.get("block")]


class Never(Sentinel):
    """A server that nothing disturbs: other tests' load must not end ours."""

    def too_long(self, now: Snapshot) -> bool:  # type: ignore[explicit-override]
        return False


class Undisturbed(SizingRun):
    sentinel_kind = Never


class AfterThree(Sentinel):
    """Its fourth block is one in which an empty query takes three times as long."""

    begun = 0

    def begin(self) -> None:  # type: ignore[explicit-override]
        super().begin()
        self.begun += 1

    def too_long(self, now: Snapshot) -> bool:  # type: ignore[explicit-override]
        self.took_ns = 3 * self.before_ns if self.begun > 3 else 0
        return self.took_ns > 0


class Stopped(SizingRun):
    sentinel_kind = AfterThree


def sized(url: str, run: Path, kind: type[SizingRun] = Undisturbed, **options: Any) -> tuple[list[str], Any]:
    """What was said before anything was done, and the analysis."""
    said: list[str] = []
    given: dict[str, Any] = {"clients": 6, "connections": 7, "budget_s": 6.0, "seed": 7, "query": READ_ONLY} | options
    wanted = ProbeOptions(url, directory=run, **given)
    _outcome, analysis = command.probe(wanted, Silent(), sizing_kind=kind, say=said.append)
    return said, analysis


def test_callers_that_ask_again_at_once(postgresql: dict[str, Any], tmp_path: Path) -> None:
    said, analysis = sized(url_of(postgresql), tmp_path / "run", budget_s=25.0)
    assert " free (max_connections " in said[0] and "up to 6 for 6 callers and 1 that watches" in said[0]
    assert said[1].startswith("read only, about ") and "executions" in said[1]
    measured = blocks(tmp_path / "run")
    assert [block["size"] for block in measured[:4]] == [1, 2, 4, 6]
    assert all(block["operations"] > 0 and not block.get("failed") for block in measured)  # every session only reads
    assert all(sum(block["latency"].values()) == block["operations"] for block in measured)
    found = analysis.chapters["sizing"]
    assert found.question.callers == 6 and found.stopped is None
    assert {one.size for one in found.choice.sizes} == {block["size"] for block in measured}
    assert " with 6 callers" in analysis.answer.question
    assert not (tmp_path / "run" / "work").exists()


def test_a_rate_is_offered_to_any_free_connection_and_shown_again(postgresql: dict[str, Any], tmp_path: Path) -> None:
    run = tmp_path / "run"
    slow = "SELECT pg_sleep(0.004)::text AS a"
    _said, analysis = sized(url_of(postgresql), run, query=slow, rate_per_s=600.0, budget_s=25.0)
    measured = blocks(run)
    assert all(block["due"] > 0 for block in measured)
    alone = [block for block in measured if block["size"] == 1]
    # One connection does 250 of 600 a second at most, on any machine.
    assert all(block["operations"] < 0.6 * block["due"] and block["waiting"] > 0 for block in alone)
    assert analysis.chapters["sizing"].choice.of(1).kept_up is False
    shown = rowpath("show", run, "--export-json", tmp_path / "out.json")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.splitlines()[0] in analysis.answer.question
    assert "99th percentile by number of connections" in shown.stdout
    exported = json.loads((tmp_path / "out.json").read_text())["sizing"]
    assert [one["size"] for one in exported["choice"]["sizes"]] == sorted({block["size"] for block in measured})


def test_a_rate_that_no_number_keeps_up_with(postgresql: dict[str, Any], tmp_path: Path) -> None:
    slow = "SELECT pg_sleep(0.05)::text AS a"  # two connections do 40 a second at most
    _said, analysis = sized(url_of(postgresql), tmp_path / "run", query=slow, clients=2, rate_per_s=400.0)
    words = analysis.answer.question
    assert words.startswith("No number keeps up with 400 a second: ") and "a second was reached with " in words


def test_the_command_line_sizes_and_writes_the_page(postgresql: dict[str, Any], tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = rowpath(
        "probe", url_of(postgresql), "--query", READ_ONLY, "--clients", "2", "--rate", "50", *SHORT, "-o", run
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.index("free (max_connections") < done.stderr.index("executions (50 a second)")
    (question,) = [one["question"] for one in records(run, "sizing") if one.get("question")]
    assert (question["callers"], question["rate_per_s"], question["most"]) == (2, 50.0, 2)
    assert "Latency by the number of connections" in (run / "report.html").read_text(encoding="utf-8")
    assert postgresql["password"] not in "".join(
        file.read_text(errors="replace") for file in run.rglob("*") if file.is_file()
    )


def test_a_server_that_slows_down_ends_it_with_what_was_found(postgresql: dict[str, Any], tmp_path: Path) -> None:
    _said, analysis = sized(url_of(postgresql), tmp_path / "run", Stopped, rate_per_s=50.0, budget_s=15.0)
    assert [block["size"] for block in blocks(tmp_path / "run")] == [1, 2, 4]
    assert analysis.answer.question.startswith("Stopped with 6 connections; so far: ")
    assert any(text.startswith("It stopped because an empty query took ") for text in analysis.answer.sentences)


def test_parameters_and_a_driver_of_python(postgresql: dict[str, Any], tmp_path: Path) -> None:
    given = {"query": f"{READ_ONLY} WHERE 1 < ?", "params": ("integer:5",), "mine": "psycopg,statement=prepared"}
    _said, analysis = sized(url_of(postgresql), tmp_path / "run", clients=2, rate_per_s=50.0, **given)
    question = analysis.chapters["sizing"].question
    assert question.yours and question.title == "Python" and question.path.startswith("psycopg")
    assert all(block["operations"] and not block.get("failed") for block in blocks(tmp_path / "run"))


def test_a_driver_without_shared_dispatch_is_replaced_and_named(postgresql: dict[str, Any], tmp_path: Path) -> None:
    _said, analysis = sized(url_of(postgresql), tmp_path / "run", clients=1, rate_per_s=50.0, mine="pgx")
    question = analysis.chapters["sizing"].question
    assert not question.yours and question.title == "C"
    assert question.instead.startswith("pgx") and question.instead.endswith("the runner of Go has no shared dispatch")


def test_other_active_sessions_need_yes(postgresql: dict[str, Any], tmp_path: Path) -> None:
    url = url_of(postgresql)
    with contextlib.ExitStack() as stack:
        other = stack.enter_context(
            open_access(read_target(url, {}), ProbeOptions(url, budget_s=30.0), tmp_path / "other")
        )
        stack.enter_context(other.connected())
        how = ("probe", url, "--query", READ_ONLY, "--clients", "2", "--rate", "50", *SHORT)
        refused = rowpath(*how, "-o", tmp_path / "refused")
        assert refused.returncode == 2
        message, hint = error_form(refused.stderr[refused.stderr.index("error: ") :])
        assert message == "1 other session was active on the server within the last minute"
        assert hint == "size at a quieter time, or on a copy; with --yes although they are active"
        assert not (tmp_path / "refused").exists()
        assert "executions" not in refused.stderr
        agreed = rowpath(*how, "--yes", "-o", tmp_path / "agreed")
    assert agreed.returncode == 0, agreed.stderr
    assert "; 1 other session active" in agreed.stderr


def test_a_runner_that_reaches_only_its_first_session_is_refused(postgresql: dict[str, Any], tmp_path: Path) -> None:
    url = url_of(postgresql)
    query = Phase("query", "query", READ_ONLY)
    found = candidates(Wanted("postgresql", "server", query, drivers=("psycopg",), transport="tcp")).paths[0]
    path = AccessPath.of(found.path.as_dict() | {"concurrency": "processes"})  # each other client is another process
    build([(found.adapter, path.version)])
    with open_access(read_target(url, {}), ProbeOptions(url, budget_s=30.0), tmp_path) as access:
        worker = ThrottledWorker(
            replace(found, path=path), access.instance, session=access.session, rest=DatabaseRest(Budget(30.0)),
            row_consistency=RowConsistency(), log=print, timeout_s=30.0, clients=3,
        )  # fmt: skip
        with contextlib.closing(worker), pytest.raises(RunnerFailure, match="1 of 3 sessions are read only"):
            worker.open()


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["--rate", "5"], "--rate: of how many callers?", "--clients 50 --rate 5"),
        (["--clients", "-1"], "invalid --clients -1: expected 1 or more", "--clients 50"),
        (["--clients", "5", "--rate", "-2"], "invalid --rate -2: expected a number above 0", "--rate 2000"),
        (
            ["--clients", "5", "--driver", "libpq"],
            "--driver: not available with --clients",
            "name your driver by --mine DRIVER",
        ),
        (
            ["--clients", "5", "--connections", "1"],
            "invalid --connections 1: expected 2 or more, one of which watches the server",
            "--connections 2",
        ),
    ],
)
def test_what_is_refused_before_connecting(arguments: list[str], message: str, hint: str) -> None:
    done = rowpath("probe", "postgresql://nobody@127.0.0.1:9/none", "--query", "SELECT 1", *arguments)
    assert done.returncode == 2
    assert error_form(done.stderr) == (message, hint)


@pytest.fixture(name="mariadb", scope="module")
def mariadb_fixture() -> Iterator[dict[str, Any]]:
    if not (state := ENGINES["mariadb"].private()).ok:  # type: ignore[attr-defined]
        pytest.skip(state.reason)
    directory = Path(tempfile.mkdtemp(prefix="rowpath-"))
    directory.chmod(0o711)
    place = Place(directory / "d", directory / "s", cpus.server_cpus())
    instance = ENGINES["mariadb"].instance("server", "none", place)  # type: ignore[attr-defined]
    try:
        instance.start()
        yield instance.options(AccessPath.of({"engine": "mariadb", "transport": "tcp"}))
    finally:
        instance.stop()
        shutil.rmtree(directory, ignore_errors=True)


def test_mariadb_is_sized_by_sessions_that_only_read(mariadb: dict[str, Any], tmp_path: Path) -> None:
    given = {"query": MARIADB_READ_ONLY, "rate_per_s": 50.0, "clients": 2, "yes": True}
    said, analysis = sized(url_of(mariadb, "mariadb"), tmp_path / "run", **given)
    assert " free (max_" in said[0]
    assert analysis.chapters["sizing"].choice.sizes
    measured = blocks(tmp_path / "run")
    assert measured and all(block["operations"] and not block.get("failed") for block in measured)
