"""What is measured of ways, clocks, common starts and emulated links, against a switch of known delay and rate."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.analysis.chapters.links import slow_start
from rowpath.execution.emulated_link import LinkProxy
from rowpath.journal import reader
from rowpath.journal.mixed_load_records import AcknowledgedRecord, ClientGroupRecord, HostsStartRecord, HostStart
from rowpath.machine import c_tools
from rowpath.machine.counters.core_users import OtherPrograms
from rowpath.model.grouping import grouped
from rowpath.model.path import link_bytes_per_s, link_ns
from tests.hosts import broken_network, conftest, delaying_switch, fetching, lab
from tests.hosts.broken_network import DELAYS
from tests.hosts.conftest import load_experiment
from tests.hosts.delaying_switch import Switch
from tests.hosts.lab import Lab
from tests.known_answers import TOO_BUSY

S = 1_000_000_000
MS = 1_000_000
RATE = 20_000_000.0
LINK, APART = "20ms@100mbit", 0.10
TRIES = 4  # whoever takes the ends' core makes a measurement longer, never shorter


@pytest.fixture(scope="module")
def delayed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Hosts on the delaying switch; nothing of ours is up."""
    if why := lab.missing() or delaying_switch.missing():
        pytest.skip(why)
    with lab.in_namespaces(tmp_path_factory.mktemp("floor"), delays=True) as hosts:
        yield hosts


@pytest.fixture
def switch(delayed: Lab) -> Switch:
    """Its switch, without delay or limit."""
    assert delayed.switch is not None
    delayed.switch.ways(0.0)
    return delayed.switch


@pytest.fixture
def others() -> OtherPrograms:
    """Whoever uses the cores while the test measures."""
    return OtherPrograms()


def _check(others: OtherPrograms, holds: bool, found: dict[str, Any]) -> None:
    """A wrong figure that was measured beside other programs proves nothing."""
    if not holds and (busy := others.busy()):
        pytest.skip(f"{TOO_BUSY}{busy}")
    assert holds, found


@pytest.fixture(scope="module")
def base_ns(delayed: Lab) -> int:
    """The least that a round trip takes without delay: what it takes to pass all frames on."""
    assert delayed.switch is not None
    delayed.switch.ways(0.0)
    return int(_measured(delayed)["round_trips"][0]["low_ns"])


def _measured(hosts: Lab, client: str = "app1", server: str = "db") -> dict[str, Any]:
    program = c_tools.network_program()
    ours, theirs = hosts.addresses[client], hosts.addresses[server]
    serve = [*hosts.commands[server], program, "serve", "--listen", theirs, "--peer", ours]
    pipe = subprocess.PIPE
    with subprocess.Popen(serve, stdin=pipe, stdout=pipe, text=True) as listening:
        assert listening.stdout is not None
        port = listening.stdout.readline().strip().partition("=")[2]
        words = [program, "measure", "--to", theirs, "--port", port, "--from", ours]
        done = subprocess.run([*hosts.commands[client], *words], capture_output=True, text=True, check=False)
        assert listening.stdin is not None
        listening.stdin.close()
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _has_rates(found: dict[str, Any], to_bytes_per_s: float, from_bytes_per_s: float) -> bool:
    to = found["to_bytes_per_s"] == pytest.approx(to_bytes_per_s, rel=0.1)
    return bool(to and found["from_bytes_per_s"] == pytest.approx(from_bytes_per_s, rel=0.1))


def _clock_error_ns(hosts: Lab, found: dict[str, Any], client: str = "app1", server: str = "db") -> int:
    apart_s = hosts.offsets_s[server] - hosts.offsets_s[client]
    return int(found["offset_ns"]) - apart_s * S


@pytest.mark.parametrize("delay_ms", [2, 20])
def test_a_way_is_as_long_and_as_wide_as_the_switch_was_told(
    delayed: Lab, switch: Switch, base_ns: int, delay_ms: int, others: OtherPrograms
) -> None:
    switch.ways(delay_ms / 1000, RATE)
    dropped = switch.dropped
    told_ns = 2 * delay_ms * MS
    most_ns = (told_ns + base_ns) * 1.05
    for _ in range(TRIES):
        found = _measured(delayed)
        assert found["round_trips"][0]["low_ns"] >= told_ns
        if found["round_trips"][0]["low_ns"] <= most_ns and _has_rates(found, RATE, RATE):
            break
    switch.ways(0.0)
    assert switch.dropped == dropped
    assert told_ns / 2 <= found["bound_ns"]
    assert abs(_clock_error_ns(delayed, found)) <= found["bound_ns"]
    is_quick = found["round_trips"][0]["low_ns"] <= most_ns and found["bound_ns"] <= most_ns / 2
    # The switch counts whole frames: 1,448 bytes of what is sent are in 1,514.
    _check(others, is_quick and _has_rates(found, RATE, RATE), found)


def test_rates_that_differ_by_direction_are_told_apart(delayed: Lab, switch: Switch, others: OtherPrograms) -> None:
    switch.rate("app1", from_bytes_per_s=RATE, to_bytes_per_s=RATE / 2)
    for _ in range(TRIES):
        found = _measured(delayed)
        if _has_rates(found, RATE, RATE / 2):
            return
    _check(others, False, found)


def test_a_clock_is_within_its_bound_where_the_way_back_is_shorter(
    delayed: Lab, switch: Switch, others: OtherPrograms
) -> None:
    switch.delay("app1", from_s=0.003, to_s=0.001)
    found = _measured(delayed)
    assert found["round_trips"][0]["low_ns"] >= 4 * MS
    # Half of what the directions differ by: nothing can show it, so the bound has to hold it.
    assert _clock_error_ns(delayed, found) <= found["bound_ns"]
    _check(others, _clock_error_ns(delayed, found) > MS / 2, found)


