"""Calls to workers, here and on hosts."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rowpath.execution.in_turn import WorkerCall, in_turn, of_each
from rowpath.execution.measured import Measured
from rowpath.execution.several_hosts import HostLost
from rowpath.execution.worker import Worker
from rowpath.hosts.agent import Agent
from rowpath.hosts.far_worker import FarWorker, TogetherThere
from rowpath.hosts.host_run import HostRun
from rowpath.hosts.replies import reply_of, value_of
from rowpath.runners.process import RunnerFailure
from tests.unit.insides import take_part


class Thing:
    """A worker as far as an agent, or a set on this machine, asks for one."""

    together = None

    def __init__(self, name: str, made: list[tuple[str, str]], fails: dict[str, Exception]) -> None:
        self.name, self.made, self.fails = name, made, fails
        self.runner = SimpleNamespace(noise=[f"{name} spoke"], pid=1)
        self.has_helpers = False

    def facts(self) -> str:
        return self._noted("facts")

    def settle(self) -> str:
        return self._noted("settle")

    def _noted(self, what: str) -> str:
        self.made.append((self.name, what))
        if what in self.fails:
            raise self.fails[what]
        return f"{what} of {self.name}"


class Hosts:
    """Agents with such workers, and how often each host was asked."""

    def __init__(self) -> None:
        self.made: list[tuple[str, str]] = []
        self.asked: list[str] = []
        self._numbers = itertools.count(1)
        self._agents = {host: Agent(host, "127.0.0.1", ()) for host in "xy"}
        self._workers: dict[str, dict[int, Thing]] = {host: {} for host in self._agents}
        for host, agent in self._agents.items():
            take_part(agent, cast(HostRun, SimpleNamespace(workers=self._workers[host])))

    def worker(self, host: str, name: str, **fails: Exception) -> Worker:
        """A far worker of a host."""
        agent, number = self._agents[host], next(self._numbers)
        self._workers[host][number] = Thing(name, self.made, fails)
        planned = SimpleNamespace(path=SimpleNamespace(id=name, clients=1, served=True, deployment="server"))

        def ask(method: str, *arguments: Any) -> Any:
            self.asked.append(host)
            return value_of(host, agent.call(method, *arguments))

        return FarWorker(cast(Any, planned), TogetherThere(host, ask), number, 1)


@pytest.fixture
def hosts() -> Hosts:
    return Hosts()


def test_here_a_call_is_made_when_its_outcome_is_asked_for() -> None:
    made: list[tuple[str, str]] = []
    here = [cast(Worker, Thing(name, made, {})) for name in "ab"]
    for at, (worker, outcome) in enumerate(of_each(here, "facts")):
        assert len(made) == at
        assert outcome() == f"facts of {cast(Any, worker).name}"


def test_what_goes_to_one_host_goes_there_as_one_call_in_that_order(hosts: Hosts) -> None:
    those = [hosts.worker("x", "a"), hosts.worker("x", "b"), hosts.worker("y", "c"), hosts.worker("x", "d")]
    assert [outcome() for _worker, outcome in of_each(those, "facts")] == [f"facts of {name}" for name in "abcd"]
    assert hosts.asked == ["x", "y", "x"]
    assert [name for name, _what in hosts.made] == ["a", "b", "c", "d"]
    assert [each.runner.noise for each in those] == [[f"{name} spoke"] for name in "abcd"]


def test_after_a_failure_the_next_calls_of_that_worker_only_are_left_out(hosts: Hosts) -> None:
    bad, good = hosts.worker("x", "bad", facts=RunnerFailure("crashed", "gone")), hosts.worker("x", "good")
    calls = [WorkerCall(each, method) for method in ("facts", "settle") for each in (bad, good)]
    outcomes = [outcome for _worker, outcome in in_turn(calls)]
    for refused in (outcomes[0], outcomes[2]):
        with pytest.raises(RunnerFailure, match="gone"):
            refused()
    assert [outcomes[1](), outcomes[3]()] == ["facts of good", "settle of good"]
    assert hosts.made == [("bad", "facts"), ("good", "facts"), ("good", "settle")]
    assert not bad.runner.alive()
    assert good.runner.alive()


def test_a_lost_host_ends_the_call_as_a_whole(hosts: Hosts) -> None:
    lost = hosts.worker("x", "a", facts=HostLost("y", "its server is silent"))
    with pytest.raises(HostLost, match="host y was lost"):
        list(of_each([lost, hosts.worker("x", "b")], "facts"))
    assert hosts.made == [("a", "facts")]


def test_a_sample_ended_when_it_did_and_not_when_its_reply_came(hosts: Hosts) -> None:
    worker = cast(FarWorker, hosts.worker("x", "a"))
    far = Measured(cast(Any, None), None, None, None, None, [], ended_ns=1)
    worker.received(reply_of(lambda: far), [], at_ns=7_000)
    assert far.ended_ns == 7_000
