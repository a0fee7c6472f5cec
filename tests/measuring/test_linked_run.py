"""A run across an emulated link: the same rows and the same round trips, a measured link, its model in the report."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.execution.emulated_link import MOST_EARLY
from tests.end_to_end.command import records, rowpath, write_experiment

pytestmark = pytest.mark.skipif(
    not ENGINES["postgresql"].availability().ok, reason=ENGINES["postgresql"].availability().reason
)
PATHS = (
    'engine = "postgresql", language = "c", driver = "libpq", transport = "tcp", link = ["none", "3ms"]',
    'engine = "null", language = "c", driver = "ping", transport = "tcp", link = "3ms"',
)
STATED_NS = 3_000_000


def test_a_run_across_a_link(tmp_path: Path) -> None:
    phases = ["null.nothing", "keyed.read", "keyed.insert", "connect.first"]
    experiment = write_experiment(tmp_path, PATHS, phases=phases)
    done = rowpath("run", experiment, "-o", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "Across a link, time per operation" in rowpath("show", tmp_path / "run", "--tables").stdout
    (link,) = records(tmp_path / "run", "link")
    assert (link["link"], link["placement"], link["stated_ns"]) == ("3ms", "same", STATED_NS)
    assert 0 <= link["early_ns"] <= MOST_EARLY * STATED_NS / 2
    least_ns = STATED_NS - 2 * link["early_ns"]
    assert link["round_trip_ns"] >= least_ns
    assert link["low_ns"] <= link["round_trip_ns"] <= link["high_ns"]
    assert link["direct_ns"] < STATED_NS / 3
    assert link["rate_bytes_per_s"] > 1e6

    ids = {record["path_id"]: record["coordinates"]["link"] for record in records(tmp_path / "run", "path")}
    counted: dict[str, list[object]] = defaultdict(list)
    for proof in records(tmp_path / "run", "counted"):
        if proof["workload"] == "keyed":
            counts = (proof["round_trips"], proof["bytes_sent"], proof["bytes_received"])
            counted[proof["phase"]].append((*counts, proof["operations"]))
    assert {phase: len(found) for phase, found in counted.items()} == {"read": 2, "insert": 2}
    assert all(one == other for one, other in counted.values())
    assert all(record["ok"] for record in records(tmp_path / "run", "verify"))

    trips = {"nothing": 1, "read": 1, "insert": 1, "first": 5}
    over = [record for record in records(tmp_path / "run", "sample") if ids[record["path_id"]] == "3ms"]
    assert {(record["phase"], record["set"]) for record in over} >= {(phase, n) for phase in trips for n in (0, 1)}
    for record in over:
        assert record["min_ns"] >= trips[record["phase"]] * least_ns, record
        assert "on their core" not in record["disturbed"]
