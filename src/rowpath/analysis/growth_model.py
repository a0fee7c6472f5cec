"""Nouns of how cost grows: what a path's time is made of, and what each further row of a result adds."""

from __future__ import annotations

from rowpath.model.base import Frozen


class Coefficient(Frozen, frozen=True):
    """One coefficient of a cost model with its 95 % interval over the sets; not `known` where it may as well be 0."""

    ns: float
    low: float | None
    high: float | None
    known: bool


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


class SweepLine(Frozen, frozen=True):
    """A path's time over the size of the result: fixed + rows × row."""

    name: str
    fixed: Coefficient
    row: Coefficient
    sets: int


class Leader(Frozen, frozen=True):
    """The fastest path from so many rows on; the interval is of that number, None where it is not certain."""

    name: str
    from_rows: float
    low: float | None
    high: float | None


class Sweep(Frozen, frozen=True):
    """How the paths of one comparison grow with the size of the result, and which leads from which size on."""

    comparison: str
    least_rows: int
    most_rows: int
    lines: tuple[SweepLine, ...]
    leaders: tuple[Leader, ...]
