"""What the time line costs the groups at work: stages with its collectors and without, in turn, on one server.

PostgreSQL over TCP, a reader and a writer with every core theirs and the controller's: the controller then takes its
time from them, and all collectors have something to read (two sides, connections, disk).
"""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bench.figure import Figure
from rowpath.analysis.statistics.intervals import student
from rowpath.checks.selftest.bench import Bench
from rowpath.execution.mixed_load.client_processes import Processes, Usage
from rowpath.execution.mixed_load.group_totals import Member
from rowpath.execution.mixed_load.stage import Stage
from rowpath.journal.mixed_load_records import SecondRecord
from rowpath.model.experiment import ClientGroupTable, StageTable
from rowpath.model.progress import StageSecond
from rowpath.workloads.workload_file import at_scale, load_workload

BAR = 0.02
PAIRS = 12
SECONDS = 6.0
SCALE = 0.02


def measure(bench: Bench) -> Iterator[Figure]:
    """One figure for each group: its rate with the collectors over its rate without."""
    made = bench.phase_cache.prepared_workload(at_scale(load_workload("library"), SCALE), "postgresql")
    how = {"transport": "tcp", "statement": "prepared", "placement": "free", "durability": "none"}
    planned = bench.path("c", "libpq", "library.read", name="libpq", **how)
    bench.build(planned)
    instance = bench.instance("postgresql", "server", durability="none")
    instance.load(made.loaded_tables())
    tables = [
        ClientGroupTable(name="readers", phase="library.read"),
        ClientGroupTable(name="writers", phase="library.write"),
    ]
    members = [Member(table, made.phases[table.phase], 1) for table in tables]
    connections = {table.name: 1 for table in tables}
    processes = Processes(planned, instance, connections, log=lambda _line: None, timeout_s=60.0)
    try:
        processes.open({})
        for member in members:
            processes.prepare(member.name, member.work)
        port = int(instance.options(planned.path)["port"])
        at_work(processes, members, SECONDS, None)
        log_ratios: dict[str, list[float]] = {member.name: [] for member in members}
        for pair in range(PAIRS):
            rates = {}
            for watched in random.Random(pair).sample((True, False), 2):
                usage = Usage(processes.pids, instance.pids, list, port) if watched else None
                rates[watched] = at_work(processes, members, SECONDS, usage, bench.directory / "seconds.jsonl")
            for name, found in log_ratios.items():
                found.append(math.log(rates[True][name] / rates[False][name]))
    finally:
        processes.close()
    for name, found in log_ratios.items():
        interval = student(found)
        assert interval is not None
        yield Figure(
            f"time line's collectors, PostgreSQL over TCP, {name}",
            f"{interval.ratio:.4f} [{math.exp(interval.low):.4f}, {math.exp(interval.high):.4f}] of the rate without, "
            f"{PAIRS} pairs",
            f"interval reaches {1 - BAR:.2f}",
            interval.high >= math.log(1 - BAR),
        )


def at_work(
    processes: Processes, members: list[Member], seconds: float, usage: Usage | None, file: Path | None = None
) -> dict[str, float]:
    """Operations a second of each group in one stage; with `usage` each second is looked at and written down."""

    def second(record: SecondRecord, _shown: StageSecond) -> None:
        assert file is not None
        with file.open("a") as stream:
            stream.write(json.dumps(msgspec.to_builtins(record)) + "\n")

    table = StageTable(name="at work", client_groups=tuple(member.name for member in members), seconds=seconds)
    on_second = second if usage else None
    # Without: the controller sleeps until the end.
    look_ns = 1_000_000_000 if usage else 1_000_000_000_000
    stage = Stage(table, members, [], processes, None, time.monotonic_ns(), 60.0, usage, on_second, look_ns=look_ns)
    outcome = stage.run()
    return {record.client_group: record.operations / seconds for record in outcome.records}
