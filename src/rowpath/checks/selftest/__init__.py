"""Known-answer tests: the proof that the instrument is true. Each has a tolerance, and each can fail.

One module per test, numbered as in docs/method.md; `run` executes them one after another and prints a table.
"""

from __future__ import annotations

import importlib
import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from rowpath.checks.selftest.bench import Bench, Verdict
from rowpath.errors import RowpathError, UsageError
from rowpath.machine.counters.core_users import OtherPrograms
from rowpath.toml_file import suggest

if TYPE_CHECKING:
    from rich.console import Console

MARKS = {True: ("passed", "green"), False: ("FAILED", "red"), None: ("skipped", "yellow")}
TESTS = {
    "null-operation": "null_operation",
    "burn": "burn",
    "bytes": "counted_bytes",
    "system-calls": "system_calls",
    "memory": "peak_memory",
    "disk": "disk_writes",
    "stalls": "stalls",
    "queue": "stopped_server",
    "a-a": "a_a",
    "warm-up": "warm_up",
    "digest": "digest",
    "scaling-law": "scaling_law",
    "hog": "hog",
    "failed-operations": "failed_operations",
    "lazy-driver": "lazy_driver",
    "periodic-pause": "periodic_pause",
    "block-length": "block_length",
    "link": "linked",
    "quiet-cores": "quiet_cores",
}


def run(names: list[str], *, full: bool, console: Console) -> int:
    """Run the named tests (none: all); 0 when every one passed, 1 otherwise."""
    for name in names:
        if name not in TESTS:
            raise UsageError(f"unknown known-answer test '{name}'", suggest(name, tuple(TESTS)))
    failed = 0
    for name in names or TESTS:
        begun = time.monotonic()
        for verdict in run_one(name, full=full):
            mark, style = MARKS[verdict.passed]
            failed += verdict.passed is False
            bar = f"  (bar: {verdict.bar})" if verdict.bar else ""
            line = Text.assemble((f"{mark:<8}", style), f"{name:<18}{verdict.what}: {verdict.figure}", (bar, "dim"))
            console.print(line, soft_wrap=True)
        console.print(Text(f"{'':8}{name:<18}{time.monotonic() - begun:.1f} s", style="dim"))
    console.print(
        "all known answers were measured" if not failed else f"{failed} known answers were missed", highlight=False
    )
    return 1 if failed else 0


def run_one(name: str, *, full: bool) -> list[Verdict]:
    """One test in a private directory that is removed afterwards; what is missed on a busy machine is skipped."""
    module = importlib.import_module(f"rowpath.checks.selftest.{TESTS[name]}")
    directory = Path(tempfile.mkdtemp(prefix="rowpath-selftest-"))
    bench = Bench(directory)
    others = OtherPrograms()
    try:
        verdicts: list[Verdict] = module.check(bench, full=full)
    except RowpathError as error:
        verdicts = [Verdict(False, str(error), error.hint, "")]
    finally:
        bench.close()
        shutil.rmtree(directory, ignore_errors=True)
    if busy := others.busy():
        verdicts = [_unknown(each, busy) if each.passed is False else each for each in verdicts]
    return verdicts


def _unknown(missed: Verdict, busy: str) -> Verdict:
    """A known answer that was missed on a machine too busy to measure on proves nothing."""
    return replace(missed, passed=None, figure=f"{missed.figure}, but {busy}", busy=busy)
