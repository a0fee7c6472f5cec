"""How long `rowpath site` takes for a hundred runs: copies of one real run of `tour`, each with a date of its own."""

from __future__ import annotations

import datetime
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bench.figure import Figure
from bench.tour_twice import run
from rowpath.checks.selftest.bench import Bench
from rowpath.machine import cpus

RUNS = 100
BAR_S = 30.0
CORES = 2  # that the bar is for


def measure(bench: Bench) -> Iterator[Figure]:
    """Wall time of the whole command, reports included, and what the site weighs."""
    real = run(bench.directory / "tour")
    copy(real / "samples.jsonl", bench.directory / "runs", RUNS)
    site = bench.directory / "site"
    taken_s = seconds(bench.directory / "runs", site)
    size_mib = sum(file.stat().st_size for file in site.rglob("*.html")) / 2**20
    cores = len(cpus.usable())
    yield Figure(
        f"site of {RUNS} runs of tour, on {cores} cores",
        f"{taken_s:.1f} s, {size_mib:.0f} MiB",
        f"at most {BAR_S:g} s on {CORES} cores",
        taken_s <= BAR_S if cores <= CORES else None,
    )


def copy(journal: Path, folder: Path, runs: int) -> None:
    """So many runs, a day apart, each block called quiet: how long a site takes must not depend on who else worked."""
    records = [msgspec.json.decode(line) for line in journal.read_bytes().splitlines()]
    for record in records:
        if record["record"] == "sample":
            record |= {"disturbed": "", "core_users": []}
    started = datetime.datetime.fromisoformat(records[0]["started"])
    for day in range(runs):
        records[0]["started"] = (started + datetime.timedelta(days=day)).isoformat()
        directory = folder / f"run-{day:03d}"
        directory.mkdir(parents=True)
        (directory / "samples.jsonl").write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in records))


def seconds(runs: Path, site: Path) -> float:
    """The command's wall time, in a new process."""
    started_ns = time.perf_counter_ns()
    subprocess.run(
        [sys.executable, "-m", "rowpath", "site", runs, "-o", site, "-q"], stdout=subprocess.DEVNULL, check=True
    )
    return (time.perf_counter_ns() - started_ns) / 1e9
