"""Two clones share the cache: what cargo compiled for one is not taken for the other's."""

from __future__ import annotations

import importlib.util
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from rowpath.runners.manifest import toolchain

rust: Any = toolchain("rust")
HOUR_S = 3600


def test_each_clone_has_a_program_of_its_own_sources(tmp_path: Path) -> None:
    """Also where the second one's files are older than what was compiled for the first."""
    if problem := rust.tools_problem():
        pytest.skip(str(problem))
    clones = [clone(tmp_path / name, name) for name in ("first", "second")]
    built = [each.Program("null", each.FOLDER / "adapters" / "null.rs").built().read_bytes() for each in clones]
    assert [b"of the first" in text for text in built] == [True, False]
    assert [b"of the second" in text for text in built] == [False, True]


def clone(place: Path, name: str) -> Any:
    """The toolchain of a copy whose program has a word of its own, and whose files are an hour old."""
    shutil.copytree(rust.FOLDER, place)
    source = place / "adapters" / "null.rs"
    word = f'#[used]\nstatic OF: &str = "of the {name}";\n'
    source.write_text(source.read_text(encoding="utf-8") + word, encoding="utf-8")
    for file in place.rglob("*"):
        os.utime(file, (time.time() - HOUR_S,) * 2)
    spec = importlib.util.spec_from_file_location(f"toolchain_of_the_{name}", place / "toolchain.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
