"""Claims and published figures as an experiment's TOML states them; docs/claims.md explains the vocabulary."""

from __future__ import annotations

from typing import Literal

from rowpath.model.metrics import UNITS
from rowpath.model.workload import Frozen, Regime

# Coordinates with a value or a list of values; `workload`, `phase`, `regime` and `name` are taken too, and of metrics
# of groups `stretch` and `group`.
Selector = dict[str, str | tuple[str, ...]]


def check_metric(metric: str) -> None:
    """ValueError when there is no such metric."""
    if metric not in UNITS:
        raise ValueError(f"there is no metric '{metric}'; the metrics are {', '.join(UNITS)}")


class Check(Frozen, frozen=True):
    """What a claim says about the run's figures; ValueError when its kind lacks what it needs."""

    kind: Literal["ratio", "flip", "shrinks", "crossover", "equal", "appears", "figure", "never-above", "not-testable"]
    metric: str = "time"
    regime: Regime = "cold"
    workload: str = ""
    phase: str = ""
    numerator: Selector = {}
    denominator: Selector = {}
    first: Selector = {}  # flip, shrinks, appears: added to both sides for the first ratio
    second: Selector = {}  # … and for the second
    at_least: float | None = None
    at_most: float | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        """Refuse a check that could never be told."""
        check_metric(self.metric)
        if self.kind == "not-testable" and not self.reason:
            raise ValueError("a check of kind 'not-testable' needs a reason")
        if self.kind in ("ratio", "figure") and self.at_least is None and self.at_most is None:
            raise ValueError(f"a check of kind '{self.kind}' needs at_least or at_most")
        if self.kind == "equal" and (self.at_least is None or self.at_most is None):
            raise ValueError("a check of kind 'equal' needs at_least and at_most")
        if self.kind == "never-above" and self.at_most is None:
            raise ValueError("a check of kind 'never-above' needs at_most")
        if self.kind in ("flip", "shrinks", "appears") and not (self.first and self.second):
            raise ValueError(f"a check of kind '{self.kind}' needs first and second")


class Claim(Frozen, frozen=True):
    """One `[[claims]]` entry."""

    id: str
    claim: str
    check: Check


class PublishedRow(Frozen, frozen=True):
    """A published figure; without `path` nothing here stands for it."""

    row: str
    value: float
    path: Selector = {}
    note: str = ""


class PublishedColumn(Frozen, frozen=True):
    """One `[[published]]` entry: figures in one unit, compared as ratios to the row named by `reference`."""

    column: str
    unit: str
    rows: tuple[PublishedRow, ...]
    reference: str = ""  # empty: the first row
    metric: str = "time"
    scale: float = 1.0  # measured figure × scale has the published unit
    statistic: Literal["median", "best_of_five"] = "median"
    workload: str = ""
    phase: str = ""
    regime: Regime = "cold"
    note: str = ""

    def __post_init__(self) -> None:
        """Refuse an unknown metric and a reference that is no row."""
        check_metric(self.metric)
        if not self.rows:
            raise ValueError(f"the column '{self.column}' has no rows")
        if self.reference and self.reference not in {row.row for row in self.rows}:
            raise ValueError(f"the reference '{self.reference}' is no row of the column '{self.column}'")
