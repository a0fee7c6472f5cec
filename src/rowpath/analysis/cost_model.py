"""A path's cost model: time per operation = a + b·rows + c·values + d·bytes, fitted over results of many shapes."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

import msgspec

from rowpath.analysis.cells import Cell
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.model import Coefficient, CostModel, Predicted
from rowpath.analysis.statistics.intervals import student
from rowpath.model.workload import Workload
from rowpath.workloads.expected import Expected
from rowpath.workloads.sql import result_columns

TERMS = ("operation", "row", "value", "byte")
LEAST_SHAPES = 6
REGIME = "steady"


@dataclass(frozen=True)
class Shape:
    """What one operation of a phase delivers; bytes are those of its values alone, a lower bound in any encoding."""

    phase: str
    rows: float
    values: float
    bytes: float

    @property
    def terms(self) -> tuple[float, float, float, float]:
        """What each coefficient is multiplied by."""
        return 1.0, self.rows, self.values, self.bytes


def cost_models(evidence: Evidence) -> tuple[CostModel, ...]:
    """One model per path that was measured in enough shapes; empty when the experiment asks for none."""
    asked = evidence.journal.run.experiment.get("model")
    known = evidence.journal.run.workloads.get(asked["workload"]) if asked else None
    if not asked or known is None:
        return ()
    shapes = {shape.phase: shape for shape in shapes_of(msgspec.convert(known, Workload))}
    found = []
    for path_id, path in evidence.journal.paths.items():
        cells = {
            phase: cell
            for phase in shapes
            if (cell := evidence.cells.get(path_id, asked["workload"], phase, REGIME)) is not None
            and evidence.path_statuses.of(path_id, asked["workload"], phase).status == "ok"
            and cell.costs
        }
        held_out = tuple(phase for phase in asked.get("held_out") or () if phase in cells)
        fitted = [phase for phase in cells if phase not in held_out]
        if len(fitted) >= LEAST_SHAPES:
            found.append(
                _model(path.name, asked["workload"], cells, [shapes[phase] for phase in fitted], shapes, held_out)
            )
    return tuple(found)


def shapes_of(workload: Workload) -> list[Shape]:
    """The shapes of a workload's queries, on average over one round of their parameters."""
    truth = Expected(workload)
    shapes = []
    for phase in workload.phases:
        if phase.kind != "query":
            continue
        operations = phase.parameters.count if phase.parameters else 1
        rows = (truth.rows(phase, 0, operations) or 0) / operations
        columns = len(result_columns(workload, phase))
        payload_bytes = truth.payload_bytes(phase, 0, operations) / operations
        shapes.append(Shape(phase.name, rows, rows * columns, payload_bytes))
    return shapes


def fit(shapes: list[Shape], costs_ns: list[float]) -> tuple[float, ...]:
    """The coefficients in the order of TERMS, none below 0, that make the sum of squared relative errors least.

    Lawson & Hanson, Solving Least Squares Problems, 1974 (non-negative least squares).
    """
    import numpy as np
    from scipy.optimize import nnls

    scale = np.array([max(shape.terms[term] for shape in shapes) for term in range(len(TERMS))])
    matrix = np.array([shape.terms for shape in shapes]) / scale / np.array(costs_ns)[:, None]
    solution, _residual = nnls(matrix, np.ones(len(shapes)))
    return tuple(float(value) for value in solution / scale)


def predicted_ns(coefficients: tuple[float, ...], shape: Shape) -> float:
    """What the model says of a shape."""
    return sum(each * term for each, term in zip(coefficients, shape.terms, strict=True))


def _model(
    name: str,
    workload: str,
    cells: dict[str, Cell],
    fitted: list[Shape],
    shapes: dict[str, Shape],
    held_out: tuple[str, ...],
) -> CostModel:
    sets = sorted(set.intersection(*(set(cells[shape.phase].set_medians) for shape in fitted)))
    by_set = [fit(fitted, [cells[shape.phase].set_medians[number] for shape in fitted]) for number in sets]
    mean = tuple(statistics.fmean(values) for values in zip(*by_set, strict=True))
    ratios = {shape.phase: predicted_ns(mean, shape) / _median(cells[shape.phase]) for shape in fitted}
    worst = max(ratios, key=lambda phase: abs(ratios[phase] - 1))
    predictions = []
    for phase in held_out:
        measured, said = _median(cells[phase]), predicted_ns(mean, shapes[phase])
        predictions.append(Predicted(phase, measured, said, said / measured))
    operation, row, value, byte = (coefficient(list(values)) for values in zip(*by_set, strict=True))
    return CostModel(name, workload, operation, row, value, byte, len(sets), worst, ratios[worst], tuple(predictions))


def _median(cell: Cell) -> float:
    return cell.median or float("nan")


def coefficient(values: list[float]) -> Coefficient:
    """The mean over the sets with its interval; not `known` where it may as well be 0."""
    interval = student(values)
    mean = statistics.fmean(values)
    told = interval is not None and math.isfinite(interval.low)  # one set has no interval
    low, high = (interval.low, interval.high) if interval and told else (None, None)
    return Coefficient(mean, low, high, known=mean > 0 and (low is None or low > 0))
