"""What the suite saw, joined from all workers at its end and compared with docs/capabilities.md."""

from __future__ import annotations

import difflib
import functools
import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import pytest
from _pytest.terminal import TerminalReporter

Observed = dict[str, dict[str, Any]]
SCRIPT = Path(__file__).parents[2] / "scripts" / "capabilities.py"
FOLDER = "tests/conformance/"  # in ids of tests
OBSERVED: Observed = {}  # by path of the suite: what docs/capabilities.md is made of
DIFFERENCES: list[str] = []


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests of one engine instance, or of one file, go to one worker: marks of xdist have no effect with pytest 9.2."""
    from xdist.scheduler import LoadScopeScheduling

    class EngineScheduling(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file, _, rest = nodeid.partition("::")
            if not file.startswith(FOLDER):
                return nodeid if _apart(config.rootpath / file) else file
            name = rest.partition("[")[2]
            while name and name not in _instances():
                name = name.rpartition("-")[0]
            return _instances().get(name, file)

    return EngineScheduling(config, log)


@functools.cache
def _apart(file: Path) -> bool:
    """Whether the tests of a file share nothing, so that each may go to another worker."""
    return "pytestmark = pytest.mark.apart\n" in file.read_text(encoding="utf-8")


@functools.cache
def _instances() -> dict[str, str]:
    """The engine instance of each path, by its name."""
    from tests.conformance.selection import project_paths

    from rowpath.planning.instance_key import key_of

    return {path.name: "_".join(key_of(path.path)) for path in project_paths()}


@functools.cache
def capabilities() -> Any:
    """The script that writes docs/capabilities.md, as a module."""
    spec = importlib.util.spec_from_file_location("capabilities", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
    observed = json.loads(json.dumps(OBSERVED))
    if wanted := os.environ.get(capabilities().VARIABLE):
        if is_complete(observed):
            Path(wanted).write_text(json.dumps(observed))
        return
    DIFFERENCES.extend(differences(observed))
    if DIFFERENCES and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def is_complete(observed: Observed) -> bool:
    """Whether every case was run on every path that can run it."""
    from tests.conformance.selection import project_paths

    from rowpath.checks.conformance.cases import cases
    from rowpath.checks.conformance.checks import is_eligible

    expected = {(path.name, case.name) for path in project_paths() for case in cases() if is_eligible(case, path)}
    return expected <= {(path, case) for path, parts in observed.items() for case in parts["checks"]}


def differences(observed: Observed) -> list[str]:
    """What the page says otherwise; after a complete run also what it says beyond what was seen."""
    # What packages say of themselves differs from machine to machine.
    page, seen = capabilities().PAGE.read_text(), capabilities().page(observed, with_facts=False)
    if not is_complete(observed):
        return capabilities().contradictions(page, seen)  # type: ignore[no-any-return]
    lines = [capabilities().without_facts(text).splitlines() for text in (page, seen)]
    return list(difflib.unified_diff(*lines, "the page", "seen", lineterm="", n=0))


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    if DIFFERENCES:
        terminalreporter.section("docs/capabilities.md differs: run scripts/capabilities.py")
        for line in DIFFERENCES:
            terminalreporter.line(line)
