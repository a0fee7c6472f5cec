"""Finds a figure among the results of a run."""

from __future__ import annotations

from rowpath.analysis.model import Analysis, Result

_Key = tuple[str, str, str, str, str]


class Lookup:
    """The results of an analysis by workload, phase, regime, metric and the path's name."""

    def __init__(self, analysis: Analysis) -> None:
        self._results = {
            (each.workload, each.phase, each.regime, each.metric, each.name): each for each in analysis.results
        }
        self._paths = {each.name: each.path for each in analysis.results}
        self._lines = analysis.lines_of_code
        self._all_lines = analysis.lines_of_code_closure

    def measured(self, workload: str, phase: str, regime: str) -> Measured:
        """The figures of one phase and regime."""
        return Measured(self._results, workload, phase, regime)

    def coordinate(self, name: str, key: str) -> str:
        """A coordinate of a path, `none` when unknown."""
        return self._paths.get(name, {}).get(key, "none")

    def coordinates(self, name: str) -> dict[str, str]:
        """All coordinates of a path; empty when unknown."""
        return dict(self._paths.get(name, {}))

    def lines_of_code(self, name: str) -> float | None:
        """Lines of the path's adapter, None when not counted."""
        return self._lines.get(name)

    def lines_of_code_closure(self, name: str) -> float | None:
        """Lines of the path's adapter and its families, None when not counted."""
        return self._all_lines.get(name)


class Measured:
    """The figures of one workload's phase in one regime."""

    def __init__(self, results: dict[_Key, Result], workload: str, phase: str, regime: str) -> None:
        self._results = results
        self.workload = workload
        self.phase = phase
        self.regime = regime

    def result(self, metric: str, name: str) -> Result | None:
        """The record of a path; one that belongs to no regime serves every regime."""
        for regime in (self.regime, "none"):
            found = self._results.get((self.workload, self.phase, regime, metric, name))
            if found:
                return found
        return None

    def median(self, metric: str, name: str) -> float | None:
        """The median of a figure, None when there is none."""
        found = self.result(metric, name)
        return found.median if found else None
