"""`rowpath compare`: two sides of runs, what changed between them, and whether that fails a gate."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable
from pathlib import Path

from rowpath.cli.options import WILL_RUN, add_option, add_shared, placed, run_directory
from rowpath.errors import UsageError
from rowpath.model.choices import DIFFERENCES

if WILL_RUN:
    from rowpath.analysis.comparison import gate as gating
    from rowpath.analysis.comparison.compare import compare, compare_versions
    from rowpath.analysis.comparison.model import Comparison, Confirmed, GateWords
    from rowpath.analysis.statistics.intervals import SETS_FOR_CLAIMS
    from rowpath.execution.run import run_plan
    from rowpath.execution.run_options import RunOptions
    from rowpath.journal import reader
    from rowpath.model.grouping import grouped
    from rowpath.planning.make_plan import MOST_PAIRS, PathPair, paired_plan
    from rowpath.planning.plan import Plan
    from rowpath.report import comparison as report
    from rowpath.report import comparison_page, junit, live, markdown
    from rowpath.report.comparison import ComparisonOutcome
    from rowpath.report.console import make_console
    from rowpath.report.exports import open_export


CONFIRM_SETS = 10
HINT = "rowpath compare BASE HEAD, with the directories of two runs; several runs a side: BASE1,BASE2"


def add(parser: argparse.ArgumentParser) -> None:
    """The options of `compare`."""
    parser.add_argument("base", metavar="BASE", help="the directory of a run; several runs: BASE1,BASE2")
    later = "the directory of a later run; several runs: HEAD1,HEAD2"
    parser.add_argument("head", metavar="HEAD", nargs="?", help=later)
    versions = "instead of HEAD: two versions of a driver that the run BASE measured in the same sets (42.7.8,FILE)"
    add_option(parser, "--version BASE,HEAD", versions)
    differing = f"compare even if this differs too ({', '.join(DIFFERENCES)})"
    add_option(parser, "--despite WHAT", differing, action="append", choices=DIFFERENCES, default=[])
    beyond = "exit with 1 when a path's interval lies beyond this: slower=5%%, faster=5%%, or a metric that grew: "
    add_option(parser, "--fail-on CHANGE=PERCENT", f"{beyond}client_cpu=5%%", action="append", default=[])
    again = "measure suspicious paths again, both builds in the same sets of one run (a driver's or engine's version)"
    add_option(parser, "--confirm", again)
    add_option(parser, "-r --runs SETS", f"sets of --confirm ({CONFIRM_SETS})", type=int, default=CONFIRM_SETS)
    add_option(parser, "--all", "show every row, not just those that changed")
    for form in ("json", "markdown"):
        add_option(parser, f"--export-{form} FILE", f"also write the comparison as {form} ('-' = stdout)", default=None)
    add_option(parser, "-o --out FILE.html", "also write it as a page", type=Path)
    add_shared(parser, "--junit", "--adapters", "--timeout", "-q --quiet", "--color")


def run(options: argparse.Namespace) -> int:
    """Compare, measure again where asked to, export and show; 1 when a gate fails."""
    if options.runs < SETS_FOR_CLAIMS:
        raise UsageError(f"invalid -r {options.runs}: a claim needs {SETS_FOR_CLAIMS} sets", "-r 10")
    gates = [gating.parse_gate(text) for text in options.fail_on]
    base, head, comparison = _compared(options)
    for gate in gates:
        gating.judge(comparison, gate)  # a gate without rows fails before anything is measured
    exported = {"json": options.export_json, "markdown": options.export_markdown, "junit": options.junit}
    files = {form: open_export(file) for form, file in exported.items() if file}
    confirmed, interrupted = _confirm(comparison, gates, base, head, options) if options.confirm else ([], False)
    comparison = gating.settled(comparison, confirmed)
    judged = tuple(gating.judge(comparison, gate, confirmed) for gate in gates)
    outcome = ComparisonOutcome(comparison, judged, tuple(confirmed))
    if "json" in files:
        report.write_json(outcome, files["json"])
    if "markdown" in files:
        markdown.write_comparison(outcome, files["markdown"])
    if "junit" in files:
        junit.write("rowpath compare", junit.of_comparison(outcome), files["junit"])
    if options.out:
        comparison_page.write(outcome, options.out)
    if "-" not in exported.values():
        other = shlex.quote(options.head) if options.head else f"--version {shlex.quote(options.version)}"
        command = f"rowpath compare {shlex.quote(options.base)} {other} --all"
        report.render(outcome, make_console(options.color), options.all, command)
        if options.out:
            print(f"Page: {options.out}")
    return 130 if interrupted else 1 if outcome.failed else 0


def _compared(options: argparse.Namespace) -> tuple[list[Path], list[Path], Comparison]:
    """The runs of both sides, and their comparison."""
    despite = tuple(dict.fromkeys(options.despite))
    base = _directories(options.base)
    if bool(options.head) == bool(options.version):
        what = "compare takes either HEAD or --version" if options.head else "compare needs a second run"
        raise UsageError(what, "rowpath compare BASE HEAD, or for one run: rowpath compare RUN --version BASE,HEAD")
    if options.head:
        head = _directories(options.head)
        return base, head, compare(base, head, despite)
    versions = tuple(map(placed, options.version.split(",")))
    if len(versions) != 2 or not all(versions) or len(base) != 1:
        what = f"invalid --version '{options.version}': expected two versions of one run"
        raise UsageError(what, "--version 42.7.8,FILE")
    return base, base, compare_versions(base[0], (versions[0], versions[1]), despite)


def _confirm(
    comparison: Comparison, gates: list[GateWords], base: list[Path], head: list[Path], options: argparse.Namespace
) -> tuple[list[Confirmed], bool]:
    """The suspicious rows measured again, as far as both builds can run here; whether that was interrupted."""
    rows = gating.suspicious(comparison, gates)
    possible = [row for row in rows if gating.two_builds(row)]
    impossible = [gating.not_possible(row, gating.SAME_BUILD) for row in rows if row not in possible]
    of_paths = grouped(possible, lambda row: row.base_path)
    chosen = list(of_paths)[:MOST_PAIRS]
    too_many = f"more than {MOST_PAIRS} paths are suspicious"
    impossible += [gating.not_possible(row, too_many) for row in possible if row.base_path not in chosen]
    recorded = {path_id: path for run in (*base, *head) for path_id, path in reader.read(run).paths.items()}
    run_record = reader.read(head[0]).run

    def plan_of(pairs: Iterable[PathPair]) -> Plan:
        return paired_plan(run_record.experiment, run_record.workloads, [*pairs], options.runs)

    pairs: dict[str, PathPair] = {}
    for base_path in chosen:
        of_path = of_paths[base_path]
        base_side, head_side = (recorded[path_id].coordinates for path_id in (base_path, of_path[0].head_path))
        phases = tuple(dict.fromkeys(f"{row.workload}.{row.phase}" for row in of_path))
        pair = PathPair(of_path[0].name, base_side, head_side, phases)
        try:
            plan_of([pair])
        except UsageError as error:
            impossible += [gating.not_possible(row, error.message) for row in of_path]
        else:
            pairs[base_path] = pair
    if not pairs:
        return impossible, False
    progress = live.make(options.quiet, options.color)
    plan = plan_of(pairs.values())
    outcome = run_plan(plan, RunOptions(timeout_s=options.timeout), directory=None, progress=progress)
    rows = [row for row in possible if row.base_path in pairs]
    return gating.outcomes(rows, outcome.directory.path) + impossible, outcome.interrupted


def _directories(word: str) -> list[Path]:
    """The run directories that a word names; a directory may have a comma in its name."""
    names = [word] if Path(word).is_dir() else word.split(",")
    return [run_directory(Path(name), HINT) for name in names]
