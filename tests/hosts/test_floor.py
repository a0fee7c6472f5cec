"""What is measured of a way, of clocks and of common starts, against a switch that was told its delay and its rate."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.journal import reader
from rowpath.journal.mixed_load_records import HostsStartRecord, HostStart
from rowpath.model.grouping import grouped
from rowpath.runners.toolchains import c
from tests.hosts import conftest, lab
from tests.hosts.conftest import load_experiment
from tests.hosts.delaying_switch import Switch
from tests.hosts.lab import Lab

S = 1_000_000_000
MS = 1_000_000
RATE = 20_000_000.0


@pytest.fixture(scope="module")
def delayed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Hosts on the delaying switch; nothing of ours is up."""
    if why := lab.missing():
        pytest.skip(why)
    with lab.in_namespaces(tmp_path_factory.mktemp("floor"), delays=True) as hosts:
        yield hosts


@pytest.fixture
def switch(delayed: Lab) -> Switch:
    """Its switch, without delay or limit."""
    assert delayed.switch is not None
    delayed.switch.ways(0.0)
    return delayed.switch


@pytest.fixture(scope="module")
def base_ns(delayed: Lab) -> int:
    """The least that a round trip takes without delay: what it takes to pass all frames on."""
    assert delayed.switch is not None
    delayed.switch.ways(0.0)
    return int(_measured(delayed)["round_trips"][0]["low_ns"])


def _measured(hosts: Lab, client: str = "app1", server: str = "db") -> dict[str, Any]:
    program = c.network_program()
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


def _clock_error_ns(hosts: Lab, found: dict[str, Any], client: str = "app1", server: str = "db") -> int:
    apart_s = hosts.offsets_s[server] - hosts.offsets_s[client]
    return int(found["offset_ns"]) - apart_s * S


@pytest.mark.parametrize("delay_ms", [2, 20])
def test_a_way_is_as_long_and_as_wide_as_the_switch_was_told(
    delayed: Lab, switch: Switch, base_ns: int, delay_ms: int
) -> None:
    switch.ways(delay_ms / 1000, RATE)
    found = _measured(delayed)
    told_ns = 2 * delay_ms * MS
    least = found["round_trips"][0]
    assert told_ns <= least["low_ns"] <= (told_ns + base_ns) * 1.05
    assert told_ns / 2 <= found["bound_ns"] <= least["low_ns"] / 2
    assert abs(_clock_error_ns(delayed, found)) <= found["bound_ns"]
    # The switch counts whole frames: 1,448 bytes of what is sent are in 1,514.
    assert found["to_bytes_per_s"] == pytest.approx(RATE, rel=0.1)
    assert found["from_bytes_per_s"] == pytest.approx(RATE, rel=0.1)


def test_rates_that_differ_by_direction_are_told_apart(delayed: Lab, switch: Switch) -> None:
    switch.rate("app1", from_bytes_per_s=RATE, to_bytes_per_s=RATE / 2)
    found = _measured(delayed)
    assert found["to_bytes_per_s"] == pytest.approx(RATE, rel=0.1)
    assert found["from_bytes_per_s"] == pytest.approx(RATE / 2, rel=0.1)


def test_a_clock_is_within_its_bound_where_the_way_back_is_shorter(delayed: Lab, switch: Switch) -> None:
    switch.delay("app1", from_s=0.003, to_s=0.001)
    found = _measured(delayed)
    assert found["round_trips"][0]["low_ns"] >= 4 * MS
    # Half of what the directions differ by: nothing can show it, so the bound has to hold it.
    assert MS / 2 < _clock_error_ns(delayed, found) <= found["bound_ns"]


@pytest.fixture(scope="module")
def up(delayed: Lab) -> Lab:
    """The hosts of the switch, up."""
    conftest.require()
    assert delayed.switch is not None
    delayed.switch.ways(0.0)
    delayed.up()
    return delayed


def test_hosts_far_from_each_other_begin_at_one_instant(up: Lab, switch: Switch, tmp_path: Path) -> None:
    delay_ns = 5 * MS
    switch.ways(delay_ns / S)
    file, directory = load_experiment(tmp_path, 1.5), tmp_path / "run"
    done = up.rowpath("run", file, "--hosts", str(up.file), "-o", str(directory))
    assert done.returncode == 0, done.stderr
    found = reader.read(directory)
    assert found.outcome == "complete"
    for way in found.ways:
        assert 2 * delay_ns <= way.round_trips[0].low_ns
        apart_s = up.offsets_s[way.server] - up.offsets_s[way.client]
        assert abs(way.offset_ns - apart_s * S) <= way.bound_ns
    for clock in found.clocks:
        assert delay_ns <= clock.bound_ns
        assert abs(clock.offset_ns - up.offsets_s[clock.host] * S) <= clock.bound_ns
    groups = grouped((start for each in found.all(HostsStartRecord) for start in each.starts), _group)
    several = [starts for starts in groups.values() if len(starts) > 1]
    assert several
    for starts in several:
        begun = {start.host: start.late_ns for start in starts if start.late_ns is not None}
        assert begun.keys() == {"app1", "app2"}
        assert max(begun.values()) - min(begun.values()) <= MS
        assert all(start.lead_ns > 0 for start in starts)


def _group(start: HostStart) -> str:
    return start.client_group
