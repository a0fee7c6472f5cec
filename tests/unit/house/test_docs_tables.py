"""The generated blocks of the documents are current, and show engines and drivers that are added from outside."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from rowpath.analysis.findings import RULES
from rowpath.engines import ENGINES
from rowpath.runners.manifest import every_adapter
from tests.script import script

ROOT = Path(__file__).parents[3]
PAGES = sorted((ROOT / "docs").rglob("*.md"))


@pytest.fixture(scope="module")
def tables() -> Any:
    return script("docs_tables")


def test_every_generated_block_is_current(tables: Any) -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert tables.renewed(text, every_adapter(), ENGINES) == text, (
            f"{page.relative_to(ROOT)} is not current: make docs"
        )


def test_every_block_stands_in_one_page(tables: Any) -> None:
    found = [name for page in PAGES for _, name, _ in tables.BLOCK.findall(page.read_text(encoding="utf-8"))]
    assert sorted(found) == sorted(tables.BLOCKS)


def test_a_block_that_is_not_known_is_an_error(tables: Any) -> None:
    with pytest.raises(KeyError):
        tables.renewed("<!-- begin generated: nonsense -->\n<!-- end generated -->", every_adapter(), ENGINES)


def test_an_engine_and_a_language_from_outside_are_shown(tables: Any) -> None:
    toy = msgspec.structs.replace(
        next(iter(every_adapter())),
        language="toylang",
        driver="toydriver",
        engines=("toyengine",),
        deployments=("embedded",),
        coordinates={"toyknob": ("low", "high"), "fetch": ("block:7",)},
    )
    engine: Any = SimpleNamespace(deployments=("embedded",), durabilities=("full",))
    adapters, engines = [*every_adapter(), toy], {**ENGINES, "toyengine": engine}
    values = tables.coordinate_values(tuple(adapters), engines)
    assert "toyengine" in values["engine"]
    assert "toylang" in values["language"]
    assert "toydriver" in values["driver"]
    assert values["toyknob"] == ("low", "high")
    assert values["fetch"].count("block:n") == 1
    assert "- `toyknob`: `low`, `high`. Only of toydriver\n" in tables.coordinates(adapters, engines)
    assert "| `toyengine` | embedded | – | full | toylang |\n" in tables.engines(adapters, engines)
    assert "| toylang | `toydriver` | toyengine | embedded |\n" in tables.drivers(adapters, engines)
    assert "| Toylang | – | – | – |\n" in tables.languages(adapters, engines)


def test_every_finding_states_its_severities(tables: Any) -> None:
    for name, rule in RULES.items():
        assert tables.severities_of(rule), name
