"""A scaled workload: its numbers grow together, its rows stay right, and only workloads with a scale take one."""

from __future__ import annotations

from math import gcd

import pytest

from rowpath.cli.plan import plan_for
from rowpath.errors import UsageError
from rowpath.model.workload import Workload
from rowpath.planning.overrides import Overrides
from rowpath.workloads import codec, generators
from rowpath.workloads.expected import Expected
from rowpath.workloads.workload_file import at_scale, load_workload


def scaled(scale: float) -> Workload:
    return at_scale(load_workload("tab1-scaled"), scale)


@pytest.mark.parametrize("scale", [0.001, 0.0137, 0.05, 1.0])
def test_the_numbers_grow_together(scale: float) -> None:
    workload = scaled(scale)
    assert workload.scale == scale
    assert workload.tables["tab1_full"].rows == round(400_000 * scale)
    assert workload.phase("insert").operations == round(300_000 * scale)
    assert workload.phase("update").operations == round(400_000 * scale)
    for phase in workload.phases:
        if phase.parameters is not None and phase.parameters.n:
            assert phase.parameters.n == workload.tables["tab1_full"].rows
        if phase.parameters is not None and phase.parameters.generator == "stride":
            assert gcd(phase.parameters.k, phase.parameters.n) == 1


def test_without_a_word_it_has_its_own_scale() -> None:
    assert scaled(0).tables["tab1_full"].rows == 20_000


def test_every_update_changes_a_row_of_its_own() -> None:
    workload = scaled(0.001)
    parameters = workload.phase("update").parameters
    assert parameters is not None
    indexes = list(generators.parameter_indexes(parameters))
    assert sorted(indexes) == list(range(workload.tables["tab1_full"].rows))


def test_a_workload_without_a_scale_stays_as_it_is() -> None:
    keyed = load_workload("keyed")
    assert at_scale(keyed, 3) is keyed


def test_a_scale_below_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="positive"):
        scaled(-1)


def test_an_experiment_without_a_scale_takes_none() -> None:
    with pytest.raises(UsageError, match="no workload of 'tour' has a scale"):
        plan_for("tour", {}, Overrides(scale=0.5))


def test_an_aggregate_over_a_range() -> None:
    workload = scaled(0.01)
    phase = workload.phase("range")
    table = workload.tables["tab1_full"]
    assert phase.parameters is not None
    rows = list(generators.rows(table))
    answers = []
    for first in list(generators.parameter_indexes(phase.parameters))[:20]:
        values = [row[5] for row in rows if first + 1 <= row[0] < first + 1 + 1000]
        answers.append((len(values), sum(values), min(values), max(values)))
    assert Expected(workload).verify_digest("range", 0, 20, 100) == codec.digest(answers, phase.columns)
    assert len({answer[0] for answer in answers}) >= 1
