"""`rowpath explain` as a person uses it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rowpath.explain import profile
from tests.end_to_end.command import rowpath


def test_a_path_is_divided_by_library(tmp_path: Path) -> None:
    words = ("tour", "engine=sqlite", "language=c", "--phase", "keyed.read", "-q", "--how", "-o", tmp_path / "run")
    done = rowpath("explain", *words)
    assert done.returncode == 0, done.stderr
    assert "SQLite C · keyed.read" in done.stdout
    assert "not explained:" in done.stdout
    (found,) = json.loads((tmp_path / "run" / "explanation.json").read_text())
    names = {part["name"] for part in found["parts"] if part["side"] == "client"}
    assert names >= ({"CPU"} if profile.problem() else {"libsqlite3", "kernel", "our loop and adapter"})
    assert all(part["known_by"] for part in found["parts"])
    assert found["low_ns"] <= found["operation_ns"] <= found["high_ns"]
    assert not (tmp_path / "run" / "work").exists()


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        ((), "no experiment given", "rowpath explain tour"),
        (("tour", "placement=split"), "explain needs client and server on one core", "rowpath explain tour"),
        (
            ("tour", "--phase", "keyed.nothing"),
            "unknown phase 'keyed.nothing' of tour",
            "rowpath explain tour --phase keyed.read",
        ),
        (("clients", "engine=postgresql", "--all"), "paths match", "rowpath explain clients engine="),
        (("load",), "every phase of load writes", "rowpath explain tour"),
        (("tour", "engine=null"), "no path with an engine has keyed.read", "rowpath run tour --plan"),
    ],
)
def test_what_cannot_be_explained(words: tuple[str, ...], error: str, hint: str, tmp_path: Path) -> None:
    done = rowpath("explain", *words, "-o", tmp_path / "run")
    assert done.returncode == 2, done.stdout
    assert error in done.stderr
    assert f"hint: {hint}" in done.stderr
    assert not (tmp_path / "run").exists()
