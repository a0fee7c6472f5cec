"""The Python runner's layout: what the core may know, and which families each adapter rests on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rowpath.runners.manifest import Adapter, load_manifest

SOURCE = Path(__file__).parents[3] / "runners" / "python"
FAMILY = re.compile(r"\bfamilies\.(\w+)")


def families_of(files: list[Path]) -> set[str]:
    """The families that these files import, and the families that those import."""
    found: set[str] = set()
    while files:
        new = set(FAMILY.findall("".join(file.read_text() for file in files))) - found
        found |= new
        files = [file for name in new for file in (SOURCE / "families" / name).glob("*.py")]
    return found


@pytest.mark.parametrize("adapter", load_manifest("python").adapter, ids=lambda adapter: adapter.driver)
def test_an_adapter_declares_the_families_that_it_rests_on(adapter: Adapter) -> None:
    files = [SOURCE / name for name in (adapter.source, *adapter.build.get("more_sources", ()))]
    assert list(adapter.build.get("families", ())) == sorted(families_of(files))


def test_every_family_is_some_adapters() -> None:
    manifest = load_manifest("python")
    used = {name for adapter in manifest.adapter for name in adapter.build.get("families", ())}
    used |= families_of([SOURCE / layer.source for layer in manifest.layer])
    assert {folder.name for folder in (SOURCE / "families").iterdir() if folder.name != "__pycache__"} == used


def test_the_core_imports_neither_families_nor_adapters() -> None:
    outside = re.compile(r"^\s*(from|import) (families|adapters)", re.MULTILINE)
    core = list((SOURCE / "core").glob("*.py"))
    assert len(core) > 20
    assert [file.name for file in core if outside.search(file.read_text())] == []
