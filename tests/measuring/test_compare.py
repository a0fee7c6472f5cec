"""A driver made slower on purpose: `compare` measures it again in the same sets, calls it slower, and ends with 1."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.end_to_end.command import rowpath

SLOWED = Path(__file__).parents[1] / "fakes" / "slowed_driver"
TRUE_RATIO = 1.3  # a noisy machine may hide 5 %: `make bench` has that figure
MISSED = 1.1  # one interval in twenty misses the truth, but not by that


@pytest.fixture(scope="module", name="runs")
def runs_fixture(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run with the driver's version 1, then one with its version 1.3."""
    folder = tmp_path_factory.mktemp("slowed")
    text = (SLOWED / "experiment.toml").read_text(encoding="utf-8").replace("warm_cap_s = 0.5", "warm_cap_s = 0.1")
    found = []
    for version in ("1", "1.3"):
        experiment = folder / f"version-{version}.toml"
        experiment.write_text(text.replace('version = "1"', f'version = "{version}"'), encoding="utf-8")
        done = rowpath("run", experiment, "--adapters", SLOWED / "adapters.toml", "-o", folder / version, "-q")
        assert done.returncode == 0, done.stderr
        found.append(folder / version)
    return found[0], found[1]


def compared(runs: tuple[Path, Path], tmp_path: Path, *options: str) -> tuple[int, str, dict[str, Any]]:
    """Exit code, output and export of a comparison that is confirmed."""
    export = tmp_path / "comparison.json"
    words = ["--confirm", "--adapters", str(SLOWED / "adapters.toml"), "--export-json", str(export), "-q", *options]
    done = rowpath("compare", *runs, *words, cwd=tmp_path)
    assert export.is_file(), done.stderr
    return done.returncode, done.stdout, json.loads(export.read_text(encoding="utf-8"))


def test_a_driver_made_slower_fails_the_gate_and_nothing_else_does(runs: tuple[Path, Path], tmp_path: Path) -> None:
    junit = tmp_path / "compare.xml"
    code, shown, export = compared(runs, tmp_path, "--fail-on", "slower=5%", "--junit", str(junit))
    (again,) = (each for each in export["confirmed"] if each["name"] == "slowed")
    assert again["outcome"] == "slower", again
    assert 1.05 < again["low"] <= TRUE_RATIO * MISSED and again["high"] >= TRUE_RATIO / MISSED, again
    failed = {export["rows"][position]["name"] for gate in export["gates"] for position in gate["failed"]}
    assert failed == {"slowed"}
    cases = ElementTree.parse(junit).getroot()[0]
    assert {case.get("name") for case in cases if case.find("failure") is not None} == {"slowed"}
    assert code == 1
    assert "failed slower=5%: slowed (" in shown


def test_the_difference_is_the_drivers_version(runs: tuple[Path, Path], tmp_path: Path) -> None:
    done = rowpath("compare", *runs, cwd=tmp_path)
    assert done.returncode == 0
    assert "driver version 1 → 1.3 (1 path)" in done.stdout
