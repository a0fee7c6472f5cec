"""Pipelines of a run are proven by counters: 1/n of the round trips, and a transaction for each write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from tests.end_to_end.command import Records, called, rowpath, write_experiment

pytestmark = pytest.mark.skipif(
    not ENGINES["postgresql"].availability().ok, reason=ENGINES["postgresql"].availability().reason
)
PATH = 'engine = "postgresql", language = "{}", driver = "{}", statement = "prepared", pipeline = ["off", "10"]'


def test_round_trips_and_commits_of_pipelines(tmp_path: Path) -> None:
    paths = [PATH.format(*each) for each in (("c", "libpq"), ("python", "psycopg"))]
    experiment = write_experiment(tmp_path, paths, phases=["keyed.read", "keyed.insert"], rounds=1)
    done = rowpath("run", experiment, "-o", tmp_path / "run", "-r", "1")
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in (tmp_path / "run" / "samples.jsonl").read_text().splitlines()]
    drivers = {each["path_id"]: each["coordinates"]["driver"] for each in records if each["record"] == "path"}
    for driver in ("libpq", "psycopg"):
        mine = [each for each in records if drivers.get(each.get("path_id")) == driver]
        assert_counts(mine, driver)
        assert len({each["comparison"] for each in mine if each["record"] == "path"}) == 2
    shown = called("show", tmp_path / "run", "--tables").stdout
    assert "round-trips-not-as-declared" not in shown
    assert "commits-not-as-declared" not in shown


def assert_counts(records: Records, driver: str) -> None:
    """A tenth of the round trips with a pipeline of ten, and a transaction for each write."""
    counted = {
        ("pipeline=10" in each["path_id"], each["phase"]): each for each in records if each["record"] == "counted"
    }
    assert set(counted) >= {(False, "read"), (False, "insert"), (True, "read")}
    assert ((True, "insert") in counted) == (driver == "libpq")
    for (pipelined, phase), each in counted.items():
        turns = each["operations"] // 10 if pipelined else each["operations"]
        # A client that lost its core in the middle of a pipeline looks as if it waited.
        assert turns <= each["round_trips"] <= turns * 1.5, (pipelined, phase)
        expected = turns if phase == "read" else each["operations"]  # reads share the transaction of their Sync
        assert abs(each["commits"] - expected) <= 1, (pipelined, phase)
