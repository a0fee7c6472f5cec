"""What `compare --confirm` measures again: which rows, planned as which pairs, and what it makes of the paired run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rowpath.analysis.comparison.compare import compare
from rowpath.analysis.comparison.gate import judge, outcomes, parse_gate, suspicious, two_builds
from rowpath.errors import UsageError
from rowpath.model.experiment import Experiment
from rowpath.model.path import AccessPath
from rowpath.planning.make_plan import PathPair, paired_plan
from rowpath.planning.selection import lattice
from rowpath.runners.manifest import adapter_of
from rowpath.workloads.workload_file import load_workload
from tests.unit.analysis.comparison.test_compare import SLOWER, made
from tests.unit.journal_factory import Run, records, usual_paths, write


def java_path(version: str) -> AccessPath:
    return lattice(adapter_of("java", "pgjdbc"), {"version": (version,), "placement": ("same",)})[0]


def pair(base: str, head: str) -> PathPair:
    return PathPair("pgjdbc", java_path(base).as_dict(), java_path(head).as_dict(), ("keyed.read",))


def plan(pairs: list[PathPair], sets: int = 8):  # type: ignore[no-untyped-def]
    workloads = {name: load_workload(name) for name in ("keyed", "scan")}
    experiment = Experiment(1, "tour", "", ("keyed.read", "scan.read"), ())
    return paired_plan(experiment, workloads, pairs, sets)


def test_both_builds_stand_in_one_set() -> None:
    made_plan = plan([pair("42.7.14", "42.7.4")])
    assert [planned.name for planned in made_plan.paths] == ["pgjdbc base", "pgjdbc head"]
    assert [planned.path.version for planned in made_plan.paths] == ["42.7.14", "42.7.4"]
    assert len(made_plan.batches) == 1 and made_plan.experiment.phases == ("keyed.read",)
    assert made_plan.experiment.measure.sets == made_plan.experiment.measure.max_sets == 8


def test_a_build_that_is_gone_cannot_be_measured_again(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot run here: no file"):
        plan([pair("42.7.14", str(tmp_path / "gone.jar"))])


def test_the_same_build_twice_is_no_pair() -> None:
    with pytest.raises(UsageError, match="the same path"):
        plan([pair("42.7.14", "42.7.14")])


def test_rows_of_two_builds_that_a_gate_cannot_decide_are_suspicious(tmp_path: Path) -> None:
    base, head = made(tmp_path / "base", 1), made(tmp_path / "head", 2, 1.0, "2")
    comparison = compare([base], [head], ())
    gate = parse_gate("slower=0.1%")
    again = suspicious(comparison, [gate])
    assert {row.name for row in again if two_builds(row)} == {SLOWER}
    assert {(row.phase, row.regime) for row in again if row.name == SLOWER} >= {("read", "steady")}
    assert judge(comparison, gate).undecided >= len(again)


def test_a_paired_run_decides(tmp_path: Path) -> None:
    """5 % between two builds in the same sets, on a machine whose speed drifts by 5 % from set to set."""
    base = made(tmp_path / "base", 1)
    head = made(tmp_path / "head", 2, 1.05, "2")
    row = next(
        each
        for each in compare([base], [head], ()).rows
        if (each.name, each.workload, each.regime, each.metric) == (SLOWER, "scan", "steady", "time")
    )
    old = next(path for path in usual_paths() if path.name == SLOWER)
    costs = {phase: 1.05 * cost for phase, cost in old.cost_ns.items()}
    new = replace(old, name="head", coordinates=old.coordinates | {"version": "2"}, cost_ns=costs)
    paired = write(tmp_path / "paired", records(Run(paths=[old, new], sets=10, drift=0.05)))
    (found,) = outcomes([row], paired)
    assert found.outcome == "slower" and found.sets == 10
    assert found.low is not None and found.high is not None and 1.02 < found.low < 1.05 < found.high < 1.08
    turned = replace(new, cost_ns=old.cost_ns)
    (none,) = outcomes([row], write(tmp_path / "same", records(Run(paths=[old, turned], sets=10, drift=0.05))))
    assert none.outcome == "no difference shown"
