"""Somebody dies while samples are taken: it is noticed and named, what was measured stays, nothing goes on."""

from __future__ import annotations

import contextlib
import os
import re
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

NOTICED_S, GONE_S = 60.0, 60.0  # at most 10 and 15 s on a quiet machine: repeat_faults holds it to that
SETS = 8


@pytest.fixture(autouse=True)
def _up_again(loopback: Lab) -> Iterator[None]:
    yield
    broken_network.make_whole(loopback)


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
    file, directory = experiment(tmp_path, "long", rounds=400), tmp_path / "run"
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


def test_a_host_that_left_between_two_runs_is_started_again(loopback: Lab, tmp_path: Path) -> None:
    left = _of_host(loopback, "app1", "raylet")
    os.kill(left, signal.SIGKILL)
    done = loopback.rowpath("run", experiment(tmp_path, "short", sets=1, rounds=3), "--hosts", str(loopback.file))
    assert done.returncode == 0, done.stderr
    assert _of_host(loopback, "app1", "raylet") != left


@pytest.mark.parametrize(("host", "title"), [("app1", "ray::Agent"), ("db", "raylet")], ids=["client's", "server's"])
def test_a_run_waits_for_the_host_without_which_it_cannot_go_on(
    loopback: Lab, tmp_path: Path, host: str, title: str
) -> None:
    file, directory = experiment(tmp_path, "long", sets=4, rounds=200), tmp_path / "run"
    under_way = loopback.begun("run", file, "--hosts", str(loopback.file), "-o", str(directory))
    try:
        _wait_for_samples(directory, under_way)
        with _kept_away(loopback, host):
            os.kill(_of_host(loopback, host, title), signal.SIGKILL)
            waiting = f"waiting for host {host}, at most 60 s"
            broken_network.wait_for(lambda: waiting in _notes(directory), under_way)
        _, errors = under_way.communicate(timeout=600)
    finally:
        under_way.kill()
    _check_said(under_way, errors, host)
    assert waiting in errors
    assert "rowpath hosts down" not in errors
    found = reader.read_as_written(directory)
    assert found.outcome == "interrupted"
    assert any(f"host {host} was lost" in note and note.endswith("measured without it") for note in found.notes)
    back = next(note for note in found.notes if note.startswith(f"{host} is back"))
    first = int(back.split()[-2]) - 1
    assert _whole_sets(found, "app1") == {0, 1, 2, 3} - {first - 1}
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


@pytest.mark.parametrize(
    ("groups", "title"),
    [(False, "ray::Agent"), (False, "raylet"), (True, "raylet")],
    ids=["an agent, interleaved sets", "a node, interleaved sets", "a node, client groups"],
)
def test_paths_go_on_without_a_lost_host_and_with_it_when_it_is_back(
    loopback: Lab, tmp_path: Path, groups: bool, title: str
) -> None:
    directory = tmp_path / "run"
    if groups:
        file = Path(load_experiment(tmp_path, 2.0))
        file.write_text(file.read_text().replace('over = "load"', "").replace("sets = 1", "sets = 3"))
        begun = SecondRecord
    else:
        file, begun = Path(experiment(tmp_path, "long", sets=3, rounds=60)), SampleRecord
    words = ("run", str(file), "--hosts", str(loopback.file), "client_host=app1,app2", "-o", str(directory))
    under_way = loopback.begun(*words)
    try:
        broken_network.wait_for(lambda: "app2" in _clients(directory, begun), under_way)
        os.kill(_of_host(loopback, "app2", title), signal.SIGKILL)
        printed, errors = under_way.communicate(timeout=600)
    finally:
        under_way.kill()
    _check_said(under_way, errors, "app2")
    assert printed == ""  # no log of what joins the hosts either
    assert "rowpath hosts down" not in errors
    _gone(loopback, time.monotonic())
    found = reader.read_as_written(directory)
    assert found.outcome == "interrupted"
    assert any("host app2 was lost" in note and "all but: " in note for note in found.notes)
    (back,) = [note for note in found.notes if note.startswith("app2 is back")]
    first = int(re.fullmatch(r"app2 is back: its paths are measured again from set (\d) on", back)[1])  # type: ignore[index]
    assert f"set {first} on" in errors
    assert len([each for each in found.clocks if (each.host, each.when) == ("app2", "before")]) == 2
    assert _whole_sets(found, "app1") == {0, 1, 2}
    after = _whole_sets(found, "app2")
    assert after >= set(range(first, 3))
    assert 0 not in after or groups
    again = loopback.rowpath("run", "--resume", str(directory))
    assert again.returncode == 0, again.stderr
    found = reader.read_as_written(directory)
    assert found.outcome == "complete"
    for path_id in found.paths:
        sets = {key[0] for key, one in found.sets.items() if path_id in one.path_ids and key[::-1] in found.done.sets}
        assert sets == {0, 1, 2}
    _gone(loopback, time.monotonic())


