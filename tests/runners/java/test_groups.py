"""Groups of clients on the real Java runner: no engine, Derby in its JVM and as a server, other embedded engines."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import BackedUp, BacksUp
from rowpath.execution.mixed_load.shared_counters import GAVE_UP
from rowpath.machine import jvm
from tests.runners.java.group_talk import Subject, subject
from tests.runners.protocol.group_cases import LEDGER, NULL, Case, failures, name_of
from tests.runners.protocol.group_talk import NOTHING, Group
from tests.runners.protocol.shared_cases import LEDGER as SHARED_LEDGER
from tests.runners.protocol.shared_cases import NULL as SHARED_NULL

pytestmark = pytest.mark.skipif(bool(jvm.compiler_problem()), reason="no JDK")
ROWS = 12
IDS = list(range(1, ROWS + 1))


def backup_meanwhile(subject: Subject) -> None:
    """Readers, a writer and a backup at once, each on its own connection: none fails, nothing is lost."""
    engine, instance = ENGINES[subject.path.get("engine")], subject.instance
    assert isinstance(engine, BacksUp)
    assert isinstance(instance, BackedUp)
    way = engine.backup_ways(subject.path.get("deployment"))[0]
    folder = subject.folder / f"kept-{time.monotonic_ns()}"
    folder.mkdir()
    with subject.talk(clients=4) as talk:
        talk.make_ledger(ROWS)
        talk.prepare_read(IDS)
        talk.prepare_write(IDS)
        backup = instance.backup(way, subject.path, folder)
        talk.run(*backup.before)
        talk.prepare_write([], name="backup", sql=backup.statement)
        groups = (Group("read", "readers", 2), Group("write", "writer", rows=ROWS), Group("backup", operations=1))
        with talk.groups(*groups) as working:
            working.begin()
            counters = working.shared_counters
            working.wait(lambda: counters.snapshot("group", time.monotonic_ns()).done == 1)
            # A backup that locks the database keeps the others from their first operation until it ends.
            for name in ("readers", "writer"):
                working.wait(lambda name=name: counters.snapshot(name, time.monotonic_ns()).operations > 0)
            totals = working.end()
            known, doubtful = working.shared_counters.acknowledged("writer")
        talk.run(*backup.afterwards)
        assert [total.failures for total in totals.values()] == [[], [], []]
        assert totals["group"].operations == 1
        assert backup.kept.exists()
        assert totals["readers"].operations == totals["readers"].rows > 0
        assert int(known.sum()) == totals["writer"].operations > 0
        assert not doubtful.any()
        assert talk.ledger() == {id_: int(count) for id_, count in zip(IDS, known, strict=True)}


def killed_server(subject: Subject) -> None:
    """The failures of a killed server's clients are told by kind, they give up, and no acknowledged write is lost."""
    with subject.talk(clients=2) as talk:
        talk.make_ledger(ROWS)
        talk.prepare_write(IDS)
        with talk.groups(Group("write", clients=2, rows=ROWS)) as working:
            working.begin()
            working.wait(lambda: working.shared_counters.snapshot("group", time.monotonic_ns()).operations >= 30)
            for pid in subject.instance.pids():
                os.kill(pid, signal.SIGKILL)
            working.wait(lambda: working.shared_counters.states("group") == [GAVE_UP, GAVE_UP])
            total = working.end()["group"]
            known, doubtful = working.shared_counters.acknowledged("group")
    assert total.failed == 200
    assert {failure.kind for failure in total.failures} == {"connect"}
    assert all(failure.code.startswith("08") for failure in total.failures)
    assert int(doubtful.sum()) == 200
    subject.instance.stop()
    subject.instance.start()
    with subject.talk() as talk:
        stored = talk.ledger()
    assert all(known[id_ - 1] <= stored[id_] <= known[id_ - 1] + doubtful[id_ - 1] for id_ in IDS)


CASES: dict[tuple[str, str], tuple[Case, ...]] = {
    ("derby", "embedded"): (*LEDGER, *SHARED_LEDGER, backup_meanwhile),
    ("derby", "server"): (backup_meanwhile, killed_server),
    ("h2", "embedded"): (backup_meanwhile,),
    ("hsqldb", "embedded"): (backup_meanwhile,),
    ("sqlite-jdbc", "embedded"): (backup_meanwhile,),
    ("duckdb_jdbc", "embedded"): (backup_meanwhile, failures),  # its driver closes a statement that fails
}


@pytest.fixture(scope="module")
def subjects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Subject]]:
    """What starts an engine when it is first asked for; all are stopped at the end."""
    with contextlib.ExitStack() as stack:

        @functools.cache
        def start(driver: str, deployment: str) -> Subject:
            return stack.enter_context(subject(driver, tmp_path_factory.mktemp(driver), deployment))

        yield start


@pytest.fixture
def null(subjects: Callable[..., Subject]) -> Subject:
    return subjects("null", "none")


@pytest.mark.parametrize("case", (*NULL, *SHARED_NULL), ids=name_of)
def test_without_engine(case: Case, null: Subject) -> None:
    case(null)


@pytest.mark.parametrize(
    ("engine", "case"),
    [
        pytest.param(engine, case, id="-".join((*engine, name_of(case))))
        for engine, cases in CASES.items()
        for case in cases
    ],
)
def test_with_an_engine(engine: tuple[str, str], case: Case, subjects: Callable[..., Subject]) -> None:
    case(subjects(*engine))


def test_the_clock_is_the_controllers(null: Subject) -> None:
    with null.talk() as talk:
        talk.prepare_nothing()
        with talk.groups(Group(NOTHING, operations=1)) as working:
            before_ns = time.monotonic_ns()
            working.begin(after_s=0)
            working.wait_until_done()
            total = working.end()["group"]
            after_ns = time.monotonic_ns()
    assert before_ns <= total.begun_ns <= total.ended_ns <= after_ns


def test_virtual_threads(tmp_path: Path) -> None:
    """They work in groups as threads do; those that never wait leave the carrier to the others."""
    with subject("null", tmp_path, concurrency="virtual-threads") as found:
        for case in (*NULL, *SHARED_NULL):
            case(found)
        with found.talk(clients=3) as talk:
            talk.prepare_nothing()
            groups = [Group(NOTHING, name) for name in ("one", "two", "three")]
            with talk.groups(*groups) as working:
                working.work_a_little()
                totals = working.end()
            assert {total.cpu_ns for total in totals.values()} == {totals["one"].cpu_ns} != {0}
            assert talk.log == []
    with subject("derby", tmp_path, concurrency="virtual-threads") as found:
        for case in (*LEDGER, *SHARED_LEDGER):
            case(found)
