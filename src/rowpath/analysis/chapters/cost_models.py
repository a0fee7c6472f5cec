"""A path's cost model: time per operation = a + b·rows + c·values + d·bytes, fitted over results of many shapes."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from rowpath import text as fmt
from rowpath.analysis.cells import Cell
from rowpath.analysis.chapter import Chapter
from rowpath.analysis.chapters.links import PREDICTED_WITHIN
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.statistics.intervals import mean_with_ends
from rowpath.drawing.grid import Grid, figure, line, of_lines, word
from rowpath.drawing.line_chart import Chart, Curve, Point, of_curves
from rowpath.drawing.section import Section, of_chart
from rowpath.model.base import Frozen

LEAST_SHAPES = 6
REGIME = "steady"


class Coefficient(Frozen, frozen=True):
    """One coefficient of a cost model with its 95 % interval over the sets; not `known` where it may as well be 0."""

    ns: float
    low: float | None
    high: float | None
    known: bool

    @classmethod
    def of(cls, values: list[float]) -> Coefficient:
        """The mean of one value per set."""
        mean, low, high = mean_with_ends(values)
        return cls(mean, low, high, known=mean > 0 and (low is None or low > 0))

    def text(self, scale: int = 1) -> str:
        """Of `scale` units, with the interval; in words where it is not distinguishable from 0."""
        if not self.known:
            return "≈ 0"
        text = fmt.duration(self.ns * scale)
        if self.low is None or self.high is None:
            return text
        return f"{text} ± {fmt.share((self.high - self.low) / 2 / self.ns)}"


class Predicted(Frozen, frozen=True):
    """A phase that a cost model was not fitted to: measured beside predicted."""

    phase: str
    measured_ns: float
    predicted_ns: float
    ratio: float  # predicted ÷ measured


class CostModel(Frozen, frozen=True):
    """What a path's time is made of: operation + rows + values + bytes, fitted over the shapes of a workload."""

    name: str
    workload: str
    operation: Coefficient
    row: Coefficient
    value: Coefficient
    byte: Coefficient
    sets: int
    worst_phase: str  # of those fitted
    worst_ratio: float  # fitted ÷ measured there
    held_out: tuple[Predicted, ...]


def cost_models(evidence: Evidence) -> tuple[CostModel, ...]:
    """One model per path that was measured in enough shapes; empty when the experiment requests none.

    The shapes are the journal's: of a journal of schema version 1, which has none, nothing is modelled. Bytes are only
    those of the values, a lower bound in any encoding.
    """
    wanted = evidence.journal.run.experiment.model
    known = evidence.journal.run.workloads.get(wanted.workload) if wanted else None
    if wanted is None or known is None:
        return ()
    models = []
    for path_id, path in evidence.journal.paths.items():
        cells: dict[str, Cell] = {}
        terms: dict[str, tuple[float, ...]] = {}
        for phase in known.phases:
            where = path_id, wanted.workload, phase.name
            cell, counted = evidence.sound_cell(*where, REGIME), evidence.counted.get(where)
            if cell is not None and counted is not None and counted.shape is not None:
                cells[phase.name] = cell
                shape = counted.shape
                terms[phase.name] = 1.0, shape.rows, shape.values, shape.payload_bytes
        fitted = [name for name in cells if name not in wanted.held_out]
        if len(fitted) < LEAST_SHAPES:
            continue
        sets = sorted(set.intersection(*(set(cells[name].set_medians) for name in fitted)))
        shapes = [terms[name] for name in fitted]
        by_set = [fit(shapes, [cells[name].set_medians[number] for name in fitted]) for number in sets]
        mean = tuple(map(statistics.fmean, zip(*by_set, strict=True)))
        predictions = {}
        for name, cell in cells.items():
            measured, predicted = cell.median or float("nan"), predicted_ns(mean, terms[name])
            predictions[name] = Predicted(name, measured, predicted, predicted / measured)
        worst = max((predictions[name] for name in fitted), key=lambda predicted: abs(predicted.ratio - 1))
        operation, row, value, byte = (Coefficient.of(list(values)) for values in zip(*by_set, strict=True))
        model = CostModel(
            path.name, wanted.workload, operation, row, value, byte, len(sets), worst.phase, worst.ratio,
            tuple(predictions[name] for name in wanted.held_out if name in cells),
        )  # fmt: skip
        models.append(model)
    return tuple(models)


