"""`rowpath run`: an experiment, a tape, or a run to resume."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowpath.cli import options as shared
from rowpath.cli.options import SHARED_EXPORTS, WILL_RUN, Filters, add_option
from rowpath.errors import UsageError
from rowpath.model.choices import TIMEOUT_S, WAIT_FOR_QUIET_S

if WILL_RUN:
    from rowpath.analysis.rankings import paths_to_repeat
    from rowpath.cli import arguments
    from rowpath.cli import plan as planning
    from rowpath.cli.output import finish, open_exports
    from rowpath.execution import run as execution
    from rowpath.execution.run_options import RunOptions
    from rowpath.planning.estimate import estimate, estimate_s
    from rowpath.planning.overrides import Overrides
    from rowpath.planning.plan import Plan
    from rowpath.recording.replayed import replayed
    from rowpath.report import live
    from rowpath.report.console import make_console

if TYPE_CHECKING:
    from rowpath.hosts.session import Session


# What a resumed run takes: how it is shown, how patient it is, and the files of its adapters.
WITH_RESUME = {
    *SHARED_EXPORTS,
    "--resume",
    "--plan",
    "--gate",
    "--junit",
    "--quiet",
    "--tables",
    "--color",
    "--timeout",
    "--wait-for-quiet",
    "--adapters",
}


def add(parser: argparse.ArgumentParser) -> None:
    """The options of `run`."""
    shared.add_selection(parser)
    tape = "replay this tape instead of using a server; without EXPERIMENT: run what it recorded"
    add_option(parser, "--tape FILE", tape, type=Path)
    add_option(parser, "--driver NAMES", "short for driver=NAMES")
    own_build = "files of your own build (a jar, a wheel or folder, a libpq.so), measured in the same sets"
    releases = f"short for version=VERSIONS: releases of --driver (42.7.8) and {own_build}"
    add_option(parser, "--version VERSIONS", releases)
    shared.add_out(parser, "NAME")
    resuming = "resume an interrupted run, with its own options; finished sets are not repeated"
    add_option(parser, "--resume DIR", resuming, type=Path)
    add_option(parser, "--plan", "show what would run, what would not and why, and the estimated time")
    article = "(embedded-or-server: 1 is the article's million operations)"
    scale = f"scale factor for rows and operations, for experiments that define one {article}"
    add_option(parser, "--scale S", scale, type=float, default=0.0)
    loop = "(open loop; Poisson arrivals, or equal spacing with ,fixed)"
    rate = f"client groups: start operations at this rate regardless of completions {loop}"
    add_option(parser, "-R --rate [GROUP=]PER_S[,fixed]", rate, action="append", default=[])
    bound = "search for the client group's highest rate with a 99th percentile of latency below MS"
    add_option(parser, "--p99 GROUP=MS", bound)
    add_option(parser, "--seconds S", "length of each stage of client groups", type=float, default=0.0)
    presets = parser.add_mutually_exclusive_group()
    add_option(presets, "--fast", "3 sets: provisional figures, no claims")
    add_option(presets, "--rigorous", "10 sets at full size, servers restarted for each")
    add_option(presets, "-r --runs SETS", "number of sets", type=int)
    within = (
        "end within this time (3m, 90s), with fewer sets, rounds and rows where needed; shows the cost in certainty"
    )
    shared.add_time(presets, "--within", 1.0, within)
    add_option(parser, "-w --warmup SECONDS", "longest warm-up per path and phase", type=float)
    shared.add_hosts(parser, "clients and servers on the hosts of this file (docs/hosts.md)")
    waiting = f"wait at most this long in total for other programs to leave the measured cores ({WAIT_FOR_QUIET_S:g}s)"
    shared.add_time(parser, "--wait-for-quiet", 0.0, waiting, WAIT_FOR_QUIET_S)
    shared.add_shared(parser, "--seed", "--timeout", "--together")
    add_option(parser, "--gate", "exit with 1 when a path failed or returned wrong rows")
    shared.add_shared(parser, "--junit", "-q --quiet", "--tables", *SHARED_EXPORTS, "--color")
    # So that --resume can tell one that was given from the one that the run began with.
    parser.set_defaults(timeout=None, wait_for_quiet_s=None)


def run(options: argparse.Namespace) -> int:
    """Run, report and export; 130 when interrupted, 1 when --gate fails."""
    if options.resume:  # it goes on as it began: no word or option says what to measure
        parser = arguments.commands()["run"]
        names = arguments.option_names(parser)
        given = {key: value for key, value in vars(options).items() if value not in (None, [], ())}
        named = [*given.pop("words", ()), *given.pop("filters", ())]
        changed = [names[key] for key in names if key in given and given[key] != parser.get_default(key)]
        if foreign := [*named, *(name for name in changed if name not in WITH_RESUME)]:
            what = f"--resume does not take '{foreign[0]}': what is measured comes from the run directory"
            raise UsageError(what, f"rowpath run --resume {options.resume}")
    if options.wait_for_quiet_s is None:
        options.wait_for_quiet_s = WAIT_FOR_QUIET_S
    filters = shared.filters_of(options)
    begun_s = time.monotonic()
    with contextlib.ExitStack() as cleanup:
        source = execution.hosts_of(options.resume) if options.resume else shared.source_of_hosts(options)
        hosts = None
        if source:
            from rowpath.cli.hosts import joined  # a run without hosts loads nothing of them

            if options.tape:
                raise UsageError("a tape is replayed on this machine only", "remove --hosts, or --tape")
            hosts = cleanup.enter_context(joined(source))
        return _run(options, filters, hosts, begun_s)


def _run(options: argparse.Namespace, filters: Filters, hosts: Session | None, begun_s: float) -> int:
    """`rowpath run` on this machine or on the hosts that have been joined; joining is a part of `--within`."""
    if options.resume:
        return _resume(options, hosts)

    def spent_s() -> float:
        return time.monotonic() - begun_s if hosts is not None else 0.0

    plan, cost = _planned(options, filters, hosts, spent_s())
    if options.plan:
        _print_plan(plan, cost, hosts, options.color)
        return 0
    if cost and not options.quiet:
        print(cost, file=sys.stderr)
    if options.all and not options.quiet:
        print(f"{len(plan.paths)} paths, estimated time {estimate_s(plan) / 60:.0f} min", file=sys.stderr)
    exports = open_exports(options)
    outcome = execution.run_plan(
        plan,
        RunOptions(
            timeout_s=TIMEOUT_S if options.timeout is None else options.timeout,
            wait_for_quiet_s=options.wait_for_quiet_s,
            within_s=options.within_s,
            spent_s=spent_s(),
            restart_servers=options.rigorous,
        ),
        directory=options.directory,
        progress=live.make(options.quiet, options.color),
        together=tuple(options.together),
        paths_to_repeat=paths_to_repeat,
        tape=options.tape,
        hosts=hosts,
        hosts_source=options.hosts or options.cluster,
    )
    return finish(outcome, options, exports)


def _resume(options: argparse.Namespace, hosts: Session | None) -> int:
    """`rowpath run --resume`, or with `--plan` what it would do."""
    if options.plan:
        rest = execution.rest_of(options.resume, hosts)
        if rest is None:
            raise UsageError(f"nothing is left of {options.resume}: it is complete", f"rowpath show {options.resume}")
        left_s = estimate(rest.plan, rest.records.done.sets).total_s
        _print_plan(rest.plan, f"left of it: {left_s / 60:.1f} min; complete sets are kept", hosts, options.color)
        return 0
    exports = open_exports(options)
    outcome = execution.resume(
        options.resume,
        progress=live.make(options.quiet, options.color),
        timeout_s=options.timeout,
        wait_for_quiet_s=options.wait_for_quiet_s,
        paths_to_repeat=paths_to_repeat,
        hosts=hosts,
    )
    return finish(outcome, options, exports)


def _planned(options: argparse.Namespace, filters: Filters, hosts: Session | None, spent_s: float) -> tuple[Plan, str]:
    """The plan of the experiment or the tape, and what `--within` costs. Errors: UsageError."""
    name = shared.experiment_of(options)
    if name is None and not options.tape:
        raise UsageError("no experiment given", "rowpath list experiments, then: rowpath run NAME")
    experiment: Any = name
    if options.tape:
        experiment, filters = replayed(options.tape, name, filters)
    sets = 3 if options.fast else 10 if options.rigorous else options.runs
    sizes = options.warmup, options.scale, options.rate, options.p99, options.seconds
    overrides = Overrides(sets, *sizes, options.rigorous)
    more: dict[str, Any] = {"extended": options.all, "seed": options.seed, "hosts": hosts}
    if options.within_s:
        plan, cost = planning.plan_within(experiment, filters, overrides, options.within_s, spent_s=spent_s, **more)
    else:
        plan, cost = planning.plan_for(experiment, filters, overrides, **more), ""
    if options.version:
        planning.check_versions(plan, filters["version"])
    return plan, cost


def _print_plan(plan: Plan, cost: str, hosts: Session | None, color: str) -> None:
    planning.print_plan(plan, make_console(color), cost)
    if hosts is not None:
        from rowpath.cli import hosts as joining

        for line in joining.print_plan(hosts, plan):
            make_console(color).print(line, highlight=False, soft_wrap=True)
