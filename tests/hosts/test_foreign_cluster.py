"""A Ray cluster that others brought up: hosts by its labels, a run over it, and it lives on afterwards."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rowpath.hosts import certificates, setup
from rowpath.journal import reader
from rowpath.journal.records import SampleRecord, VerifyRecord
from rowpath.machine import processes
from tests.hosts import broken_network, lab
from tests.hosts.conftest import experiment, require
from tests.hosts.lab import ROOT, Lab

LABELS = {
    "app1": "rowpath-host=app1,rowpath-roles=client,rowpath-helpers=0",
    "app2": "rowpath-host=app2,rowpath-roles=client",
    "db": "rowpath-host=db,rowpath-roles=server",
}
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
            command, env=everything, cwd=self.lab.folder, capture_output=True, text=True, timeout=240, check=False
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
    address = f"{hosts.controller}:6379"
    places = {"controller": (hosts.controller, hosts.inside)}
    places |= {name: (hosts.addresses[name], hosts.commands[name]) for name in LABELS}
    authority, pairs = certificates.make([each for each, _inside in places.values()])
    (hosts.folder / "token").write_text("ab" * 32)
    (hosts.folder / "authority.crt").write_text(authority)
    settings: dict[str, str] = {}
    session = Path(tempfile.mkdtemp(prefix="rowpath-"))  # short: the names of sockets are limited
    (hosts.folder / "session").write_text(str(session))
    for name, (own, inside) in places.items():
        folder = hosts.folder / name
        folder.mkdir()
        (folder / "host.crt").write_text(pairs[own].certificate)
        (folder / "host.key").write_text(pairs[own].key)
        settings = {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(hosts.folder / "token"),
            "RAY_USE_TLS": "1",
            "RAY_TLS_CA_CERT": str(hosts.folder / "authority.crt"),
            "RAY_TLS_SERVER_CERT": str(folder / "host.crt"),
            "RAY_TLS_SERVER_KEY": str(folder / "host.key"),
        }
        words = [*inside, sys.executable, "-P", "-m", "ray.scripts.scripts", "start", f"--node-ip-address={own}"]
        words += [
            "--disable-usage-stats",
            "--object-store-memory=80000000",
            "--num-cpus=1",
            f"--temp-dir={session / name}",
        ]
        if name == "controller":
            words += ["--head", "--port=6379", "--include-dashboard=false"]
        else:
            words += [f"--address={address}", "--labels", LABELS[name]]
        theirs = {
            "RAY_worker_niceness": "0",
            "PYTHONPATH": f"{ROOT / 'src'}:{setup.folder()}",
            MARK: "1",
            "TMPDIR": str(session),
        }
        done = subprocess.run(
            words, env=os.environ | settings | theirs, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    folder = hosts.folder / "controller"
    settings["RAY_TLS_SERVER_CERT"], settings["RAY_TLS_SERVER_KEY"] = str(folder / "host.crt"), str(folder / "host.key")
    return Foreign(hosts, address, settings)


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
    assert "others bring it up" in up.stderr


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
        _, errors = under_way.communicate(timeout=30)
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
        printed, errors = under_way.communicate(timeout=150)
    finally:
        under_way.kill()
    assert under_way.returncode == 3, errors
    assert printed == ""
    assert "app2 is back: its paths take part from set 2 on" in errors
    found = reader.read_as_written(directory)
    assert {number for batch, number in found.done.sets if batch == 0} == {1, 2}
    again = foreign.rowpath("run", "--resume", str(directory))
    assert again.returncode == 0, again.stderr
    assert reader.read(directory).outcome == "complete"


def _agent(foreign: Foreign, host: str) -> int:
    session = Path((foreign.lab.folder / "session").read_text()) / host
    raylet = next(
        pid
        for pid, name in _theirs().items()
        if name == "raylet" and str(session) in Path(f"/proc/{pid}/cmdline").read_text()
    )
    return next(pid for pid in processes.descendants(raylet) if processes.name(pid).startswith("ray::Agent"))


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
    assert "has another Ray or Python: Ray 2.49.0" in done.stderr
    assert f"here: Ray {setup.RAY}" in done.stderr
    assert "Traceback" not in done.stderr


def _set_version(foreign: Foreign, version: str) -> None:
    """What the cluster says of its Ray."""
    command = [*foreign.lab.inside, sys.executable, "-c", SET_VERSION, str(setup.folder()), foreign.address, version]
    subprocess.run(command, env=os.environ | foreign.environment, capture_output=True, check=True, timeout=60)
