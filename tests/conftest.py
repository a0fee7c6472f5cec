"""The rings: what is full, what passed before, what runs side by side; and what was left out, which CI refuses."""

from __future__ import annotations

import functools
import gc
import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from _pytest.terminal import TerminalReporter

from rowpath.errors import EnvironmentMissing
from rowpath.machine.counters.core_users import OtherPrograms
from rowpath.planning.plan import PlannedPath
from rowpath.runners import manifest
from tests import known_answers, passed_keys, side_by_side
from tests.conformance import plugin

LEFT_OUT = "rowpath/left_out"
UNKNOWN = "rowpath/unknown"
UNIT = "what has a key"  # an adapter on an engine, or a file of tests
COLLECTED: pytest.StashKey[Counter[str]] = pytest.StashKey()
# What is asked for when nothing that has a key is left out.
WHOLE = {"tests", "tests/conformance", "tests/hosts", "tests/measuring"}
# A worker that begins one last would work alone.
LONG_FIRST = [Path(__file__).parent / name for name in ("conformance", "end_to_end", "engines", "runners")]
CPUS = os.sched_getaffinity(0)
ENABLE = "sudo scripts/install-packages.sh"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rowpath")
    group.addoption("--full", action="store_true", help="conformance: every case on every path, no covering arrays")
    group.addoption(
        "--changed-only", action="store_true", help="leave out what passed in just this form: adapters, files of tests"
    )
    group.addoption(
        "--again",
        metavar="N",
        type=int,
        help="a seventh of the adapters meets every case on every path, another one for each of seven numbers; with "
        "--changed-only that seventh, of files of tests too, is run although it passed",
    )
    group.addoption(
        "--and-before", action="store_true", help="at the end, name what the pytest call before left out as well"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[COLLECTED] = Counter()
    config.pluginmanager.register(plugin)
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if worker.startswith("gw"):
        side_by_side.take_cores_from(int(worker.removeprefix("gw")))
        side_by_side.start_jvms_quickly()
    else:
        # A shell's background job ignores it; what tests start would ignore it too.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        config.pluginmanager.register(Outcome(config))
        config.pluginmanager.register(side_by_side)


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
    """What passed in this form is left out, and what is marked as long but with everything; long tests come first."""
    if not config.option.full and (dropped := [item for item in items if item.get_closest_marker("long")]):
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item in items if item.get_closest_marker("long") is None]
    passed = _left_out(config) if config.option.changed_only else set()
    left_out = []
    for item in items:
        if unit := _unit_of(item, _path_of(item)):
            config.stash[COLLECTED][unit] += 1
            item.user_properties.append((UNIT, unit))
            if unit in passed:
                left_out.append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]
    items.sort(key=lambda item: next((at for at, folder in enumerate(LONG_FIRST) if folder in item.path.parents), 9))


def pytest_collection_finish() -> None:
    """Tens of thousands of tests live as long as we do: whoever collects garbage need not walk over them."""
    gc.collect()
    gc.freeze()


@functools.cache
def _keys() -> dict[str, str]:
    """The key of each adapter on an engine and of each file of tests, as it was when first asked for."""
    units = [(adapter, engine) for adapter in manifest.every_adapter() for engine in adapter.engines]
    files = (file for folder in passed_keys.KEYED for file in folder.rglob("test_*.py"))
    keys = {name: passed_keys.key_of_tests(name) for name in map(passed_keys.file_of_tests, files)}
    return keys | {passed_keys.unit(*each): passed_keys.key_of(*each) for each in units}


def _passed_before() -> set[str]:
    return {unit for unit, key in _keys().items() if passed_keys.passed(key)}


def _left_out(config: pytest.Config) -> set[str]:
    """The units that are not met; a worker takes them from the session, for keys cost three seconds of a core."""
    given: list[str] | None = getattr(config, "workerinput", {}).get(UNIT)
    return set(given) if given is not None else _passed_before() - met_again(config)


def met_again(config: pytest.Config) -> set[str]:
    """The seventh of what passed before that `--again` names."""
    number = config.option.again
    passed = _passed_before() if number is not None else set()
    return {unit for unit in passed if passed_keys.is_met_again(unit, number)}


def _is_file(unit: str) -> bool:
    return unit.endswith(".py")


def pytest_runtest_logstart() -> None:
    """Give back the CPUs that a run within a test before left: it keeps the controller on one of them."""
    os.sched_setaffinity(0, CPUS)


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
    others = OtherPrograms() if item.path.parent.name == known_answers.FOLDER else None
    try:
        return (yield)
    except EnvironmentMissing as missing:
        pytest.skip(f"{missing} ({missing.hint})")
    except AssertionError:
        busy = others.busy() if others is not None else ""
        if not busy:
            raise
        pytest.skip(f"{known_answers.TOO_BUSY}{busy}")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """A known answer that is unknown is tried again at a quiet moment, unless it passed lately."""
    if not known_answers.is_one(item.path):
        return None
    hook = item.ihook
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    for _moment in range(known_answers.MOMENTS):
        unknown = any(known_answers.unknown_reason(report) for report in reports)
        if not unknown or known_answers.passed_lately(item.nodeid, item.path):
            break
        if not known_answers.wait_for_a_quiet_moment():
            break
        item._initrequest()  # type: ignore[attr-defined] # as if it had not been run
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
    for report in reports:
        hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


