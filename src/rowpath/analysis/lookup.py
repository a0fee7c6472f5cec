"""Finds a figure among the results of a run."""

from __future__ import annotations

from rowpath import text as fmt
from rowpath.analysis.model import Analysis, Result

_Key = tuple[str, str, str, str, str]


class Lookup:
    """The results of an analysis by workload, phase, regime, metric and the path's name."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self._results = {
            (result.workload, result.phase, result.regime, result.metric, result.name): result
            for result in analysis.results
        }
        self._paths = {result.name: result.path for result in analysis.results}
        self.lines_of_code = analysis.lines_of_code  # by path name, those that were counted
        self.lines_of_code_closure = analysis.lines_of_code_closure

    def measured(self, workload: str, phase: str, regime: str) -> PhaseFigures:
        """The figures of one phase and regime."""
        return PhaseFigures(self._results, workload, phase, regime)

    def coordinate(self, name: str, key: str) -> str:
        """A coordinate of a path, `none` when unknown."""
        return self._paths.get(name, {}).get(key, "none")

    def coordinates(self, name: str) -> dict[str, str]:
        """All coordinates of a path; empty when unknown."""
        return dict(self._paths.get(name, {}))


class PhaseFigures:
    """The figures of one workload's phase in one regime."""

    def __init__(self, results: dict[_Key, Result], workload: str, phase: str, regime: str) -> None:
        self._results = results
        self.workload = workload
        self.phase = phase
        self.regime = regime

    def result(self, metric: str, name: str) -> Result | None:
        """The record of a path; one that belongs to no regime serves every regime."""
        tried = ((self.workload, self.phase, regime, metric, name) for regime in (self.regime, "none"))
        return next((self._results[key] for key in tried if key in self._results), None)

    def text(self, metric: str, name: str) -> str:
        """The median in its unit, a dash when there is none."""
        result = self.result(metric, name)
        return fmt.figure(result.median, result.unit) if result else fmt.MISSING

    def median(self, metric: str, name: str) -> float | None:
        """The median of a figure, None when there is none."""
        result = self.result(metric, name)
        return result.median if result else None
