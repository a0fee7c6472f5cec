"""Clients that share a group's arrivals, through a whole run: from the experiment's file to the table."""

from __future__ import annotations

from pathlib import Path

from tests.end_to_end.command import called, records, rowpath

EXPERIMENT = """\
schema_version = 1
name = "shared"
title = "Callers in one queue"
phases = ["library.read"]
scale = 0.002

[measure]
sets = 1
max_sets = 1
warm_cap_s = 0.2

[[paths]]
name = "C"
select = { engine = "sqlite", language = "c", driver = "sqlite", statement = "prepared", placement = "free" }

[[paths]]
name = "Python"
select = { engine = "sqlite", language = "python", driver = "sqlite3", placement = "free" }

[[paths]]
name = "Go"
select = { engine = "sqlite", language = "go", driver = "mattn-sqlite3", placement = "free" }

[[client_groups]]
name = "callers"
phase = "library.read"
clients = 2
dispatch = "shared"
population = 6

[[client_groups]]
name = "arrivals"
phase = "library.read"
clients = 3
pacing = "poisson"
rate_per_s = 200.0
dispatch = "shared"

[[stages]]
name = "queues"
client_groups = ["callers", "arrivals"]
seconds = 0.5
"""


def test_callers_and_arrivals_in_one_queue(tmp_path: Path) -> None:
    file, run = tmp_path / "shared.toml", tmp_path / "run"
    file.write_text(EXPERIMENT)
    done = rowpath("run", file, "-o", run)
    assert done.returncode == 0, done.stderr
    groups = records(run, "client-group")
    assert len(groups) == 4  # of the two runners that know it
    for record in groups:
        assert (record["dispatch"], record["failed"], record["touch_ok"]) == ("shared", 0, True)
        assert sum(record["latency"].values()) == sum(record["service"].values()) == record["operations"] > 0
        assert record["arrivals"] == record["operations"]
        assert record["population"] == (6 if record["client_group"] == "callers" else 0)
    assert "the runner of Go has no shared dispatch" in called("run", file, "--plan").stdout
    assert "6 callers" in called("show", run, "--tables").stdout
