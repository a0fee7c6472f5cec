"""What the suite saw, joined from all workers at its end and compared with what docs/capabilities.json keeps."""

from __future__ import annotations

import functools
import itertools
import json
import os
from pathlib import Path
from typing import Any

import pytest
from _pytest.terminal import TerminalReporter
from tests.script import script

from rowpath.planning.plan import PlannedPath

Observed = dict[str, dict[str, Any]]
OBSERVED: Observed = {}  # by path of the suite
capabilities = script("capabilities")
DIFFERENCES: dict[str, list[str]] = {}  # by adapter


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take over what a worker of xdist saw."""
    join(OBSERVED, json.loads(getattr(node, "workeroutput", {}).get("observed", "{}")))


def join(all_observed: Observed, observed: Observed) -> None:
    """Add what one worker saw; several may have seen different things of one path."""
    for path, parts in observed.items():
        known = all_observed.setdefault(path, {})
        for name, part in parts.items():
            known[name] = known.get(name, {}) | part if isinstance(part, dict) else part


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["observed"] = json.dumps(OBSERVED)
        return
    if not OBSERVED:
        return
    whole = whole_adapters(OBSERVED)
    seen = capabilities.summary(OBSERVED)
    if file := os.environ.get(capabilities.VARIABLE):
        written = {"seen": {name: seen[name] for name in whole}, "adapters": sorted(paths_of_adapters())}
        Path(file).write_text(json.dumps(written), encoding="utf-8")
        return
    DIFFERENCES.update(capabilities.differences(capabilities.kept()["adapters"], seen, whole))
    if DIFFERENCES and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@functools.cache
def paths_of_adapters() -> dict[str, list[PlannedPath]]:
    """The suite's paths by `adapter_of`."""
    from tests.conformance.selection import project_paths

    found: dict[str, list[PlannedPath]] = {}
    for path in project_paths():
        found.setdefault(adapter_of(path), []).append(path)
    return found


def adapter_of(path: PlannedPath) -> str:
    """What docs/capabilities.json calls the path's adapter."""
    engine = [path.path.get("engine")] if len(path.adapter.engines) > 1 else []
    return " ".join([path.adapter.language, path.adapter.driver, *engine, path.path.get("deployment")])


def differs(unit: str) -> bool:
    """Whether a language's driver on an engine was seen otherwise than what is kept: it may not pass."""
    return any(adapter.split()[:2] == unit.split()[:2] for adapter in DIFFERENCES)


def whole_adapters(observed: Observed) -> list[str]:
    """The adapters of which every case was run on every path that can run it."""
    from rowpath.checks.conformance.checks import is_eligible
    from rowpath.checks.conformance.paths import cases

    met = {(path, case) for path, parts in observed.items() for case in parts["checks"]}
    return [
        adapter
        for adapter, paths in paths_of_adapters().items()
        if any(path.name in observed for path in paths)
        and {(path.name, case.name) for path in paths for case in cases() if is_eligible(case, path)} <= met
    ]


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    if DIFFERENCES:
        terminalreporter.section("docs/capabilities.json differs: run scripts/capabilities.py, then make docs")
        for line in itertools.chain.from_iterable(DIFFERENCES.values()):
            terminalreporter.line(line)
