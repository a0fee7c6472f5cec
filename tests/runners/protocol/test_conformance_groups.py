"""The conformance suite's manner `groups`: what is right passes, each wrong is found, a runner need not know groups."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from rowpath.checks.conformance.fixture import EngineFixture
from rowpath.checks.conformance.paths import planned as planned_paths
from rowpath.checks.conformance.protocol_checks import TABLE, check_protocol
from rowpath.checks.conformance.report import opened_fixture
from rowpath.execution.worker import Worker
from rowpath.runners import manifest
from rowpath.runners.process import Runner, RunnerFailure
from rowpath.runners.protocol import GroupTotal

FAKE = Path(__file__).parents[2] / "fakes" / "runner.py"
SQLITE3 = next(adapter for adapter in manifest.load_manifest("python").adapter if adapter.driver == "sqlite3")
PLANNED = planned_paths(SQLITE3, "values")[0]
Spoil = Callable[[Worker, list[GroupTotal]], object]


@pytest.fixture(name="fixture", scope="module")
def engine_fixture() -> Iterator[EngineFixture]:
    with opened_fixture((PLANNED,)) as fixture:
        yield fixture


def test_what_is_right_passes(fixture: EngineFixture) -> None:
    outcome = check_protocol("mixed-load", PLANNED, fixture)
    assert (outcome.status, outcome.reason) == ("ok", "")
    with pytest.raises(Exception, match=TABLE):
        fixture.connected(PLANNED).run([f"SELECT n FROM {TABLE}"])


def lose_a_write(worker: Worker, _totals: list[GroupTotal]) -> None:
    worker.run([f"UPDATE {TABLE} SET n = n - 1 WHERE id = 3"])


def wrong_touch(_living: Worker, totals: list[GroupTotal]) -> None:
    totals[0].touch = f"{int(totals[0].touch, 16) + 1:016x}"


def fewer_rows(_living: Worker, totals: list[GroupTotal]) -> None:
    totals[0].values -= 1


def more_operations(_living: Worker, totals: list[GroupTotal]) -> None:
    totals[1].operations += 1


@pytest.mark.parametrize(
    ("spoil", "found"),
    [
        (lose_a_write, "each with the writes acknowledged"),
        (wrong_touch, "touch sum"),
        (fewer_rows, "rows and values"),
        (more_operations, "of writer in the shared counters"),
    ],
)
def test_what_is_wrong_is_found(
    fixture: EngineFixture, monkeypatch: pytest.MonkeyPatch, spoil: Spoil, found: str
) -> None:
    right = Worker.groups_end

    def groups_end(self: Worker, timeout_s: float) -> list[GroupTotal]:
        totals = right(self, timeout_s)
        spoil(self, totals)
        return totals

    monkeypatch.setattr(Worker, "groups_end", groups_end)
    outcome = check_protocol("mixed-load", PLANNED, fixture)
    assert outcome.status == "failed"
    assert found in outcome.reason


def test_a_runner_need_not_know_groups(fixture: EngineFixture) -> None:
    program = ["/usr/bin/env", f"PYTHONPATH={FAKE.parents[2] / 'src'}", sys.executable, str(FAKE)]
    stranger = manifest.external(SQLITE3, "fake-honest", program)
    outcome = check_protocol("mixed-load", replace(PLANNED, adapter=stranger), fixture)
    assert (outcome.status, outcome.reason) == ("not applicable", "the requirement 'client-groups' is not known"), (
        outcome.got
    )
    runner = Runner.start(manifest.command(stranger, "system", PLANNED.path), (0,))
    with contextlib.ExitStack() as stack, pytest.raises(RunnerFailure, match="'client-groups' is not known") as refused:
        stack.callback(runner.stop)
        runner.hello("fake-honest", requires=("client-groups",))
    assert refused.value.kind == "unsupported"


def test_an_adapter_of_one_client_has_no_groups(fixture: EngineFixture) -> None:
    alone = msgspec.structs.replace(SQLITE3, coordinates={"statement": ("prepared",)})
    outcome = check_protocol("mixed-load", replace(PLANNED, adapter=alone), fixture)
    assert outcome.status == "not applicable"
    assert "one client" in outcome.reason
