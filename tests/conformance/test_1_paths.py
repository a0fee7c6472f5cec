"""Every check on every path, in the order of the engines they share. (Named to run first.)"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from rowpath.checks.conformance.cases import case_named, cases
from rowpath.checks.conformance.checks import check_case, serves
from rowpath.checks.conformance.driver_behaviours import observe
from rowpath.checks.conformance.fixture import House
from rowpath.checks.conformance.paths import defaults, of_the_project
from rowpath.checks.conformance.protocol_checks import MANNERS, ON_EVERY_PATH, check_manner
from rowpath.planning.plan import PlannedPath

PATHS = of_the_project()
DEFAULTS = defaults(PATHS)
BEHAVIOURS = "behaviours"
WITHOUT_GROUPS = ("csharp",)  # languages whose runner does not know them, and says so
OBSERVATIONS = 3  # a request to stop races with the statement: what the page says must be seen once in so many


def checks() -> Iterator[tuple[PlannedPath, str]]:
    """The cases that each path serves, then the manners; behaviours last, for they restart the server."""
    for path in PATHS:
        yield from ((path, case.name) for case in cases() if serves(case, path))
        yield from ((path, name) for name in MANNERS if name in ON_EVERY_PATH or path in DEFAULTS)
        if path in DEFAULTS:
            yield path, BEHAVIOURS


CHECKS = list(checks())


@pytest.mark.parametrize(
    ("planned", "check"), CHECKS, indirect=["planned"], ids=[f"{path.name}-{check}" for path, check in CHECKS]
)
def test_path(planned: PlannedPath, check: str, house: House, seen: dict[str, Any], capabilities: Any) -> None:
    if check == BEHAVIOURS:
        told = capabilities.told_behaviours().get(seen["adapter"])
        for _observation in range(OBSERVATIONS):
            behaviours = observe(planned, house)
            assert all(each.words for each in behaviours if each.seen != "yes"), behaviours
            seen["behaviours"] = {each.name: each.seen for each in behaviours}
            if told is None or told == seen["behaviours"]:
                return
        if capabilities.VARIABLE not in os.environ:
            assert told == seen["behaviours"], f"docs/capabilities.md says otherwise than {behaviours}"
        return
    if check in MANNERS:
        outcome = check_manner(check, planned, house)
    else:
        outcome = check_case(case_named(check), planned, house.living(planned), house)
    assert outcome.status != "failed", f"{outcome.reason}: expected {outcome.expected}, got {outcome.got}"
    if check == "groups" and len(planned.adapter.coordinates.get("clients", ())) > 1:
        expected = "not applicable" if planned.adapter.language in WITHOUT_GROUPS else "ok"
        assert outcome.status == expected, outcome.reason
    if check not in MANNERS:
        seen["checks"][check] = "yes" if outcome.status == "ok" else outcome.reason
    if check == "types":
        seen["types"] = outcome.notes
