"""A short run in which a finding has its cause, through the whole program, beside a path without it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rowpath.analysis.analyse import analyse
from rowpath.analysis.answer_model import Finding
from rowpath.analysis.model import Analysis
from rowpath.cli.plan import plan_for
from rowpath.engines import ENGINES
from rowpath.execution.run import run_plan
from rowpath.execution.run_options import RunOptions
from rowpath.model.experiment import ClientGroupTable, Experiment, Measure, Selection, StageTable
from rowpath.model.progress import Silent
from rowpath.planning.experiment_file import ExperimentFile, load_workloads

Select = dict[str, str | tuple[str, ...]]
LIBPQ: Select = {"engine": "postgresql", "driver": "libpq", "transport": "tcp"}
PSYCOPG: Select = {"engine": "postgresql", "driver": "psycopg", "transport": "tcp"}
PGJDBC: Select = {"engine": "postgresql", "driver": "pgjdbc", "transport": "tcp"}
LIBMARIADBD: Select = {"engine": "mariadb", "driver": "libmariadbd", "storage": "innodb", "durability": "none"}
SQLITE: Select = {"engine": "sqlite", "driver": "sqlite", "durability": "full"}


def needs(*selections: Select) -> None:
    """Skip where one of the engines is missing."""
    for selection in selections:
        here = ENGINES[str(selection["engine"])].availability()
        if not here.ok:
            pytest.skip(here.reason)


def measured(
    tmp_path: Path,
    phases: list[str],
    *selections: Select | Selection,
    files: tuple[str, ...] = (),
    sets: int = 2,
    rounds: int = 6,
    warm_cap_s: float = 0.3,
) -> Analysis:
    """A short run of these paths; none of them may have failed."""
    measure = Measure(sets=sets, max_sets=0, rounds=rounds, regimes=("steady",), warm_cap_s=warm_cap_s)
    chosen = tuple(each if isinstance(each, Selection) else Selection(select=dict(each)) for each in selections)
    return _analysed(
        tmp_path, Experiment(1, "provoked", "Provoked", tuple(phases), chosen, workload_files=files, measure=measure)
    )


def grouped(
    tmp_path: Path,
    phases: list[str],
    selection: Select,
    groups: tuple[ClientGroupTable, ...],
    stages: tuple[StageTable, ...],
    files: tuple[str, ...] = (),
) -> Analysis:
    """A short run of one path with client groups at work."""
    measure = Measure(sets=1, max_sets=1, warm_cap_s=0.3)
    experiment = Experiment(
        1, "provoked", "Provoked", tuple(phases), (Selection(select=dict(selection)),), workload_files=files,
        measure=measure, client_groups=groups, stages=stages,
    )  # fmt: skip
    return _analysed(tmp_path, experiment)


def _analysed(tmp_path: Path, experiment: Experiment) -> Analysis:
    needs(*(dict(selection.select) for selection in experiment.paths))
    plan = plan_for(ExperimentFile(experiment, load_workloads(experiment)), {}, extended=True, seed=7)
    assert len(plan.paths) >= len(experiment.paths), plan.dropped
    cores = os.sched_getaffinity(0)
    try:
        outcome = run_plan(plan, RunOptions(timeout_s=60.0), directory=tmp_path / "run", progress=Silent())
    finally:
        os.sched_setaffinity(0, cores)  # a run pins its controller; the tests after it shall not be
    analysis = analyse(outcome.directory.path)
    assert not [finding for finding in analysis.findings if finding.id in ("failed-operations", "missing-path")]
    return analysis


def told(analysis: Analysis, rule: str) -> list[Finding]:
    """The findings of one rule."""
    return [finding for finding in analysis.findings if finding.id == rule]


def blamed(analysis: Analysis, rule: str) -> str:
    """The names of the paths that a rule's findings name, as one text."""
    return " ".join(name for finding in told(analysis, rule) for name in finding.paths)
