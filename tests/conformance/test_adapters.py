"""Every adapter does what it promises: cases, checks of the protocol and observed behaviours, on real engines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from tests.conformance.plugin import capabilities
from tests.conformance.selection import is_met_in_full, project_paths, selected_cases

from rowpath.checks.conformance.checks import check_case
from rowpath.checks.conformance.driver_behaviours import observe
from rowpath.checks.conformance.fixture import EngineFixture
from rowpath.checks.conformance.paths import case_named, default_paths
from rowpath.checks.conformance.protocol_checks import ON_EVERY_PATH, PROTOCOL_CHECKS, check_protocol
from rowpath.planning.plan import PlannedPath

BEHAVIOURS = "behaviours"
ONCE_BY_DEFAULT = ("bad-messages", BEHAVIOURS)  # on an adapter's first engine and deployment: they need processes
OBSERVATIONS = 3  # a request to stop races with the statement: what the page says must be seen once in so many


def checks(full: bool, again: int | None) -> Iterator[tuple[PlannedPath, str]]:
    """The cases of each path, then the checks of the protocol and the behaviours."""
    cases = selected_cases(full, again)
    places = default_paths(project_paths())
    adapters = {(path.adapter.language, path.adapter.driver): path for path in reversed(places)}
    for path in project_paths():
        yield from ((path, case.name) for case in cases[path.path.id])
        for check in (*PROTOCOL_CHECKS, BEHAVIOURS):
            once = check in ONCE_BY_DEFAULT and not is_met_in_full(path, full, again)
            if check in ON_EVERY_PATH or path in (adapters.values() if once else places):
                yield path, check


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    asked = metafunc.config.option
    parameters = [
        pytest.param(path, check, id=f"{path.name}-{check}") for path, check in checks(asked.full, asked.again)
    ]
    metafunc.parametrize(("planned", "check"), parameters, indirect=["planned"])


def test_adapter(planned: PlannedPath, check: str, fixture: EngineFixture, seen: dict[str, Any]) -> None:
    if check == BEHAVIOURS:
        check_behaviours(planned, fixture, seen)
        return
    if check in PROTOCOL_CHECKS:
        outcome = check_protocol(check, planned, fixture)
    else:
        outcome = check_case(case_named(check), planned, fixture)
    assert outcome.status != "failed", f"{outcome.reason}: expected {outcome.expected}, got {outcome.got}"
    if check == "mixed-load" and len(planned.adapter.coordinates.get("clients", ())) > 1:
        assert outcome.status == "ok", outcome.reason
    if check not in PROTOCOL_CHECKS:
        seen["checks"][check] = "yes" if outcome.status == "ok" else outcome.reason
    if check == "types":
        seen["types"] = outcome.notes


def check_behaviours(planned: PlannedPath, fixture: EngineFixture, seen: dict[str, Any]) -> None:
    """They are what docs/capabilities.json says, unless it is being written."""
    writing = capabilities.VARIABLE in os.environ
    row = capabilities.kept()["adapters"].get(seen["adapter"], {}).get("behaviours", {})
    documented = {name: words[0] for name, words in row.items()}
    for _observation in range(OBSERVATIONS):
        behaviours = observe(planned, fixture, {} if writing else documented)
        assert all(each.text for each in behaviours if each.observed != "yes"), behaviours
        seen["behaviours"] = {each.name: each.observed for each in behaviours}
        if seen["behaviours"] == documented:
            return
    assert writing or seen["behaviours"] == documented, f"docs/capabilities.json says otherwise than {behaviours}"
