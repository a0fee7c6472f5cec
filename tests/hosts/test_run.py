"""A run over hosts: the same rows, servers that listen only where they should, strangers who get nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rowpath.hosts import cluster, node, setup
from rowpath.journal import reader
from rowpath.journal.records import CountedRecord, MemoryRecord, SampleRecord, VerifyRecord
from rowpath.machine.counters import syncs
from tests.hosts.conftest import experiment
from tests.hosts.lab import ROOT, Lab

BOTH = '["postgresql", "mariadb"]'
BACKGROUND = 10  # syncs that a server makes for itself meanwhile: more on a busy machine; a hundred are counted
THREE = '["c", "python", "java"]'
STRANGER = """
import sys
sys.path.append(sys.argv[1])
import ray
ray.init(address=sys.argv[2], _node_ip_address=sys.argv[3], log_to_driver=False)
print("joined")
"""


def _ran(lab: Lab, directory: Path, *words: str) -> reader.Records:
    done = lab.rowpath("run", *words, "-o", str(directory))
    assert done.returncode == 0, done.stderr
    records = reader.read(directory)
    assert records.outcome == "complete"
    return records


WRITING = """schema_version = 1
name = "writing"
title = "Durable writes to a server and to a file"
phases = ["library.write"]
scale = 0.01

[measure]
sets = 1
max_sets = 1
rounds = 1
warm_cap_s = 0.1

[[paths]]
[paths.select]
engine = "postgresql"
deployment = "server"
durability = "full"
language = "c"
driver = "libpq"
statement = "prepared"
transport = "tcp"

[[paths]]
[paths.select]
engine = "sqlite"
durability = ["full", "none"]
language = "c"
driver = "sqlite"
statement = "prepared"
"""


def _digests(records: reader.Records) -> dict[str, str]:
    assert all(record.ok for record in records.all(VerifyRecord))
    return {records.paths[each.path_id].coordinates["driver"]: each.digest for each in records.all(VerifyRecord)}


def test_the_same_rows_over_the_network_and_here(namespaces: Lab, tmp_path: Path) -> None:
    file = experiment(tmp_path, "both", engines=BOTH, languages=THREE)
    far = _ran(namespaces, tmp_path / "far", file, "--hosts", str(namespaces.file))
    here = _ran(namespaces, tmp_path / "here", file, "--wait-for-quiet", "0s")
    assert len(_digests(far)) == 4
    assert _digests(far) == _digests(here)
    assert _passed(far) == _passed(here)
    served = [path for path in far.paths.values() if path.coordinates["deployment"] == "server"]
    assert {path.coordinates["placement"] for path in served} == {"apart"}
    assert "hosts" not in here.run.options
    _has_what_hosts_saw(far)
    # Each clock is known: that of its namespace.
    clocks = {(each.host, each.when): each for each in far.clocks}
    assert {when for _host, when in clocks} == {"before", "after"}
    for (host, _when), clock in clocks.items():
        assert abs(clock.offset_ns - namespaces.offsets_s.get(host, 0) * 10**9) <= clock.bound_ns
    for way in far.ways:
        least = way.round_trips[0]
        assert way.bound_ns <= least.median_ns / 2
        apart_s = namespaces.offsets_s.get(way.server, 0) - namespaces.offsets_s.get(way.client, 0)
        assert abs(way.offset_ns - apart_s * 10**9) <= way.bound_ns
        assert least.low_ns <= least.median_ns <= least.high_ns
        assert way.to_server_bytes_per_s > 0 < way.from_server_bytes_per_s
    shown = namespaces.rowpath("show", str(tmp_path / "far"))
    assert "app1 → db: round trip" in shown.stdout
    assert "The network between the hosts" in (tmp_path / "far" / "report.html").read_text()


def _passed(records: reader.Records) -> dict[str, tuple[int | None, ...]]:
    """What the counting proxy saw of each path's reads, which stands on the client's host."""
    found = {}
    for each in records.all(CountedRecord):
        path = records.paths[each.path_id]
        if path.coordinates["deployment"] == "server" and each.phase == "read":
            found[path.coordinates["driver"]] = each.operations, each.round_trips, each.bytes_sent, each.bytes_received
    assert len(found) == 4
    assert all(None not in counts for counts in found.values())
    return found


def test_syncs_are_counted_where_the_process_is(namespaces: Lab, tmp_path: Path) -> None:
    file = tmp_path / "writing.toml"
    file.write_text(WRITING)
    far = _ran(namespaces, tmp_path / "far", str(file), "--hosts", str(namespaces.file))
    here = _ran(namespaces, tmp_path / "here", str(file), "--wait-for-quiet", "0s")
    there, locally = _written(far), _written(here)
    for (engine, durability), (operations, syncs_there, *more) in there.items():
        expected, syncs_here, *as_many = locally[engine, durability]
        assert (operations, more) == (expected, as_many)
        assert (syncs_there >= operations) is (syncs_here >= operations) is (durability == "full")
        assert abs(syncs_there - syncs_here) <= BACKGROUND
    assert {host: (cost.ns > 0, cost.syncs > 0) for host, cost in far.sync_costs.items()} == {
        "db": (True, True),
        "app1": (True, True),
    }
    assert set(here.sync_costs) == {""}
    assert all(host.methods["syncs"] == syncs.METHOD for host in far.hosts.values())
    assert "one sync" in (tmp_path / "far" / "report.html").read_text().lower()


def _written(records: reader.Records) -> dict[tuple[str, str], tuple[Any, ...]]:
    """What was counted of each path's writes: operations, syncs, commits."""
    found = {}
    for each in records.all(CountedRecord):
        get = records.paths[each.path_id].coordinates.get
        found[get("engine"), get("durability")] = each.operations, each.syncs, each.commits
    assert len(found) == 3
    return found


