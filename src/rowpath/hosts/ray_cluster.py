"""Ray, as far as it is used: one agent on each host, and calls to it. No other module imports it."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import secrets
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rowpath.errors import EnvironmentMissing
from rowpath.execution.several_hosts import HostLost
from rowpath.hosts import cluster, foreign, hosts_file, node, setup
from rowpath.hosts.agent import Agent
from rowpath.hosts.replies import value_of
from rowpath.machine import processes
from rowpath.model.hosts import Host

LOOK_EACH_S = 1.0  # at the head, while a call is awaited
START_TIMEOUT_S = 60.0
END_TIMEOUT_S = 15.0
NAMESPACE = "rowpath"
HEADLESS_S = 3.0  # agents end soon without a head
AGAIN_S = 0.1
BACK_S = 10.0  # for the agent of a host that is back
MISSING = re.compile(r"No module named '[\w.]+'")
ANSWER_S = 1.0  # for the call to a host whose server's host is lost: its connections may have ended
SILENT_S = 4.0  # for which a call is sent again when the network lost it or its reply


def _ray() -> Any:
    place = str(setup.require())
    if place not in sys.path:
        sys.path.append(place)
    import ray

    return ray


@dataclass
class RemoteAsk:
    """Asks an agent of another agent: a call, and its reply awaited."""

    _asking: str
    _host: str
    _actor: Any

    def __call__(self, method: str, *arguments: Any) -> Any:
        """What the method returned there. Errors: as they arose there; HostLost."""
        ray = _ray()
        try:
            reply = ray.get(self._actor.call.remote(method, *arguments))
        except ray.exceptions.RayError as error:
            raise HostLost(self._host, f"{_short(error)} (seen from {self._asking})") from None
        return value_of(self._host, reply)


@dataclass
class AgentCall:
    """A call to a host's agent that is under way. Its number lets it be sent again without being carried out again."""

    host: str
    number: int
    words: tuple[Any, ...]
    reference: Any
    silent_since_s: float = 0.0


