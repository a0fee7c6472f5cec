"""Agents and nodes of a cluster that others brought up die: it is noticed, named, and they are used again later."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rowpath.journal import reader
from rowpath.journal.records import SampleRecord
from rowpath.machine import processes
from tests import waiting
from tests.hosts import broken_network
from tests.hosts.conftest import experiment
from tests.hosts.foreign_cluster import Foreign, ray_start, theirs

pytestmark = pytest.mark.apart

NOTICED_S, GONE_S = 60.0, 60.0  # at most 10 and 15 s on a quiet machine: repeat_faults holds it to that


def test_a_host_whose_agent_ended_has_another_in_the_next_set(foreign: Foreign, tmp_path: Path) -> None:
    directory = tmp_path / "run"
    words = ("run", experiment(tmp_path, "long", sets=3, rounds=60), "client_host=app1,app2", "-o", str(directory))
    command = [*foreign.lab.inside, sys.executable, "-P", "-m", "rowpath", *words, "--cluster", foreign.address]
    everything, pipe = foreign.lab.environment | foreign.environment, subprocess.PIPE
    under_way = subprocess.Popen(command, env=everything, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True)
    try:
        broken_network.wait_for(lambda: broken_network.count(directory, SampleRecord) > 5, under_way)
        os.kill(_agent(foreign, "app2"), signal.SIGKILL)
        printed, errors = under_way.communicate(timeout=600)
    finally:
        under_way.kill()
    assert under_way.returncode == 3, errors
    assert printed == ""
    back = re.search(r"app2 is back: its paths are measured again from set (\d) on", errors)
    assert back, errors
    lost = int(back[1]) - 2  # of a run whose sets are counted from 1 on
    found = reader.read_as_written(directory)
    assert {number for batch, number in found.done.sets if batch == 0} == {0, 1, 2} - {lost}
    again = foreign.rowpath("run", "--resume", str(directory))
    assert again.returncode == 0, again.stderr
    assert reader.read(directory).outcome == "complete"


@pytest.mark.long
def test_paths_of_a_node_that_died_are_left_out_until_it_has_joined_again(foreign: Foreign, tmp_path: Path) -> None:
    file, directory = experiment(tmp_path, "long", sets=6, rounds=120), tmp_path / "run"
    with _begun(foreign, tmp_path, "run", file, "client_host=app1,app2", "-o", str(directory)) as run:
        broken_network.wait_for(lambda: broken_network.count(directory, SampleRecord) > 5, run.process)
        _kill_node(foreign, "app2", run)
        labels = run.labels_to_start("app2", foreign)
        assert dict(each.split("=") for each in labels.split(",")) == {
            "rowpath-host": "app2",
            "rowpath-roles": "client",
            "rowpath-address": foreign.lab.addresses["app2"],
        }
        without = _sets(directory, "app1")
        ray_start(foreign.lab, "app2", labels)
        said = run.until("app2 is back: its paths are measured again from set ")
        run.process.wait(600)
    assert run.process.returncode == 3, run.said
    assert run.said.endswith("hint: resume a run with: rowpath run --resume DIR\n")
    first = int(said.split()[0]) - 1
    assert first > max(without)
    assert _sets(directory, "app1") == set(range(6))
    assert _sets(directory, "app2") == {0, *range(first, 6)}


def test_a_run_waits_for_the_node_of_its_server_and_says_how_it_is_started(foreign: Foreign, tmp_path: Path) -> None:
    file, directory = experiment(tmp_path, "long", sets=2, rounds=200), tmp_path / "run"
    with _begun(foreign, tmp_path, "run", file, "-o", str(directory)) as run:
        broken_network.wait_for(lambda: broken_network.count(directory, SampleRecord) > 5, run.process)
        _kill_node(foreign, "db", run)
        run.until("waiting for host db, at most 60 s")
        ray_start(foreign.lab, "db", run.labels_to_start("db", foreign))
        check = foreign.rowpath("hosts", "check", "--cluster", foreign.address)
        assert check.returncode == 0, check.stderr
        run.process.wait(600)
    assert run.process.returncode == 3, run.said
    assert "db is back: its paths are measured again from set 2 on" in run.said
    assert _sets(directory, "app1") == {0, 1}


@dataclass
class UnderWay:
    """A command over the cluster, and what it has said so far."""

    process: subprocess.Popen[bytes]
    file: Path

    @property
    def said(self) -> str:
        """Its standard error."""
        return self.file.read_text()

    def until(self, words: str) -> str:
        """Wait until it says so; the rest of the line."""
        broken_network.wait_for(lambda: words in self.said, self.process)
        return self.said.partition(words)[2].partition("\n")[0]

    def labels_to_start(self, host: str, foreign: Foreign) -> str:
        """The labels in the command with which it says that the node joins again."""
        start, labels = self.until(f"{host} is not back: start its node again, there: ").split(" --labels ")
        assert start == f"ray start --address={foreign.address}"
        return labels.strip('"')


@contextlib.contextmanager
def _begun(foreign: Foreign, folder: Path, *words: str) -> Iterator[UnderWay]:
    command = [*foreign.lab.inside, sys.executable, "-P", "-m", "rowpath", *words, "--cluster", foreign.address]
    file = folder / "said.txt"
    with file.open("w") as said:
        everything = foreign.lab.environment | foreign.environment
        process = subprocess.Popen(command, env=everything, cwd=folder, stderr=said)
    try:
        yield UnderWay(process, file)
    finally:
        process.kill()
        process.wait()


def _kill_node(foreign: Foreign, host: str, run: UnderWay) -> None:
    """End what joins the host: the run names it in time, and nothing of the run stays there."""
    raylet, killed_s = _raylet(foreign, host), time.monotonic()
    ours = [*processes.descendants(raylet)]
    assert any(processes.name(pid).startswith("ray::Agent") for pid in ours)
    os.kill(raylet, signal.SIGKILL)
    run.until(f"host {host} was lost")
    assert time.monotonic() - killed_s < NOTICED_S
    assert waiting.gone(ours, GONE_S)


def _sets(directory: Path, client: str) -> set[int]:
    """The sets that have samples of that client's host."""
    found = reader.read_as_written(directory)
    hosts = {path_id: path.coordinates["client_host"] for path_id, path in found.paths.items()}
    return {each.set for each in found.all(SampleRecord) if each.set >= 0 and hosts[each.path_id] == client}


def _agent(foreign: Foreign, host: str) -> int:
    raylet = _raylet(foreign, host)
    return next(pid for pid in processes.descendants(raylet) if processes.name(pid).startswith("ray::Agent"))


def _raylet(foreign: Foreign, host: str) -> int:
    session = Path((foreign.lab.folder / "session").read_text()) / host
    return next(
        pid
        for pid, name in theirs().items()
        if name == "raylet" and str(session) in Path(f"/proc/{pid}/cmdline").read_text()
    )
