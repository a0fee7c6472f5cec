"""The network breaks while groups are at work: it is noticed and named, what was measured stays, the run goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath.journal import reader
from rowpath.journal.mixed_load_records import ClientGroupRecord, SecondRecord
from rowpath.journal.records import FailureRecord, SampleRecord
from tests.hosts import broken_network, lab
from tests.hosts.broken_network import FAULTS
from tests.hosts.conftest import experiment, load_experiment
from tests.hosts.lab import Lab

NOTICED_S, GONE_S = 30.0, 60.0  # at most 10 and 15 s on a quiet machine: repeat_faults holds it to that


@pytest.fixture(autouse=True)
def _up_again(namespaces: Lab) -> Iterator[None]:
    if why := lab.missing():
        pytest.skip(why)
    yield
    broken_network.make_whole(namespaces)


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


def test_a_host_takes_part_again_once_its_network_carries(namespaces: Lab, tmp_path: Path) -> None:
    directory, file = tmp_path / "run", experiment(tmp_path, "long", sets=5, rounds=60)
    words = ("run", file, "--hosts", str(namespaces.file), "client_host=app1,app2", "-o", str(directory))
    under_way = namespaces.begun(*words)
    try:
        broken_network.wait_for(lambda: broken_network.count(directory, SampleRecord) > 5, under_way)
        with broken_network.cut(namespaces, "app2"):
            broken_network.wait_for(lambda: reader.read_as_written(directory).done.sets != set(), under_way)
        _, errors = under_way.communicate(timeout=600)
    finally:
        under_way.kill()
    assert under_way.returncode == 3, errors
    assert "error: host app2 was lost" in errors
    found = reader.read_as_written(directory)
    back = next(note for note in found.notes if note.startswith("app2 is back"))
    first = int(back.split()[-2]) - 1
    assert 1 < first < 5
    whole = {number for batch, number in found.done.sets if batch == 0}
    assert whole == set(range(first, 5))
    for (number, _batch), one in found.sets.items():
        hosts = {found.paths[each].coordinates["client_host"] for each in one.path_ids}
        assert hosts == ({"app1"} if 0 < number < first else {"app1", "app2"}) or number == 0
    # Its clock and its way are known again.
    assert sum((each.host, each.when) == ("app2", "before") for each in found.clocks) == 2
    assert sum((each.client, each.when) == ("app2", "before") for each in found.ways) == 2


def test_a_client_that_waits_for_ever_is_ended_with_its_servers_host(namespaces: Lab, tmp_path: Path) -> None:
    """Nothing tells the client that its server is gone, and it has nothing to send: its agent is of no use."""
    directory, file = tmp_path / "run", Path(experiment(tmp_path, "long", sets=2, rounds=5))
    file.write_text(file.read_text().replace("block_ms = 5.0", "block_ms = 2000.0"))
    under_way = namespaces.begun("run", str(file), "--hosts", str(namespaces.file), "-o", str(directory))
    try:
        broken_network.wait_for(lambda: broken_network.count(directory, SampleRecord) > 5, under_way)
        with broken_network.cut(namespaces, "db"):
            broken_network.wait_for(lambda: any("waiting for host" in each for each in _notes(directory)), under_way)
        _, errors = under_way.communicate(timeout=600)
    finally:
        under_way.kill()
    assert under_way.returncode == 3, errors
    found = reader.read_as_written(directory)
    assert any("host app1 was lost: it waits for host db" in note for note in found.notes)
    assert {f"{host} is back: its paths are measured again from set 2 on" for host in ("app1", "db")} <= set(
        found.notes
    )
    assert (0, 1) in found.done.sets
    assert not found.all(FailureRecord)


def _notes(directory: Path) -> list[str]:
    return reader.read_as_written(directory).notes


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
