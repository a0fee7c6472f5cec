"""The nouns of a comparison of runs."""

from __future__ import annotations

from typing import Literal

from rowpath.analysis.answer_model import Finding
from rowpath.model.base import Frozen

RowOutcome = Literal["slower", "faster", "more", "less", "no difference shown", "not confirmed", "not comparable"]
CHANGED = ("slower", "faster", "more", "less")


class OfPathPair(Frozen, frozen=True):
    """Base of what is about one path in one phase."""

    name: str
    workload: str
    phase: str
    regime: str  # none: of the phase as a whole

    @property
    def where(self) -> tuple[str, str, str, str]:
        """Path, workload, phase and regime."""
        return self.name, self.workload, self.phase, self.regime


class Difference(Frozen, frozen=True):
    """One thing that base and head do not have in common; `name` is the word that `--despite` takes."""

    name: str
    base: str
    head: str


class ComparedRow(OfPathPair, frozen=True):
    """One metric of one path, phase and regime on both sides; ratios are head ÷ base.

    `noise`: how far the ratio of an unchanged path lies from 1 in 95 of 100 such comparisons, 0.04 is ±4 %; `factor`:
    the change ÷ the noise. Both are None of a count, which has no noise, and where there are too few sets.
    """

    base_path: str
    head_path: str
    metric: str
    unit: str
    outcome: RowOutcome
    reason: str = ""
    base: float | None = None
    head: float | None = None
    ratio: float | None = None
    low: float | None = None  # 95 % interval
    high: float | None = None
    p_value: float | None = None
    noise: float | None = None
    factor: float | None = None
    base_sets: int = 0
    head_sets: int = 0
    counted: bool = False  # exact: no interval
    differences: tuple[Difference, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether a change is claimed."""
        return self.outcome in CHANGED

    @property
    def suspicious(self) -> bool:
        """Whether its own interval excludes 1, before the correction for many rows."""
        return self.factor is not None and self.factor > 1


class ComparedRun(Frozen, frozen=True):
    """A run of one side."""

    directory: str
    experiment: str
    started: str
    sets: int


class Comparison(Frozen, frozen=True):
    """Base and head side by side, the changed rows first.

    `paired`: both are versions of a driver in one run, and every interval is of ratios within its sets.
    """

    base: tuple[ComparedRun, ...]
    head: tuple[ComparedRun, ...]
    paired: bool
    despite: tuple[str, ...]
    rows: tuple[ComparedRow, ...]
    findings: tuple[Finding, ...]
    only_base: tuple[str, ...]  # names of paths that the other side does not have
    only_head: tuple[str, ...]


class Confirmed(OfPathPair, frozen=True):
    """A suspicious row measured again: base and head in the same sets of one run; None where that was not possible."""

    outcome: Literal["slower", "faster", "no difference shown", "not possible"]
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    sets: int = 0
    reason: str = ""


class GateWords(Frozen, frozen=True):
    """One `--fail-on` as it was given."""

    text: str  # slower=5%
    metric: str
    more: bool  # fails above 1 + threshold; else below 1 − threshold
    threshold: float  # 0.05


class Gate(Frozen, frozen=True):
    """One `--fail-on`: what fails, and how many rows are too noisy to rule it out."""

    words: GateWords
    failed: tuple[int, ...]  # positions in the comparison's rows
    undecided: int
    compared: int
