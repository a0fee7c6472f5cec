"""Which cases each path meets in this session."""

from __future__ import annotations

import functools

from rowpath.checks.conformance.cases import Case, cases
from rowpath.checks.conformance.checks import serves
from rowpath.checks.conformance.covering import covering
from rowpath.checks.conformance.paths import project_paths


@functools.cache
def selected_cases(full: bool) -> dict[str, tuple[Case, ...]]:
    """By a path's id; `full`: all that it serves, else a covering array."""
    if not full:
        return covering(project_paths())
    return {path.path.id: tuple(case for case in cases() if serves(case, path)) for path in project_paths()}
