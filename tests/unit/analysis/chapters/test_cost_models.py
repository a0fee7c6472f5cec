"""The cost model: known coefficients come back, unknown ones are said to be so, held-out shapes are predicted."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import msgspec
import pytest

from rowpath.analysis.analyse import analyse
from rowpath.analysis.chapters import cost_models
from rowpath.analysis.chapters.cost_models import (
    Coefficient,
    CostModel,
    Predicted,
    fit,
    predicted_ns,
)
from rowpath.workloads.expected import Expected
from rowpath.workloads.workload_file import load_workload
from tests.unit import journal_factory
from tests.unit.journal_factory import Record

HELD_OUT = ["rows-300-mixed", "rows-30-mixed"]
TRUE_NS = (12_000.0, 350.0, 45.0, 0.5)


@cache  # every row is generated to count its bytes
def shapes() -> dict[str, tuple[float, ...]]:
    workload = load_workload("wide")
    expected = Expected(workload)
    return {phase.name: (1.0, *expected.shape(phase)) for phase in workload.phases if phase.kind == "query"}


def test_the_shapes_are_those_of_the_rows() -> None:
    found = shapes()
    assert found["key-wide"][1:3] == (1, 60)
    assert found["rows-100-long"][1:3] == (100, 300)
    assert found["rows-100-long"][3] == pytest.approx(100 * 2 * 300, rel=0.02)


def test_the_shapes_tell_the_four_coefficients_apart() -> None:
    fitted = [shape for name, shape in shapes().items() if name not in HELD_OUT]
    for term in range(len(TRUE_NS)):
        true = tuple(value * (3 if position == term else 1) for position, value in enumerate(TRUE_NS))
        found = fit(fitted, [predicted_ns(true, shape) for shape in fitted])
        assert found == pytest.approx(true, rel=1e-6)


def test_noise_of_two_percent_leaves_predictions_within_five() -> None:
    noise = random.Random(3)
    fitted = [shape for name, shape in shapes().items() if name not in HELD_OUT]
    for _ in range(20):
        found = fit(fitted, [predicted_ns(TRUE_NS, shape) * noise.gauss(1, 0.02) for shape in fitted])
        for phase in HELD_OUT:
            right = predicted_ns(TRUE_NS, shapes()[phase])
            assert predicted_ns(found, shapes()[phase]) == pytest.approx(right, rel=0.05)


def test_no_coefficient_is_below_zero() -> None:
    fitted = list(shapes().values())
    costs = [max(1.0, predicted_ns((9_000, -100, 60, 0), shape)) for shape in fitted]
    assert min(fit(fitted, costs)) >= 0


def modelled(
    tmp_path: Path, true_ns: tuple[float, ...], experiment: Record, journalled: bool = True
) -> tuple[CostModel, ...]:
    costs = {f"wide.{name}": predicted_ns(true_ns, shape) for name, shape in shapes().items()}
    paths = [journal_factory.path("sqlite c", "sqlite embedded c sqlite", costs)]
    run = journal_factory.Run(paths=paths, rounds=5, regimes=("steady",), experiment=experiment)
    records = journal_factory.records(run)
    records[0]["workloads"] = {"wide": msgspec.to_builtins(load_workload("wide"))}
    for record in [each for each in records if each["record"] == "path"] if journalled else ():
        at = {"path_id": record["path_id"], "workload": "wide", "operations": 1}
        records[-1:-1] = [
            {
                "record": "counted", **at, "phase": name,
                "shape": {"rows": rows, "values": values, "payload_bytes": payload_bytes},
            }
            for name, (_one, rows, values, payload_bytes) in shapes().items()
        ]  # fmt: skip
    for record in records:
        if record["record"] in ("sample", "verify") and record.get("workload") == "wide":
            record.update({"touch_ok": True} if record["record"] == "sample" else {"ok": True})
    return cost_models.CHAPTER.of(analyse(journal_factory.write(tmp_path / "run", records)))


def test_a_run_is_modelled_and_its_held_out_shapes_are_predicted(tmp_path: Path) -> None:
    (model,) = modelled(tmp_path, TRUE_NS, {"model": {"workload": "wide", "held_out": HELD_OUT}})
    found = (model.operation.ns, model.row.ns, model.value.ns, model.byte.ns)
    assert found == pytest.approx(TRUE_NS, rel=0.1)
    assert model.value.known and model.value.low is not None and model.value.low < model.value.ns
    assert [predicted.phase for predicted in model.held_out] == HELD_OUT
    assert all(predicted.ratio == pytest.approx(1, abs=0.05) for predicted in model.held_out)


def test_a_cost_that_is_not_there_is_not_claimed(tmp_path: Path) -> None:
    (model,) = modelled(tmp_path, (12_000, 350, 45, 0), {"model": {"workload": "wide", "held_out": HELD_OUT}})
    assert not model.byte.known or model.byte.ns * 1024 < 0.05 * 45 * 1024
    assert model.value.known


def test_a_journal_without_shapes_is_not_modelled(tmp_path: Path) -> None:
    assert modelled(tmp_path, TRUE_NS, {"model": {"workload": "wide"}}, journalled=False) == ()


def test_an_experiment_that_asks_for_no_model_has_none(tmp_path: Path) -> None:
    assert modelled(tmp_path, TRUE_NS, {}) == ()


def test_a_coefficient_that_is_not_known_is_no_figure() -> None:
    def known(ns: float) -> Coefficient:
        return Coefficient(ns, ns * 0.9, ns * 1.1, known=True)

    nothing = Coefficient(0.0, -1.0, 1.0, known=False)
    predictions = (Predicted("a", 100, 105, 1.05), Predicted("b", 100, 130, 1.3))
    model = CostModel("sqlite c", "wide", known(9_000), known(300), known(40), nothing, 6, "c", 1.2, predictions)
    grid = cost_models.grid((model,))
    assert grid.rows[0].cells[1:5] == ("9.00 µs ± 10.0 %", "300 ns ± 10.0 %", "40.0 ns ± 10.0 %", "≈ 0")
    assert "1 of 2 predictions" in grid.note
