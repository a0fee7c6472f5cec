"""Completions and the manual page: current, and right where a shell asks them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rowpath.cli import arguments
from tests.script import script

ROOT = Path(__file__).parents[3]
BASH = ROOT / "share" / "bash-completion" / "completions" / "rowpath"
ASK = """. "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"
_shtab_rowpath rowpath "${COMP_WORDS[COMP_CWORD]}"; printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(name="files", scope="module")
def files_fixture() -> Any:
    return script("shell_files").files()


def test_every_file_is_current(files: dict[str, str]) -> None:
    assert len(files) == 4
    for name, text in files.items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, f"{name}: make docs"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["ru"], ["run"]),
        (["run", "tou"], ["tour"]),
        (["run", "tour", "--fa"], ["--fast"]),
        (["list", "dri"], ["drivers"]),
        (["run", "tour", "-o", "s"], ["schemas", "scripts", "share", "src"]),
        (["show", "READ"], []),
        (["probe", "--query-file", "READ"], ["README.md"]),
    ],
)
def test_bash_completes(words: list[str], found: list[str]) -> None:
    done = subprocess.run(
        ["bash", "-c", ASK, "-", BASH, "rowpath", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert sorted(filter(None, done.stdout.splitlines())) == found


def test_the_manual_names_every_command_and_option(files: dict[str, str]) -> None:
    page = files["share/man/man1/rowpath.1"].replace(r"\-", "-").replace(r"\fB", "")
    assert page.startswith('.TH ROWPATH 1 "" "rowpath ')
    for name, parser in arguments.commands().items():
        section = page.partition(f"\n.SS rowpath {name}\n")[2].partition("\n.S")[0]
        options = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", parser.format_usage()))
        assert options <= set(re.findall(r"(?<![\w-])--[a-z][\w-]*", section)), name
    # A line that begins with a dot or an apostrophe is a request of troff's.
    assert set(re.findall(r"^[.'](\w*)", page, re.MULTILINE)) == {"TH", "SH", "SS", "TP"}