def test_stages_without_a_load_host_go_on_until_it_is_back(loopback: Lab, tmp_path: Path) -> None:
    file, directory = Path(load_experiment(tmp_path, 3.0)), tmp_path / "run"
    one_user = (
        '[[stages]]\nname = "one user"\nclient_groups = ["observer"]\nseconds = 2.0\n\n[[stages]]\nname = "mixed"'
    )
    text = file.read_text().replace('[[stages]]\nname = "mixed"', one_user)
    file.write_text(text.replace("sets = 1", f"sets = {SETS}"))
    under_way = loopback.begun("run", str(file), "--hosts", str(loopback.file), "-o", str(directory))
    try:
        broken_network.wait_for(lambda: "mixed" in _stages(directory), under_way)
        with _kept_away(loopback, "app2"):
            os.kill(_of_host(loopback, "app2", "ray::Agent"), signal.SIGKILL)
            broken_network.wait_for(lambda: any("host app2 was lost" in each for each in _notes(directory)), under_way)
            broken_network.wait_for(lambda: len(_sets_with(directory, "one user")) > 1, under_way)
        _, errors = under_way.communicate(timeout=600)
    finally:
        under_way.kill()
    _check_said(under_way, errors, "app2")
    assert "continue without it, except: stage 'mixed', stage 'open loop'" in " ".join(errors.split())
    found = reader.read_as_written(directory)
    back = next(note for note in found.notes if note.startswith("app2 is back"))
    first = int(back.split()[-2]) - 1
    cut = [each for each in found.all(ClientGroupRecord) if each.cut]
    assert {(each.set, each.stage) for each in cut} == {(0, "mixed")}
    assert all(each.operations for each in cut)
    mixed = {each.set for each in found.all(ClientGroupRecord) if each.stage == "mixed"}
    assert mixed == {0, *range(first, SETS)}
    assert _sets_with(directory, "one user") == set(range(SETS))
    # A set without its stages is none that --resume may leave out.
    assert found.done.sets >= {(0, number) for number in range(first, SETS)}
    assert (0, 0) not in found.done.sets
    again = loopback.rowpath("run", "--resume", str(directory))
    assert again.returncode == 0, again.stderr
    found = reader.read_as_written(directory)
    assert found.outcome == "complete"
    assert found.done.sets >= {(0, number) for number in range(SETS)}
    assert not any(each.cut for each in found.all(ClientGroupRecord))


@contextlib.contextmanager
def _kept_away(lab: Lab, host: str) -> Iterator[None]:
    """What starts the host again meets no secrets within, as if it were another machine."""
    token = node.folder(cluster.name_of(lab.file), host) / "token"
    aside = token.with_name("aside")
    token.rename(aside)
    try:
        yield
    finally:
        aside.rename(token)


def _notes(directory: Path) -> list[str]:
    with contextlib.suppress(Exception):
        return reader.read_as_written(directory).notes
    return []


def _sets_with(directory: Path, stage: str) -> set[int]:
    found = reader.read_as_written(directory)
    return {each.set for each in found.all(ClientGroupRecord) if each.stage == stage}


def _stages(directory: Path) -> set[str]:
    """The stages of which a second was measured."""
    with contextlib.suppress(Exception):
        return {each.stage for each in reader.read_as_written(directory).all(SecondRecord)}
    return set()


def _whole_sets(found: reader.Records, client: str) -> set[int]:
    """The numbers of sets that have come to their end and have a path of that client's host."""
    hosts = {path_id: path.coordinates["client_host"] for path_id, path in found.paths.items()}
    return {
        number
        for (number, batch), one in found.sets.items()
        if (batch, number) in found.done.sets and client in {hosts[path_id] for path_id in one.path_ids}
    }


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
    under_way.communicate(timeout=60)
    _gone(loopback, killed)
    assert _samples(directory) > 5


def _wait_for_samples(directory: Path, under_way: subprocess.Popen[str], more_than: int = 5) -> None:
    broken_network.wait_for(lambda: broken_network.count(directory, SampleRecord) > more_than, under_way)
