"""The core of every runner knows no engine and no driver: it names none, not even in a comment, and no family."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.runners.manifest import languages, load_manifest

RUNNERS = Path(__file__).parents[3] / "runners"
LANGUAGES = languages()
# Floors and kinds of files, which the protocol names; interfaces of many drivers, which a language's library may have.
WORDS = {"null", "null-promise", "ping", "drain", "raw", "file", "jdbc", "odbc"}
OTHERS = {"berkeley", "db2", "innodb", "sqlx"}
LEAST_LETTERS = 5  # a shorter name is looked for as a word: others have its letters too
FAMILY = re.compile(r"\bfamilies\b")


def names() -> set[str]:
    """Engines and drivers, as the project and people call them."""
    drivers = {adapter.driver for language in LANGUAGES for adapter in load_manifest(language).adapter}
    return (set(ENGINES) | drivers | OTHERS) - WORDS


def core(language: str) -> list[Path]:
    return sorted(file for file in (RUNNERS / language / "core").rglob("*") if "__pycache__" not in file.parts)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_core_names_no_engine_and_no_driver(language: str) -> None:
    forms = [name if len(name) >= LEAST_LETTERS else rf"(?<![a-z]){name}(?![a-z])" for name in sorted(names())]
    named = re.compile("|".join(forms), re.IGNORECASE)
    files = core(language)
    assert len(files) > 20
    lines = [(file, line) for file in files for line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)]
    # A method of C#'s library has Derby's letters.
    found = [f"{file.name}:{at}: {line}" for file, (at, line) in lines if named.search(line.replace("OrderBy", ""))]
    assert found == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_core_takes_nothing_from_families(language: str) -> None:
    headers = {header.name for header in (RUNNERS / "c" / "families").rglob("*.h")}
    for file in core(language):
        text = file.read_text(encoding="utf-8")
        assert not FAMILY.search(text), file
        assert not headers & set(re.findall(r'#include "(.+?)"', text)), file
