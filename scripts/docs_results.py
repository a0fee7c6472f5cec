"""Measures again what documents show: screens of tutorials and of explain.md, results of question pages, the picture.

`make docs-results` does all of it, on a quiet machine in an hour and a half. With pages named, only those; `--run DIR`
takes the result of one question page, or of one table of five-tables.md, five-articles.md or wires.md, from a run,
and that of faults-matrix.md from one of `rowpath faults --all`.

Every `sh` block of these pages is a command that runs (`console` blocks do not). The next plain block in a
tutorial is the screen that it prints; tests/end_to_end/test_tutorials.py runs them too. What a question page shows of
its run stands between `<!-- begin result -->` and `<!-- end result -->`; five-tables.md, five-articles.md, wires.md and
the pages of layers have such a place for each experiment, begun by `<!-- begin result of NAME -->`. The end mark holds
a hash, so that an edit by hand is found.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

from rowpath import text as fmt  # noqa: E402
from rowpath.analysis.analyse import analyse  # noqa: E402
from rowpath.analysis.answer_model import Bar, PhaseAnswer  # noqa: E402
from rowpath.analysis.chapters import ladder  # noqa: E402
from rowpath.analysis.chapters.published import CLAIMS, PUBLISHED  # noqa: E402
from rowpath.analysis.model import Analysis, ClaimCheck  # noqa: E402
from rowpath.faults.kinds import FAULTS  # noqa: E402
from rowpath.faults.matrix import FILE, Journal  # noqa: E402
from rowpath.report import faults, markdown  # noqa: E402
from rowpath.report.markdown import escaped  # noqa: E402

PROGRAM = ROOT / "rowpath"
DOCS = ROOT / "docs"
TUTORIALS = DOCS / "tutorials"
QUESTIONS = DOCS / "questions"
TABLES = DOCS / "five-tables.md"
ARTICLES = DOCS / "five-articles.md"
WIRES = DOCS / "wires.md"
LAYERS = sorted(DOCS.glob("layers-*.md"))
MATRIX = DOCS / "faults-matrix.md"  # of a run of `rowpath faults --all`, which takes hours: only by --run
EXPLAIN = DOCS / "explain.md"
PICTURE = DOCS / "images" / "page.png"
WIDTH = 120
NOT_RELEASED = ("build", "compiler", "runtime", "implementation")  # of what a path's worker reports
MEASURED = "Measured on "  # what the line of date and machine begins with
STEP = re.compile(
    r"^```sh\n(?P<command>.*?)^```\n(?:(?:(?!^```).)*^```\n(?P<screen>.*?)^```\n)?", re.MULTILINE | re.DOTALL
)
RESULT = re.compile(
    r"(?P<begin><!-- begin result(?: of (?P<name>\S+))? -->\n)(?P<shown>.*?)<!-- end result(?: \w+)? -->",
    re.DOTALL,
)
DRAWN = re.compile("[█▏▎▍▌▋▊▉]")
BAR = re.compile(r"^[╭│╰ ] (\S.*?)  +[█▏▎▍▌▋▊▉]+ ")


@dataclass(frozen=True)
class Step:
    """A command of a page, and the screen shown after it (None: there is none); where that stands in the page."""

    command: str
    screen: str | None
    span: tuple[int, int]


def steps(page: str) -> list[Step]:
    """The commands of a page, in their order."""
    return [Step(found["command"], found["screen"], found.span("screen")) for found in STEP.finditer(page)]


def paths_shown(screen: str) -> list[str]:
    """The names of the paths that have a bar, each once."""
    return list(dict.fromkeys(found[1] for line in screen.splitlines() if (found := BAR.match(line))))


def run(command: str, folder: Path, program: Path, added: Mapping[str, str] = {}) -> subprocess.CompletedProcess[str]:
    """A command as a user types it, in `folder`, with `program` as `rowpath`."""
    (folder / ".bin").mkdir(exist_ok=True)
    link = folder / ".bin" / "rowpath"
    if not link.exists():
        link.symlink_to(program)
    path = f"{link.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **added, "PATH": path, "COLUMNS": "100"}
    return subprocess.run(
        ["sh", "-eu", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def measured(command: str, folder: Path) -> str:
    """The screen that the command prints; it must end well."""
    print(f"  {command.strip()}", flush=True)
    done = run(command, folder, PROGRAM)
    if done.returncode != 0:
        raise SystemExit(f"error: it ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return screen_of(done.stdout, folder)


def screen_of(printed: str, folder: Path) -> str:
    """What a command printed in `folder`, as a page shows it: without that folder and without spaces at line ends."""
    return "".join(f"{line.rstrip()}\n" for line in printed.replace(f"{folder}/", "").splitlines())


def renew_tutorial(page: Path) -> None:
    """Run its commands one after the other, and show the screens that they print; a refused run replaces no screen."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        screens = [(step, measured(step.command, Path(folder))) for step in steps(text)]
    for step, screen in reversed(screens):
        if step.screen and not DRAWN.search(screen):
            print(f"  the page keeps its old screen:\n{screen}", file=sys.stderr)
        elif step.screen is not None:
            text = text[: step.span[0]] + screen + text[step.span[1] :]
    page.write_text(text, encoding="utf-8")


