"""JUnit XML, which services that run builds show as tests: of `compare`, of a run, of `adapter test`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, Literal, NamedTuple
from xml.etree import ElementTree

from rowpath import text as fmt
from rowpath.analysis.model import Analysis
from rowpath.model.grouping import grouped
from rowpath.report.comparison import ComparisonOutcome, confirmed_line, place

FAILED = ("wrong", "failed")  # statuses of a path that `--gate` does not let pass


class Case(NamedTuple):
    """One test: `of` is the class that services group by, `text` why it failed or was left out, or what was seen."""

    of: str
    name: str
    outcome: Literal["passed", "failed", "skipped"]
    text: str = ""


def write(suite: str, cases: Iterable[Case], file: IO[str]) -> None:
    """Write the cases as one suite, and flush: nothing is lost when the command ends with 1."""
    listed = list(cases)
    root = ElementTree.Element("testsuites")
    counts = {
        "tests": str(len(listed)),
        "failures": str(sum(case.outcome == "failed" for case in listed)),
        "errors": "0",
        "skipped": str(sum(case.outcome == "skipped" for case in listed)),
    }
    parent = ElementTree.SubElement(root, "testsuite", {"name": fmt.clean(suite), **counts})
    for case in listed:
        text = fmt.clean(case.text)
        element = ElementTree.SubElement(
            parent, "testcase", {"classname": fmt.clean(case.of), "name": fmt.clean(case.name)}
        )
        if case.outcome == "passed":
            if text:
                ElementTree.SubElement(element, "system-out").text = text
        else:
            kind = "failure" if case.outcome == "failed" else "skipped"
            ElementTree.SubElement(element, kind, {"message": text})
    ElementTree.indent(root)
    file.write(f"<?xml version='1.0' encoding='UTF-8'?>\n{ElementTree.tostring(root, encoding='unicode')}\n")
    file.flush()


def of_run(analysis: Analysis) -> Iterator[Case]:
    """A case for each path in each phase; it fails as `--gate` does. What could not run is skipped, with the reason."""
    for (of, name), results in grouped(analysis.results, lambda one: (f"{one.workload}.{one.phase}", one.name)).items():
        bad = next((one for one in results if one.status in FAILED), None)
        runs = [one for one in results if one.status != "unsupported"]
        if bad is not None:
            yield Case(of, name, "failed", f"{bad.status}: {bad.reason}")
        elif not runs:
            yield Case(of, name, "skipped", results[0].reason)
        else:
            yield Case(of, name, "passed")
    for dropped in analysis.dropped:
        yield Case("paths that did not run", dropped.path.id, "skipped", dropped.reason)


def of_comparison(outcome: ComparisonOutcome) -> Iterator[Case]:
    """A case for each compared row and gate of its metric, failed where the gate fails; without gates none fails."""
    again = {row.where: row for row in outcome.confirmed}
    for position, row in enumerate(outcome.comparison.rows):
        gates = [gate for gate in outcome.gates if gate.words.metric == row.metric]
        found = f"{fmt.ratio(row.ratio)} ({fmt.interval(row.low, row.high)}): {row.outcome}"
        if row.metric == "time" and row.where in again:
            found += f"; measured again: {confirmed_line(again[row.where])}"
        for gate in gates or (None,):
            of = f"{place(row)} {gate.words.text}" if gate else f"{place(row)} {row.metric}"
            if row.outcome == "not comparable":
                yield Case(of, row.name, "skipped", row.reason)
            else:
                yield Case(of, row.name, "failed" if gate and position in gate.failed else "passed", found)
    for where, names in (("base", outcome.comparison.only_base), ("head", outcome.comparison.only_head)):
        for name in names:
            yield Case("paths of one side", name, "skipped", f"only in {where}")
