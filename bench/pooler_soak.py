"""A thousand clients in C through PgBouncer for ten minutes: whether anything is lost, and what each process holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure
from bench.groups_memory import figures, run, stage_s
from rowpath.analysis.client_groups import stage_runs
from rowpath.checks.selftest.bench import Bench
from rowpath.journal import reader

EXPERIMENT = str(Path(__file__).with_suffix(".toml"))


def measure(bench: Bench) -> Iterator[Figure]:
    """The operations that failed, then a figure for the memory of each process."""
    directory = run(bench.directory / "soak", stage_s(), {}, EXPERIMENT)
    for one in stage_runs(reader.read(directory)):
        failed = sum(part.failed for second in one.seconds for part in second.client_groups.values())
        value = f"{failed} of {one.operations + failed:,} operations failed"
        yield Figure("lost behind a pooler, 1,000 clients", value, "none", not failed and one.operations > 0)
    yield from figures(directory, "")
