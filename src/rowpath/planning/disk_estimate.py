"""What making and loading a plan's tables would take of disk and time: shown before it starts, refused without room."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from rowpath import text as fmt
from rowpath.engines import ENGINES
from rowpath.engines.base import BY_URL
from rowpath.machine import disk_space
from rowpath.machine.directories import cache_dir
from rowpath.model.grouping import grouped
from rowpath.model.workload import Table
from rowpath.planning.plan import Plan, key_of
from rowpath.workloads import generators, tpch

WORTH_SAYING_BYTES = 5e6  # of text in all tables together; less is loaded in a moment
SAMPLED_ROWS = 100
OWN_COPY_BYTES_PER_S = 200e6


@dataclass(frozen=True)
class DataEstimate:
    """Rows of all tables, loaded into this many engines; bytes in the run's directory and in the cache; seconds."""

    rows: int
    text_bytes: float
    engines: int
    disk_bytes: float
    made_bytes: float  # of tables that are not in the cache yet
    seconds: float

    def text(self) -> str:
        """One line for the user; empty where the tables are so small that no one need know."""
        if self.text_bytes < WORTH_SAYING_BYTES:
            return ""
        made = f", {self.made_bytes / 1e6:,.0f} MB more in {cache_dir()}" if self.made_bytes else ""
        return (
            f"tables: {self.rows:,} rows, {self.text_bytes / 1e6:,.0f} MB as text, "
            f"into {fmt.counted(self.engines, 'engine')}: about {self.disk_bytes / 1e6:,.0f} MB of disk{made}, "
            f"{fmt.clock(self.seconds)} to load"
        )


def text_bytes(table: Table) -> float:
    """About how many bytes the table's rows are as text."""
    if table.generator in tpch.SOURCES:
        return tpch.text_bytes(table)
    sample = [sum(map(len, map(generators.delimited_value, row))) for row in generators.rows(table, SAMPLED_ROWS)]
    return table.rows * (sum(sample) / SAMPLED_ROWS + len(table.columns))


def estimate(plan: Plan) -> DataEstimate:
    """What the plan's tables take; engines that others run take none of our disk space."""
    texts = {table: text_bytes(table) for table in _tables(plan, plan.workloads)}
    unmade = [table for table in texts if table.generator in tpch.SOURCES and not tpch.path_of(table).is_file()]
    made_bytes = sum(map(tpch.text_bytes, unmade))
    seconds = made_bytes / tpch.MADE_BYTES_PER_S + tpch.START_S * len(unmade)
    disk_bytes = 0.0
    ours = [planned for planned in plan.paths if planned.path.engine_version != BY_URL and not planned.path.is_null]
    keys = grouped(ours, lambda planned: key_of(planned.path))
    for (engine, deployment, *_), members in keys.items():
        names = {name for planned in members for name in planned.workloads}
        text = sum(texts[table] for table in _tables(plan, names))
        seen = ENGINES[engine].loading
        copies = len(members) if deployment == "embedded" else 0
        size = seen.fixed_bytes + text * seen.bytes_per_byte
        disk_bytes += size * (1 + copies)
        seconds += text / seen.text_bytes_per_s + size * copies / OWN_COPY_BYTES_PER_S
    rows = sum(table.rows for table in texts)
    return DataEstimate(rows, sum(texts.values()), len(keys), disk_bytes, made_bytes, seconds)


def announce(plan: Plan, directory: Path, note: Callable[[str], None]) -> None:
    """Say what the plan's tables take, before anything is made.

    Errors: EnvironmentMissing, in plain words, when the disk of the run's directory or of the cache is too small.
    """
    needed = estimate(plan)
    if not needed.text():
        return
    disk, cache_disk = (disk_space.existing(folder).stat().st_dev for folder in (directory, cache_dir()))
    in_directory = needed.disk_bytes + (needed.made_bytes if disk == cache_disk else 0)
    what = f"loading {needed.rows:,} rows into {fmt.counted(needed.engines, 'engine')}"
    disk_space.require(directory, in_directory, what)
    if needed.made_bytes and disk != cache_disk:
        disk_space.require(cache_dir(), needed.made_bytes, f"making {needed.rows:,} rows")
    note(needed.text())


def _tables(plan: Plan, names: Iterable[str]) -> list[Table]:
    """The tables that are filled for these workloads, each once."""
    tables = (table for name in sorted(names) for table in plan.workloads[name].tables.values())
    return list(dict.fromkeys(table for table in tables if table.rows))
