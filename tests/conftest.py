"""The rings: what is full, what passed before, what runs side by side; and what was left out, which CI refuses."""

from __future__ import annotations

import functools
import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.terminal import TerminalReporter

from rowpath.errors import EnvironmentMissing
from rowpath.machine.counters.other_programs import OtherPrograms
from rowpath.planning.instance_key import key_of
from rowpath.planning.plan import PlannedPath
from rowpath.runners import manifest
from tests import passed_keys, side_by_side

pytest_plugins = ["tests.conformance.plugin"]
LEFT_OUT = "rowpath/left_out"
MEASURING = Path(__file__).parent / "measuring"
TOO_BUSY = "too busy: "
UNIT = "what has a key"  # an adapter on an engine, or a file of tests
COLLECTED: pytest.StashKey[Counter[str]] = pytest.StashKey()
WHOLE = {"tests", "tests/conformance", "tests/hosts"}  # what is asked for when nothing that has a key is left out
# A worker that begins one last would work alone.
LONG_FIRST = [Path(__file__).parent / name for name in ("conformance", "end_to_end", "engines", "runners")]
ENABLE = "sudo scripts/install-packages.sh"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rowpath")
    group.addoption("--full", action="store_true", help="conformance: every case on every path, no covering arrays")
    group.addoption(
        "--changed-only", action="store_true", help="leave out what passed in just this form: adapters, files of tests"
    )
    group.addoption(
        "--and-before", action="store_true", help="at the end, name what the pytest call before left out as well"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[COLLECTED] = Counter()
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if worker.startswith("gw"):
        side_by_side.take_cores_from(int(worker.removeprefix("gw")))
        side_by_side.start_jvms_quickly()
    else:
        # A shell's background job ignores it; what tests start would ignore it too.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        config.pluginmanager.register(Outcome(config))


def _path_of(item: pytest.Item) -> PlannedPath | None:
    """The path that a test of conformance is about."""
    callspec = getattr(item, "callspec", None)
    values = callspec.params.values() if callspec is not None else ()
    return next((value for value in values if isinstance(value, PlannedPath)), None)


def _unit_of(item: pytest.Item, path: PlannedPath | None) -> str:
    """What of that which has a key a test belongs to; empty for nothing."""
    return passed_keys.unit(path.adapter, path.path.get("engine")) if path else passed_keys.file_of_tests(item.path)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that share an engine, a runner or a file stay together, unless they are marked `apart`.

    What passed in this form is left out.
    """
    passed = _passed_before() if config.option.changed_only else set()
    left_out = []
    for item in items:
        path = _path_of(item)
        file = item.nodeid.partition("::")[0]
        group = "_".join(key_of(path.path)) if path else item.nodeid if item.get_closest_marker("apart") else file
        item.add_marker(pytest.mark.xdist_group(group))
        if unit := _unit_of(item, path):
            config.stash[COLLECTED][unit] += 1
            item.user_properties.append((UNIT, unit))
            if unit in passed:
                left_out.append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]
    items.sort(key=lambda item: next((at for at, folder in enumerate(LONG_FIRST) if folder in item.path.parents), 9))


@functools.cache
def _keys() -> dict[str, str]:
    """The key of each adapter on an engine and of each file of tests, as it was when first asked for."""
    units = [(adapter, engine) for adapter in manifest.every_adapter() for engine in adapter.engines]
    files = (file for folder in passed_keys.KEYED for file in folder.rglob("test_*.py"))
    keys = {name: passed_keys.key_of_tests(name) for name in map(passed_keys.file_of_tests, files)}
    return keys | {passed_keys.unit(*each): passed_keys.key_of(*each) for each in units}


def _passed_before() -> set[str]:
    return {unit for unit, key in _keys().items() if passed_keys.passed(key)}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    try:
        return (yield)
    except EnvironmentMissing as missing:
        pytest.skip(f"{missing} ({missing.hint})")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """What this machine lacks fails no test: it is left out, and named at the end.

    Nor does a figure that was measured beside other programs: it proves nothing.
    """
    others = OtherPrograms() if MEASURING in item.path.parents else None
    try:
        return (yield)
    except EnvironmentMissing as missing:
        pytest.skip(f"{missing} ({missing.hint})")
    except AssertionError:
        busy = others.busy() if others is not None else ""
        if not busy:
            raise
        pytest.skip(f"{TOO_BUSY}{busy}")


class Outcome:
    """Of the whole session, however many workers it has: keeps the keys that passed, names what was left out."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.passed: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        self.too_busy: list[str] = []  # tests that could prove nothing

    def pytest_sessionstart(self) -> None:
        """What is edited while tests run was not tested."""
        if self._is_whole():
            _keys()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            reason = reason.removeprefix("Skipped: ")
            if reason.startswith(TOO_BUSY):
                self.too_busy.append(f"{report.nodeid}: {reason}")
            else:
                self.left_out[reason] += 1
        if report.when == "call" and report.passed:
            self.passed.update(value for name, value in report.user_properties if name == UNIT)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Every worker collects the same."""
        self.config.stash[COLLECTED] = Counter(getattr(node, "workeroutput", {}).get(UNIT, {}))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self.config.option.changed_only:
            session.exitstatus = pytest.ExitCode.OK
        if self._is_whole():
            keys = _keys()
            for name, count in self.config.stash[COLLECTED].items():
                # Without --full an adapter met some of its cases only; a file of tests is always whole.
                if self.passed[name] == count and (self.config.option.full or name.endswith(".py")):
                    passed_keys.record(keys[name], name)
        if (cache := getattr(self.config, "cache", None)) is not None:
            if self.config.option.and_before:
                self.left_out.update(cache.get(LEFT_OUT, {}))
            cache.set(LEFT_OUT, dict(self.left_out))
        if os.environ.get("CI") and self.left_out and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _is_whole(self) -> bool:
        asked = self.config.option
        narrowed = asked.keyword or asked.markexpr or asked.deselect or asked.ignore_glob
        return not narrowed and bool(WHOLE.intersection(word.rstrip("/") for word in self.config.args))

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        if self.config.option.changed_only and (passed := sorted(_passed_before())):
            terminalreporter.section("passed before, in just this form")
            terminalreporter.line(", ".join(passed))
        if self.too_busy:
            terminalreporter.section(f"not known: {len(self.too_busy)} tests; run make test on a quiet machine")
            for line in self.too_busy:
                terminalreporter.line(line)
        if not self.left_out:
            return
        refused = ", which continuous integration does not allow" if os.environ.get("CI") else ""
        terminalreporter.section(f"left out: {self.left_out.total()} tests{refused}")
        for reason, count in self.left_out.most_common():
            terminalreporter.line(f"{count:6}  {reason}")
        terminalreporter.line(f"Missing packages: {ENABLE}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[UNIT] = dict(session.config.stash[COLLECTED])