class RayCluster:
    """The controller's side: it has joined the cluster, and has an agent on each host."""

    def __init__(self, state: cluster.ClusterState, agents: bool = True) -> None:
        """Join, and start agents. Errors: EnvironmentMissing when the cluster does not answer."""
        self._state = state
        self._looked = 0.0
        if not self._head_lives():
            what = f"the head of the hosts has ended (pid {', '.join(map(str, state.head_pids))})"
            if state.foreign:
                raise EnvironmentMissing(f"no cluster answers at {self._head}", "ray status")
            raise EnvironmentMissing(what, f"rowpath hosts down {state.file}, then up")
        os.environ.update(foreign.environment(state.hosts.cluster) if state.foreign else cluster.environment(state))
        usual = {number: signal.getsignal(number) for number in processes.HELD}
        self._ray = _ray()
        self._ray._private.worker.print_to_stdstream = lambda *_a, **_k: None  # it prints logs of hosts that are lost
        try:
            self._ray.init(
                address=self._head,
                _node_ip_address=state.controller,
                namespace=NAMESPACE,
                log_to_driver=False,
                configure_logging=False,
            )
        except Exception as error:
            if state.foreign:
                raise foreign.cannot_join(state, str(error)) from error
            what = f"cannot join the hosts at {state.controller}:{state.port}: {_short(error)}"
            raise EnvironmentMissing(what, f"rowpath hosts status {state.file}") from error
        finally:
            for number, handler in usual.items():  # Ray has set its own
                signal.signal(number, handler)
        self._actors: dict[str, Any] = {}
        self._servers: frozenset[str] = frozenset()
        self.hello: dict[str, dict[str, Any]] = {}  # what each host was when its agent began
        self.watched: tuple[str, ...] = ()  # hosts between which the network must carry while a call is awaited
        self._watching: dict[str, AgentCall] = {}
        self._numbers = itertools.count()
        self.lost: dict[str, HostLost] = {}  # nothing more is asked of them
        if not agents:
            return
        try:
            if state.foreign:
                state.hosts = hosts_file.of_labels(state.hosts.cluster, self._nodes())
                if state.controller in {host.address for host in self.hosts}:
                    what = f"this machine, {state.controller}, is one of the cluster's hosts"
                    raise EnvironmentMissing(what, "run it from another node of the cluster, one without a label")
            for host in self.hosts:
                self._actors[host.name] = self._new_agent(host)
            for call in [self._begun(name, "hello") for name in self._actors]:
                self.hello[call.host] = self._first_answer(call)
        except BaseException:
            self.close()
            raise

    @property
    def hosts(self) -> tuple[Host, ...]:
        """Every host."""
        return self._state.hosts.host

    @property
    def controller(self) -> str:
        """Our own address."""
        return self._state.controller

    def _first_answer(self, call: AgentCall) -> Any:
        """The first answer of a host; one of ours that has left the cluster since is started again first."""
        try:
            return self._value(call, START_TIMEOUT_S)
        except HostLost as lost:
            if lost.host != call.host:
                raise
            if self._state.foreign:
                raise foreign.no_agent(lost) from lost
            if self.is_node(call.host):
                raise
        cluster.start_again(self._state, call.host)
        return self._greeted(call.host, START_TIMEOUT_S)

    def _greeted(self, name: str, timeout_s: float) -> Any:
        """What a host is that was lost and has joined the cluster again; it has a new agent. Errors: HostLost."""
        del self.lost[name]
        self._actors[name] = self._new_agent(self._state.hosts.named(name))
        return self.ask(name, "hello", timeout_s=timeout_s)

    def _new_agent(self, host: Host) -> Any:
        others = [other.address for other in self.hosts if other is not host]
        if host.address.startswith("127."):  # on one machine: clients come from the loopback's own address
            others.append("127.0.0.1")
        # Restarts would begin without the run's instances.
        options: dict[str, Any] = {"num_cpus": 0, "max_restarts": 0}
        given: dict[str, str] = {}
        if self._state.foreign:
            options |= {"label_selector": {hosts_file.LABEL: host.name}}
            options |= {"name": f"agent-{host.name}-{secrets.token_hex(4)}"}  # for `hosts down`
            given = {node.MARK: f"{self._state.cluster}/{host.name}", node.HELPERS: host.helpers}
        else:
            options |= {"resources": {node.resource(host.name): 1}}
        return self._ray.remote(Agent).options(**options).remote(host.name, host.address, tuple(others), given)

    def _nodes(self) -> list[tuple[str, dict[str, str]]]:
        """Address and labels of every living node."""
        return [(node["NodeManagerAddress"], node["Labels"]) for node in self._ray.nodes() if node["Alive"]]

    def is_node(self, host: str) -> bool:
        """Whether the cluster has a living node that is the host."""
        if self._state.foreign:
            return any(labels.get(hosts_file.LABEL) == host for _address, labels in self._nodes())
        nodes = self._ray.nodes()
        return any(known["Alive"] and node.resource(host) in known["Resources"] for known in nodes)

    def introduce(self, servers: frozenset[str]) -> None:
        """Tell every agent how those of `servers` are asked (others are not), and where all hosts are."""
        self._servers = servers
        there = {name: actor for name, actor in self._actors.items() if name not in self.lost}
        addresses = {host.name: host.address for host in self.hosts}
        calls: dict[str, tuple[Any, ...]] = {}
        for name in there:
            peers = {other: RemoteAsk(name, other, there[other]) for other in servers & there.keys() - {name}}
            calls[name] = ("meet", peers, addresses, self._state.port)
        self.ask_those(calls)

    def join_again(self, name: str) -> dict[str, Any]:
        """As `_greeted`, during a run: agents of other hosts get a handle to the new agent."""
        self._watching.pop(name, None)
        hello: dict[str, Any] = self._greeted(name, BACK_S)
        self.introduce(self._servers)
        return hello

    def leave_out(self, lost: HostLost) -> None:
        """Ask nothing more of that host; its agent ends if it lives, and with it all that it started."""
        self._noticed(lost)
        with contextlib.suppress(Exception):
            self._ray.kill(self._actors[lost.host])

    def ask(self, host: str, method: str, *arguments: Any, timeout_s: float | None = None) -> Any:
        """What a method of a host's agent returned. Errors: as they arose there; HostLost, at once if it was lost."""
        if host in self.lost:
            raise self.lost[host]
        return self._value(self._begun(host, method, *arguments), timeout_s)

    def _begun(self, host: str, *words: Any) -> AgentCall:
        number = next(self._numbers)
        return AgentCall(host, number, words, self._actors[host].call_once.remote(number, *words))

    def asking(self, host: str) -> Callable[..., Any]:
        """The function that asks one host: (method, arguments)."""
        return lambda method, *arguments: self.ask(host, method, *arguments)

    def ask_all(self, hosts: tuple[str, ...], method: str, *arguments: Any) -> dict[str, Any]:
        """What each of several hosts returned to the same call, side by side. Errors: as `ask`."""
        return self.ask_those(dict.fromkeys(hosts, (method, *arguments)))

    def ask_those(self, calls: Mapping[str, tuple[Any, ...]]) -> dict[str, Any]:
        """What each host returned to (method, arguments), side by side. Errors: as `ask`."""
        for host in calls.keys() & self.lost.keys():
            raise self.lost[host]
        under_way = [self._begun(host, *words) for host, words in calls.items()]
        return {call.host: self._value(call, None) for call in under_way}

    def ask_each(self, calls: Mapping[str, tuple[Any, ...]]) -> tuple[dict[str, Any], dict[str, str]]:
        """What each host returned to (method, arguments), side by side; which were lost, and why.

        Errors: the first that arose on a host, once all have answered; HostLost of the head only.
        """
        lost = {host: self.lost[host].text for host in calls if host in self.lost}
        under_way = {host: self._begun(host, *words) for host, words in calls.items() if host not in lost}
        replies: dict[str, Any] = {}
        failed: Exception | None = None
        for host, call in under_way.items():
            try:
                replies[host] = self._value(call, None)
            except HostLost as loss:
                if loss.host == cluster.CONTROLLER:
                    raise
                lost[loss.host] = loss.text
            except Exception as error:
                failed = failed or error
        if failed is not None:
            raise failed
        return replies, lost

    def _value(self, call: AgentCall, timeout_s: float | None) -> Any:
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            self.look_at_head()
            try:
                return self._received(call)
            except TimeoutError:
                if deadline is not None and not self.is_node(call.host):  # its agent would never begin
                    raise self._noticed(HostLost(call.host, "it has left the cluster")) from None
                if deadline is not None and time.monotonic() > deadline:
                    why = f"its agent did not answer within {timeout_s:g} s"
                    raise self._noticed(HostLost(call.host, why)) from None
            try:
                self._look_at_ways(call.host)
            except HostLost as other:
                # An agent that waits for a server on a host that is lost may do so for minutes: it is lost with it.
                may_wait = other.host in self.lost and call.host not in self.lost
                if may_wait and not self._ray.wait([call.reference], timeout=ANSWER_S)[0]:
                    self._noticed(HostLost(call.host, f"it waits for host {other.host}"))
                raise

    def _received(self, call: AgentCall) -> Any:
        """The reply. Errors: TimeoutError while there is none; as they arose there; HostLost."""
        try:
            return value_of(call.host, self._ray.get(call.reference, timeout=LOOK_EACH_S))
        except HostLost as lost:
            raise self._noticed(lost) from None
        except self._ray.exceptions.GetTimeoutError:
            raise TimeoutError from None
        except self._ray.exceptions.RayError as error:
            self._looked = 0.0
            self.look_at_head()
            call.silent_since_s = call.silent_since_s or time.monotonic()
            passing = isinstance(error, self._ray.exceptions.ActorUnavailableError)
            if passing and time.monotonic() - call.silent_since_s < SILENT_S:
                time.sleep(AGAIN_S)
                call.reference = self._actors[call.host].call_once.remote(call.number, *call.words)
                raise TimeoutError from None
            raise self._noticed(HostLost(call.host, _short(error))) from None

    def _noticed(self, lost: HostLost) -> HostLost:
        return self.lost.setdefault(lost.host, lost)

    def _look_at_ways(self, host: str) -> None:
        """HostLost when another host of the run no longer reaches the one that is awaited, or is gone itself.

        A runner whose server is silent waits for ever, and its agent with it. Agents at work reply later.
        """
        for other in self.watched if host in self.watched else ():
            if other == host or other in self.lost:
                continue
            if other not in self._watching:
                self._watching[other] = self._begun(other, "reaches", (host,))
            if self._ray.wait([self._watching[other].reference], timeout=0)[0]:
                with contextlib.suppress(TimeoutError):
                    self._received(self._watching[other])
                    del self._watching[other]

    def look_at_head(self) -> None:
        """HostLost when it has ended: agents answer for some seconds without it. Looks once a second."""
        if time.monotonic() - self._looked > LOOK_EACH_S:
            self._looked = time.monotonic()
            if not self._head_lives():
                raise HostLost(cluster.CONTROLLER, "the head, gcs_server, has ended")

    @property
    def _head(self) -> str:
        return f"{self._state.head or self._state.controller}:{self._state.port}"

    def _head_lives(self) -> bool:
        if self._state.foreign:
            return foreign.head_lives(self._state)
        return all(processes.name(pid).startswith("gcs_server") for pid in self._state.head_pids)

    def close(self) -> None:
        """End the agents with all that they started, and leave; never raises."""
        actors, self._actors = self._actors, {}
        if self._head_lives():
            for actor in actors.values():
                with contextlib.suppress(Exception):
                    self._ray.kill(actor)
            with contextlib.suppress(Exception):
                self._ray.shutdown()
            return
        import atexit

        # Without a head it would wait for it.
        atexit.unregister(self._ray._private.worker.shutdown)

    def end_agents(self) -> int:
        """End every agent of Rowpath in a cluster of others, whoever started it; how many."""
        every = self._ray.util.list_named_actors(all_namespaces=True)
        names = [actor["name"] for actor in every if actor["namespace"] == NAMESPACE]
        for name in names:
            with contextlib.suppress(ValueError):  # it has ended
                self._ray.kill(self._ray.get_actor(name, namespace=NAMESPACE))
        return len(names)

    def end_all(self) -> dict[str, dict[str, str]]:
        """Have every agent stop what a run has there, as far as they answer; what runners wrote, by host."""
        texts: dict[str, dict[str, str]] = {}
        there = {host: actor for host, actor in self._actors.items() if host not in self.lost}
        under_way = {host: actor.call.remote("end") for host, actor in there.items()}
        deadline = time.monotonic() + (END_TIMEOUT_S if self._head_lives() else HEADLESS_S)
        for host, reference in under_way.items():
            with contextlib.suppress(Exception):
                left_s = max(0.1, deadline - time.monotonic())
                texts[host] = value_of(host, self._ray.get(reference, timeout=left_s))
        return texts


def end_agents(state: cluster.ClusterState) -> int:
    """End every agent of Rowpath in a cluster of others; how many. Errors: EnvironmentMissing."""
    with contextlib.closing(RayCluster(state, agents=False)) as joined:
        return joined.end_agents()


def _short(error: BaseException) -> str:
    kind = type(error).__name__
    if kind == "ActorUnavailableError":
        return "it no longer answers: the network to it broke, or the host hangs"
    if missing := MISSING.search(str(error)):
        return f"{missing[0]} there"
    if kind in ("ActorDiedError", "ObjectFetchTimedOutError", "OwnerDiedError"):
        return "its agent has ended, or the network to it broke"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:300]
