"""The finding `event-loop-blocked`: provoked by a task that takes a large result at once, absent of a quiet loop."""

from __future__ import annotations

from pathlib import Path

from rowpath.analysis.chapters.mixed_load import report_of
from rowpath.model.experiment import ClientGroupTable, StageTable
from tests.provoked import Select, grouped, told

ROWS = 500_000  # taken in twice as long as the finding needs, on a quick machine too
ASYNCPG: Select = {"engine": "postgresql", "driver": "asyncpg", "transport": "unix", "statement": "prepared"}
RULE = "event-loop-blocked"


def large(tmp_path: Path) -> str:
    """The workload `scan` with as many rows as take a while."""
    file = tmp_path / "large.toml"
    scan = (Path(__file__).parents[2] / "workloads" / "scan.toml").read_text()
    file.write_text(scan.replace('name = "scan"', 'name = "large"', 1).replace("6071", str(ROWS)))
    return str(file)


def test_a_task_that_takes_a_large_result_blocks_the_loop(tmp_path: Path) -> None:
    groups = (ClientGroupTable("readers", "keyed.read", clients=2), ClientGroupTable("scans", "large.read"))
    stages = (StageTable("with scans", ("readers", "scans"), seconds=3.0),)
    analysis = grouped(tmp_path, ["keyed.read", "large.read"], ASYNCPG, groups, stages, files=(large(tmp_path),))
    (finding,) = told(analysis, RULE)
    assert "asyncpg" in finding.text
    assert "in stage 'with scans'" in finding.text


def test_a_quiet_loop_has_no_finding(tmp_path: Path) -> None:
    groups = (ClientGroupTable("readers", "keyed.read", clients=4, pause_s=0.001),)
    analysis = grouped(tmp_path, ["keyed.read"], ASYNCPG, groups, (StageTable("quiet", ("readers",), seconds=2.0),))
    assert not told(analysis, RULE)
    (readers,) = report_of(analysis).figures
    assert readers.blocked_ns > 0