class Outcome:
    """Of the whole session, however many workers it has: keeps the keys that passed, names what was left out."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.before: set[str] = set()  # units left out
        self.again: set[str] = set()  # units that passed before and are met all the same
        self.passed: Counter[str] = Counter()
        self.failed: set[str] = set()  # units
        self.left_out: Counter[str] = Counter()
        self.known: set[str] = set()  # known answers that passed
        self.unknown: dict[str, str] = {}  # known answers that could prove nothing, and why
        self.refusals: list[str] = []

    def pytest_sessionstart(self) -> None:
        """What is edited while tests run was not tested."""
        if self._is_whole():
            _keys()
        if self.config.option.changed_only:
            self.again = met_again(self.config)
            self.before = _passed_before() - self.again

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """A worker leaves out the same."""
        node.workerinput[UNIT] = sorted(self.before)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        units = [str(value) for name, value in report.user_properties if name == UNIT]
        if why := known_answers.unknown_reason(report):
            self.unknown[report.nodeid] = why
        elif report.skipped and not hasattr(report, "wasxfail"):
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self.left_out[reason.removeprefix("Skipped: ")] += 1
        if report.failed:
            self.failed.update(units)
        if report.when == "call" and report.passed:
            self.passed.update(units)
            if known_answers.is_one(self._file(report.nodeid)):
                self.known.add(report.nodeid)

    def _file(self, test: str) -> Path:
        return Path(self.config.rootpath, test.partition("::")[0])

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Every worker collects the same."""
        self.config.stash[COLLECTED] = Counter(getattr(node, "workeroutput", {}).get(UNIT, {}))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self.config.option.changed_only:
            session.exitstatus = pytest.ExitCode.OK
        if self._is_whole():
            self._keep()
        if (cache := getattr(self.config, "cache", None)) is not None:
            if self.config.option.and_before:
                self.left_out.update(cache.get(LEFT_OUT, {}))
                self.unknown |= cache.get(UNKNOWN, {})
            cache.set(LEFT_OUT, dict(self.left_out))
            cache.set(UNKNOWN, self.unknown)
        self.refusals = known_answers.refusals({test: self._file(test) for test in self.unknown})
        if os.environ.get("CI") and (self.left_out or self.refusals) and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _keep(self) -> None:
        """What passed is left out from now on; what failed is not, even where it had passed before."""
        keys, full, again = _keys(), self.config.option.full, self.config.option.again
        for unit, count in self.config.stash[COLLECTED].items():
            # Elsewhere an adapter met some of its cases only; a file of tests is always whole.
            if unit in self.failed or plugin.differs(unit):
                passed_keys.forget(keys[unit])
            elif self.passed[unit] == count and (
                _is_file(unit) or passed_keys.is_met_in_full(unit, full=full, again=again)
            ):
                passed_keys.record(keys[unit], unit)
        known_answers.record(
            {(test, self._file(test)) for test in self.known - set(self.unknown)}, {*self.known, *self.unknown}
        )

    def _is_whole(self) -> bool:
        asked = self.config.option
        narrowed = asked.keyword or asked.markexpr or asked.deselect or asked.ignore_glob
        return not narrowed and bool(WHOLE.intersection(word.rstrip("/") for word in self.config.args))

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        refused = ", which continuous integration does not allow" if os.environ.get("CI") else ""
        collected = set(self.config.stash[COLLECTED])
        for what, units in (("left out", self.before), ("met again", self.again)):
            if here := sorted(units & collected):
                terminalreporter.section(f"passed before in just this form, {what}")
                terminalreporter.line(", ".join(here))
        if self.known or self.unknown:
            terminalreporter.section(f"known answers: {len(self.known)} passed, {len(self.unknown)} unknown")
            for test, why in self.unknown.items():
                terminalreporter.line(f"{test}: {why}")
            for refusal in self.refusals:
                terminalreporter.line(f"{refusal}{refused}")
            if self.unknown:
                terminalreporter.line("To know more: make test on a quiet machine")
        if not self.left_out:
            return
        terminalreporter.section(f"left out: {self.left_out.total()} tests{refused}")
        for reason, count in self.left_out.most_common():
            terminalreporter.line(f"{count:6}  {reason}")
        terminalreporter.line(f"Missing packages: {ENABLE}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[UNIT] = dict(session.config.stash[COLLECTED])