def _has_what_hosts_saw(records: reader.Records) -> None:
    served = {key for key, path in records.paths.items() if path.coordinates["deployment"] == "server"}
    samples = [each for each in records.all(SampleRecord) if each.path_id in served and each.regime == "steady"]
    assert samples
    assert all(each.server_cpu_ns and each.client_cpu_ns for each in samples)
    assert all(each.touch_ok for each in samples)
    memory = [each for each in records.all(MemoryRecord) if each.path_id in served]
    assert all(each.server_peak_bytes and each.client_peak_bytes for each in memory)
    assert set(records.hosts) == {"app1", "db"}


def test_a_server_listens_only_on_its_address_while_a_run_is_measured(namespaces: Lab, tmp_path: Path) -> None:
    file = experiment(tmp_path, "long", rounds=400, engines=BOTH)
    under_way = namespaces.begun("run", file, "--hosts", str(namespaces.file), "-o", str(tmp_path / "run"))
    try:
        while (line := under_way.stderr.readline()) and "steady" not in line:  # type: ignore[union-attr]
            assert under_way.poll() is None
        command = [*namespaces.commands.get("db", []), "ss", "-Hltnp"]
        every = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        mine = {f"pid={pid}," for pid in node.pids(cluster.name_of(namespaces.file), "db")}
        listening = [line for line in every if any(pid in line for pid in mine)]
    finally:
        under_way.kill()
        under_way.communicate()
    servers = [line.split()[3] for line in listening if "postgres" in line or "mariadbd" in line]
    assert len(servers) == 2, listening
    assert {each.rpartition(":")[0] for each in servers} == {namespaces.addresses["db"]}


@pytest.mark.parametrize("has_certificates", [True, False], ids=["without the token", "without certificates"])
def test_a_stranger_gets_nothing(namespaces: Lab, has_certificates: bool) -> None:
    state = cluster.read(namespaces.file)
    settings = cluster.environment(state) | {"RAY_gcs_rpc_server_reconnect_timeout_s": "3"}
    del settings["RAY_AUTH_TOKEN_PATH"]
    settings |= {"RAY_AUTH_TOKEN": "f" * 64}
    if not has_certificates:
        settings = {name: value for name, value in settings.items() if "TLS" not in name}
    address = f"{state.controller}:{state.port}"
    words = [*namespaces.inside, sys.executable, "-c", STRANGER, str(setup.folder()), address, state.controller]
    try:
        done = subprocess.run(words, env=os.environ | settings, capture_output=True, text=True, timeout=15, check=False)
    except subprocess.TimeoutExpired as waiting:
        assert b"joined" not in (waiting.stdout or b"")
        return
    assert done.returncode != 0
    assert "joined" not in done.stdout


def test_secrets_are_in_private_files_and_in_no_argument(namespaces: Lab) -> None:
    private = node.folder(cluster.name_of(namespaces.file), "db")
    assert private.stat().st_mode & 0o777 == 0o700
    token = (private / "token").read_text()
    assert all(file.stat().st_mode & 0o077 == 0 for file in private.iterdir() if file.suffix == ".key")
    assert (private / "token").stat().st_mode & 0o777 == 0o600
    for pid in namespaces.mine():
        assert token not in Path(f"/proc/{pid}/cmdline").read_text(errors="replace")


def test_a_run_without_hosts_loads_nothing_of_it() -> None:
    code = (
        "import sys; from rowpath.cli.main import main; main(['list', 'paths', 'engine=sqlite']);"
        "main(['run', 'tour', '--plan', 'engine=sqlite']);"
        "print([name for name in sys.modules if name == 'ray' or name.startswith('rowpath.hosts.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stdout[-500:] + done.stderr