def fit(terms: Sequence[Sequence[float]], costs_ns: Sequence[float]) -> tuple[float, ...]:
    """The coefficients of the terms, none below 0, that make the sum of squared relative errors least.

    `terms`: by operation, what each coefficient is multiplied by; `costs_ns`: what each of these operations takes.
    Lawson & Hanson, Solving Least Squares Problems, 1974 (non-negative least squares).
    """
    import numpy as np
    from scipy.optimize import nnls

    scale = np.max(terms, axis=0)
    matrix = np.array(terms) / scale / np.array(costs_ns)[:, None]
    solution, _residual = nnls(matrix, np.ones(len(terms)))
    return tuple(float(value) for value in solution / scale)


def predicted_ns(coefficients: Sequence[float], terms: Sequence[float]) -> float:
    """Time of one operation of these terms by the model, in ns."""
    return sum(coefficient * term for coefficient, term in zip(coefficients, terms, strict=True))


def _sections(models: tuple[CostModel, ...], _lookup: Lookup) -> Iterator[Section]:
    yield Section("cost-model", grid(models), of_chart(sentence(models), chart(models)), leading=True)


def grid(models: tuple[CostModel, ...]) -> Grid:
    """What an operation, a row, a value and a KiB cost on each path, and how well that predicts the held-out shapes."""
    phases = list(dict.fromkeys(predicted.phase for model in models for predicted in model.held_out))
    lines = []
    for model in models:
        predictions = {predicted.phase: predicted.ratio for predicted in model.held_out}
        row = line(
            word("path", model.name),
            figure("per operation", model.operation.text()),
            figure("per row", model.row.text()),
            figure("per value", model.value.text()),
            figure("per KiB of values", model.byte.text(1024)),
            figure("worst fit", f"{fmt.ratio(model.worst_ratio)} in {model.worst_phase}", 2),
            *(figure(f"predicted ÷ measured: {phase}", fmt.ratio(predictions.get(phase)), 1) for phase in phases),
        )
        lines.append(row)
    every = [abs(predicted.ratio - 1) <= PREDICTED_WITHIN for model in models for predicted in model.held_out]
    note = (
        "Time per operation = operation + rows + values + bytes, each at least 0, fitted to least relative error in "
        "each set; intervals over the sets. ≈ 0: not distinguishable from 0. "
        f"{sum(every)} of {len(every)} predictions of held-out shapes are within {fmt.share(PREDICTED_WITHIN)}."
    )
    return of_lines("Cost of an operation, a row, a value and a byte", lines, note)


def chart(models: tuple[CostModel, ...]) -> Chart | None:
    """What an operation, a row, a value and a KiB cost, one curve per path; what may as well be 0 is left out."""
    names = ("operation", "row", "value", "KiB")
    curves = []
    for model in models:
        listed = (model.operation, 1), (model.row, 1), (model.value, 1), (model.byte, 1024)
        points = tuple(
            Point(at, cost.ns * scale, cost.low and cost.low * scale, cost.high and cost.high * scale)
            for at, (cost, scale) in enumerate(listed)
            if cost.known and cost.ns > 0
        )
        curves.append(Curve(fmt.clean(model.name), points))
    label = "What an operation, a row, a value and a KiB cost on each path; the table holds the figures"
    explanation = "A point is a fitted cost; one that may as well be 0 has no point."
    return of_curves(label, "time each", "each", curves, fmt.duration, explanation, names=names)


def sentence(models: tuple[CostModel, ...]) -> str:
    """The paths with the least and the greatest cost of a row, and of an operation."""
    parts = []
    for what, known in (
        ("an operation", [(model.operation, model.name) for model in models if model.operation.known]),
        ("a row", [(model.row, model.name) for model in models if model.row.known]),
    ):
        if len(known) > 1:
            low, high = (chosen(known, key=lambda pair: pair[0].ns) for chosen in (min, max))
            ends = (f"{cost.text()} ({fmt.clean(name)})" for cost, name in (low, high))
            parts.append(f"{what} costs from {' to '.join(ends)}")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


CHAPTER = Chapter("cost_models", cost_models, _sections)
