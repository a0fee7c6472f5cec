"""Findings about layers: a statement for each object, and one too many."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath.analysis.analyse import analyse
from rowpath.report.view import view
from tests.unit import journal_factory as factory
from tests.unit.analysis.findings.test_findings import found

FILM, PERSON, OTHER = "SELECT film", "SELECT person", "SELECT review"
ABOVE = "postgresql server python psycopg transport=tcp"
PATHS = [
    factory.path("by hand", f"{ABOVE} layer=none technique=queries profile=tuned", {"films.film": 100_000}),
    factory.path("orm", f"{ABOVE} layer=some-orm technique=none profile=tuned", {"films.film": 200_000}),
]


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ([FILM, PERSON], set()),
        ([FILM, PERSON, PERSON], {"more-statements-than-by-hand"}),
        (["BEGIN", FILM, PERSON, "ROLLBACK"], {"more-statements-than-by-hand"}),
        ([FILM, *[PERSON] * 3], {"more-statements-than-by-hand", "statement-for-each-object"}),
    ],
)
def test_what_a_layer_sends(tmp_path: Path, sent: list[str], expected: set[str]) -> None:
    def bend(records: list[factory.Record]) -> None:
        for record in records:
            if record["record"] == "counted":
                texts = [FILM, OTHER] if "layer=none" in record["path_id"] else sent
                record |= {"sql": texts, "statements": len(texts) * record["operations"]}

    findings = found(tmp_path, bend, paths=PATHS)
    of_layers = {name: one for name, one in findings.items() if "statement" in name}
    assert set(of_layers) == expected
    assert all(finding.paths == ("orm",) for each in of_layers.values() for finding in each)


def test_a_paths_row_opens_to_the_statements_of_one_operation(tmp_path: Path) -> None:
    records = factory.records(factory.Run(paths=PATHS))
    for record in records:
        if record["record"] == "counted" and "some-orm" in record["path_id"]:
            record |= {"sql": [FILM, *[PERSON] * 3], "statements": 4 * record["operations"]}
    shown = view(analyse(factory.write(tmp_path, records)))
    panels = {row.name: row.panel for row in shown.lead[0].rows}
    assert {name: panel.query for name, panel in panels.items() if panel} == {
        "by hand": "",
        "orm": f"{FILM}\n3 × {PERSON}",
    }
