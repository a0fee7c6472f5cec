"""How a path's time grows with the size of the result: time = fixed + rows × per row, and where two paths cross."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rowpath.analysis.cost_model import coefficient
from rowpath.analysis.curves_model import Leader, Sweep, SweepLine
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.statistics.intervals import Interval, student
from rowpath.journal.records import PathRecord
from rowpath.model.grouping import grouped

LEAST_SIZES = 3
REGIME = "steady"


@dataclass(frozen=True)
class Line:
    """A path's time over the size of its result: (fixed ns, ns per row) by set."""

    path: PathRecord
    comparison: str
    by_set: dict[int, tuple[float, float]]

    @property
    def mean(self) -> tuple[float, float]:
        """Fixed ns and ns per row, the means over the sets."""
        fixed, row = zip(*self.by_set.values(), strict=True)
        return statistics.fmean(fixed), statistics.fmean(row)

    def at(self, rows: float) -> float:
        """ns for a result of this many rows."""
        fixed, row = self.mean
        return fixed + row * rows


def sizes_of(evidence: Evidence) -> dict[str, int]:
    """The phases of the experiment's sweep with the rows that an operation delivers; empty when it has none."""
    sweep = evidence.journal.run.experiment.sweep
    known = evidence.journal.run.workloads.get(sweep.workload) if sweep else None
    return {phase.name: phase.rows_per_operation for phase in (known.phases if known else ())}


def lines(evidence: Evidence) -> list[Line]:
    """The lines of all paths that were measured in at least three sizes."""
    sizes = sizes_of(evidence)
    sweep = evidence.journal.run.experiment.sweep
    workload = sweep.workload if sweep else ""
    found = []
    for path_id, path in evidence.journal.paths.items():
        cells = {
            rows: cell
            for phase, rows in sizes.items()
            if (cell := evidence.sound_cell(path_id, workload, phase, REGIME))
        }
        if len(cells) < LEAST_SIZES:
            continue
        sets = sorted(set.intersection(*(set(cell.set_medians) for cell in cells.values())))
        by_set = {number: fit({rows: cell.set_medians[number] for rows, cell in cells.items()}) for number in sets}
        if by_set:
            found.append(Line(path, evidence.comparison(path), by_set))
    return found


def fit(costs_ns: Mapping[int, float]) -> tuple[float, float]:
    """Fixed ns and ns per row, neither below 0, that make the sum of squared relative errors least.

    `costs_ns`: ns of an operation by its rows. Lawson & Hanson, Solving Least Squares Problems, 1974.
    """
    import numpy as np
    from scipy.optimize import nnls

    rows, costs = np.array(list(costs_ns)), np.array(list(costs_ns.values()))
    largest = rows.max()
    matrix = np.stack([np.ones(len(rows)), rows / largest]) / costs
    (fixed, row), _residual = nnls(matrix.T, np.ones(len(rows)))
    return float(fixed), float(row / largest)


def crossing(one: Line, other: Line) -> Interval | None:
    """ln of the rows at which two lines cross; None when they do not in every set that they share."""
    values = []
    for number in sorted(one.by_set.keys() & other.by_set.keys()):
        (fixed, row), (other_fixed, other_row) = one.by_set[number], other.by_set[number]
        if (other_fixed - fixed) * (row - other_row) <= 0:
            return None
        values.append(math.log((other_fixed - fixed) / (row - other_row)))
    return student(values) if values else None


def sweeps(evidence: Evidence) -> tuple[Sweep, ...]:
    """One per comparison: every path's line, and which of them leads from which size on."""
    sizes = sorted(sizes_of(evidence).values())
    together = grouped(lines(evidence), lambda line: line.comparison)
    return tuple(
        Sweep(
            comparison=comparison,
            least_rows=sizes[0],
            most_rows=sizes[-1],
            lines=tuple(_shown(line) for line in sorted(group, key=lambda line: line.at(sizes[-1]))),
            leaders=tuple(_leaders(group, sizes[0], sizes[-1])),
        )
        for comparison, group in together.items()
    )


def _shown(line: Line) -> SweepLine:
    fixed, row = zip(*line.by_set.values(), strict=True)
    return SweepLine(line.path.name, coefficient(list(fixed)), coefficient(list(row)), len(line.by_set))


def _leaders(group: list[Line], least: int, most: int) -> Iterable[Leader]:
    """The lower envelope of the lines from the least to the most rows."""
    leader = min(group, key=lambda line: (line.at(least), line.mean[1]))
    yield Leader(leader.path.name, float(least), None, None)
    rows = float(least)
    while True:
        fixed, row = leader.mean
        crossings = [((other.mean[0] - fixed) / (row - other.mean[1]), other) for other in group if other.mean[1] < row]
        following = [(at, other) for at, other in crossings if rows < at <= most]
        if not following:
            return
        rows, successor = min(following, key=lambda pair: pair[0])
        interval = crossing(leader, successor)
        leader = successor
        low, high = (interval.ratio_low, interval.ratio_high) if interval else (None, None)
        yield Leader(leader.path.name, rows, low, high)
