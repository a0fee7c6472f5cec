"""A Ray cluster that others brought up: hosts by its labels, a run over it, and it lives on afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from rowpath.hosts import setup
from rowpath.journal import reader
from rowpath.journal.records import VerifyRecord
from tests.hosts.conftest import experiment
from tests.hosts.foreign_cluster import Foreign, theirs

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
    before = [name for name in theirs().values() if name in ("raylet", "gcs_server")]
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
    after = theirs().values()
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
    assert [*theirs().values()].count("raylet") == 4


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
