"""How long client groups work before a stage is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowpath.engines import ENGINES
from rowpath.runners.manifest import language

if TYPE_CHECKING:
    from rowpath.planning.plan import PlannedPath


LEAD_IN_CAP_S = 1.5  # before each stage, where only its own groups are at work


def least_s(planned: PlannedPath, cap_s: float) -> float:
    """So long at least a path's groups are warmed up."""
    least = min(cap_s, language(planned.adapter.language).warm_least_s[0])
    return least if planned.embedded else max(least, ENGINES[planned.path.engine].server_warm_s)


def lead_in_s(planned: PlannedPath, cap_s: float) -> tuple[float, float]:
    """So long at least, and at most, the groups of a stage are at work before it: compilers look at them again."""
    cap_s = min(cap_s, LEAD_IN_CAP_S)
    return min(cap_s, language(planned.adapter.language).warm_least_s[1]), cap_s