def test_an_emulated_link_takes_what_real_tcp_takes_but_for_a_connections_first_bytes(
    delayed: Lab, switch: Switch, others: OtherPrograms
) -> None:
    trip_ns, rate = link_ns(LINK), link_bytes_per_s(LINK)
    switch.ways(trip_ns / 2 / S, rate)
    there = delayed.addresses["db"]
    with fetching.serving(there, delayed.commands["db"]) as port:
        real = fetching.fetched(there, port, delayed.commands["app1"])
    switch.ways(0.0)
    with fetching.serving("127.0.0.1") as port:
        link = LinkProxy(port, LINK)
        try:
            ours = fetching.fetched("127.0.0.1", link.port)
        finally:
            link.stop()
    for found in (real, ours):  # whatever else runs: nothing is faster than light and wire
        assert found["keyed"] >= trip_ns
        assert found["bulk"] >= trip_ns + 0.98 * fetching.BULK_BYTES * S / rate
    said = slow_start(LINK, fetching.FIRST_BYTES)
    assert said.startswith(f"{LINK}: no slow start here.")
    most_ns = int(said.partition("up to ")[2].split()[0]) * trip_ns + ours["first"]
    ratios = {name: real[name] / ours[name] for name in real}
    agree = all(abs(ratios[name] - 1) <= APART for name in ("keyed", "bulk"))
    slower = ratios["first"] > 1 + APART and real["first"] <= (1 + APART) * most_ns
    _check(others, agree and slower, {"real over ours": ratios, "real": real, "ours": ours})


@pytest.fixture(scope="module")
def up(delayed: Lab) -> Lab:
    """The hosts of the switch, up."""
    conftest.require()
    assert delayed.switch is not None
    delayed.switch.ways(0.0)
    delayed.up()
    return delayed


def test_hosts_far_from_the_controller_begin_at_one_instant(
    up: Lab, switch: Switch, base_ns: int, tmp_path: Path
) -> None:
    switch.delay("controller", from_s=0.005, to_s=0.005)
    switch.delay("db", from_s=0.002, to_s=0.002)
    file, directory = Path(load_experiment(tmp_path, 1.5)), tmp_path / "run"
    file.write_text(file.read_text().partition('[[stages]]\nname = "open loop"')[0])
    done = up.rowpath("run", str(file), "--hosts", str(up.file), "-o", str(directory))
    assert done.returncode == 0, done.stderr
    found = reader.read(directory)
    assert found.outcome == "complete"
    _ways_and_clocks_are_right(up, found, base_ns)
    groups = grouped((start for each in found.all(HostsStartRecord) for start in each.starts), _group)
    several = [starts for starts in groups.values() if len(starts) > 1]
    assert several
    skews_ns = []
    for starts in several:
        begun = {start.host: start.late_ns for start in starts if start.late_ns is not None}
        assert begun.keys() == {"app1", "app2"}
        skews_ns.append(max(begun.values()) - min(begun.values()))
        assert all(max(0, -start.lead_ns) <= (start.late_ns or 0) for start in starts)
    assert min(skews_ns) <= MS, "hosts share a core here: one of them may have to wait for it, but not each time"


def _ways_and_clocks_are_right(hosts: Lab, found: reader.Records, base_ns: int) -> None:
    assert {(way.client, way.server) for way in found.ways} == {("app1", "db"), ("app2", "db")}
    for way in found.ways:
        assert way.round_trips[0].low_ns >= 4 * MS
        apart_s = hosts.offsets_s[way.server] - hosts.offsets_s[way.client]
        assert abs(way.offset_ns - apart_s * S) <= way.bound_ns
    assert min(way.round_trips[0].low_ns for way in found.ways) <= (4 * MS + base_ns) * 1.05
    assert {clock.host for clock in found.clocks} == set(hosts.addresses)
    for clock in found.clocks:
        assert clock.bound_ns >= 5 * MS
        assert abs(clock.offset_ns - hosts.offsets_s[clock.host] * S) <= clock.bound_ns


@pytest.mark.long
def test_a_run_goes_on_with_frames_that_come_late(up: Lab, switch: Switch, tmp_path: Path) -> None:
    directory = tmp_path / "run"
    fault = DELAYS["load host's frames late"]
    seen = broken_network.meet(up, fault, load_experiment(tmp_path, 8.0), directory, at_most_s=120.0)
    assert seen.status == 0, seen.errors
    found = reader.read(directory)
    assert found.outcome == "complete"
    assert not any(each.cut or each.failed for each in found.all(ClientGroupRecord))
    assert all(check.ok for check in found.all(AcknowledgedRecord))
    after = next(way for way in found.ways if (way.client, way.when) == ("app2", "after"))
    assert after.round_trips[0].low_ns >= 300 * MS


@pytest.mark.long
def test_a_host_whose_frames_come_much_too_late_is_lost(up: Lab, switch: Switch, tmp_path: Path) -> None:
    directory = tmp_path / "run"
    fault = DELAYS["load host's frames as lost"]
    seen = broken_network.meet(up, fault, load_experiment(tmp_path, 30.0), directory, at_most_s=60.0)
    assert seen.status == 3, seen.errors
    assert "error: host app2 was lost" in seen.errors
    assert seen.noticed_s < 10.0
    assert not seen.left
    found = reader.read_as_written(directory)
    assert all(each.cut and each.operations for each in found.all(ClientGroupRecord))


def _group(start: HostStart) -> str:
    return start.client_group
