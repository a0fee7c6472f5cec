"""The GitHub Action, its steps run here: a build made slower on purpose fails, one that is as fast passes."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests import composite_action
from tests.composite_action import Ended
from tests.end_to_end.command import PROGRAM, environment

SLOWED = Path(__file__).parents[1] / "fakes" / "slowed_driver"
EXPERIMENT = """
schema_version = 1
name = "held"
title = "Two versions of a driver"
phases = ["scan.read"]

[measure]
sets = 6
max_sets = 6
rounds = 10
regimes = ["steady"]
warm_cap_s = 0.1

[[paths]]
select = { engine = "sqlite", language = "python", driver = "slowed-sqlite3" }
"""


def held(folder: Path, build: str) -> tuple[Ended, Path]:
    """What the action leaves for that version of the driver against version 1, and its workspace."""
    workspace = folder / "workspace"
    workspace.mkdir()
    (workspace / "held.toml").write_text(EXPERIMENT, encoding="utf-8")
    action = composite_action.repository(folder / "repository", shlex.join(PROGRAM))
    given = {
        "driver": "slowed-sqlite3",
        "release": "1",
        "build": build,
        "experiment": "held.toml",
        "filters": "engine=sqlite language=python",
        "adapters": str(SLOWED / "adapters.toml"),
        "comment": "comment.md",
    }
    return composite_action.run(action, workspace, given, environment()), workspace


@pytest.mark.parametrize(("build", "code", "results"), [("1.3", 1, {"slower"}), ("1.0", 0, {"passed", "undecided"})])
def test_a_build_is_held_to_the_release(tmp_path: Path, build: str, code: int, results: set[str]) -> None:
    ended, workspace = held(tmp_path, build)
    assert ended.code == code and ended.outputs["result"] in results, ended.log
    assert ended.summary.startswith(f"### Rowpath: slowed-sqlite3 1 → {build}\n")
    assert f"{'failed' if code else 'passed'} slower=5%" in ended.summary
    if code:  # of an unchanged build 1 comparison in 20 claims some change: only the gate is held to
        assert " is slower" in ended.summary
    assert ended.summary == (workspace / "comment.md").read_text(encoding="utf-8")
    report = Path(ended.outputs["report"])
    assert report == workspace / "rowpath-report"
    comparison = json.loads((report / "comparison.json").read_text(encoding="utf-8"))
    assert comparison["paired"] and comparison["failed"] is bool(code)
    assert (ended.outputs["result"] == "undecided") is (not code and bool(comparison["gates"][0]["undecided"]))
    assert (report / "run" / "report.html").is_file() and (report / "comparison.html").is_file()
    assert ended.log.count("::error") == code
