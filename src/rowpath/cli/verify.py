"""`rowpath verify`: every path once, for correctness only."""

from __future__ import annotations

import argparse

from rowpath.cli.options import WILL_RUN, add_option, add_out, add_selection, add_shared, experiment_of, filters_of

if WILL_RUN:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from rowpath.cli.plan import everything, plan_for
    from rowpath.execution.run import run_plan
    from rowpath.execution.run_options import RunOptions
    from rowpath.journal.reader import Records, read
    from rowpath.journal.records import FailureRecord, VerifyRecord
    from rowpath.journal.writer import new_name
    from rowpath.model.availability import with_remedy
    from rowpath.report import live
    from rowpath.report.console import make_console
    from rowpath.text import clean


def add(parser: argparse.ArgumentParser) -> None:
    """The options of `verify`."""
    add_selection(parser)
    add_out(parser, "verify")
    add_shared(parser, "--timeout")
    add_option(parser, "-v --verbose", "show each digest beside the expected one")
    add_shared(parser, "-q --quiet", "--color")


def run(options: argparse.Namespace) -> int:
    """One cheap pass over the experiment's paths, or over all there are; 1 when one is wrong or failed."""
    name, filters = experiment_of(options), filters_of(options)
    plan = plan_for(name or everything(), filters, extended=name is None or options.all, seed=1)
    run_options, directory = RunOptions(timeout_s=options.timeout), options.directory or new_name("verify")
    outcome = run_plan(plan, run_options, directory=directory, progress=live.make(options.quiet, "auto"), measure=False)
    wrong = print_outcome(read(outcome.directory.path), make_console(options.color), verbose=options.verbose)
    return 130 if outcome.interrupted else 1 if wrong else 0


def print_outcome(records: Records, console: Console, *, verbose: bool = False) -> int:
    """Print the table; how many phases of paths were wrong or failed."""
    checked = records.all(VerifyRecord)
    failures = [record for record in records.all(FailureRecord) if record.status in ("wrong", "failed")]
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("path", overflow="fold")
    table.add_column("phases right", justify="right")
    table.add_column("not right", overflow="fold")
    for path_id, path in records.paths.items():
        right = sum(record.ok is True for record in checked if record.path_id == path_id)
        wrong = [
            f"{failure.workload}.{failure.phase} {failure.status}: {failure.text}".lstrip(". ")
            for failure in failures
            if failure.path_id == path_id
        ]
        table.add_row(Text(clean(path.name)), str(right), Text(clean("; ".join(wrong))))
    console.print(table)
    for record in checked if verbose else []:
        mark = "right" if record.ok else "WRONG"
        known = records.paths.get(record.path_id)
        where = f"{known.name if known else record.path_id} {record.workload}.{record.phase}"
        digests = f"{record.digest} (expected {record.expected})"
        console.print(Text(clean(f"{mark}  {where}: {digests}")), soft_wrap=True)
    for dropped in records.dropped:
        console.print(Text(clean(f"not run: {dropped.name}: {with_remedy(dropped.reason, dropped.remedy)}")))
    right = sum(record.ok is True for record in checked)
    bad = sum(failure.path_id in records.paths for failure in failures)
    summary = f"{right} digests are right on {len(records.paths)} paths; {bad} wrong or failed"
    console.print(Text(summary, style="red" if bad else "green"))
    return bad
