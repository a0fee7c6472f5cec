"""Conformance as `rowpath adapter test` shows it: every check on the default path, what differs on the others."""

from __future__ import annotations

import contextlib
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console
from rich.text import Text

from rowpath.checks.conformance.checks import CaseOutcome, check_case, is_eligible
from rowpath.checks.conformance.driver_behaviours import observe
from rowpath.checks.conformance.fixture import EngineFixture
from rowpath.checks.conformance.paths import cases, default_paths, phase_name, place_of, workload_of
from rowpath.checks.conformance.protocol_checks import ON_EVERY_PATH, PROTOCOL_CHECKS, check_protocol
from rowpath.errors import RowpathError
from rowpath.planning.availability import ineligible_reason, unavailable
from rowpath.planning.plan import PlannedPath
from rowpath.runners.process import RunnerFailure

STYLES = {"ok": "green", "failed": "red", "not applicable": "dim"}
OBSERVED = {"yes": "green", "no": "yellow", "unsupported": "dim"}


@contextlib.contextmanager
def opened_fixture(paths: tuple[PlannedPath, ...]) -> Iterator[EngineFixture]:
    """A fixture in a directory of its own; everything is stopped and removed at the end."""
    with tempfile.TemporaryDirectory(prefix="rowpath-", ignore_cleanup_errors=True) as directory:
        Path(directory).chmod(0o711)  # as root a server runs as another user
        fixture = EngineFixture(Path(directory), paths)
        try:
            yield fixture
        finally:
            fixture.end()


def outcomes(planned: PlannedPath, fixture: EngineFixture, complete: bool) -> Iterator[CaseOutcome]:
    """Every check on the path, one after the other; `complete`: those of a default path too."""
    try:
        fixture.connected(planned)
    except RunnerFailure as failure:
        yield CaseOutcome("open", "failed", "the runner does not open the path", "a connection", str(failure))
        return
    for case in cases():
        if is_eligible(case, planned):
            yield check_case(case, planned, fixture)
        elif complete:
            phase = workload_of(case.workload).phase(case.phase)
            reason = ineligible_reason(planned.adapter, planned.path, phase_name(case), phase).strip()
            yield CaseOutcome(case.name, "not applicable", reason or "nothing but the null operation is served")
    for name in PROTOCOL_CHECKS:
        if complete or name in ON_EVERY_PATH:
            yield check_protocol(name, planned, fixture)


def run(
    paths: tuple[PlannedPath, ...], console: Console, tested: Callable[[str, CaseOutcome], None] | None = None
) -> int:
    """Test every path on its real engine and print the results; 1 when a check failed.

    `tested` gets each check's outcome with its path's name. Errors: RowpathError when an engine or a runner is not
    available.
    """
    counts: Counter[str] = Counter()
    firsts = default_paths(paths)
    with opened_fixture(paths) as fixture:
        for planned in paths:
            reason, remedy = unavailable(planned.adapter, planned.path)
            if reason:
                if len(paths) == 1:
                    raise RowpathError(f"{planned.name} cannot run here: {reason}", remedy)
                _print(console, "not here", "yellow", _heading(planned, firsts), reason)
                if tested is not None:
                    tested(planned.name, CaseOutcome("path", "not applicable", reason))
                continue
            own = _test(planned, fixture, console, firsts, tested)
            counts.update(own)
            if planned in firsts and own["ok"]:
                for seen in observe(planned, fixture):
                    _print(console, seen.observed, OBSERVED[seen.observed], seen.name, seen.text)
    counted = f"{counts['failed']} failed, {counts['ok']} ok, {counts['not applicable']} not applicable"
    console.print(Text(f"\n{counted}, on {len(paths)} {'path' if len(paths) == 1 else 'paths'}", style="bold"))
    return 1 if counts["failed"] else 0


def _test(
    planned: PlannedPath,
    fixture: EngineFixture,
    console: Console,
    firsts: tuple[PlannedPath, ...],
    tested: Callable[[str, CaseOutcome], None] | None,
) -> Counter[str]:
    complete = planned in firsts
    counts: Counter[str] = Counter()
    titles = {name: (check.__doc__ or "").rstrip(".") for name, check in PROTOCOL_CHECKS.items()}
    titles |= {case.name: case.title for case in cases()}
    console.print(Text(f"\n{_heading(planned, firsts)}", style="bold"), soft_wrap=True)
    for outcome in outcomes(planned, fixture, complete):
        counts[outcome.status] += 1
        if tested is not None:
            tested(planned.name, outcome)
        if complete or outcome.status == "failed":
            about = outcome.reason if outcome.status == "not applicable" else titles.get(outcome.name, "")
            _print(console, outcome.status, STYLES[outcome.status], outcome.name, about)
        if outcome.status == "failed":
            for word, text in (("", outcome.reason), ("expected ", outcome.expected), ("got      ", outcome.got)):
                if text:
                    console.print(Text(f"{'':19}{word}{text}"), soft_wrap=True)
    if not complete and not counts["failed"]:
        _print(console, "ok", "green", f"{counts['ok']} checks", "")
    return counts


def _print(console: Console, word: str, style: str, name: str, about: str) -> None:
    line = Text.assemble("  ", (f"{word:<16}", style), f"{name:<34}", (about, "dim"))
    console.print(line, soft_wrap=True)


def _heading(planned: PlannedPath, firsts: tuple[PlannedPath, ...]) -> str:
    """The adapter with the coordinates that vary; of another path than the default: those that differ from it."""
    path, adapter = planned.path, planned.adapter
    if planned in firsts:
        words = [adapter.language, adapter.driver, path.version, "on", path.engine, path.deployment]
        own = [f"{key}={path.get(key)}" for key in adapter.coordinates if path.get(key) != "none"]
        return " ".join([*words, *own])
    default = next(first.path for first in firsts if place_of(first) == place_of(planned))
    return " ".join(["with", *(f"{key}={value}" for key, value in path.coordinates if default.get(key) != value)])
