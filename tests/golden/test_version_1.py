"""Journals that an older Rowpath wrote in schema version 1 give the figures that it gave itself."""

import json
from pathlib import Path
from typing import Any

import pytest

from rowpath.analysis.analyse import analyse
from rowpath.journal.mixed_load_records import BackupRecord, ClientGroupRecord, SecondRecord, StageRecord
from rowpath.journal.reader import read
from rowpath.journal.records import CountedRecord, WorkerRecord

FOLDER = Path(__file__).parent / "version_1"
REFUSED: dict[str, set[tuple[str, str, str, str]]] = {
    "tour": {
        ("SQLite C", "keyed", "read", "steady"),
        ("SQLite C", "scan", "read", "steady"),
        ("Nothing, C loop", "null", "nothing", "steady"),
    },
    "reads-writes-backup": set(),
}
RUNS = tuple(REFUSED)


@pytest.mark.parametrize("name", RUNS)
def test_every_figure_is_the_one_that_the_older_rowpath_gave(name: str) -> None:
    analysis = analyse(FOLDER / name)
    expected: dict[str, Any] = json.loads((FOLDER / name / "expected.json").read_text(encoding="utf-8"))
    results = [
        [
            each.name, each.workload, each.phase, each.regime, each.metric, each.stage, each.client_group,
            each.median, each.low, each.high,
        ]
        for each in analysis.results
    ]  # fmt: skip
    rankings = [
        [
            ranking.workload, ranking.phase, ranking.regime, ranking.comparison,
            [[row.name, row.rank, row.cost_ns, row.ratio, row.status] for row in ranking.rows],
        ]
        for ranking in analysis.rankings
    ]  # fmt: skip
    # What the older one still ranked although most blocks were disturbed is refused now.
    refused = {
        (row.name, ranking.workload, ranking.phase, ranking.regime)
        for ranking in analysis.rankings
        for row in ranking.rows
        if row.status == "disturbed" and not row.rank
    }
    assert refused == REFUSED[name]
    results = [each for each in results if tuple(each[:4]) not in refused]
    expected["results"] = [each for each in expected["results"] if tuple(each[:4]) not in refused]
    for kept in (rankings, expected["rankings"]):
        kept[:] = [each for each in kept if not any(where[1:] == tuple(each[:3]) for where in refused)]
    assert len(results) == len(expected["results"]) > 35
    for found, right in zip(results, expected["results"], strict=True):
        assert found[:7] == right[:7]
        for one, other in zip(found[7:], right[7:], strict=True):
            assert one == (None if other is None else pytest.approx(other, rel=1e-9)), right[:7]
    assert rankings == expected["rankings"]


@pytest.mark.parametrize("name", RUNS)
def test_no_line_is_lost(name: str) -> None:
    records = read(FOLDER / name)
    assert records.skipped_lines == 0
    assert records.outcome == "complete"
    assert records.all(WorkerRecord)
    assert records.all(CountedRecord)
    assert records.done.verified == set(records.paths)
    assert records.run.methods and records.run.experiment.phases and records.run.workloads


def test_client_groups_and_stages_are_read_under_their_new_names() -> None:
    records = read(FOLDER / "reads-writes-backup")
    groups = {table.name for table in records.run.experiment.client_groups}
    assert "backup" in {table.action for table in records.run.experiment.client_groups}
    stages = records.all(StageRecord)
    assert stages and {stage.stage for stage in stages} <= {table.name for table in records.run.experiment.stages}
    assert {group.client_group for stage in stages for group in stage.client_groups} <= groups
    assert {record.client_group for record in records.all(ClientGroupRecord)} <= groups
    assert {name for second in records.all(SecondRecord) for name in second.client_groups} <= groups
    assert [record.client_group for record in records.all(BackupRecord)] == ["backup"]
    sides = [claim.check for claim in records.run.experiment.claims]
    keys = {key for check in sides for side in (check.numerator, check.denominator) for key in side}
    assert {"stage", "client_group"} <= keys and not {"stretch", "group"} & keys


def test_a_run_without_shapes_has_no_cost_model_and_knows_no_durabilities() -> None:
    records = read(FOLDER / "tour")
    assert all(record.shape is None for record in records.all(CountedRecord))
    assert not any(path.durabilities for path in records.paths.values())
    assert "no cost model" in records.notes[-1]
