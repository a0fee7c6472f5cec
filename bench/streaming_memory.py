"""How much a client's peak memory grows between row 1 million and row 30 million of a result that streams.

Peak (VmHWM, reset before each scan) of the same living runner: after one scan of the first million rows, then after a
scan of all thirty. Rows are narrow: a 64-bit integer and a short text.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import msgspec

from bench.figure import Figure
from rowpath.checks.selftest.bench import Bench
from rowpath.engines.base import Instance
from rowpath.errors import RowpathError
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.machine.counters import memory
from rowpath.model.workload import Column, Phase

MIB = 1 << 20
FEW, ALL = 1_000_000, 30_000_000
BAR_MIB = {"c": 8, "java": 16, "python": 16}
TIMEOUT_S = 600.0
COLUMNS = (Column("n", "integer", bits=64), Column("word", "varchar", length=20))
MAKE = {
    "postgresql": f"CREATE UNLOGGED TABLE narrow AS SELECT n::bigint AS n, 'row ' || n AS word"
    f" FROM generate_series(1, {ALL}) AS n",
    "sqlite": f"CREATE TABLE narrow AS WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {ALL})"
    " SELECT n, 'row ' || n AS word FROM s",
}


@dataclass(frozen=True)
class Streaming:
    """A path whose result streams: its adapter and the coordinates that make it so."""

    language: str
    driver: str
    coordinates: dict[str, str]

    @property
    def name(self) -> str:
        """Short."""
        return " ".join([self.language, self.driver, *self.coordinates.values()])


PATHS = {
    "postgresql": [
        Streaming("c", "libpq", {"result": "single-row"}),
        Streaming("c", "libpq", {"result": "chunked:100"}),
        Streaming("java", "pgjdbc", {"result": "cursor:1000"}),
        Streaming("python", "psycopg", {"statement": "bound", "result": "cursor:1000"}),
    ],
    "sqlite": [Streaming("c", "sqlite", {}), Streaming("java", "sqlite-jdbc", {}), Streaming("python", "sqlite3", {})],
    "file": [Streaming("c", "file", {}), Streaming("java", "file", {}), Streaming("python", "file", {})],
}


def measure(bench: Bench) -> Iterator[Figure]:
    """One figure per streaming path."""
    if memory.probe() != memory.METHOD:
        yield Figure("streaming scan", memory.probe(), "", None)
        return
    for engine, paths in PATHS.items():
        instance = bench.instance(engine, {"postgresql": "server", "sqlite": "embedded", "file": "file"}[engine])
        where = make(bench, engine, instance)
        for streaming in paths:
            if streaming.language in bench.languages():
                yield growth(bench, streaming, instance, where)


def make(bench: Bench, engine: str, instance: Instance) -> dict[str, str]:
    """Make the thirty million rows; what `open` gets so that the runner finds them."""
    if engine == "sqlite":
        file = bench.directory / "narrow.sqlite"
        with closing(sqlite3.connect(file, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous=OFF")
            connection.execute(MAKE[engine])
        return {"path": str(file)}
    if engine == "file":
        for rows in (FEW, ALL):
            with (bench.directory / f"narrow{rows}.tbl").open("w") as file_out:
                file_out.writelines(f"{n}|row {n}\n" for n in range(1, rows + 1))
        return {"path": str(bench.directory)}
    maker = bench.worker(bench.path("c", "libpq", "narrow.make"), instance)
    maker.timeout_s = TIMEOUT_S
    maker.run([MAKE[engine], "ANALYZE narrow"])
    maker.close()
    return {}


def growth(bench: Bench, streaming: Streaming, instance: Instance, where: dict[str, str]) -> Figure:
    """The figure of one path."""
    planned = bench.path(streaming.language, streaming.driver, "narrow.read", **streaming.coordinates)
    worker = bench.worker(planned, instance, **dict[str, Any](where))
    worker.timeout_s = TIMEOUT_S
    few = peak_bytes(worker, work(planned.path.get("engine"), FEW), FEW)
    many = peak_bytes(worker, work(planned.path.get("engine"), ALL), ALL)
    worker.close()
    grown, bar = (many - few) / MIB, BAR_MIB[streaming.language]
    value = f"{grown:+.1f} MiB ({few / MIB:.0f} → {many / MIB:.0f})"
    return Figure(f"streaming scan, {streaming.name}", value, f"at most {bar} MiB", grown <= bar)


def work(engine: str, rows: int) -> PreparedPhase:
    """The scan of the first `rows` rows; a file delivers whole tables only, so there it has a table of its own."""
    table = f"narrow{rows}" if engine == "file" else "narrow"
    sql = "SELECT n, word FROM narrow" + ("" if rows == ALL else f" WHERE n <= {rows}")
    phase = Phase(f"read{rows}", "query", sql, table=table, scan=True)
    if engine == "postgresql":  # a cursor lives in a transaction
        phase = msgspec.structs.replace(phase, transaction="transaction")
    return PreparedPhase(f"narrow.read{rows}", phase, sql, COLUMNS, (), None, 0)


def peak_bytes(worker: Worker, scan: PreparedPhase, rows: int) -> int:
    """The runner's peak while it takes every row once."""
    worker.prepare(scan)
    memory.reset_peak(worker.runner.pid)
    reply = worker.sample(scan, "steady", operations=1).reply
    peak = memory.peak_bytes(worker.runner.pid)
    if reply.failed or reply.rows != rows or peak is None:
        failure = reply.failure.text if reply.failure else f"{reply.rows} rows, not {rows}"
        raise RowpathError(f"{scan.name}: {failure}")
    return peak
