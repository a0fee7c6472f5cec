"""The command that measures a run's experiment again: what said where the rows come from stays in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath.analysis.evidence import Evidence
from rowpath.journal.reader import Records
from rowpath.journal.records import RunRecord
from rowpath.model.experiment import Experiment
from rowpath.workloads.workload_file import load_workload


@pytest.mark.parametrize(
    ("command", "again"),
    [
        ("rowpath run tour -o DIR", "rowpath run tour -r 10"),
        ("rowpath run my.toml engine=sqlite", "rowpath run my.toml -r 10"),
        ("rowpath run -o DIR -- tour", "rowpath run recorded -r 10"),
        ("rowpath run --tape slow.tape", "rowpath run --tape slow.tape -r 10"),
        ("rowpath run tour --tape=slow.tape", "rowpath run tour --tape slow.tape -r 10"),
        ("rowpath run tour --hosts hosts.toml -q", "rowpath run tour --hosts hosts.toml -r 10"),
    ],
)
def test_again(command: str, again: str) -> None:
    experiment = Experiment(1, "recorded", "What was recorded", (), ())
    journal = Records(run=RunRecord(command=command.split(), experiment=experiment))
    assert Evidence.of(Path("run"), journal).rerun("-r 10") == again


@pytest.mark.parametrize(
    ("workload", "phase", "has"),
    [("tab1", "nothing", False), ("tab1", "insert", True), ("tab1", "select", True), ("not-there", "read", True)],
)
def test_only_a_statement_that_neither_delivers_nor_stores_has_no_rows_to_prove(
    workload: str, phase: str, has: bool
) -> None:
    experiment = Experiment(1, "any", "Any", (), ())
    journal = Records(run=RunRecord(experiment=experiment, workloads={"tab1": load_workload("tab1-scaled")}))
    assert Evidence.of(Path("run"), journal).has_rows(workload, phase) is has
