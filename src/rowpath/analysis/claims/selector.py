"""What a selector stands for: of the cells, or the groups, that it matches the best one by a metric; docs/claims.md."""

from __future__ import annotations

import functools
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from rowpath.analysis import metrics
from rowpath.analysis.cells import Cell
from rowpath.analysis.evidence import Evidence
from rowpath.model.metrics import METRICS, is_of_groups

Wanted = Mapping[str, str | tuple[str, ...]]


@dataclass(frozen=True)
class Candidate:
    """A cell or a group that a selector matches, with a metric's values by set."""

    name: str
    location: str
    values: dict[int, float]
    cell: Cell | None = None
    unit: str = ""
    counted: bool = False  # exact: the same in every set

    @property
    def figure(self) -> float:
        return statistics.median(self.values.values())


def best_of(evidence: Evidence, metric: str, selector: Wanted) -> Candidate | None:
    """The best of those that match, by the metric's median."""
    choose = max if METRICS[metric].more_is_better else min
    return choose(candidates(evidence, metric, selector), key=lambda each: each.figure, default=None)


def candidates(evidence: Evidence, metric: str, selector: Wanted) -> list[Candidate]:
    """The sound cells, or for metrics of groups the sound groups, that match and have the metric."""
    if is_of_groups(metric) or selector.keys() & {"stage", "client_group"}:
        wanted = {key: value for key, value in selector.items() if key != "regime"}
        return [
            Candidate(
                each.path.name,
                f"{each.client_group or 'all groups'} in '{each.stage}'",
                each.values,
                unit=METRICS[metric].unit,
            )
            for each in evidence.group_values
            if each.metric == metric
            and each.values
            and selected(each.coordinates, wanted)
            and evidence.path_statuses.of(*each.where).status == "ok"
        ]
    cells = [cell for cell in evidence.sound() if matches(cell, selector)]
    return [found for cell in cells if (found := _valued(evidence, cell, metric)) is not None]


def matches(cell: Cell, selector: Wanted) -> bool:
    """Whether a cell has one of the named values everywhere; empty values ask for nothing."""
    own = cell.path.coordinates | {"name": cell.path.name}
    return selected(own | {"workload": cell.workload, "phase": cell.phase, "regime": cell.regime}, selector)


def selected(own: Mapping[str, str], selector: Wanted) -> bool:
    wanted = ((key, (value,) if isinstance(value, str) else value) for key, value in selector.items() if value)
    return all(own.get(key, "none") in values for key, values in wanted)


def _valued(evidence: Evidence, cell: Cell, metric: str) -> Candidate | None:
    category, unit = METRICS[metric].category, METRICS[metric].unit
    made = functools.partial(Candidate, cell.path.name, f"{cell.workload}.{cell.phase}", cell=cell, unit=unit)
    if category == "code":
        lines = getattr(cell.path, metric)
        return made({0: float(lines)}, counted=True) if lines else None
    if category == "counted":
        value = metrics.exact(evidence.counted.get(cell.key[:3])).get(metric)
        return made({0: value}, counted=True) if value is not None else None
    values = metrics.of_cell(cell).get(metric) or evidence.of_phase(cell).get(metric)
    return made({number: statistics.median(each) for number, each in values.items()}) if values else None


def in_words(selector: Wanted) -> str:
    values = {key: value if isinstance(value, str) else "|".join(value) for key, value in selector.items()}
    return ", ".join(f"{key}={value}" for key, value in values.items()) or "any path"
