"""Known-answer tests: the proof that the instrument is true. Each has a tolerance, and each can fail.

One function per test, numbered as in docs/method.md; `run` executes them one after another and prints a table.
"""

from __future__ import annotations

import contextlib
import importlib
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from rowpath.checks.selftest.bench import Bench, Skipped, Verdict
from rowpath.errors import RowpathError, UsageError
from rowpath.machine.counters.core_users import OtherPrograms
from rowpath.toml_file import suggest

if TYPE_CHECKING:
    from rich.console import Console

MARKS = {True: ("passed", "green"), False: ("FAILED", "red"), None: ("skipped", "yellow")}
TESTS = {
    "null-operation": "known_costs.null_operation",
    "burn": "known_costs.burn",
    "bytes": "known_costs.counted_bytes",
    "system-calls": "known_costs.system_calls",
    "memory": "known_costs.peak_memory",
    "disk": "known_costs.disk_writes",
    "stalls": "latency.stalls",
    "queue": "latency.stopped_server",
    "a-a": "inference.a_a",
    "warm-up": "inference.warm_up",
    "digest": "delivered_rows.digest",
    "scaling-law": "inference.scaling_law",
    "hog": "neighbours.hog",
    "failed-operations": "delivered_rows.failed_operations",
    "lazy-driver": "delivered_rows.lazy_driver",
    "periodic-pause": "latency.periodic_pause",
    "block-length": "inference.block_length",
    "link": "latency.linked",
    "quiet-cores": "neighbours.quiet_cores",
    "layers": "delivered_rows.layers",
    "faults": "faults.faults",
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
    module_name, _, function = TESTS[name].partition(".")
    check = getattr(importlib.import_module(f"rowpath.checks.selftest.{module_name}"), function)
    with (
        tempfile.TemporaryDirectory(prefix="rowpath-selftest-", ignore_cleanup_errors=True) as directory,
        contextlib.closing(Bench(Path(directory))) as bench,
    ):
        others = OtherPrograms()
        try:
            verdicts: list[Verdict] = list(check(bench, full=full))
        except Skipped as skipped:
            verdicts = [Verdict(None, *skipped.args)]
        except RowpathError as error:
            verdicts = [Verdict(False, str(error), error.hint, "")]
    if busy := others.busy():
        # A known answer that was missed on a machine too busy to measure on proves nothing.
        verdicts = [
            replace(verdict, passed=None, figure=f"{verdict.figure}, but {busy}", busy=busy)
            if verdict.passed is False
            else verdict
            for verdict in verdicts
        ]
    return verdicts
