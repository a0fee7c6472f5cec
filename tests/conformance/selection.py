"""The paths of all adapters, and which cases each of them meets in this session."""

from __future__ import annotations

import functools

from tests import passed_keys
from tests.conformance.covering import covering

from rowpath.checks.conformance.checks import is_eligible
from rowpath.checks.conformance.paths import Case, Reach, cases, planned
from rowpath.engines import ENGINES
from rowpath.engines.external_engines import ExternalEngine
from rowpath.planning.plan import PlannedPath, key_of
from rowpath.runners import manifest


@functools.cache
def project_paths() -> tuple[PlannedPath, ...]:
    """Those of all adapters, grouped by the instance of an engine that they share.

    An adapter's further engines get fewer values: its first engine shows what combinations do. Engines with only
    external servers are in where the URL of one is set.
    """
    every = []
    for adapter in manifest.every_adapter():
        for engine in adapter.engines:
            if not isinstance(ENGINES[engine], ExternalEngine) or ENGINES[engine].availability().ok:
                reach: Reach = "pairs" if engine == adapter.engines[0] else "values"
                every += planned(adapter, reach, {"engine": (engine,)})
    order = list(dict.fromkeys(key_of(each.path) for each in every))
    return tuple(sorted(every, key=lambda each: order.index(key_of(each.path))))


@functools.cache
def selected_cases(full: bool, again: int | None = None) -> dict[str, tuple[Case, ...]]:
    """By a path's id: all that it can run where it `is_met_in_full`, else a covering array."""
    covered = {} if full else covering(project_paths())
    whole = (path for path in project_paths() if is_met_in_full(path, full, again))
    return covered | {each.path.id: tuple(case for case in cases() if is_eligible(case, each)) for each in whole}


def is_met_in_full(path: PlannedPath, full: bool, again: int | None) -> bool:
    """Whether the path's adapter is, on its engine."""
    unit = passed_keys.unit(path.adapter, path.path.get("engine"))
    return passed_keys.is_met_in_full(unit, full=full, again=again)