def renew_question(page: Path, directory: Path | None = None) -> None:
    """Show the result of its command, or of a run that is there already; a refused run replaces no result."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if directory is None:
            beside(page, place)
            measured(f"{steps(text)[0].command.strip()} -o result\n", place)
        analysis = analyse(directory or place / "result")
    if analysis.refusal and MEASURED in text:
        print(f"  the page keeps its old result: {analysis.refusal}", file=sys.stderr)
        return
    page.write_text(RESULT.sub(lambda found: found["begin"] + sealed(result(analysis)), text), encoding="utf-8")


def beside(page: Path, folder: Path) -> None:
    """Link the page's own experiment into the folder; without one it runs an experiment that comes with Rowpath."""
    if page.with_suffix(".toml").exists():
        (folder / page.with_suffix(".toml").name).symlink_to(page.with_suffix(".toml"))


def result(analysis: Analysis) -> str:
    """What a question page shows of its run: the answer, a table for each ranking shown, versions, machine, date."""
    answer = analysis.answer
    parts = [f"**{wrapped(escaped(analysis.refusal))}**"] if analysis.refusal else []
    parts.append("\n".join(wrapped(f"- {escaped(fmt.clean(each))}", "  ") for each in answer.sentences))
    parts += [f"{wrapped(escaped(title(phase)))}\n\n{table(phase)}" for phase in answer.phases]
    parts += [wrapped(f"Trust: {escaped(answer.trust.line)}."), wrapped(escaped(machine(analysis)))]
    parts.append("\n".join(wrapped(f"- {escaped(line)}", "  ") for line in versions(analysis)))
    return "".join(f"{part}\n\n" for part in parts if part).rstrip("\n") + "\n"


def renew_tables(page: Path, directory: Path | None = None) -> None:
    """Run the experiment of each table, or take one from a run; a refused run replaces no result."""
    given = analyse(directory) if directory else None
    shown = ladders if page in LAYERS else article_result if page == ARTICLES else table_result
    with tempfile.TemporaryDirectory() as folder:
        beside(page, Path(folder))

        def renewed(found: re.Match[str]) -> str:
            name = found["name"]
            if given is not None and given.run.experiment.name != name:
                return found[0]
            if given is None:
                command = (
                    steps(page.read_text(encoding="utf-8"))[0].command if page in LAYERS else f"rowpath run {name}"
                )
                measured(f"{command.strip()} -o {name}\n", Path(folder))
            analysis = given or analyse(Path(folder) / name)
            if analysis.refusal and MEASURED in found["shown"]:
                print(f"  {name} keeps its old result: {analysis.refusal}", file=sys.stderr)
                return found[0]
            return found["begin"] + sealed(shown(analysis))

        text = RESULT.sub(renewed, page.read_text(encoding="utf-8"))
    page.write_text(text, encoding="utf-8")


