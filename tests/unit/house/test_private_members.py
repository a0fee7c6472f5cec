"""Tests use private members of our objects in few files only: renaming one breaks one place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]
HELPERS = {
    "conftest.py",  # of pytest: to run a test again
    "engines/insides.py",
    "runners/insides.py",
    "runners/java/insides.py",
    "unit/insides.py",
}
OF_NAMED_TUPLES = {"_replace", "_asdict", "_make", "_fields"}  # public, by Python's documentation


def private_members(text: str) -> Iterator[str]:
    """Every use of a member that begins with one underscore, but of an object by itself or its class."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            if not own and node.attr not in OF_NAMED_TUPLES:
                yield ast.unparse(node)


def test_only_helpers_use_private_members() -> None:
    found = {
        str(file.relative_to(TESTS)): sorted(private_members(file.read_text(encoding="utf-8")))
        for file in TESTS.rglob("*.py")
    }
    assert {file: uses for file, uses in found.items() if uses and file not in HELPERS} == {}
    assert {file for file, uses in found.items() if uses} == HELPERS


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("server._port = 1", ["server._port"]),
        ("made()._files().name", ["made()._files"]),
        ("self._port, cls._made, row._replace(n=1), it.__class__, it.port", []),
    ],
)
def test_a_use_is_seen(text: str, uses: list[str]) -> None:
    assert list(private_members(text)) == uses
