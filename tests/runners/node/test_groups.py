"""Groups of clients in the Node runner: threads of a driver that blocks, tasks of an asynchronous one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pytest

from rowpath.runners import manifest, protocol
from tests.runners.protocol import group_cases as cases
from tests.runners.protocol.group_talk import NOTHING, Group, Subject, subject
from tests.runners.protocol.talk import adapter
from tests.waiting import PATIENCE_S

SUBJECTS: dict[str, tuple[dict[str, str], tuple[cases.Case, ...]]] = {
    "better-sqlite3": ({}, cases.LEDGER),
    "node-sqlite": ({}, cases.LEDGER),
    "pg": ({"transport": "unix"}, (cases.reads_and_writes, cases.regions, cases.failures, cases.killed)),
}
PAIRS = [(name, case) for name, (_coordinates, own) in SUBJECTS.items() for case in own]
pytestmark = pytest.mark.skipif(not manifest.availability(adapter("node", "null"), "bundled").ok, reason="no Node")


@pytest.fixture(name="null", scope="module")
def null_fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    with subject("node", "null", tmp_path_factory.mktemp("null")) as found:
        yield found


@pytest.fixture(name="subjects", scope="module")
def subjects_fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Subject]]:
    """By name; one at a time, each started once for all of its cases that follow one another."""
    with contextlib.ExitStack() as stack:
        up: dict[str, Subject] = {}

        def of(name: str) -> Subject:
            if name not in up:
                stack.close()
                up.clear()
                coordinates, _cases = SUBJECTS[name]
                up[name] = stack.enter_context(subject("node", name, tmp_path_factory.mktemp("groups"), **coordinates))
            return up[name]

        yield of


@pytest.mark.parametrize("case", cases.NULL, ids=cases.name_of)
def test_groups_of_nothing(case: cases.Case, null: Subject) -> None:
    case(null)


@pytest.mark.parametrize(("name", "case"), PAIRS, ids=[f"{name}-{cases.name_of(case)}" for name, case in PAIRS])
def test_groups_on_a_ledger(name: str, case: cases.Case, subjects: Callable[[str], Subject]) -> None:
    case(subjects(name))


def test_bye_ends_a_runner_whose_groups_are_at_work(null: Subject) -> None:
    with null.talk(clients=2) as talk:
        talk.prepare_nothing()
        with talk.groups(Group(NOTHING, clients=2)) as working:
            working.begin()
            talk.ask(protocol.Bye, protocol.Reply)
            assert talk.runner.process.wait(timeout=PATIENCE_S) == 0