def renew_matrix(page: Path, directory: Path) -> None:
    """Show every cell as shipped of a run of faults."""
    shipped = [cell for cell in Journal(directory).cells() if not cell.settings]
    seen = [cell for cell in shipped if cell.end != "not applicable"]
    drivers = {(cell.language, cell.driver) for cell in seen}
    paths = {cell.path for cell in seen}
    cells = sorted((cell for cell in shipped if cell.path in paths), key=lambda cell: cell.path)
    day = datetime.date.fromtimestamp((directory / FILE).stat().st_mtime)
    shown = f"{MEASURED}{day:%-d %B %Y}: {len(drivers)} drivers, {len(seen):,} cells, one observation each.\n"
    shown += "".join(f"\n{markdown.table(grid)}\n" for grid in faults.grids(cells, FAULTS))
    text = RESULT.sub(lambda found: found["begin"] + sealed(shown), page.read_text(encoding="utf-8"))
    page.write_text(text, encoding="utf-8")


def sealed(shown: str) -> str:
    """A result with its end mark: the mark's hash shows a result that was edited by hand."""
    return f"{shown}<!-- end result {hashlib.sha256(shown.encode()).hexdigest()[:12]} -->"


def table_result(analysis: Analysis, *, path_named: bool = False) -> str:
    """What is shown of a published table that was run again: both figures as ratios, every claim, trust, machine.

    Of an experiment that no published table is of: what is shown of a question.
    """
    if not PUBLISHED.of(analysis):
        return result(analysis)
    rows = [
        f"| published column | row | published | × |{' path here |' if path_named else ''} here | × |",
        f"| --- | --- | --: | --: |{' --- |' if path_named else ''} --: | --: |",
    ]
    for each in PUBLISHED.of(analysis):
        published = f"{fmt.count(each.value)} {each.unit}", fmt.ratio(each.ratio)
        name = (escaped(each.measured_name or fmt.MISSING),) if path_named else ()
        here = fmt.figure(each.measured_value, each.unit), fmt.ratio(each.measured_ratio)
        rows.append(f"| {' | '.join((escaped(each.column), escaped(each.row), *published, *name, *here))} |")
    parts = [f"**{wrapped(escaped(analysis.refusal))}**"] if analysis.refusal else []
    parts.append("\n".join(rows))
    not_testable = {each.id for each in analysis.run.experiment.claims if each.check.kind == "not-testable"}
    verdicts = ((each, "not testable" if each.id in not_testable else each.outcome) for each in CLAIMS.of(analysis))
    parts.append("\n".join(wrapped(f"- **{verdict}**: {escaped(_claim(each))}", "  ") for each, verdict in verdicts))
    parts.append(f"{wrapped(f'Trust: {escaped(analysis.answer.trust.line)}.')}\n{wrapped(escaped(machine(analysis)))}")
    return "\n\n".join(parts) + "\n"


def article_result(analysis: Analysis) -> str:
    """The same of an article, whose rows are no drivers: also the path that stands for each."""
    return table_result(analysis, path_named=True)


def ladders(analysis: Analysis) -> str:
    """What each layer adds, a table for each driver and operation; trust, versions, machine."""
    parts = [f"**{wrapped(escaped(analysis.refusal))}**"] if analysis.refusal else []
    parts += [markdown.table(ladder.grid(each)) for each in ladder.CHAPTER.of(analysis)]
    parts.append(f"{wrapped(f'Trust: {escaped(analysis.answer.trust.line)}.')}\n{wrapped(escaped(machine(analysis)))}")
    parts.append("\n".join(wrapped(f"- {escaped(line)}", "  ") for line in versions_by_driver(analysis)))
    return "\n\n".join(parts) + "\n"


def versions_by_driver(analysis: Analysis) -> Iterator[str]:
    """Of each driver, with which the names of its paths begin, its version, its engine's and its layers'."""
    found: dict[str, dict[str, str]] = {}
    for each in analysis.path_details:
        released = {what: text for what, text in each.versions.items() if what not in NOT_RELEASED}
        found.setdefault(each.name.partition(" ")[0], {}).update(released)
    return (f"{driver}: {', '.join(f'{what} {text}' for what, text in said.items())}" for driver, said in found.items())


def _claim(checked: ClaimCheck) -> str:
    return f"{checked.claim}: {checked.figure}" if checked.figure else checked.claim


def wrapped(text: str, indent: str = "") -> str:
    """Lines of at most 120 characters."""
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def title(phase: PhaseAnswer) -> str:
    """What is ranked, and which paths are not and why."""
    unranked = "; ".join(f"{name} ({reason})" for name, reason in phase.unranked.items())
    said = f"{phase.title} ({phase.regime}, {phase.sets} sets)"
    return f"{said}. Not ranked: {unranked}." if unranked else f"{said}:"


