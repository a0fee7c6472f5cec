"""A stage over several hosts as the controller sees it: instants in each clock, spans of one, what a loss leaves."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from rowpath.execution.mixed_load.shared_counters import DONE, WORKS, Snapshot
from rowpath.execution.several_hosts import HostLost
from rowpath.hosts.far_counters import FarCounters
from rowpath.hosts.far_load import FarProcesses
from rowpath.hosts.load import GroupSeen, Opened, States
from rowpath.journal.mixed_load_records import ConnectionsSecond, ProcessSecond
from rowpath.journal.records import ClockRecord
from rowpath.model.histogram import empty
from rowpath.model.path import AccessPath
from rowpath.runners.protocol import GroupClient, GroupSpec, GroupTotal

OFFSETS_NS = {"app1": 10**15, "app2": 5 * 10**12, "db": 3 * 10**13}
BOTH = ("app1", "app2")
PATH = AccessPath.of({"engine": "postgresql", "deployment": "server", "client_host": "app1", "server_host": "db"})


def _total(begun_ns: int, lasted_ns: int, operations: int) -> GroupTotal:
    clients = [GroupClient(0, 5, operations, 0)]
    return GroupTotal("readers", operations, 0, 1, 2, "ff", begun_ns, begun_ns + lasted_ns, 9, clients=clients)


class Hosts:
    """Hosts that reply at once, and those that are lost, which do not."""

    def __init__(self) -> None:
        self.lost: set[str] = set()
        self.together: list[tuple[str, ...]] = []  # the hosts of each time
        self.asked: list[tuple[str, tuple[Any, ...]]] = []
        self.begun_ns: dict[str, int] = {}
        self.end_ns: dict[str, int] = {}
        self.looks = 0
        self.helped: tuple[str, ...] = ()  # those whose clients have helper threads

    def ask_each(self, calls: Mapping[str, tuple[Any, ...]]) -> tuple[dict[str, Any], dict[str, str]]:
        """As `RayCluster` has it."""
        self.asked += calls.items()
        self.together.append(tuple(calls))
        found = {host: self._reply(host, words) for host, words in calls.items() if host not in self.lost}
        return found, {host: "it is gone" for host in calls if host in self.lost}

    def _reply(self, host: str, words: tuple[Any, ...]) -> Any:
        match words:
            case ("engine_kill", _key):
                return [41, 42], OFFSETS_NS["db"] + 77
            case ("load_open", _path, connections):
                return Opened([], dict.fromkeys(connections, 0), host in self.helped), [(1, 100)]
            case ("load", "set_instants", begins, end_ns):
                self.end_ns[host] = end_ns
                self.begun_ns |= {host: begins["readers"]} if begins else {}
                return dict.fromkeys(begins, 7)
            case ("load", "helpers_cpu_ns"):
                return {"app1": 5, "app2": 30}[host]
            case ("load", "states"):
                return States({"readers": host == "app1"}, {})
            case ("load", "look"):
                snapshot = Snapshot(1, 30, 0, 0, 0, 0, 0, 1, 0, 0, 5, empty(), empty(), empty())
                self.looks += 1
                used = ProcessSecond(cpu_ns=10, memory_bytes=self.looks, read_bytes=None)
                return {"readers": GroupSeen(snapshot, 3)}, (used, ConnectionsSecond(2, 1) if host == "app1" else None)
            case ("load", "totals", _timeout):
                late_ns, lasted_ns = {"app1": (5, 100), "app2": (7, 300)}[host]
                return {"readers": _total(self.begun_ns[host] + late_ns, lasted_ns, 40)}
        return None

    def clocks(self, names: tuple[str, ...]) -> dict[str, ClockRecord | Exception]:
        """What was measured of them."""
        return {name: ClockRecord(name, "", OFFSETS_NS[name], 11, "") for name in names}

    def of(self, method: str) -> dict[str, Any]:
        """What each host was asked last by that method of the client processes."""
        return {host: words[2:] for host, words in self.asked if words[:2] == ("load", method)}


@pytest.fixture
def hosts() -> Hosts:
    """Two of them."""
    return Hosts()


@pytest.fixture
def far(hosts: Hosts) -> FarProcesses:
    """Three readers on two hosts, one of them on the other alone."""
    return _opened(hosts, ("readers",), 3)


def _opened(hosts: Hosts, groups: tuple[str, ...], clients: int = 2) -> FarProcesses:
    planned: Any = SimpleNamespace(path=PATH)
    instance: Any = None
    over = dict.fromkeys(groups, BOTH)
    far = FarProcesses(
        planned, instance, dict.fromkeys(groups, clients), over, ask_each=hosts.ask_each, measured_clocks=hosts.clocks
    )
    far.open({})
    return far


def _at_work(far: FarProcesses) -> FarCounters:
    counters = far.counters([("readers", 3, 0)])
    spec = counters.spec("readers", "library.read")
    spec.pacing, spec.rate_per_s, spec.seed = "poisson", 30.0, 8
    far.ready(counters, [(0, spec)])
    counters.set_instants({"readers": 1_000}, 2_000)
    return counters


def test_each_host_has_its_clients_its_rate_and_its_part_of_the_rows(far: FarProcesses, hosts: Hosts) -> None:
    work: Any = SimpleNamespace(name="library.read")
    far.prepare("readers", work)
    _at_work(far)
    assert hosts.of("prepare") == {
        "app1": ("readers", "library.read", 0, 2),
        "app2": ("readers", "library.read", 1, 2),
    }
    specs: dict[str, GroupSpec] = {host: words[0][0] for host, words in hosts.of("ready").items()}
    assert {host: (each.clients, each.rate_per_s, each.seed) for host, each in specs.items()} == {
        "app1": (2, 20.0, 8),
        "app2": (1, 10.0, 10),
    }


def test_an_instant_is_told_in_each_hosts_own_clock(far: FarProcesses, hosts: Hosts) -> None:
    _at_work(far)
    assert hosts.begun_ns == {host: 1_000 + OFFSETS_NS[host] for host in BOTH}
    assert hosts.end_ns == {host: 2_000 + OFFSETS_NS[host] for host in BOTH}


def test_one_call_to_each_host_says_when_all_groups_begin_and_end(hosts: Hosts) -> None:
    groups = ("readers", "writers", "arrivals")
    counted = [(name, 2, 0) for name in groups]
    far = _opened(hosts, groups)
    counters = far.counters(counted)
    far.ready(counters, [(0, counters.spec(name, "library.read")) for name in groups])
    before = len(hosts.asked)
    counters.set_instants(dict.fromkeys(groups, 1_000), 2_000)
    assert [host for host, _words in hosts.asked[before:]] == list(BOTH)
    assert counters.begins == {(name, host): 1_000 + OFFSETS_NS[host] for name in groups for host in BOTH}


@pytest.mark.parametrize(("helped", "spent_ns"), [(BOTH, 35), (("app2",), 30), ((), None)])
def test_helpers_are_asked_side_by_side_where_there_are_any(
    hosts: Hosts, helped: tuple[str, ...], spent_ns: int | None
) -> None:
    hosts.helped = helped
    far = _opened(hosts, ("readers",))
    hosts.together.clear()
    assert far.helpers_cpu_ns() == spent_ns
    assert hosts.together == ([helped] if helped else [])


def test_cores_are_taken_side_by_side(far: FarProcesses, hosts: Hosts) -> None:
    hosts.together.clear()
    far.take_cores()
    assert hosts.together == [BOTH]
    assert hosts.of("take_cores") == dict.fromkeys(BOTH, ())


def test_a_total_spans_what_one_host_measured(far: FarProcesses) -> None:
    _at_work(far)
    total = far.ended(1.0)["readers"]
    assert (total.begun_ns, total.ended_ns) == (1_005, 1_005 + 300)
    assert (total.operations, total.rows, total.cpu_ns, int(total.touch, 16)) == (80, 2, 18, 2 * 0xFF)
    record = far.start_record()
    assert record is not None
    assert {start.host: (start.lead_ns, start.late_ns) for start in record.starts} == {"app1": (7, 5), "app2": (7, 7)}


def test_a_group_is_done_when_it_is_on_every_host(far: FarProcesses) -> None:
    counters = _at_work(far)
    far.listen()
    assert counters.states("readers") == [DONE, WORKS]


def test_what_was_used_is_that_of_all_looks_since_the_last_time(far: FarProcesses) -> None:
    counters, usage = _at_work(far), far.usage(None, 0)
    counters.snapshot("readers", 1)  # where a backup begins, say, within an interval
    counters.snapshot("readers", 2)
    used, carried = usage.since()
    assert (used["client app1"], used["client app2"]) == (ProcessSecond(20, 3), ProcessSecond(20, 4))
    assert (used["client"], carried) == (ProcessSecond(40, 7), ConnectionsSecond(4, 2))
    used, carried = usage.since()
    assert (used.keys(), carried) == ({"controller"}, None)


def test_a_lost_host_is_told_once_it_is_missed_and_its_last_look_stays(far: FarProcesses, hosts: Hosts) -> None:
    counters = _at_work(far)
    assert counters.snapshot("readers", 1).operations == 60
    hosts.lost = {"app2"}
    with pytest.raises(HostLost, match="host app2 was lost: it is gone"):
        far.listen()
    assert counters.snapshot("readers", 2).operations == 60
    counters.set_instants({}, 2_000)
    assert hosts.end_ns["app1"] == 2_000 + OFFSETS_NS["app1"]
    assert far.ended(1.0) == {}
    assert [(each.host, each.operations, each.lost) for each in far.host_shares("readers")] == [
        ("app1", 40, ""),
        ("app2", 30, "it is gone"),
    ]
    before = len(hosts.asked)
    counters.close()
    far.close()
    assert {host for host, _words in hosts.asked[before:]} == {"app1"}


def test_a_lost_server_ends_the_stage_too(far: FarProcesses, hosts: Hosts) -> None:
    _at_work(far)
    hosts.lost = {"db"}
    with pytest.raises(HostLost, match="host db was lost"):
        far.listen()


def test_an_engine_is_killed_on_its_host_and_the_instant_is_of_our_clock(far: FarProcesses, hosts: Hosts) -> None:
    assert far.kill_engine() == ([41, 42], 77)
    assert [host for host, words in hosts.asked if words[0] == "engine_kill"] == ["db"]
