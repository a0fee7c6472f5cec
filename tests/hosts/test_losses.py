"""Somebody dies while samples are taken: it is noticed and named, what was measured stays, nothing goes on."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath.hosts import cluster, node
from rowpath.journal import reader
from rowpath.journal.mixed_load_records import ClientGroupRecord, SecondRecord
from rowpath.journal.record_base import InSet, InStage
from rowpath.journal.records import SampleRecord
from tests.hosts import broken_network
from tests.hosts.conftest import experiment, load_experiment
from tests.hosts.lab import Lab

NOTICED_S, GONE_S = 10.0, 15.0


@pytest.fixture(autouse=True)
def _up_again(loopback: Lab) -> Iterator[None]:
    yield
    if not broken_network.whole(loopback):
        loopback.down()
        loopback.up()


def _samples(directory: Path) -> int:
    return broken_network.count(directory, SampleRecord)


def _of_host(lab: Lab, host: str, title: str) -> int:
    names = lab.mine()
    mine = [pid for pid in node.pids(cluster.name_of(lab.file), host) if names.get(pid, "").startswith(title)]
    assert mine, (host, title, names)
    return mine[0]


def _check_said(ended: subprocess.Popen[str], errors: str, host: str) -> None:
    assert ended.returncode == 3, errors
    assert f"error: host {host} was lost" in errors
    assert "Traceback" not in errors


def _gone(lab: Lab, since: float) -> None:
    while left := broken_network.started(lab):
        assert time.monotonic() - since < GONE_S, left
        time.sleep(0.2)


@pytest.mark.parametrize(
    ("host", "title", "named"),
    [
        ("app1", "ray::Agent", "app1"),
        ("db", "ray::Agent", "db"),
        ("db", "raylet", "db"),
        ("controller", "gcs_server", "controller"),
    ],
    ids=["client's agent", "server's agent", "raylet", "head"],
)
def test_a_loss_is_noticed_and_named_and_the_run_goes_on_later(
    loopback: Lab, tmp_path: Path, host: str, title: str, named: str
) -> None:
    file, directory = experiment(tmp_path, "long", sets=2, rounds=400), tmp_path / "run"
    under_way = loopback.begun("run", file, "--hosts", str(loopback.file), "-o", str(directory))
    try:
        _wait_for_samples(directory, under_way)
        killed = time.monotonic()
        os.kill(_of_host(loopback, host, title), signal.SIGKILL)
        _, errors = under_way.communicate(timeout=NOTICED_S)
    finally:
        under_way.kill()
    _check_said(under_way, errors, named)
    measured = _samples(directory)
    assert measured > 5
    _gone(loopback, killed)
    assert reader.read_as_written(directory).outcome == "interrupted"
    if title == "ray::Agent":  # the hosts are still joined: the rest of the run can be done at once
        again = loopback.begun("run", "--resume", str(directory))
        try:
            _wait_for_samples(directory, again, more_than=measured + 5)
        finally:
            again.send_signal(signal.SIGINT)
            again.communicate(timeout=60)
        assert again.returncode == 130
        _gone(loopback, time.monotonic())


def test_a_lost_load_host_ends_the_stage_and_what_it_did_stays(loopback: Lab, tmp_path: Path) -> None:
    file, directory = load_experiment(tmp_path, 8.0), tmp_path / "run"
    under_way = loopback.begun("run", file, "--hosts", str(loopback.file), "-o", str(directory))
    try:
        broken_network.wait_for(lambda: broken_network.count(directory, SecondRecord) >= 2, under_way)
        killed = time.monotonic()
        os.kill(_of_host(loopback, "app2", "ray::Agent"), signal.SIGKILL)
        _, errors = under_way.communicate(timeout=NOTICED_S)
    finally:
        under_way.kill()
    _check_said(under_way, errors, "app2")
    _gone(loopback, killed)
    found = reader.read_as_written(directory)
    assert found.outcome == "interrupted"
    groups = {each.client_group: each for each in found.all(ClientGroupRecord)}
    assert set(groups) == {"readers", "writers", "observer"}
    assert all(each.cut for each in groups.values())
    for name in ("readers", "writers"):
        shares = {share.host: share for share in groups[name].hosts}
        assert shares["app2"].lost
        assert not shares["app1"].lost
        assert shares["app2"].operations
        assert groups[name].operations == sum(share.operations for share in shares.values())
    shown = loopback.rowpath("show", str(directory))
    assert "Host app2 was lost in 'mixed', which is incomplete" in " ".join(shown.stdout.split())
    again = loopback.rowpath("run", "--resume", str(directory))
    assert again.returncode == 0, again.stderr
    found = reader.read(directory)
    assert found.outcome == "complete"
    assert not any(each.cut or any(share.lost for share in each.hosts) for each in found.all(ClientGroupRecord))
    _gone(loopback, time.monotonic())


@pytest.mark.parametrize("groups", [False, True], ids=["interleaved sets", "client groups"])
def test_paths_that_do_not_need_a_lost_host_go_on(loopback: Lab, tmp_path: Path, groups: bool) -> None:
    directory = tmp_path / "run"
    if groups:
        file = Path(load_experiment(tmp_path, 2.0))
        file.write_text(file.read_text().replace('over = "load"', "").replace("sets = 1", "sets = 2"))
        begun = SecondRecord
    else:
        file, begun = Path(experiment(tmp_path, "long", sets=2, rounds=60)), SampleRecord
    words = ("run", str(file), "--hosts", str(loopback.file), "client_host=app1,app2", "-o", str(directory))
    under_way = loopback.begun(*words)
    try:
        broken_network.wait_for(lambda: "app2" in _clients(directory, begun), under_way)
        killed = time.monotonic()
        os.kill(_of_host(loopback, "app2", "ray::Agent"), signal.SIGKILL)
        _, errors = under_way.communicate(timeout=120)
    finally:
        under_way.kill()
    _check_said(under_way, errors, "app2")
    _gone(loopback, killed)
    found = reader.read_as_written(directory)
    assert found.outcome == "interrupted"
    assert any("host app2 was lost" in note and "all but: " in note for note in found.notes)
    hosts = {path_id: path.coordinates["client_host"] for path_id, path in found.paths.items()}
    whole = {
        number
        for (number, batch), one in found.sets.items()
        if (batch, number) in found.done.sets and {hosts[path_id] for path_id in one.path_ids} == {"app1"}
    }
    assert whole == {0, 1}
    again = loopback.rowpath("run", "--resume", str(directory))
    assert again.returncode == 0, again.stderr
    found = reader.read_as_written(directory)
    assert found.outcome == "complete"
    for path_id in found.paths:
        sets = {key[0] for key, one in found.sets.items() if path_id in one.path_ids and key[::-1] in found.done.sets}
        assert sets == {0, 1}
    _gone(loopback, time.monotonic())


def _clients(directory: Path, kind: type[InSet | InStage]) -> set[str]:
    """The hosts of clients of which something was measured."""
    with contextlib.suppress(Exception):
        found = reader.read_as_written(directory)
        return {found.paths[each.path_id].coordinates["client_host"] for each in found.all(kind) if each.set >= 0}
    return set()


def test_nothing_goes_on_without_its_controller(loopback: Lab, tmp_path: Path) -> None:
    file, directory = experiment(tmp_path, "long", rounds=400), tmp_path / "run"
    under_way = loopback.begun("run", file, "--hosts", str(loopback.file), "-o", str(directory))
    _wait_for_samples(directory, under_way)
    killed = time.monotonic()
    under_way.kill()
    under_way.communicate(timeout=10)
    _gone(loopback, killed)
    assert _samples(directory) > 5


def _wait_for_samples(directory: Path, under_way: subprocess.Popen[str], more_than: int = 5) -> None:
    broken_network.wait_for(lambda: broken_network.count(directory, SampleRecord) > more_than, under_way)
