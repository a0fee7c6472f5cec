"""PROTOCOL.md explains every field, and its map of the runners names files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rowpath.model.workload import ColumnSpec
from rowpath.runners import protocol

RUNNERS = Path(__file__).parents[3] / "runners"
SECTION = "## Where to find what in each runner"


@pytest.mark.parametrize("column", range(1, 7), ids=["c", "java", "csharp", "go", "python", "node"])
def test_the_map_names_files_that_exist(column: int) -> None:
    section = (RUNNERS / "PROTOCOL.md").read_text(encoding="utf-8").partition(SECTION)[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
    folder = RUNNERS / rows[0][column].lower().replace("#", "sharp")
    suffix = {"csharp": ".cs", "java": ".java"}.get(folder.name, "")
    named = [f"{name}{suffix}" for row in rows[2:] for name in re.findall(r"`(.+?)`", row[column])]
    assert len(named) > 15
    assert set(named) <= {file.name for top in ("core", "families") for file in (folder / top).rglob("*")}


def test_every_field_of_every_message_is_explained() -> None:
    page = (RUNNERS / "PROTOCOL.md").read_text(encoding="utf-8")
    words = {word for code in re.findall(r"`([^`\n]+)`", page) for word in re.findall(r"\w+", code)}
    types = [*protocol.REPLIES, *protocol.REPLIES.values(), protocol.PhaseSpec, ColumnSpec]
    types += [protocol.GroupSpec, protocol.GroupTotal, protocol.GroupClient, protocol.ClientSample, protocol.ErrorBody]
    fields = {field for message in types for field in message.__struct_fields__}
    assert len(fields) > 80
    assert fields <= words
