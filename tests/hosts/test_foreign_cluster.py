"""A Ray cluster that others brought up: hosts by its labels, a run over it, and it lives on afterwards."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rowpath.hosts import certificates, setup
from rowpath.journal import reader
from rowpath.journal.records import SampleRecord, VerifyRecord
from rowpath.machine import processes
from tests import waiting
from tests.hosts import broken_network, lab
from tests.hosts.conftest import experiment, require
from tests.hosts.lab import ROOT, Lab

LABELS = {
    "app1": "rowpath-host=app1,rowpath-roles=client,rowpath-helpers=0",
    "app2": "rowpath-host=app2,rowpath-roles=client",
    "db": "rowpath-host=db,rowpath-roles=server",
}
NOTICED_S, GONE_S = 60.0, 60.0  # at most 10 and 15 s on a quiet machine: repeat_faults holds it to that
MARK = f"ROWPATH_TEST_{os.getpid()}"  # in the environment of the cluster
SET_VERSION = """
import json, sys
sys.path.append(sys.argv[1])
from ray._private import ray_constants
from ray._raylet import GcsClient
known, key, space = GcsClient(address=sys.argv[2]), b"CLUSTER_METADATA", ray_constants.KV_NAMESPACE_CLUSTER
found = json.loads(known.internal_kv_get(key, namespace=space))
found["ray_version"] = sys.argv[3]
known.internal_kv_put(key, json.dumps(found).encode(), True, namespace=space)
"""


@dataclass
class Foreign:
    """A cluster of plain `ray start` on the hosts of a lab, and how it is joined."""

    lab: Lab
    address: str
    environment: dict[str, str]

    def rowpath(self, *words: str, has_secrets: bool = True) -> subprocess.CompletedProcess[str]:
        """One command of ours on the controller's machine."""
        command = [*self.lab.inside, sys.executable, "-P", "-m", "rowpath", *words]
        added = self.environment if has_secrets else {}
        everything = self.lab.environment | added
        return subprocess.run(
            command, env=everything, cwd=self.lab.folder, capture_output=True, text=True, timeout=600, check=False
        )


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Foreign]:
    """Up, with a token and TLS."""
    require()
    if why := lab.missing():
        pytest.skip(why)
    with lab.in_namespaces(tmp_path_factory.mktemp("foreign")) as hosts:
        try:
            yield _up(hosts)
        finally:
            _down(hosts)


def _up(hosts: Lab) -> Foreign:
    places = {"controller": hosts.controller} | {name: hosts.addresses[name] for name in LABELS}
    authority, pairs = certificates.make([*places.values()])
    (hosts.folder / "token").write_text("ab" * 32)
    (hosts.folder / "authority.crt").write_text(authority)
    session = Path(tempfile.mkdtemp(prefix="rowpath-"))  # short: the names of sockets are limited
    (hosts.folder / "session").write_text(str(session))
    for name, own in places.items():
        folder = hosts.folder / name
        folder.mkdir()
        (folder / "host.crt").write_text(pairs[own].certificate)
        (folder / "host.key").write_text(pairs[own].key)
        _ray_start(hosts, name)
    return Foreign(hosts, _address(hosts), _secrets(hosts, "controller"))


def _address(hosts: Lab) -> str:
    return f"{hosts.controller}:6379"


def _secrets(hosts: Lab, name: str) -> dict[str, str]:
    return {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(hosts.folder / "token"),
        "RAY_USE_TLS": "1",
        "RAY_TLS_CA_CERT": str(hosts.folder / "authority.crt"),
        "RAY_TLS_SERVER_CERT": str(hosts.folder / name / "host.crt"),
        "RAY_TLS_SERVER_KEY": str(hosts.folder / name / "host.key"),
    }


