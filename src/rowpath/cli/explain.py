"""`rowpath explain`: where the time of an operation goes."""

from __future__ import annotations

import argparse
import shutil
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from rowpath.cli import explain_flames
from rowpath.cli.plan import plan_for
from rowpath.errors import UsageError
from rowpath.explain.explain import explained
from rowpath.journal.writer import RunDirectory, new_name
from rowpath.machine import processes
from rowpath.model.explanation import Explanation
from rowpath.planning.plan import Plan
from rowpath.report import explanation, live

if TYPE_CHECKING:
    from rich.console import Console

MOST_PATHS = 12
FILE = "explanation.json"


def explain(name: str, filters: dict[str, tuple[str, ...]], options: argparse.Namespace, console: Console) -> int:
    """Each path that the filters keep; 1 when one failed. Errors: UsageError for paths that cannot be explained."""
    if filters.get("placement", ("same",)) != ("same",):
        raise UsageError(
            "explain needs client and server on one core: on two their times overlap and do not add up",
            f"rowpath explain {name}",
        )
    against = explain_flames.parse_against(options.against, name, flame=options.flame)
    same = {"placement": ("same",)}
    plan = chosen(plan_for(name, filters | same, extended=options.all, seed=1), options.phase)
    if against:
        wide = plan_for(name, explain_flames.widened(filters, against) | same, extended=options.all, seed=1)
        plan = explain_flames.with_counterparts(plan, wide, against)
    directory = RunDirectory(options.directory or new_name("explain"))
    directory.create()
    found: list[Explanation] = []
    failures: list[str] = []
    note = live.make(options.quiet, options.color).note
    flames = explain_flames.Flames(directory, note, against)
    after = flames.take if options.flame else None
    try:
        for one in explained(plan, directory, note, failures.append, options.timeout, after):
            found.append(one)
            (directory.path / FILE).write_bytes(msgspec.json.format(msgspec.json.encode(found)) + b"\n")
            explanation.show(one, console, how=options.how)
            flames.show(console)
            console.print()
        flames.show_differences(console)
    except KeyboardInterrupt:
        kept = f"\n\nhint: what was explained until then: {directory.path / FILE}" if found else ""
        print(f"\nerror: interrupted{kept}", file=sys.stderr)
        return 130
    finally:
        processes.stop_all()
        shutil.rmtree(directory.work, ignore_errors=True)
    if found:
        console.print(f"all figures: {directory.path / FILE}", soft_wrap=True, highlight=False)
    for failure in failures:
        print(f"error: {failure}", file=sys.stderr)
    return 1 if failures else 0


def chosen(plan: Plan, phase: str) -> Plan:
    """The plan with only that phase, or with all that read; UsageError where nothing or too much is left."""
    names = plan.experiment.phases
    again = f"rowpath explain {plan.experiment.name}"
    reads = tuple(name for name in names if not plan.phase(name).writes)
    if phase and phase not in names:
        raise UsageError(f"unknown phase '{phase}' of {plan.experiment.name}", f"{again} --phase {(reads or names)[0]}")
    if not reads or (phase and phase not in reads):
        what = f"{phase or 'every phase of ' + plan.experiment.name} writes: explain takes only phases that read"
        raise UsageError(what, f"{again} --phase {reads[0]}" if reads else "rowpath explain tour")
    reads = (phase,) if phase else reads
    paths = [one for one in plan.paths if one.path.engine != "null" and set(reads) & set(one.phases)]
    if not paths:
        raise UsageError(
            f"no path with an engine has {' or '.join(reads)}", f"rowpath run {plan.experiment.name} --plan"
        )
    if len(paths) > MOST_PATHS:
        first = paths[0].path
        raise UsageError(
            f"{len(paths)} paths match: explain takes at most {MOST_PATHS}, about 15 s for each phase of each",
            f"{again} engine={first.engine} language={first.language}",
        )
    for planned in paths:
        if planned.path.clients > 1 or planned.path.threads > 1:
            busy = f"{planned.name} has several threads at work: their times do not add up"
            raise UsageError(busy, f"{again} clients=1 threads=1")
    experiment = msgspec.structs.replace(plan.experiment, phases=reads)
    return replace(plan, experiment=experiment, paths=tuple(paths))
