"""A prepared keyed read through libpq and our C runner against pgbench on the same server, placement and transport.

pgbench's own rate is the one "without initial connection time"; ours the runner times (bench/alternating.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from bench import alternating
from bench.figure import Figure
from rowpath.checks.selftest.bench import Bench
from rowpath.engines.base import Instance
from rowpath.errors import RowpathError
from rowpath.machine import postgresql_programs, private_directories
from rowpath.model.workload import Column

ACCOUNTS = 100_000  # of pgbench's scale 1
ANSWER = Column("abalance", "integer", nullable=True)
KEY = Column("aid", "integer")


def measure(bench: Bench) -> Iterator[Figure]:
    """One figure per transport and placement."""
    server = bench.instance("postgresql", "server")
    client = Pgbench(server, bench.directory / "pgpass")
    client.run("-i", "-s", "1", "-q")
    sql = "SELECT abalance FROM pgbench_accounts WHERE aid = ?"
    work = alternating.keyed_read("pgbench.select", sql, ANSWER, KEY, ACCOUNTS, bench.directory / "aid.rows")
    yield from alternating.figures(bench, server, ("postgresql", "libpq", "pgbench -S"), work, client.piece_ns)


class Pgbench:
    """The program from the server's own installation, with its login in a private file."""

    def __init__(self, server: Instance, pass_file: Path) -> None:
        self._options = server.options(None)  # type: ignore[arg-type]  # a server's are the same for every path
        self._program = postgresql_programs.install() / "bin" / "pgbench"
        self._pass_file = pass_file
        private_directories.write_private(pass_file, f"*:*:*:*:{self._options['password']}\n")

    def run(self, *arguments: str, transport: str = "unix", cpus: tuple[int, ...] = ()) -> str:
        """What it prints; pinned to `cpus`. RowpathError when it fails."""
        where = self._options["socket_dir" if transport == "unix" else "host"]
        login = ["-h", where, "-p", str(self._options["port"]), "-U", self._options["user"], self._options["database"]]
        environment = {"PGPASSFILE": str(self._pass_file), "LC_ALL": "C"}
        return alternating.run_pinned([self._program, *arguments, *login], cpus, environment)

    def piece_ns(self, operations: int, transport: str, cpus: tuple[int, ...]) -> float:
        """Nanoseconds per transaction of one piece, by its own rate without the initial connection time."""
        options = ("-n", "-S", "-M", "prepared", "-c", "1", "-j", "1", "-t", str(operations))
        said = self.run(*options, transport=transport, cpus=cpus)
        found = re.search(r"^tps = ([0-9.]+) \(without initial connection time\)", said, re.MULTILINE)
        if found is None:
            raise RowpathError(f"pgbench told no rate: {said[-300:]}")
        return 1e9 / float(found[1])
