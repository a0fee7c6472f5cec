"""Runs with pools: what waits for a connection, what a validation asks, what comes back; by blocks and in groups."""

from __future__ import annotations

import json
from pathlib import Path

from tests.end_to_end.command import called, records, rowpath

BLOCKS = """
schema_version = 1
name = "waiting"
title = "clients that wait for a connection"
phases = ["keyed.read"]
[measure]
sets = 3
max_sets = 3
rounds = 2
block_ms = 100
regimes = ["steady"]
warm_cap_s = 0.5
[[paths]]
name = "psycopg"
select = { engine = "postgresql", driver = "psycopg", transport = "tcp", link = "2ms", clients = "8", pool = "psycopg_pool", pool_size = ["1", "8"], validation = ["none", "borrow"] }
"""  # noqa: E501

GROUPS = """
schema_version = 1
name = "groups"
title = "groups that share a pool"
phases = ["keyed.read"]
[measure]
sets = 1
max_sets = 1
warm_cap_s = 0.2
[[paths]]
name = "psycopg"
select = { engine = "postgresql", driver = "psycopg", transport = "tcp", placement = "free", clients = "8", pool = ["none", "psycopg_pool"], pool_size = "2" }
[[client_groups]]
name = "readers"
phase = "keyed.read"
clients = 8
[[client_groups]]
name = "arrivals"
phase = "keyed.read"
clients = 4
pacing = "poisson"
rate_per_s = 100.0
[[stages]]
name = "closed"
client_groups = ["readers"]
seconds = 0.5
[[stages]]
name = "open"
client_groups = ["arrivals"]
seconds = 0.5
"""  # noqa: E501


def test_a_pool_of_one_is_too_small_and_a_validation_is_a_round_trip(tmp_path: Path) -> None:
    file, run, results = tmp_path / "waiting.toml", tmp_path / "run", tmp_path / "results.json"
    file.write_text(BLOCKS)
    ended = rowpath("run", file, "-o", run, "--wait-for-quiet", "0")
    assert ended.returncode == 0, ended.stderr
    assert called("show", run, "--export-json", results).returncode == 0
    findings = json.loads(results.read_text())["findings"]
    small = [one for one in findings if one["id"] == "pool-too-small"]
    assert small and all("pool_size=8" in one["next_command"] and "its pool of 1" in one["text"] for one in small)
    assert any(one["id"] == "validation-round-trip" for one in findings)
    assert not any(one["id"] == "pool-leak" for one in findings)
    samples = [one for one in records(run, "sample") if one["set"]]
    assert samples and all(one["borrow_ns"] > 0 and one["return_ns"] > 0 for one in samples)
    settings = [one["facts"]["settings"] for one in records(run, "facts")]
    assert len(settings) == 3 * 4 and {each["pool_in_use"] for each in settings} == {"0"}
    assert not any(one["id"] == "round-trips-not-as-declared" for one in findings)


def test_groups_that_share_a_pool(tmp_path: Path) -> None:
    file, run = tmp_path / "groups.toml", tmp_path / "run"
    file.write_text(GROUPS)
    ended = rowpath("run", file, "-o", run, "--wait-for-quiet", "0")
    assert ended.returncode == 0, ended.stderr
    found = records(run)
    pooled = {one["path_id"] for one in found if one["record"] == "path" and "pool=psycopg_pool" in one["path_id"]}
    groups = [one for one in found if one["record"] == "client-group"]
    assert {(one["client_group"], one["path_id"] in pooled) for one in groups} == {
        (name, has_pool) for name in ("readers", "arrivals") for has_pool in (True, False)
    }
    for one in groups:
        assert (one["failed"], one["touch_ok"]) == (0, True)
        assert (one["borrow_ns"] > 0, one["return_ns"] > 0) == (one["path_id"] in pooled,) * 2
    assert "borrow" in called("show", run, "--tables").stdout
