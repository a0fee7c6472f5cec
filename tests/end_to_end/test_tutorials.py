"""The commands of the tutorials and of the quick start run as they are written; their screens show the same paths."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.command import ROOT, environment
from tests.script import script

pytestmark = pytest.mark.apart
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
PAGES = [ROOT / "docs" / "quick-start.md", *TUTORIALS]


@pytest.fixture(scope="module")
def results() -> Any:
    return script("docs_results")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`rowpath` beside other tests."""
    file = tmp_path_factory.mktemp("bin") / "rowpath"
    file.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tests.end_to_end.undisturbed "$@"\n')
    file.chmod(0o755)
    return file


def test_every_tutorial_shows_a_run(results: Any) -> None:
    for page in TUTORIALS:
        first = results.steps(page.read_text(encoding="utf-8"))[0]
        assert first.command.startswith(f"rowpath run {page.stem} "), page
        assert len(results.paths_shown(first.screen)) >= 2, page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_its_commands_run(page: Path, results: Any, program: Path, tmp_path: Path) -> None:
    for step in results.steps(page.read_text(encoding="utf-8")):
        done = results.run(shortened(step.command), tmp_path, program, environment())
        assert done.returncode == 0, done.stdout + done.stderr
        if step.screen:
            export = f"rowpath show {directory(step.command)} --export-csv -"
            measured = results.run(export, tmp_path, program, environment()).stdout
            assert [name for name in results.paths_shown(step.screen) if name not in measured] == []
            ours, theirs = step.screen.splitlines(), results.screen_of(done.stdout, tmp_path).splitlines()
            assert ours[-2:] == theirs[-2:]


def shortened(command: str) -> str:
    """One set, hardly warmed up: more of it changes the figures of a screen, not what stands on it."""
    shorter = re.sub(r" -w \S+", "", command)
    return re.sub(r"(?<=rowpath run )(\S+)(?: --fast)?", r"\1 -r 1 -w 0.05", shorter)


def directory(command: str) -> str:
    """Where a command leaves its run."""
    words = command.split()
    return words[words.index("-o") + 1]
