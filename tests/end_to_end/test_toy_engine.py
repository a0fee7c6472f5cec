"""A run over an engine and an adapter that Rowpath's own folders do not hold."""

from __future__ import annotations

import json
from pathlib import Path

from tests import fakes
from tests.end_to_end.command import rowpath


def test_a_run_loads_it_verifies_its_rows_and_ranks_it(tmp_path: Path) -> None:
    manifest = fakes.write_toy_engine(tmp_path)
    experiment = fakes.write_experiment(tmp_path, ("honest",))
    export = tmp_path / "r.json"
    done = rowpath("run", experiment, "--adapters", manifest, "-o", tmp_path / "run", "--export-json", export)
    assert done.returncode == 0, done.stderr
    times = [result for result in json.loads(export.read_text())["results"] if result["metric"] == "time"]
    assert {result["status"] for result in times} <= {"ok", "tied", "disturbed"}
    assert {result["regime"] for result in times} == {"cold", "steady"}
    assert all(result["median"] > 0 for result in times)
