"""A published ratio taken apart, one change at a time, in two orders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.analysis.analyse import analyse
from rowpath.analysis.chapters.factors import CHAPTER, TakenApart, grid
from rowpath.errors import UsageError
from rowpath.model.claims import Factors
from rowpath.planning.experiment_file import read_experiment
from tests.unit import journal_factory as factory

HOW = "postgresql server python psycopg transport=tcp"
ORDERS = [
    {"paths": ["slow", "tasks", "both"], "changes": ["threads to tasks", "dict to tuple"]},
    {"paths": ["slow", "tuples", "both"], "changes": ["dict to tuple", "threads to tasks"]},
]


def taken_apart(tmp_path: Path, costs_ns: dict[str, float], **more: Any) -> TakenApart:
    paths = [factory.path(name, f"{HOW} number={name}", {"keyed.read": cost}) for name, cost in costs_ns.items()]
    entry = {"title": "4 times", "published": 5.0, "workload": "keyed", "phase": "read", "orders": ORDERS, **more}
    run = factory.Run(paths=paths, experiment={"factors": [entry]}, disturbed_share=0.0)
    (found,) = CHAPTER.of(analyse(factory.write(tmp_path, factory.records(run))))
    assert isinstance(found, TakenApart)
    return found


def test_each_change_has_its_value_in_each_order_and_the_remainder_is_what_they_leave(tmp_path: Path) -> None:
    found = taken_apart(tmp_path, {"slow": 80_000, "tasks": 40_000, "tuples": 40_000, "both": 20_000})
    assert found.whole is not None
    assert 3.8 < found.whole.ratio < 4.2
    assert [factor.change for factor in found.factors] == ["threads to tasks", "dict to tuple"]
    assert all(own is not None and 1.9 < own.ratio < 2.1 for factor in found.factors for own in factor.in_orders)
    assert not any(factor.interaction for factor in found.factors)
    assert found.remainder is not None
    assert 0.95 < found.remainder < 1.05
    assert [row.cells[0] for row in grid(found).rows][-2:] == ["all together", "published"]


def test_a_change_that_is_worth_more_after_another_is_an_interaction(tmp_path: Path) -> None:
    found = taken_apart(tmp_path, {"slow": 80_000, "tasks": 75_000, "tuples": 40_000, "both": 20_000})
    assert all(factor.interaction for factor in found.factors)
    assert [row.cells[-1] for row in grid(found).rows][:2] == ["interaction", "interaction"]
    assert found.text.startswith("4.") and "dict to tuple" in found.text


def test_a_step_that_was_not_measured_leaves_its_order_without_remainder(tmp_path: Path) -> None:
    found = taken_apart(tmp_path, {"slow": 80_000, "tasks": 40_000, "both": 20_000})
    assert [factor.in_orders[1] for factor in found.factors] == [None, None]
    assert found.remainder is not None
    assert 0.95 < found.remainder < 1.05


def test_what_is_better_when_it_is_more_is_taken_apart_the_same_way(tmp_path: Path) -> None:
    costs_ns = {"slow": 80_000, "tasks": 40_000, "tuples": 40_000, "both": 20_000}
    found = taken_apart(tmp_path, costs_ns, metric="rate")
    assert found.whole is not None
    assert 3.8 < found.whole.ratio < 4.2


@pytest.mark.parametrize(
    "orders",
    [
        [{"paths": ["a", "b"], "changes": []}],
        [{"paths": ["a", "b", "c"], "changes": ["x", "x"]}],
        [{"paths": ["a", "b"], "changes": ["x"]}, {"paths": ["a", "c"], "changes": ["x"]}],
    ],
)
def test_orders_that_are_none_are_refused(orders: list[dict[str, Any]]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"title": "t", "published": 2.0, "orders": orders}, Factors)


def test_an_unknown_path_of_an_order_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text(
        """schema_version = 1
name = "x"
title = "t"
phases = ["keyed.read"]
[[paths]]
name = "slow"
select = { engine = "sqlite", driver = "sqlite", language = "c" }
[[factors]]
title = "t"
published = 2.0
orders = [{ paths = ["slow", "slo"], changes = ["x"] }]
"""
    )
    with pytest.raises(UsageError, match=r"x\.toml:11: unknown path 'slo'") as refused:
        read_experiment(file)
    assert "slow" in refused.value.hint
