"""DuckDB's server by the Quack protocol: its start, load and end, without any network but loopback."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.load_through_runner import connected, run
from rowpath.errors import EnvironmentMissing
from rowpath.machine import processes
from rowpath.model.path import AccessPath
from rowpath.runners import manifest
from rowpath.runners.process import Runner, RunnerFailure
from rowpath.runners.protocol import Open, OpenReply
from rowpath.workloads.workload_file import load_workload
from tests.engines.life import kill_the_controller, loaded, place
from tests.runners.python.talk import ADAPTERS, command_of
from tests.waiting import gone

ENGINE = ENGINES["duckdb"]
ANY_PATH = AccessPath.of({"engine": "duckdb"})
OPTIONS = {"engine": "duckdb", "deployment": "server", "durability": "full"}
SERVED = "1.5.5"
EXPERIMENT = """
schema_version = 1
name = "quack"
title = "A table and single rows of it, embedded and by Quack"
phases = ["tab1.select", "scan.read", "keyed.insert"]

[[paths]]
select = { engine = "duckdb", deployment = "server", language = "python", driver = "duckdb-quack", fetch = "columnar" }
phases = ["tab1.select", "scan.read"]

[[paths]]
select = { driver = "duckdb-quack", statement = "text", through = "query" }

[[paths]]
select = { driver = "duckdb-quack", link = "1ms" }
phases = ["tab1.select"]

[[paths]]
select = { language = "python", driver = "duckdb", version = "1.5.5" }
phases = ["tab1.select", "scan.read"]
"""
WITH_LOOPBACK = ("unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")


def user_of(pid: int) -> int:
    return Path(f"/proc/{pid}").stat().st_uid


def test_a_server_s_life(tmp_path: Path) -> None:
    server = ENGINE.instance("server", "full", place(tmp_path))
    server.start()
    try:
        assert server.check() and server.version == SERVED
        (pid,) = server.pids()
        secret = server.options(ANY_PATH)["password"]
        assert secret.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes()
        assert os.geteuid() != 0 or user_of(pid) != 0
        server.load(loaded(load_workload("tab1")))
        with connected(OPTIONS | server.options(ANY_PATH), SERVED) as runner:
            run(runner, ["INSERT INTO tab1 SELECT c1 + 1000000, c2, c3, c4, c5, c6 FROM tab1"])
        (pid,) = server.pids()
        assert server.settle(ANY_PATH).ns > 0
        kept = server.size_bytes()
        server.stop()
        assert gone([pid])
        server.start()
        assert server.size_bytes() >= kept > 100_000
        with connected(OPTIONS | server.options(ANY_PATH), SERVED) as runner:
            with pytest.raises(RunnerFailure, match="onstraint"):  # what was stored before is still there
                run(runner, ["INSERT INTO tab1 SELECT c1 + 1000000, c2, c3, c4, c5, c6 FROM tab1 LIMIT 1"])
            run(runner, ["SELECT 1"])
    finally:
        server.stop()
    assert server.pids() == []


def test_it_ends_with_its_controller(tmp_path: Path) -> None:
    assert gone(kill_the_controller("duckdb", tmp_path))


def test_only_the_version_that_has_the_extension_has_a_server(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentMissing, match=r"DuckDB 2\.0\.0 has no server here") as refused:
        ENGINE.instance("server", "full", place(tmp_path, version="2.0.0"))
    assert refused.value.hint == f"engine_version={SERVED}"


def test_a_missing_extension_is_named_with_the_command_that_brings_it(tmp_path: Path) -> None:
    runner = Runner.start(command_of(ADAPTERS["duckdb-quack"], version="2.0.0"), (0,))
    try:
        runner.hello("duckdb-quack")
        with pytest.raises(RunnerFailure, match=r"pip install duckdb-extension-httpfs==2\.0\.0"):
            runner.request(Open, 20, options=OPTIONS | {"host": "127.0.0.1", "port": 1}, expect=OpenReply)
    finally:
        runner.stop()


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("ip") is None, reason="only root has networks of its own")
def test_a_run_without_network_fetches_nothing(tmp_path: Path) -> None:
    adapters = [(ADAPTERS[driver], SERVED) for driver in ("duckdb", "duckdb-quack")]
    manifest.build([*adapters, (manifest.adapter_of("c", "ping"), "bundled")])
    file, run_directory = tmp_path / "quack.toml", tmp_path / "run"
    file.write_text(EXPERIMENT)
    words = (sys.executable, "-m", "rowpath", "verify", str(file), "--quiet", "-o", str(run_directory))
    added = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [*WITH_LOOPBACK, *words], check=False, env=processes.environment_for(added), text=True, capture_output=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    records = [json.loads(line) for line in (run_directory / "samples.jsonl").read_text().splitlines()]
    verified = [each for each in records if each["record"] == "verify"]
    assert len(verified) >= 8 and all(each["ok"] for each in verified)
    counted = [each for each in records if each["record"] == "counted" and "deployment=server" in each["path_id"]]
    assert all(each["round_trips"] >= 1 and each["bytes_received"] > 0 for each in counted)
    assert not list(tmp_path.rglob("*.duckdb_extension"))
