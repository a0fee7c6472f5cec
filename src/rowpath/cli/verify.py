"""`rowpath verify`: every path once, for correctness only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rowpath.cli.plan import checked_plan, plan_for
from rowpath.journal.reader import Done
from rowpath.journal.writer import Journal, RunDirectory, Scrubber, new_name
from rowpath.planning import disk_estimate

if TYPE_CHECKING:
    from rich.console import Console
from rowpath.cli.plan import everything
from rowpath.execution.run import _execute, build_for, make_progress, write_head


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
        plan = plan_for(name, filters, extended=extended, sets=None, warm_cap_s=None, seed=1)
    run_directory = RunDirectory(directory or new_name("verify"))
    progress = make_progress(quiet, "auto")
    disk_estimate.announce(plan, run_directory.path, progress.note)
    run_directory.create()
    scrubber = Scrubber()
    journal = Journal(run_directory, scrubber)
    options = {"timeout_s": timeout_s, "restart_servers": False}
    write_head(journal, plan, options)  # before building, so that a run stopped there can be resumed too
    build_for(plan, progress)
    outcome = _execute(plan, run_directory, journal, scrubber, progress, options, Done(), measure=False)
    from rowpath.report import verification

    wrong = verification.render(run_directory.samples, console, verbose=verbose)
    return 130 if outcome.interrupted else 1 if wrong else 0