def table(phase: PhaseAnswer) -> str:
    """The ranked paths, fastest first; tied ones have the same place."""
    rows = [
        "| place | path | time | × | 95 % | client CPU | server CPU |",
        "| --: | --- | --: | --: | --- | --: | --: |",
    ]
    place = 0
    for at, bar in enumerate(phase.bars, 1):
        place = place if bar.tied else at
        rows.append(f"| {' | '.join((str(place), *cells(bar)))} |")
    return "\n".join(rows) if phase.bars else "Nothing is ranked."


def cells(bar: Bar) -> tuple[str, ...]:
    """Those of a ranked path."""
    interval = "" if bar.ratio_low == bar.ratio_high else fmt.interval(bar.ratio_low, bar.ratio_high)
    times = (fmt.duration(each) if each is not None else "–" for each in (bar.client_cpu_ns, bar.server_cpu_ns))
    return escaped(bar.name), fmt.duration(bar.cost_ns), fmt.ratio(bar.ratio), interval, *times


def machine(analysis: Analysis) -> str:
    """When and on what it was measured."""
    here = analysis.run.environment
    kind = "virtual machine, " if here.get("virtualised") else ""
    return (
        f"{MEASURED}{analysis.run.started[:10]}: {kind}{here.get('processor')}, {here.get('cpus')} cores, "
        f"{here.get('distribution')}, kernel {here.get('kernel')}, Python {here.get('python')}, "
        f"Rowpath {analysis.run.rowpath}, seed {analysis.run.seed}."
    )


def versions(analysis: Analysis) -> Iterator[str]:
    """Of each path its driver's and engine's version, paths of the same versions in one line."""
    found: dict[str, list[str]] = {}
    for each in analysis.path_details:
        said = ", ".join(f"{what} {each.versions[what]}" for what in ("driver", "engine") if what in each.versions)
        found.setdefault(said, []).append(each.name)
    return (f"{', '.join(names)}: {said}" for said, names in found.items())


def renew_picture() -> None:
    """Draw the first screen of a run of `tour`; a refused run replaces no picture."""
    with tempfile.TemporaryDirectory() as folder:
        measured("rowpath run tour --within 3m -o tour\n", Path(folder))
        if refusal := analyse(Path(folder) / "tour").refusal:
            print(f"  the picture stays: {refusal}", file=sys.stderr)
            return
        subprocess.run(
            [ROOT / "scripts" / "page-picture.sh", Path(folder) / "tour" / "report.html", PICTURE], check=True
        )


def main() -> int:
    """Renew the pages named, or all and the picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pages", metavar="PAGE", nargs="*", type=Path, help="pages below docs/ (default: all)")
    parser.add_argument("--run", metavar="DIR", type=Path, help="the run to show on one page")
    options = parser.parse_args()
    pages = [page.resolve() for page in options.pages]
    of_tables = (TABLES, ARTICLES, WIRES, *LAYERS)
    of_runs = (*of_tables, MATRIX)
    if options.run and (len(pages) != 1 or (pages[0].parent != QUESTIONS and pages[0] not in of_runs)):
        named = ", ".join(f"docs/{page.name}" for page in of_runs)
        parser.error(f"--run needs one page: of docs/questions, or {named}")
    if MATRIX in pages and not options.run:
        parser.error(f"{MATRIX.name} needs --run DIR, the directory of `rowpath faults --all`")
    for page in pages or (*sorted(QUESTIONS.glob("*.md")), *of_tables, *sorted(TUTORIALS.glob("*.md")), EXPLAIN):
        print(page.relative_to(ROOT), flush=True)
        if page == MATRIX:
            renew_matrix(page, options.run)
        elif page in of_tables:
            renew_tables(page, options.run)
        elif page.parent == QUESTIONS:
            renew_question(page, options.run)
        else:
            renew_tutorial(page)
    if not pages:
        print(PICTURE.relative_to(ROOT), flush=True)
        renew_picture()
    return 0


if __name__ == "__main__":
    sys.exit(main())
