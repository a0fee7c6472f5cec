"""Made-up runs for a site: `python -m tests.unit.site_factory DIR` writes the usual ones, two machines and a year."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.unit import journal_factory
from tests.unit.journal_factory import MadePath, Record

DRIVER = "pgjdbc tcp"
MACHINES: dict[str, Record] = {
    "laptop": {"processor": "Example 7 5800U", "cpus": 8, "cores_used": [0, 1], "memory_kib": "16234567"},
    "server": {"processor": "Example Gold 6338", "cpus": 64, "cores_used": [0, 1], "memory_kib": "263234567"},
}


@dataclass(frozen=True)
class MadeRun:
    """What tells one made-up run from the next."""

    date: str
    versions: Mapping[str, str] = field(default_factory=dict)  # by path name
    factors: Mapping[str, float] = field(default_factory=dict)  # of the cost, by path name
    machine: str = "laptop"
    kernel: str = "6.1.0"
    experiment: str = "tour"
    seed: int = 1
    speed: float = 1.0  # of the machine, for all paths alike
    sets: int = 6


def records(made: MadeRun) -> list[Record]:
    """The journal of a run that a site accepts."""
    run = journal_factory.Run(
        paths=[_path(path, made) for path in journal_factory.usual_paths() if path.fault != "wrong"],
        sets=made.sets,
        rounds=7,
        seed=made.seed,
        experiment={"name": made.experiment, "question": "Which path is fastest?"},
        regimes=("steady",),
        drift=0.01,
    )
    found = journal_factory.records(run)
    versions = {path.path_id: path.coordinates["version"] for path in run.paths}
    head = found[0]
    head["started"] = f"{made.date}T11:40:03+00:00"
    head["environment"] = head["environment"] | MACHINES[made.machine] | {"kernel": made.kernel}
    head["workloads"] = {
        name: {"phases": [{"name": phase, "sql": "SELECT 1"}]} for name, phase in (("keyed", "read"), ("scan", "read"))
    }
    for record in found:
        if record["record"] == "worker":
            record["facts"] = {"driver_version": versions[record["path_id"]], "engine_version": "1"}
    return found


def _path(path: MadePath, made: MadeRun) -> MadePath:
    factor = made.speed * made.factors.get(path.name, 1.0)
    return replace(
        path,
        coordinates=path.coordinates | {"version": made.versions.get(path.name, "1.0")},
        cost_ns={phase: cost * factor for phase, cost in path.cost_ns.items()},
    )


def write(directory: Path, made: MadeRun) -> Path:
    """The run directory of a made-up run."""
    return journal_factory.write(directory, records(made))


def usual() -> dict[str, MadeRun]:
    """By name: ten runs of pgjdbc on one machine, 8 % slower from 42.7.5 on; two on another machine, twice as fast."""
    found: dict[str, MadeRun] = {}
    for month in range(1, 11):
        slower = month >= 6
        found[f"laptop-{month:02d}"] = MadeRun(
            f"2025-{month:02d}-15",
            versions={DRIVER: "42.7.5" if slower else "42.7.4"},
            factors={DRIVER: 1.08 if slower else 1.0},
            seed=month,
            speed=1 + 0.02 * (month % 3),
        )
    for month in (3, 9):
        found[f"server-{month:02d}"] = MadeRun(
            f"2025-{month:02d}-20", versions={DRIVER: "42.7.4"}, machine="server", seed=40 + month, speed=0.5
        )
    return found


def write_usual(directory: Path, **changed: Any) -> list[Path]:
    """The usual runs below a directory; `changed`: fields of all of them."""
    return [write(directory / name, replace(made, **changed)) for name, made in usual().items()]


if __name__ == "__main__":
    print(*write_usual(Path(sys.argv[1])), sep="\n")
