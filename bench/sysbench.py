"""A prepared keyed read through the MySQL C API and our C runner against sysbench's oltp_point_select (one thread).

Its time is the "total time" of its events, connecting excluded; ours the runner's (bench/alternating.py).
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from bench import alternating
from bench.figure import Figure
from rowpath.checks.selftest.bench import Bench
from rowpath.engines.base import Instance
from rowpath.errors import EnvironmentMissing, RowpathError
from rowpath.machine import private_directories
from rowpath.model.workload import Column

ROWS = 100_000
ANSWER = Column("c", "char", length=120)
KEY = Column("id", "integer")
INSTALL = "apt-get install sysbench"


def measure(bench: Bench) -> Iterator[Figure]:
    """One figure per transport and placement."""
    if shutil.which("sysbench") is None:
        raise EnvironmentMissing("sysbench is missing", INSTALL)
    server = bench.instance("mariadb", "server")
    client = Sysbench(server, bench.directory / "sysbench.cnf")
    client.run("prepare")
    sql = "SELECT c FROM sbtest1 WHERE id = ?"
    work = alternating.keyed_read("sysbench.select", sql, ANSWER, KEY, ROWS, bench.directory / "id.rows")
    drivers = ("mariadb", "libmariadb", "sysbench oltp_point_select")
    yield from alternating.figures(bench, server, drivers, work, client.piece_ns)


class Sysbench:
    """The program of the system, with its login in a private file."""

    def __init__(self, server: Instance, file: Path) -> None:
        self._options = server.options(None)  # type: ignore[arg-type]  # a server's are the same for every path
        self._file = file
        lines = {
            "mysql-user": self._options["user"],
            "mysql-password": self._options["password"],
            "mysql-db": self._options["database"],
        }
        private_directories.write_private(file, "".join(f"{name}={value}\n" for name, value in lines.items()))

    def run(self, command: str, *arguments: str, transport: str = "unix", cpus: tuple[int, ...] = ()) -> str:
        """What it prints; pinned to `cpus`. RowpathError when it fails."""
        where = (
            [f"--mysql-socket={self._options['socket']}"]
            if transport == "unix"
            else [f"--mysql-host={self._options['host']}", f"--mysql-port={self._options['port']}"]
        )
        options = ["--db-driver=mysql", "--threads=1", "--time=0", "--rand-type=uniform", "--tables=1"]
        program = ["sysbench", f"--config-file={self._file}", *where, *options, f"--table-size={ROWS}", *arguments]
        return alternating.run_pinned([*program, "oltp_point_select", command], cpus, {"LC_ALL": "C"})

    def piece_ns(self, operations: int, transport: str, cpus: tuple[int, ...]) -> float:
        """Nanoseconds per event of one piece, by its own total time."""
        said = self.run("run", f"--events={operations}", "--db-ps-mode=auto", transport=transport, cpus=cpus)
        values = [re.search(rf"{name}:\s+([0-9.]+)", said) for name in ("total time", "total number of events")]
        if not all(values) or int(values[1][1]) != operations:  # type: ignore[index]  # both were found
            raise RowpathError(f"sysbench told no time of {operations} events: {said[-300:]}")
        return 1e9 * float(values[0][1]) / operations  # type: ignore[index]
