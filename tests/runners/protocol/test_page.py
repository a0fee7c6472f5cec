"""PROTOCOL.md explains every field, codec.md a column's, and the map of the runners names what is there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

from rowpath.model.workload import ColumnSpec
from rowpath.runners import protocol

RUNNERS = Path(__file__).parents[3] / "runners"
SECTION = "## Where to find what in each runner"


LANGUAGES = ("C", "Java", "C#", "Go", "Python", "Node", "Rust")
SUFFIXES = {"C#": ".cs", "Java": ".java"}  # of classes, which the map names without


def tables() -> list[list[list[str]]]:
    """The section's tables, row by row: the map, and the files of a core that have no counterpart."""
    section = (RUNNERS / "PROTOCOL.md").read_text(encoding="utf-8").partition(SECTION)[2].partition("\n## ")[0]
    parts = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)
    return [[[cell.strip() for cell in row.strip("|").split("|")] for row in part.splitlines()] for part in parts]


def files(language: str, cells: Iterable[str]) -> set[str]:
    return {f"{name}{SUFFIXES.get(language, '')}" for cell in cells for name in re.findall(r"`(.+?)`", cell)}


def folder(language: str) -> Path:
    return RUNNERS / language.lower().replace("#", "sharp")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_map_names_files_that_exist(language: str) -> None:
    table = tables()[0]
    column = table[0].index(language)
    named = files(language, (row[column] for row in table[2:]))
    assert len(named) > 15
    assert named <= {file.name for top in ("core", "families") for file in (folder(language) / top).rglob("*")}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_file_of_a_core_is_in_the_map_or_has_no_counterpart(language: str) -> None:
    table, alone = tables()
    column = table[0].index(language)
    mapped = files(language, (row[column] for row in table[2:]))
    words = (word for row in alone[2:] for word in re.findall(r"([^`]+?) ((?:`[^`]+`(?:, )?)+)", row[0]))
    own = {name for languages, names in words if language in languages.split(", ") for name in files(language, [names])}
    there = {file.name for file in (folder(language) / "core").iterdir() if file.name != "__pycache__"}
    assert there - mapped - own == set()
    assert own <= there
    assert own & mapped == set()


def marked(page: Path) -> set[str]:
    """The words that a page shows as code."""
    codes = re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8"))
    return {word for code in codes for word in re.findall(r"\w+", code)}


def test_every_field_of_every_message_is_explained() -> None:
    types = [*protocol.REPLIES, *protocol.REPLIES.values(), protocol.PhaseSpec]
    types += [protocol.GroupSpec, protocol.GroupTotal, protocol.GroupClient, protocol.ClientSample, protocol.ErrorBody]
    fields = {field for message in types for field in message.__struct_fields__}
    assert len(fields) > 80
    assert fields <= marked(RUNNERS / "PROTOCOL.md")


def test_every_field_of_a_column_is_explained() -> None:
    fields = {field.name for field in msgspec.structs.fields(ColumnSpec)}
    assert len(fields) > 10
    assert fields <= marked(RUNNERS.parent / "docs" / "codec.md")
