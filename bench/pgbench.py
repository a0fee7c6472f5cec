"""A prepared keyed read through libpq and our C runner against pgbench on the same server, placement and transport.

Pieces of equal numbers of operations, about 200 ms, alternate; each piece of either side is a fresh process with a
fresh connection, whose opening is not counted (pgbench: "without initial connection time"). Ours the runner times.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure
from rowpath import cores, generators, launch
from rowpath.codec import write_rows
from rowpath.engines import homes, postgresql_binaries
from rowpath.engines.base import Instance
from rowpath.errors import RowpathError
from rowpath.invocation import Work
from rowpath.model import Column, Parameters, Phase
from rowpath.plan import PlannedPath
from rowpath.selftest.bench import Bench
from rowpath.statistics.intervals import student

BAR = 0.97
PAIRS = 32
PIECE_NS = 200_000_000
ACCOUNTS = 100_000  # of pgbench's scale 1
ANSWER = Column("abalance", "integer", nullable=True)
KEY = Column("aid", "integer")


def measure(bench: Bench) -> Iterator[Figure]:
    """One figure per transport and placement."""
    server = bench.instance("postgresql", "server")
    client = Pgbench(server, bench.directory / "pgpass")
    client.run("-i", "-s", "1", "-q")
    work = keyed_read(bench.directory / "aid.rows")
    placements = ("same", "split") if len(cores.usable()) > 1 else ("same",)
    for transport in ("unix", "tcp"):
        for placement in placements:
            how = {"statement": "prepared", "transport": transport, "placement": placement}
            yield compare(bench, bench.path("c", "libpq", work.name, **how), server, client, work)


def keyed_read(file: Path) -> Work:
    """What pgbench -S does, with uniform keys from the codec's own sequence."""
    draws = generators.parameter_indexes(Parameters("uniform", count=ACCOUNTS, n=ACCOUNTS))
    count = write_rows(file, ((index + 1,) for index in draws), (KEY,))
    sql = "SELECT abalance FROM pgbench_accounts WHERE aid = ?"
    return Work("pgbench.select", Phase("select", "query", sql), sql, (ANSWER,), (KEY,), file, count)


def compare(bench: Bench, planned: PlannedPath, server: Instance, client: Pgbench, work: Work) -> Figure:
    """Our rate over pgbench's, from alternating pieces."""
    path = planned.path
    transport, placement = path.get("transport"), path.get("placement")
    cpus = cores.client_cpus(placement)
    operations = round(PIECE_NS / client.piece_ns(2000, transport, cpus))
    logs = []
    for pair in range(PAIRS):
        theirs_first = pair % 2 == 0
        theirs = client.piece_ns(operations, transport, cpus) if theirs_first else 0.0
        ours = piece_ns(bench, planned, server, work, operations)
        theirs = theirs or client.piece_ns(operations, transport, cpus)
        logs.append(math.log(theirs / ours))
    interval = student(logs)
    assert interval is not None
    value = f"{interval.ratio:.3f} [{math.exp(interval.low):.3f}, {math.exp(interval.high):.3f}], {PAIRS} pairs"
    name = f"C libpq prepared / pgbench -S, {transport}, {placement}"
    return Figure(name, value, f"interval reaches {BAR}", math.exp(interval.high) >= BAR)


def piece_ns(bench: Bench, planned: PlannedPath, server: Instance, work: Work, operations: int) -> float:
    """Nanoseconds per operation of one piece of ours."""
    invocation = bench.invocation(planned, server)
    try:
        invocation.prepare(work)
        reply = invocation.sample(work, "steady", operations=operations, first=0).reply
    finally:
        invocation.close()
    if reply.failed or reply.rows != operations:
        raise RowpathError(f"{reply.failed} of {operations} operations failed, {reply.rows} rows came")
    return reply.ns / reply.operations


class Pgbench:
    """The program from the server's own installation, with its login in a private file."""

    def __init__(self, server: Instance, pass_file: Path) -> None:
        self._options = server.options(None)  # type: ignore[arg-type]  # a server's are the same for every path
        self._program = postgresql_binaries.install() / "bin" / "pgbench"
        self._pass_file = pass_file
        homes.write_private(pass_file, f"*:*:*:*:{self._options['password']}\n")

    def run(self, *arguments: str, transport: str = "unix", cpus: tuple[int, ...] = ()) -> str:
        """What it prints; pinned to `cpus`. RowpathError when it fails."""
        where = self._options["socket_dir" if transport == "unix" else "host"]
        login = ["-h", where, "-p", str(self._options["port"]), "-U", self._options["user"], self._options["database"]]
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, set(cpus) or before)  # a child starts where we are
        try:
            done = launch.run(
                [self._program, *arguments, *login], environment={"PGPASSFILE": str(self._pass_file), "LC_ALL": "C"}
            )
        finally:
            os.sched_setaffinity(0, before)
        if done.returncode != 0:
            raise RowpathError(f"pgbench failed: {done.stderr.strip()[-300:]}")
        return done.stdout

    def piece_ns(self, operations: int, transport: str, cpus: tuple[int, ...]) -> float:
        """Nanoseconds per transaction of one piece, by its own rate without the initial connection time."""
        options = ("-n", "-S", "-M", "prepared", "-c", "1", "-j", "1", "-t", str(operations))
        said = self.run(*options, transport=transport, cpus=cpus)
        found = re.search(r"^tps = ([0-9.]+) \(without initial connection time\)", said, re.MULTILINE)
        if found is None:
            raise RowpathError(f"pgbench told no rate: {said[-300:]}")
        return 1e9 / float(found[1])
