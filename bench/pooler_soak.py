"""Clients through PgBouncer for long: whether anything is lost, and what each process holds.

A thousand clients in C for ten minutes, then two hundred in each of five languages, a fifth of that time each.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure
from bench.groups_memory import figures, run, stage_s
from rowpath.analysis.client_groups import stage_runs
from rowpath.checks.selftest.bench import Bench
from rowpath.journal import reader

EXPERIMENTS = {"pooler_soak": ("1,000 clients", 1.0), "pooler_soak_languages": ("200 clients", 0.2)}
LEAST_S = 10.0


def measure(bench: Bench) -> Iterator[Figure]:
    """Of each path the operations that failed, then a figure for the memory of each process."""
    for name, (clients, share) in EXPERIMENTS.items():
        experiment = Path(__file__).with_name(f"{name}.toml")
        directory = run(bench.directory / name, max(LEAST_S, stage_s() * share), {}, str(experiment))
        journal = reader.read(directory)
        for one in stage_runs(journal):
            failed = sum(part.failed for second in one.seconds for part in second.client_groups.values())
            value = f"{failed} of {one.operations + failed:,} operations failed"
            what = f"lost: {journal.paths[one.record.path_id].name}, {clients}"
            yield Figure(what, value, "none", not failed and one.operations > 0)
        yield from figures(directory, "")
