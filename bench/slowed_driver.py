"""A driver made 5 % slower on purpose: `compare` calls it slower, confirms that in the same sets, and ends with 1.

The fake is that of the tests: sqlite3 whose version is how many times as long an operation takes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure
from rowpath.checks.selftest.bench import Bench
from rowpath.errors import RowpathError

FAKE = Path(__file__).parents[1] / "tests" / "fakes" / "slowed_driver"
SOURCES = Path(__file__).parents[1] / "src"
ADAPTERS = ("--adapters", str(FAKE / "adapters.toml"))
RATIO = "1.05"
GATE = "slower=2%"
SETS, ROUNDS = 10, 40
FAILED = 1


def measure(bench: Bench) -> Iterator[Figure]:
    """What the comparison says of the slowed path, and whether it fails."""
    runs = [run(bench.directory, version) for version in ("1", RATIO)]
    export = bench.directory / "comparison.json"
    options = ("--confirm", "--fail-on", GATE, *ADAPTERS, "--export-json", str(export), "-q")
    done = rowpath("compare", *map(str, runs), *options, directory=bench.directory)
    if not export.is_file():
        raise RowpathError(f"no comparison: {done.stderr.strip()}")
    (again,) = json.loads(export.read_text(encoding="utf-8"))["confirmed"] or [None]
    said = f"{again['outcome']}, {again['low']:.3f}–{again['high']:.3f}" if again else "not among the differences"
    met = bool(again) and again["outcome"] == "slower" and done.returncode == FAILED
    yield Figure(f"a driver made {RATIO} times as slow", f"{said}, exit {done.returncode}", "slower, exit 1", met)


def run(directory: Path, version: str) -> Path:
    """A run with that version of the driver."""
    text = (FAKE / "experiment.toml").read_text(encoding="utf-8")
    for old, new in (
        ('version = "1"', f'version = "{version}"'),
        ("sets = 6", f"sets = {SETS}"),
        ("rounds = 10", f"rounds = {ROUNDS}"),
    ):
        text = text.replace(old, new)
    experiment = directory / f"version-{version}.toml"
    experiment.write_text(text, encoding="utf-8")
    done = rowpath("run", str(experiment), *ADAPTERS, "-o", str(directory / version), "-q", directory=directory)
    if done.returncode:
        raise RowpathError(f"the run ended with {done.returncode}: {done.stderr.strip()}")
    return directory / version


def rowpath(*words: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """The command itself, as a user would start it."""
    command = [sys.executable, "-m", "rowpath", *words]
    environment = os.environ | {"PYTHONPATH": str(SOURCES)}
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
