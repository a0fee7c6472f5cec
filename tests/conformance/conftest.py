"""The suite's engines, one at a time, and the runner of the path that is being tested."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.checks.conformance.fixture import House
from rowpath.checks.conformance.paths import of_the_project, reason_against
from rowpath.checks.conformance.report import opened_house
from rowpath.execution.worker import Worker
from rowpath.planning.plan import PlannedPath

Observed = dict[str, dict[str, Any]]
SCRIPT = Path(__file__).parents[2] / "scripts" / "capabilities.py"


@pytest.fixture(scope="session")
def house() -> Iterator[House]:
    """Everything is stopped and removed at the end."""
    with opened_house(of_the_project()) as suite:
        yield suite


@pytest.fixture(scope="session")
def observed() -> Observed:
    """What the suite saw, by path: what docs/capabilities.md is made of."""
    return {}


@pytest.fixture(scope="session")
def capabilities() -> Any:
    """The script that writes docs/capabilities.md, as a module."""
    spec = importlib.util.spec_from_file_location("capabilities", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def planned(request: pytest.FixtureRequest) -> PlannedPath:
    """The path, by indirect parameter; skipped where it cannot run here."""
    path: PlannedPath = request.param
    if reason := reason_against(path):
        pytest.skip(reason)
    return path


@pytest.fixture
def seen(planned: PlannedPath, observed: Observed) -> dict[str, Any]:
    """What the suite saw on this path so far."""
    engine = [planned.path.get("engine")] if len(planned.adapter.engines) > 1 else []
    words = [planned.adapter.language, planned.adapter.driver, *engine, planned.path.get("deployment")]
    adapter = " ".join(words)
    return observed.setdefault(planned.name, {"adapter": adapter, "checks": {}, "behaviours": {}, "syncs": {}})


@pytest.fixture
def living(planned: PlannedPath, house: House) -> Worker:
    """A connected runner on the path, the same one for all tests of it that follow one another."""
    return house.living(planned)
