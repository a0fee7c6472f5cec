"""JUnit XML: what fails makes the command end with 1; what is not known is skipped; foreign text is harmless."""

from __future__ import annotations

import io
from xml.etree import ElementTree

import msgspec

from rowpath.analysis.comparison.model import ComparedRow, Comparison, Gate, GateWords
from rowpath.report.comparison import ComparisonOutcome
from rowpath.report.junit import Case, of_comparison, of_run, write
from tests.golden.analysis_fixture import analysis

SLOWER = ComparedRow("C TCP", "scan", "read", "steady", "a", "a", "time", "ns", "slower", ratio=1.2, low=1.1, high=1.3)
SAME = msgspec.structs.replace(SLOWER, name="Python", outcome="no difference shown", ratio=1.0, low=0.9, high=1.1)
REFUSED = msgspec.structs.replace(SLOWER, name="Java", outcome="not comparable", reason="too busy")
COMPARISON = Comparison((), (), False, (), (SLOWER, SAME, REFUSED), (), ("gone",), ())
GATE = Gate(GateWords("slower=5%", "time", True, 0.05), failed=(0,), undecided=1, compared=2)


def outcomes(cases: list[Case]) -> dict[str, str]:
    return {case.name: case.outcome for case in cases}


def test_a_row_fails_where_a_gate_fails() -> None:
    cases = list(of_comparison(ComparisonOutcome(COMPARISON, (GATE,))))
    assert outcomes(cases) == {"C TCP": "failed", "Python": "passed", "Java": "skipped", "gone": "skipped"}
    assert cases[0].of == "scan.read · steady slower=5%"
    assert cases[0].text == "1.20× (1.10–1.30): slower"


def test_without_a_gate_nothing_fails() -> None:
    assert "failed" not in outcomes(list(of_comparison(ComparisonOutcome(COMPARISON)))).values()


def test_a_run_fails_where_its_gate_fails() -> None:
    whole = analysis()
    bad = {(f"{one.workload}.{one.phase}", one.name) for one in whole.results if one.status in ("wrong", "failed")}
    cases = list(of_run(whole))
    assert bad
    assert {(case.of, case.name) for case in cases if case.outcome == "failed"} == bad
    assert len([case for case in cases if case.of == "paths that did not run"]) == len(whole.dropped) > 0
    assert len({(case.of, case.name) for case in cases}) == len(cases)


def test_the_file_counts_its_cases_and_holds_foreign_text_as_text() -> None:
    file = io.StringIO()
    write(
        "a",
        [Case("of", "b", "failed", "<&\x00\x1b[31m\n]]>"), Case("of", "c", "skipped"), Case("o", "d", "passed")],
        file,
    )
    root = ElementTree.fromstring(file.getvalue().encode())
    (suite,) = root
    assert (root.tag, suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("testsuites", "3", "1", "1")
    assert [[inner.tag for inner in case] for case in suite] == [["failure"], ["skipped"], []]
    assert suite[0][0].get("message") == "<& ]]>"
