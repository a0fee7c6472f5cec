"""What holds for all tests: in continuous integration nothing may be skipped, for it provides all that they need."""

from __future__ import annotations

import os

import pytest
from _pytest.terminal import TerminalReporter


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if isinstance(reporter, TerminalReporter) else []
    if os.environ.get("CI") and skipped and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    cache = getattr(session.config, "cache", None)
    if cache is not None:  # whether asking the failed ones again can settle it: .ci/run
        cache.set("rowpath/failed_only", session.exitstatus == pytest.ExitCode.TESTS_FAILED and not skipped)


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    if os.environ.get("CI") and skipped:
        terminalreporter.section("skipped, which continuous integration does not allow")
        for report in skipped:
            terminalreporter.line(f"{report.nodeid}: {report.longrepr[2] if report.longrepr else ''}")
