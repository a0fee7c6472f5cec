"""A path's cost model: time per operation = a + b·rows + c·values + d·bytes, fitted over results of many shapes."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from rowpath.analysis.cells import Cell
from rowpath.analysis.curves_model import Coefficient, CostModel, Predicted
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.statistics.intervals import mean_with_ends

TERMS = ("operation", "row", "value", "byte")
LEAST_SHAPES = 6
REGIME = "steady"


@dataclass(frozen=True)
class Shape:
    """What one operation of a phase delivers; bytes are only those of its values, a lower bound in any encoding."""

    phase: str
    rows: float
    values: float
    bytes: float

    @property
    def terms(self) -> tuple[float, float, float, float]:
        """What each coefficient is multiplied by."""
        return 1.0, self.rows, self.values, self.bytes


def cost_models(evidence: Evidence) -> tuple[CostModel, ...]:
    """One model per path that was measured in enough shapes; empty when the experiment requests none.

    The shapes are the journal's: of a path without one, nothing is modelled.
    """
    wanted = evidence.journal.run.experiment.model
    known = evidence.journal.run.workloads.get(wanted.workload) if wanted else None
    if wanted is None or known is None:
        return ()
    found = []
    for path_id, path in evidence.journal.paths.items():
        cells: dict[str, Cell] = {}
        shapes: dict[str, Shape] = {}
        for phase in known.phases:
            where = path_id, wanted.workload, phase.name
            cell, counted = evidence.sound_cell(*where, REGIME), evidence.counted.get(where)
            if cell is not None and counted is not None and counted.shape is not None:
                cells[phase.name] = cell
                shape = counted.shape
                shapes[phase.name] = Shape(phase.name, shape.rows, shape.values, shape.payload_bytes)
        held_out = tuple(phase for phase in wanted.held_out if phase in cells)
        fitted = [shapes[phase] for phase in cells if phase not in held_out]
        if len(fitted) >= LEAST_SHAPES:
            found.append(_model(path.name, wanted.workload, cells, fitted, shapes, held_out))
    return tuple(found)


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
    """Time of one operation of this shape by the model, in ns."""
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
        measured, predicted = _median(cells[phase]), predicted_ns(mean, shapes[phase])
        predictions.append(Predicted(phase, measured, predicted, predicted / measured))
    operation, row, value, byte = (coefficient(list(values)) for values in zip(*by_set, strict=True))
    return CostModel(name, workload, operation, row, value, byte, len(sets), worst, ratios[worst], tuple(predictions))


def _median(cell: Cell) -> float:
    return cell.median or float("nan")


def coefficient(values: list[float]) -> Coefficient:
    """The mean over the sets with its interval; not `known` where it may as well be 0."""
    mean, low, high = mean_with_ends(values)
    return Coefficient(mean, low, high, known=mean > 0 and (low is None or low > 0))
