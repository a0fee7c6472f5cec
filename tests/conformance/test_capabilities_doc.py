"""docs/capabilities.md says what the manifests say. (What the suite saw: compared when it has ended, see plugin.py.)"""

from __future__ import annotations

from tests.conformance.plugin import capabilities
from tests.conformance.selection import project_paths

from rowpath.runners.driver_facts import drivers
from rowpath.runners.manifest import every_adapter

PAGE = capabilities().PAGE.read_text()


def test_the_sections_made_of_manifests_are_current() -> None:
    page = capabilities()
    coordinates = page.table(
        ["adapter", "engine", "deployment", "serves", "coordinates"],
        [page.coordinates(each) for each in every_adapter()],
    )
    missing = page.table(
        ["adapter", "point", "reason"], [row for adapter in every_adapter() for row in page.missing(adapter)]
    )
    assert coordinates in PAGE
    assert missing in PAGE


def test_each_driver_has_its_facts() -> None:
    facts = PAGE.partition(f"## {capabilities().FACTS}")[2]
    for adapter, _version in drivers():
        assert f"\n| {adapter.language} {adapter.driver} |" in facts


def test_no_table_names_an_adapter_that_is_not_there() -> None:
    names = {f"{path.adapter.language} {path.adapter.driver}" for path in project_paths()}
    for section in capabilities().OBSERVED_SECTIONS:
        rows = {row for row, _column in capabilities().cells(PAGE, section)}
        assert rows
        assert {" ".join(row.split()[:2]) for row in rows} <= names


def test_what_is_not_on_the_page_is_found() -> None:
    changed = PAGE.replace("| c libpq server | yes | yes | no | yes |", "| c libpq server | no | yes | no | yes |")
    assert changed != PAGE
    assert capabilities().contradictions(PAGE, PAGE) == []
    (found,) = capabilities().contradictions(PAGE, changed)
    assert found == "Behaviours of drivers, c libpq server, cancellation honoured: no was seen"
