"""`rowpath verify`: every path once, for correctness only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rowpath.cli.plan import checked_plan, everything, plan_for
from rowpath.execution.run import run_plan
from rowpath.journal.writer import new_name
from rowpath.report import live, verification

if TYPE_CHECKING:
    from rich.console import Console


def verify(
    name: str | None,
    filters: dict[str, tuple[str, ...]],
    *,
    extended: bool,
    directory: Path | None,
    quiet: bool,
    timeout_s: float,
    verbose: bool,
    console: Console,
) -> int:
    """One cheap pass over every path; 1 when one is wrong or failed."""
    if name is None:
        plan = checked_plan(everything(), filters, extended=True, seed=1)
    else:
        plan = plan_for(name, filters, extended=extended, seed=1)
    outcome = run_plan(
        plan,
        directory=directory or new_name("verify"),
        progress=live.make(quiet, "auto"),
        timeout_s=timeout_s,
        measure=False,
    )
    wrong = verification.render(outcome.directory.samples, console, verbose=verbose)
    return 130 if outcome.interrupted else 1 if wrong else 0
