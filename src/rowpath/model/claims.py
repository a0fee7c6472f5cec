"""Claims and published figures as an experiment's TOML states them; docs/claims.md explains the vocabulary."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rowpath.model.base import Frozen, Regime
from rowpath.model.metrics import METRICS

# Coordinates with a value or a list of values; `workload`, `phase`, `regime` and `name` are taken too, and of metrics
# of groups `stage` and `group`.
Selector = dict[str, str | tuple[str, ...]]


def check_metric(metric: str) -> None:
    """ValueError when there is no such metric."""
    if metric not in METRICS:
        raise ValueError(f"unknown metric '{metric}': expected one of {', '.join(METRICS)}")


class Check(Frozen, frozen=True):
    """What a claim states of the run's figures; ValueError when its kind lacks what it needs."""

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
        """Refuse a check that could never be decided."""
        check_metric(self.metric)
        low, high = self.at_least is not None, self.at_most is not None
        needs = (
            (("not-testable",), bool(self.reason), "a reason"),
            (("ratio", "figure"), low or high, "at_least or at_most"),
            (("equal",), low and high, "at_least and at_most"),
            (("never-above",), high, "at_most"),
            (("flip", "shrinks", "appears"), bool(self.first and self.second), "first and second"),
        )
        for kinds, given, what in needs:
            if self.kind in kinds and not given:
                raise ValueError(f"a check of kind '{self.kind}' needs {what}")


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
            raise ValueError(f"unknown reference '{self.reference}': expected a row of column '{self.column}'")


class FactorOrder(Frozen, frozen=True):
    """A chain of paths by name, and what changed from each to the next. ValueError when the two do not fit."""

    paths: tuple[str, ...]
    changes: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse a chain that is none."""
        if not self.changes or len(self.paths) != len(self.changes) + 1:
            raise ValueError(f"{len(self.paths)} paths have {len(self.changes)} changes: expected one between any two")
        if len(set(self.changes)) < len(self.changes):
            raise ValueError("a change is named twice in one order")

    @property
    def steps(self) -> dict[str, tuple[str, str]]:
        """The paths before and after each change."""
        return dict(zip(self.changes, itertools.pairwise(self.paths), strict=True))


class Factors(Frozen, frozen=True):
    """One `[[factors]]` entry: a published ratio taken apart, one change at a time, in more than one order.

    ValueError for orders that do not begin and end with the same paths.
    """

    title: str
    published: float  # how many times better the last path is than the first
    orders: tuple[FactorOrder, ...]
    metric: str = "time"
    workload: str = ""
    phase: str = ""
    regime: Regime = "steady"
    at: Selector = {}  # added to every path: a stage, a client group
    reason: str = ""  # the likeliest one why the ratio here is another; what of it was not measured says so

    def __post_init__(self) -> None:
        """Refuse an unknown metric and orders that lead elsewhere."""
        check_metric(self.metric)
        if len({(order.paths[0], order.paths[-1]) for order in self.orders}) != 1:
            raise ValueError(f"the orders of '{self.title}' need the same first and the same last path")


class Cited(Frozen, frozen=True):
    """A published figure: the row of a `[[published]]` column."""

    column: str
    row: str


class Consistency(Frozen, frozen=True):
    """One `[[consistency]]` entry: operations whose rates and bandwidth were published in several states.

    What the connections carried, less what there was without them, is what the operations' bytes make together:
    bandwidth − baseline = Σ rate × bytes each. Every list has one figure for each state. ValueError otherwise.
    """

    about: str
    rates: dict[str, tuple[Cited, ...]]  # by operation
    bandwidth: tuple[Cited, ...]
    baseline: tuple[Cited, ...]  # the same where these operations did not cross a connection
    bytes_per_unit: float = 1.0  # of the bandwidth's unit
    # What one operation takes at the least: a request and an answer, each a packet with 20 bytes of IPv4's header and
    # 20 of TCP's (RFC 791, RFC 9293).
    least_bytes: float = 80.0

    def __post_init__(self) -> None:
        """Refuse lists of different lengths."""
        lengths = {len(values) for values in (self.bandwidth, self.baseline, *self.rates.values())}
        if not self.rates or len(lengths) != 1 or 0 in lengths:
            raise ValueError(f"'{self.about}' needs one figure of every rate, of bandwidth and baseline for each state")


@dataclass(frozen=True)
class Shared:
    """One state: the traffic of the operations and what each would have had of it on its own."""

    bandwidth: float  # in its published unit
    baseline: float
    rates: dict[str, float]
    bytes_each: dict[str, float]  # were all the traffic this operation's


def figure(columns: Sequence[PublishedColumn], cited: Cited) -> float:
    """The published value; ValueError when there is no such row."""
    for column in columns:
        for row in column.rows:
            if (column.column, row.row) == (cited.column, cited.row):
                return row.value
    raise ValueError(f"unknown published row '{cited.row}' in column '{cited.column}'")


def states(columns: Sequence[PublishedColumn], relation: Consistency) -> list[Shared]:
    """What each operation can have had at the most, in every state; states without traffic are left out."""
    made = []
    for position, (carried, without) in enumerate(zip(relation.bandwidth, relation.baseline, strict=True)):
        bandwidth, baseline = figure(columns, carried), figure(columns, without)
        rates = {name: figure(columns, each[position]) for name, each in relation.rates.items()}
        own = (bandwidth - baseline) * relation.bytes_per_unit
        made.append(Shared(bandwidth, baseline, rates, {name: own / rate for name, rate in rates.items() if rate > 0}))
    return made


def impossible(relation: Consistency, shared: Sequence[Shared]) -> list[str]:
    """Operations that would have had fewer bytes than one takes, were all the traffic of some state theirs."""
    return [
        name
        for name in relation.rates
        if any(name in state.bytes_each and state.bytes_each[name] < relation.least_bytes for state in shared)
    ]
