"""The network breaks where no host is lost by it: for a moment, and between a client's host and its server's only."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from rowpath.hosts import cluster
from rowpath.journal import reader
from rowpath.journal.mixed_load_records import AcknowledgedRecord, ClientGroupRecord, SecondRecord
from tests.hosts import broken_network, lab
from tests.hosts.broken_network import FAULTS
from tests.hosts.conftest import experiment, load_experiment
from tests.hosts.lab import Lab

GONE_S, SHORT_S = 60.0, 2.0  # at most 15 s on a quiet machine: tests.hosts.repeat_faults holds it to that


@pytest.fixture(autouse=True)
def _in_namespaces() -> None:
    if why := lab.missing():
        pytest.skip(why)


@pytest.mark.parametrize("with_groups", [True, False], ids=["groups", "samples"])
def test_a_way_that_breaks_is_noticed_and_named(namespaces: Lab, tmp_path: Path, with_groups: bool) -> None:
    made = load_experiment(tmp_path, 30.0, paced=True) if with_groups else experiment(tmp_path, "long", rounds=4000)
    fault = FAULTS["load host's way" if with_groups else "client's way"]
    seen = broken_network.meet(namespaces, fault, made, tmp_path / "run", at_most_s=3 * GONE_S)
    assert seen.status == 3, seen.errors
    said = seen.errors.partition("error: ")[2].partition("\n")[0]
    assert " was lost: " in said, seen.errors
    assert "the network" in said
    assert all(host in said for host in fault.named)
    assert not seen.left
    assert seen.gone_s < GONE_S
    assert reader.read_as_written(tmp_path / "run").outcome == "interrupted"
    assert broken_network.whole(namespaces)


def test_the_controllers_network_may_break_for_a_moment(namespaces: Lab, tmp_path: Path) -> None:
    directory = tmp_path / "run"
    under_way = namespaces.begun(
        "run", load_experiment(tmp_path, 8.0, paced=True), "--hosts", str(namespaces.file), "-o", str(directory)
    )
    try:
        broken_network.wait_for(lambda: broken_network.count(directory, SecondRecord) >= 2, under_way)
        with broken_network.deaf(namespaces, broken_network.both_ways(cluster.CONTROLLER, namespaces.addresses)):
            time.sleep(SHORT_S)  # the fault itself
        _, errors = under_way.communicate(timeout=600)
    finally:
        under_way.kill()
        under_way.communicate()
    assert under_way.returncode == 0, errors
    found = reader.read(directory)
    assert found.outcome == "complete"
    assert not any(each.cut for each in found.all(ClientGroupRecord))
    assert all(each.ok for each in found.all(AcknowledgedRecord))
