"""The network breaks while groups are at work: it is noticed and named, what was measured stays, the run goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath.journal import reader
from rowpath.journal.mixed_load_records import ClientGroupRecord, SecondRecord
from tests.hosts import broken_network, lab
from tests.hosts.broken_network import FAULTS
from tests.hosts.conftest import load_experiment
from tests.hosts.lab import Lab

NOTICED_S, GONE_S = 10.0, 15.0


@pytest.fixture(autouse=True)
def _up_again(namespaces: Lab) -> Iterator[None]:
    if why := lab.missing():
        pytest.skip(why)
    yield
    if not broken_network.whole(namespaces):
        namespaces.down()
        namespaces.up()


@pytest.mark.parametrize("name", FAULTS)
def test_a_broken_network_ends_the_run_and_what_was_measured_stays(namespaces: Lab, tmp_path: Path, name: str) -> None:
    fault, directory = FAULTS[name], tmp_path / "run"
    seen = broken_network.meet(namespaces, fault, load_experiment(tmp_path, 30.0), directory, at_most_s=3 * GONE_S)
    assert seen.status == 3, seen.errors
    assert any(f"error: host {host} was lost" in seen.errors for host in fault.named), seen.errors
    assert "Traceback" not in seen.errors
    assert seen.noticed_s < NOTICED_S
    assert not seen.left
    assert seen.gone_s < GONE_S
    found = reader.read_as_written(directory)
    assert found.outcome == "interrupted"
    groups = found.all(ClientGroupRecord)
    assert {each.client_group for each in groups} == {"readers", "writers", "observer"}
    assert all(each.cut for each in groups)
    assert all(each.operations for each in groups)
    counted = {"readers": 0, "writers": 0, "observer": 0}
    for second in found.all(SecondRecord):
        for group, figures in second.client_groups.items():
            counted[group] += figures.operations
    assert all(each.operations >= counted[each.client_group] for each in groups)


def test_a_run_goes_on_once_the_network_carries_again(namespaces: Lab, tmp_path: Path) -> None:
    directory = tmp_path / "run"
    file = load_experiment(tmp_path, 8.0)
    seen = broken_network.meet(namespaces, FAULTS["to server's host"], file, directory, at_most_s=3 * GONE_S)
    assert seen.status == 3, seen.errors
    namespaces.down()
    namespaces.up()
    again = namespaces.rowpath("run", "--resume", str(directory))
    assert again.returncode == 0, again.stderr
    found = reader.read(directory)
    assert found.outcome == "complete"
    assert not any(each.cut for each in found.all(ClientGroupRecord))
