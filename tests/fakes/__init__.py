"""Fakes for faults: the manifest of runners that fail, and an experiment over them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "src"
TOY_LANGUAGE = HERE / "toy_language" / "adapters.toml"
FAULTS = (
    "honest",
    "crash",
    "hang",
    "noise",
    "out-of-order",
    "other-version",
    "wrong-digest",
    "too-few-rows",
    "never-reads",
    "unknown-requirement",
    "silent-start",
)


def write_manifest(directory: Path, faults: tuple[str, ...] = FAULTS) -> Path:
    """An adapters.toml whose runners are the fake one, a driver `fake-HOW` per fault."""
    # Through env, because a runner gets nothing of ours that starts with PYTHON.
    command = json.dumps(["/usr/bin/env", f"PYTHONPATH={SOURCES}", sys.executable, str(HERE / "runner.py")])
    entries = [
        f"""
[[adapter]]
driver = "fake-{how}"
source = "runner.py"
engines = ["sqlite"]
deployments = ["embedded"]
versions = ["bundled"]
phases = ["query"]
coordinates = {{ statement = ["prepared"] }}
build = {{ command = {command} }}
"""
        for how in faults
    ]
    file = directory / "adapters.toml"
    file.write_text('schema_version = 1\nlanguage = "fake"\n' + "".join(entries))
    return file


def write_experiment(directory: Path, faults: tuple[str, ...] = FAULTS, sets: int = 2) -> Path:
    """An experiment that scans SQLite through every one of them."""
    paths = "".join(f'\n[[paths]]\nname = "{how}"\nselect = {{ driver = "fake-{how}" }}\n' for how in faults)
    file = directory / "faults.toml"
    file.write_text(
        'schema_version = 1\nname = "faults"\ntitle = "Faults"\nphases = ["scan.read"]\n'
        f"[measure]\nsets = {sets}\nmax_sets = {sets}\nrounds = 5\nwarm_cap_s = 0.3\n{paths}"
    )
    return file


def write_toy_engine(directory: Path) -> Path:
    """An adapters.toml that joins `toy_engine.py` and has an adapter for it: the fake runner, which is honest."""
    text = write_manifest(directory, ("honest",)).read_text().replace('engines = ["sqlite"]', 'engines = ["toy"]')
    file = directory / "adapters.toml"
    file.write_text(f"engine_files = [{json.dumps(str(HERE / 'toy_engine.py'))}]\n{text}")
    return file
