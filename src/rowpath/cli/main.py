"""The command line: one function per command, each importing what it needs when it runs."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import io
import itertools
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowpath.cli.arguments import EXPORTS, parse, placed
from rowpath.errors import RowpathError, UsageError
from rowpath.machine import disk_space
from rowpath.model.availability import with_remedy

if TYPE_CHECKING:
    from rich.console import Console

    from rowpath.analysis.model import Analysis
    from rowpath.execution.run import Outcome
    from rowpath.hosts.session import Session


INTERRUPT_AGAIN_S = 0.05


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGHUP, _interrupt)
    signal.signal(signal.SIGALRM, _interrupt)
    sys.unraisablehook = _not_raised
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a locale that lacks a character must not end a run
    try:
        options = parse(arguments)
        if getattr(options, "adapters", None):
            from rowpath.engines import join_file
            from rowpath.runners.manifest import add_external, engine_files

            for file in engine_files(options.adapters):
                join_file(file)
            add_external(options.adapters)
        return COMMANDS[options.command](options)
    except RowpathError as error:
        return _tell(error)
    except KeyboardInterrupt:
        print("\nerror: interrupted\n\nhint: the results so far are kept: rowpath run --resume DIR", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of stdout has gone (head, less): nothing more to say, also not at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if disk_space.is_full(error):
            return _tell(disk_space.error(Path(getattr(error, "filename", None) or Path.cwd()), str(error)))
        traceback.print_exc()
        print(f"error: {type(error).__name__}: {error}\n\nhint: report it with the lines above", file=sys.stderr)
        return 4


def _tell(error: RowpathError) -> int:
    print(f"error: {error.message}", file=sys.stderr)
    if error.hint:
        print(f"\nhint: {error.hint}", file=sys.stderr)
    return error.exit_code


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def _not_raised(lost: sys.UnraisableHookArgs) -> None:
    """An interruption that arrived where none can be raised (while a process is forked) comes again a moment later."""
    if lost.exc_type is KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, INTERRUPT_AGAIN_S)
    else:
        sys.__unraisablehook__(lost)


def run(options: argparse.Namespace) -> int:
    """`rowpath run`."""
    from rowpath.execution import run as execution

    filters = _filters(options)
    if options.resume and (options.words or filters or options.hosts):
        raise UsageError(
            "--resume takes no other options: they come from the run directory",
            f"rowpath run --resume {options.resume}",
        )
    with contextlib.ExitStack() as cleanup:
        file = execution.hosts_file_of(options.resume) if options.resume else options.hosts
        hosts = cleanup.enter_context(_joined(file, options)) if file else None
        return _run(options, filters, hosts)


def _joined(file: Path, options: argparse.Namespace) -> contextlib.AbstractContextManager[Session]:
    """The hosts of a file, for a run."""
    from rowpath.cli import hosts

    if options.within_s:
        raise UsageError("--within does not work with --hosts yet", "-r SETS, or --fast")
    if options.tape:
        raise UsageError("a tape is replayed on this machine only", "remove --hosts, or --tape")
    return hosts.joined(file)


def _run(options: argparse.Namespace, filters: dict[str, tuple[str, ...]], hosts: Session | None) -> int:
    """`rowpath run` on this machine or on the hosts that have been joined."""
    from rowpath.analysis.wide_intervals import paths_to_repeat
    from rowpath.cli import plan as planning
    from rowpath.execution import run as execution
    from rowpath.planning.estimate import estimate_s
    from rowpath.planning.overrides import Overrides
    from rowpath.report import live

    if options.resume:
        exports = _open_exports(options)
        outcome = execution.resume(
            options.resume,
            progress=live.make(options.quiet, options.color),
            timeout_s=options.timeout,
            wait_for_quiet_s=options.wait_for_quiet_s,
            paths_to_repeat=paths_to_repeat,
            hosts=hosts,
        )
    else:
        name = _experiment(options)
        if name is None and not options.tape:
            raise UsageError("no experiment given", "rowpath list experiments, then: rowpath run NAME")
        experiment: Any = name
        if options.tape:
            from rowpath.recording.replayed import replayed

            experiment, filters = replayed(options.tape, name, filters)
        overrides = Overrides(
            3 if options.fast else 10 if options.rigorous else options.runs,
            options.warmup,
            options.scale,
            options.rate,
            options.p99,
            options.seconds,
            options.rigorous,
        )
        more = {"extended": options.all, "seed": options.seed}
        if options.within_s:
            plan, cost = planning.plan_within(experiment, filters, overrides, options.within_s, **more)
        else:
            plan, cost = planning.plan_for(experiment, filters, overrides, **more, hosts=hosts), ""
        if options.version:
            planning.check_versions(plan, filters["version"])
        if options.plan:
            planning.print_plan(plan, _console(options.color), cost)
            if hosts is not None:
                from rowpath.cli import hosts as joining

                for line in joining.print_plan(hosts, planning.host_pairs(plan)):
                    _console(options.color).print(line, highlight=False, soft_wrap=True)
            return 0
        if cost and not options.quiet:
            print(cost, file=sys.stderr)
        if options.all and not options.quiet:
            print(f"{len(plan.paths)} paths, estimated time {estimate_s(plan) / 60:.0f} min", file=sys.stderr)
        exports = _open_exports(options)
        outcome = execution.run_plan(
            plan,
            directory=options.directory,
            progress=live.make(options.quiet, options.color),
            timeout_s=options.timeout,
            wait_for_quiet_s=options.wait_for_quiet_s,
            within_s=options.within_s,
            restart_servers=options.rigorous,
            together=tuple(options.together),
            paths_to_repeat=paths_to_repeat,
            tape=options.tape,
            hosts=hosts,
            hosts_file=options.hosts,
        )
    return _finish(outcome, options, exports)


def _finish(
    outcome: Outcome, options: argparse.Namespace, exports: dict[str, Any], analysis: Analysis | None = None
) -> int:
    """Report a run; `analysis`: where it has been analysed already."""
    from rowpath.analysis.analyse import analyse
    from rowpath.report import html

    analysis = analysis or analyse(outcome.directory.path)
    html.write(analysis, outcome.directory.report)
    _write_exports(analysis, exports)
    _print_answer(analysis, options, outcome.directory.path, outcome.directory.report)
    if outcome.interrupted:
        print(f"\nerror: interrupted\n\nhint: rowpath run --resume {outcome.directory.path}", file=sys.stderr)
        return 130
    if getattr(options, "gate", False) and any(result.status in ("wrong", "failed") for result in analysis.results):
        return 1
    return 0


def _print_answer(analysis: Analysis, options: argparse.Namespace, directory: Path, page: Path | None) -> None:
    """The answer on a screen, or with `--tables` everything."""
    from rowpath.report import terminal, terminal_tables
    from rowpath.report.console import make_console

    to_stderr = _data_on_stdout(options)
    if options.tables:
        terminal_tables.render(analysis, make_console(options.color, to_stderr), page)
    else:
        terminal.render(analysis, make_console(options.color, to_stderr, terminal.WIDTH), directory, page)


def probe(options: argparse.Namespace) -> int:
    """`rowpath probe`."""
    from rowpath.machine import processes
    from rowpath.probe import command
    from rowpath.probe.options import ProbeOptions
    from rowpath.report import live

    wanted = ProbeOptions(**{field.name: getattr(options, field.name) for field in dataclasses.fields(ProbeOptions)})
    exports = _open_exports(options)
    try:
        outcome, analysis = command.probe(wanted, live.make(options.quiet, options.color))
    finally:
        processes.stop_all()
    return _finish(outcome, options, exports, analysis)


def verify(options: argparse.Namespace) -> int:
    """`rowpath verify`."""
    from rowpath.cli import verify as verification

    return verification.verify(_experiment(options), _filters(options), options, _console(options.color))


def explain(options: argparse.Namespace) -> int:
    """`rowpath explain`."""
    from rowpath.cli import explain as explaining

    if not options.words:
        raise UsageError("no experiment given", "rowpath explain tour engine=postgresql language=c")
    return explaining.explain(options.words, _filters(options), options, _console(options.color))


def record(options: argparse.Namespace) -> int:
    """`rowpath record`."""
    from rowpath.cli import tape

    return tape.record(options, parse_filters(options.filters))


def replay(options: argparse.Namespace) -> int:
    """`rowpath replay`."""
    from rowpath.cli import tape

    return tape.replay(options)


def list_things(options: argparse.Namespace) -> int:
    """`rowpath list`."""
    from rowpath.cli import list as listing

    filters = parse_filters(options.filters)
    if filters and options.what != "paths":
        raise UsageError(f"list {options.what} takes no filter", "rowpath list paths engine=sqlite")
    lines: dict[str, Callable[[], Iterator[str]]] = {
        "engines": listing.engines,
        "drivers": listing.drivers,
        "workloads": listing.workloads_lines,
        "experiments": listing.experiments_lines,
        "paths": lambda: listing.paths(filters),
    }
    for line in lines[options.what]():
        print(line)
    return 0


def engine(options: argparse.Namespace) -> int:
    """`rowpath engine`."""
    from rowpath.cli import engine as engine_command

    wanted = parse_filters(options.filters)
    named = options.action in ("fetch", "up") or (options.action == "down" and not options.all)
    if len(options.words) != named:
        what = "one NAME is needed" if named else "it takes no NAME"
        raise UsageError(f"engine {options.action}: {what}", "rowpath engine list")
    if wanted and options.action != "up":
        raise UsageError(f"engine {options.action} takes no COORDINATE=VALUE", "rowpath engine up NAME durability=none")
    lines: dict[str, Callable[[], Iterator[str]]] = {
        "list": engine_command.engines,
        "fetch": lambda: engine_command.fetch(options.words[0], confirmed=options.yes),
        "up": lambda: engine_command.up(options.words[0], wanted, tuple(options.load)),
        "down": lambda: engine_command.down_all() if options.all else engine_command.down(options.words[0]),
        "status": engine_command.status,
    }
    for line in lines[options.action]():
        print(line, flush=True)
    return 0


def hosts(options: argparse.Namespace) -> int:
    """`rowpath hosts`."""
    from rowpath.cli import hosts as hosts_command

    if options.action == "node":
        return hosts_command.node_program()
    for line in hosts_command.lines(options.action, options.words):
        print(line, flush=True)
    return 0


def adapter(options: argparse.Namespace) -> int:
    """`rowpath adapter`."""
    wanted = parse_filters(options.filters)
    if options.action == "new":
        from rowpath.cli import adapter_new

        for line in adapter_new.new(options.words, wanted, options.into):
            print(line)
        return 0
    from rowpath.checks.conformance import report, targets

    paths = targets.paths_of(options.words, wanted, "every" if options.every else "values")
    return report.run(paths, _console(options.color))


def doctor(options: argparse.Namespace) -> int:
    """`rowpath doctor`."""
    from rowpath.cli import doctor as checks

    checks.render(_console(options.color))
    return 0


def show(options: argparse.Namespace) -> int:
    """`rowpath show`."""
    from rowpath.analysis.analyse import analyse
    from rowpath.cli import projection

    directory = _run_directory(options.directory)
    if projection.is_wanted(options):
        return projection.run(options, directory, parse_filters(options.filter_words))
    exports = _open_exports(options)
    analysis = analyse(directory, tuple(options.together))
    _write_exports(analysis, exports)
    if not _data_on_stdout(options):
        page = directory / "report.html"
        _print_answer(analysis, options, directory, page if page.exists() else None)
    return 0


def report(options: argparse.Namespace) -> int:
    """`rowpath report`."""
    from rowpath.analysis.analyse import analyse
    from rowpath.report import html

    directory = _run_directory(options.directory)
    target = options.out or directory / "report.html"
    html.write(analyse(directory, tuple(options.together)), target)
    print(target)
    return 0


def compare(options: argparse.Namespace) -> int:
    """`rowpath compare`."""
    from rowpath.cli import compare as comparing

    return comparing.run(options)


def site(options: argparse.Namespace) -> int:
    """`rowpath site`."""
    from rowpath.cli import site as building

    return building.run(options)


def selftest(options: argparse.Namespace) -> int:
    """`rowpath selftest`."""
    from rowpath.checks import selftest as known_answers

    return known_answers.run(options.tests, full=options.full, console=_console(options.color))


def setup(options: argparse.Namespace) -> int:
    """`rowpath setup`: fetch and build all that can run here."""
    from rowpath.model.path import AccessPath
    from rowpath.planning.availability import pruned
    from rowpath.runners.manifest import availability, build, every_adapter

    console = _console(options.color, to_stderr=True)
    ready, special = [], []
    for adapter in every_adapter():
        here = availability(adapter, adapter.versions[0])
        if here.ok:
            ready += [(adapter, version) for version in adapter.versions]
        else:
            why = with_remedy(here.reason, here.remedy)
            console.print(f"skipped {adapter.language} {adapter.driver}: {why}", highlight=False)
        for key in ("concurrency", "implementation"):
            for one, version in itertools.product(adapter.coordinates.get(key, ()), adapter.versions):
                named = {"language": adapter.language, "driver": adapter.driver, "version": version, key: one}
                path = AccessPath.of(named)
                special += [path] if not pruned(adapter, path) and availability(adapter, version, path).ok else []
    build(ready, lambda text: console.print(text, highlight=False), special)
    return 0


def _run_directory(directory: Path) -> Path:
    if not (directory / "samples.jsonl").is_file():
        raise UsageError(
            f"{directory} is not a run directory: it has no samples.jsonl",
            "rowpath show DIR, with the directory of a run",
        )
    return directory


def _experiment(options: argparse.Namespace) -> str | None:
    """The only experiment named; None where there is none."""
    if len(options.words) > 1:
        names = " ".join(options.words)
        raise UsageError(f"expected one experiment, got {len(options.words)}: {names}", "rowpath run NAME")
    return options.words[0] if options.words else None


def _filters(options: argparse.Namespace) -> dict[str, tuple[str, ...]]:
    words = list(options.filters)
    for key, option in (("statement", "mode"), ("driver", "driver"), ("version", "version")):
        if value := getattr(options, option, ""):
            words.append(f"{key}={value}")
    return parse_filters(words)


def parse_filters(words: list[str]) -> dict[str, tuple[str, ...]]:
    """`key=a,b` words as a mapping; UsageError for anything else."""
    filters: dict[str, tuple[str, ...]] = {}
    for word in words:
        key, equals, values = word.partition("=")
        if not equals or not values:
            raise UsageError(
                f"expected COORDINATE=VALUE, got '{word}'", "for example: engine=sqlite,postgresql language=c"
            )
        filters[key] = tuple(values.split(","))
    if "version" in filters:
        filters["version"] = tuple(map(placed, filters["version"]))
    return filters


def _console(color: str, to_stderr: bool = False) -> Console:
    from rowpath.report.console import make_console

    return make_console(color, to_stderr=to_stderr)


def _data_on_stdout(options: argparse.Namespace) -> bool:
    return any(getattr(options, f"export_{form}") == "-" for form in EXPORTS)


def _open_exports(options: argparse.Namespace) -> dict[str, Any]:
    from rowpath.report.exports import open_exports

    files = {form: getattr(options, f"export_{form}") for form in EXPORTS}
    return open_exports({form: file for form, file in files.items() if file})


def _write_exports(analysis: Analysis, exports: dict[str, Any]) -> None:
    from rowpath.report.exports import write_exports

    write_exports(analysis, exports)


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "run": run,
    "probe": probe,
    "explain": explain,
    "record": record,
    "replay": replay,
    "verify": verify,
    "list": list_things,
    "engine": engine,
    "hosts": hosts,
    "adapter": adapter,
    "doctor": doctor,
    "show": show,
    "report": report,
    "compare": compare,
    "site": site,
    "selftest": selftest,
    "setup": setup,
}