def _ray_start(hosts: Lab, name: str, labels: str = "") -> None:
    """What the others do on a node."""
    session = Path((hosts.folder / "session").read_text())
    inside, own = hosts.commands.get(name, hosts.inside), hosts.addresses.get(name, hosts.controller)
    words = [*inside, sys.executable, "-P", "-m", "ray.scripts.scripts", "start", f"--node-ip-address={own}"]
    words += ["--disable-usage-stats", "--object-store-memory=80000000", "--num-cpus=1", f"--temp-dir={session / name}"]
    if name == "controller":
        words += ["--head", "--port=6379", "--include-dashboard=false"]
    else:
        words += [f"--address={_address(hosts)}", "--labels", labels or LABELS[name]]
    theirs = {
        "RAY_worker_niceness": "0",
        "PYTHONPATH": f"{ROOT / 'src'}:{setup.folder()}",
        MARK: "1",
        "TMPDIR": str(session),
    }
    everything = os.environ | _secrets(hosts, name) | theirs
    done = subprocess.run(words, env=everything, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _theirs() -> dict[int, str]:
    """Living processes of the cluster by pid."""
    found: dict[int, str] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                if f"{MARK}=1".encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found[int(folder.name)] = processes.name(int(folder.name))
            except OSError:
                continue
    return found


def _down(hosts: Lab) -> None:
    # A program that changes its title writes over its environment.
    every = {pid for each in _theirs() for pid in (each, *processes.descendants(each))}
    for pid in every:
        try:
            os.kill(pid, 9)
        except ProcessLookupError:
            continue
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree((hosts.folder / "session").read_text(), ignore_errors=True)


def _file(foreign: Foreign) -> Path:
    """A file of hosts that says how the cluster is joined."""
    folder = foreign.lab.folder
    lines = ["schema_version = 1", "[cluster]", f'address = "{foreign.address}"']
    lines += [f'token = "{folder}/token"', f'authority = "{folder}/authority.crt"']
    lines += [f'certificate = "{folder}/controller/host.crt"', f'key = "{folder}/controller/host.key"']
    file = folder / "foreign.toml"
    file.write_text("\n".join(lines) + "\n")
    return file


def test_a_probe_from_a_host_of_a_cluster_of_others(foreign: Foreign, tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text("1|a\n2|b\n")
    words = ("probe", str(file), "--language", "c", "--budget", "5s", "--cluster", foreign.address)
    done = foreign.rowpath(*words, "--from", "app2", "-o", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    assert "from host app2" in done.stderr
    found = reader.read(tmp_path / "run")
    assert found.outcome == "complete"
    (group,) = (each.digest_group for each in found.probe if each.digest_group is not None)
    assert group.rows == 2
    done = foreign.rowpath(*words, "--from", "db")
    assert "host 'db' has neither the role client nor load" in done.stderr
    assert "--from app1, or --from app2" in done.stderr


def test_a_run_over_a_cluster_of_others_which_lives_on(foreign: Foreign, tmp_path: Path) -> None:
    before = [name for name in _theirs().values() if name in ("raylet", "gcs_server")]
    assert len(before) == 5
    directory = tmp_path / "run"
    words = ("run", experiment(tmp_path, "foreign"), "--cluster", foreign.address, "-o", str(directory))
    done = foreign.rowpath(*words)
    assert done.returncode == 0, done.stderr
    found = reader.read(directory)
    assert found.outcome == "complete"
    assert all(each.ok for each in found.all(VerifyRecord))
    assert {name: (host.address, host.roles) for name, host in found.hosts.items()} == {
        name: (foreign.lab.addresses[name], [role]) for name, role in {"app1": "client", "db": "server"}.items()
    }
    assert found.run.options["cluster"] == foreign.address
    again = foreign.rowpath("run", "--resume", str(directory))
    assert again.returncode == 0, again.stderr
    down = foreign.rowpath("hosts", "down", "--cluster", foreign.address)
    assert down.returncode == 0, down.stderr
    assert "0 agents ended" in down.stdout
    after = _theirs().values()
    assert [name for name in after if name in ("raylet", "gcs_server")] == before
    assert not [name for name in after if name.startswith(("ray::Agent", "postgres", "libpq"))]


def test_the_same_by_a_file_that_names_the_secrets(foreign: Foreign) -> None:
    file = str(_file(foreign))
    for action, says in (("check", "app1 → db: round trip"), ("status", "raylet"), ("down", "stays")):
        done = foreign.rowpath("hosts", action, file, has_secrets=False)
        assert done.returncode == 0, done.stderr
        assert says in done.stdout
    up = foreign.rowpath("hosts", "up", file)
    assert up.returncode == 2
    assert "does not start the cluster of" in up.stderr


def test_down_ends_the_agents_of_a_run_under_way_and_not_the_cluster(foreign: Foreign, tmp_path: Path) -> None:
    words = (
        "run",
        experiment(tmp_path, "long", rounds=4000),
        "--cluster",
        foreign.address,
        "-o",
        str(tmp_path / "run"),
    )
    command = [*foreign.lab.inside, sys.executable, "-P", "-m", "rowpath", *words]
    under_way = subprocess.Popen(
        command, env=foreign.lab.environment | foreign.environment, cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    try:
        while (line := under_way.stderr.readline()) and "steady" not in line:  # type: ignore[union-attr]
            assert under_way.poll() is None
        down = foreign.rowpath("hosts", "down", "--cluster", foreign.address)
        assert "3 agents ended" in down.stdout, down.stderr
        _, errors = under_way.communicate(timeout=600)
    finally:
        under_way.kill()
    assert under_way.returncode == 3, errors
    assert [*_theirs().values()].count("raylet") == 4


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
        _ray_start(foreign.lab, "app2", labels)
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
        _ray_start(foreign.lab, "db", run.labels_to_start("db", foreign))
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
        for pid, name in _theirs().items()
        if name == "raylet" and str(session) in Path(f"/proc/{pid}/cmdline").read_text()
    )


def test_a_cluster_without_token_and_tls_is_refused(foreign: Foreign) -> None:
    done = foreign.rowpath("hosts", "check", "--cluster", foreign.address, has_secrets=False)
    assert done.returncode == 3
    assert "would be joined without a token (RAY_AUTH_MODE=token) and without TLS" in done.stderr
    assert "allow_open = true" in done.stderr


def test_another_version_is_refused_by_a_sentence(foreign: Foreign) -> None:
    _set_version(foreign, "2.49.0")
    try:
        done = foreign.rowpath("hosts", "check", "--cluster", foreign.address)
    finally:
        _set_version(foreign, setup.RAY)
    assert done.returncode == 3
    assert "has a different Ray or Python: Ray 2.49.0" in done.stderr
    assert f"here: Ray {setup.RAY}" in done.stderr
    assert "Traceback" not in done.stderr


def _set_version(foreign: Foreign, version: str) -> None:
    """What the cluster says of its Ray."""
    command = [*foreign.lab.inside, sys.executable, "-c", SET_VERSION, str(setup.folder()), foreign.address, version]
    subprocess.run(command, env=os.environ | foreign.environment, capture_output=True, check=True, timeout=60)
