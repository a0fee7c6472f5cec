"""The replay server beside `cat`, a replayed run beside the real one, and a slower driver found without a database."""

from __future__ import annotations

import itertools
import os
import shutil
import socket
import statistics
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.figure import Figure
from bench.slowed_driver import rowpath
from rowpath.analysis.analyse import analyse
from rowpath.checks.selftest.bench import Bench
from rowpath.engines import ENGINES
from rowpath.engines.base import versions
from rowpath.errors import RowpathError
from rowpath.machine import cpus
from rowpath.runners.manifest import adapter_of, toolchain
from rowpath.tape.format import Header, Tape, TapeRecords
from rowpath.tape.replay_server import ReplayServer

python: Any = toolchain("python")
TAPES = Path(__file__).parents[1] / "tests" / "tapes"
REPLY_BYTES = 256 << 20
RATE_ROUNDS = 7
RATE_BAR, CPU_BAR, SLOWER_BAR_S = 0.9, 0.03, 60.0
READ_BYTES = 1 << 18
STARTUP = b"\0\3\0\0\0"
SLOWER = 1.05
GATE = "slower=1%"
QUICK = ("-r", "8", "-w", "0.3", "--wait-for-quiet", "0s")
FAILED = 1
COST = ("time", "client_cpu", "server_cpu")
BURN = '''
import time as _time

_honest = Cursor.execute
_usual = 0.0
_last = _time.perf_counter_ns()


def _slowed(self, *arguments, **named):
    """As long again as a twentieth of the time between two executions, of a running median."""
    global _usual, _last
    now = _time.perf_counter_ns()
    took = now - _last
    _usual = took if not _usual or 2 * took < _usual else _usual * (1.05 if took > _usual else 1 / 1.05)
    until = now + ADDED * _usual
    while _time.perf_counter_ns() < until:
        pass
    _last = _time.perf_counter_ns()
    return _honest(self, *arguments, **named)


Cursor.execute = _slowed
'''


def measure(bench: Bench) -> Iterator[Figure]:
    """All of them."""
    yield rate(bench.directory)
    for engine, placement in itertools.product(("postgresql", "mariadb", "derby"), ("same", "split")):
        yield from beside_the_real_one(engine, placement, bench.directory)
    yield slower(bench.directory)


def rate(directory: Path) -> Figure:
    """Bytes a second of one long reply, over those of `cat` into a socket of the same kind, in turn."""
    records = TapeRecords("postgresql")
    number = records.connect(STARTUP, b"")
    row = b"D" + struct.pack("!IHi", 10 + 1024, 1, 1024) + os.urandom(1024)
    reply = row * (REPLY_BYTES // len(row))
    question = b"Q" + struct.pack("!I", 4 + 2) + b"x\0"
    records.ask(number, question, reply + b"Z\0\0\0\5I", "I", False)
    server = ReplayServer(Tape(Path("long.tape"), Header("postgresql", "", ""), records.content()))
    file = Path("/dev/shm" if Path("/dev/shm").is_dir() else directory) / f"rowpath-bench-{os.getpid()}"
    file.write_bytes(reply)
    server_cpu = cpus.usable()[-1:]
    try:
        server.start(cpus=server_cpu)
        ratios = []
        for _ in range(RATE_ROUNDS):
            cat_s = of_cat(file, server_cpu)
            ratios.append(cat_s / of_replay(server.port, question, len(reply)))
    finally:
        server.stop()
        file.unlink()
    ratio = statistics.median(ratios)
    words = f"{ratio:.2f} ({min(ratios):.2f}–{max(ratios):.2f})"
    return Figure("replay server's bytes a second over cat's", words, f"at least {RATE_BAR}", ratio >= RATE_BAR)


def of_replay(port: int, question: bytes, size: int) -> float:
    """Seconds from the question to the last byte of its reply."""
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(struct.pack("!I", 4 + len(STARTUP)) + STARTUP)
        while not client.recv(READ_BYTES).endswith(b"Z\0\0\0\5I"):
            pass
        begin = time.monotonic()
        client.sendall(question)
        drained(client, size)
        return time.monotonic() - begin


def of_cat(file: Path, server_cpu: tuple[int, ...]) -> float:
    """The same of a file in memory, from the first byte on: what starting a process takes is left out."""
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as client:
        accepted, _ = listener.accept()
        command = ["taskset", "-c", ",".join(map(str, server_cpu)), "cat", str(file)]
        with accepted, subprocess.Popen(command, stdout=accepted.fileno()) as process:
            accepted.shutdown(socket.SHUT_RD)
            client.recv(1, socket.MSG_PEEK)
            begin = time.monotonic()
            drained(client, file.stat().st_size)
            took_s = time.monotonic() - begin
            process.wait()
    return took_s


def drained(client: socket.socket, size: int) -> None:
    """Receive so many bytes."""
    buffer = bytearray(READ_BYTES)
    while size > 0:
        count = client.recv_into(buffer, min(READ_BYTES, size))
        if not count:
            raise RowpathError("the connection ended early")
        size -= count


def beside_the_real_one(engine: str, placement: str, directory: Path) -> Iterator[Figure]:
    """The driver's CPU time on the tape over that on the server, in the same sets, on one core or two.

    On one core also what the tape saves, the server's part, over the server's CPU time as read.
    """
    out = directory / f"{engine}-{placement}"
    real = versions(ENGINES[engine])[0]
    filters = (f"engine_version={real},tape", f"placement={placement}")
    words = ("run", "--tape", str(TAPES / f"{engine}.tape"), *filters, "--gate")
    done = rowpath(*words, *QUICK, "-q", "-o", str(out), directory=directory)
    if done.returncode:
        raise RowpathError(f"the run ended with {done.returncode}: {done.stderr.strip()}")
    found = {
        (f"{one.workload}.{one.phase}", one.metric, one.path["engine_version"]): one.median
        for one in analyse(out).results
        if one.regime == "steady"
    }
    for phase in dict.fromkeys(phase for phase, metric, _version in found if metric == "client_cpu"):
        tape, server = ({metric: found.get((phase, metric, version)) for metric in COST} for version in ("tape", real))
        name = f"{engine} {phase} {placement}: client CPU on the tape over that on the server, rows equal"
        yield within(name, tape["client_cpu"], server["client_cpu"])
        if placement == "same" and phase.startswith("scan"):
            known = [each for each in (server["time"], tape["time"], tape["server_cpu"]) if each is not None]
            part = known[0] - (known[1] - known[2]) if len(known) == 3 else None
            name = f"{engine} {phase} {placement}: the server's part by tape over the server's CPU"
            yield within(name, part, server["server_cpu"])


def within(name: str, value: float | None, of: float | None) -> Figure:
    """How far one value is from another; None: not measured."""
    bar = f"within {CPU_BAR:.0%}"
    if value is None or of is None:
        return Figure(name, "the machine was too busy", bar, None)
    return Figure(name, f"{value / of - 1:+.1%}", bar, abs(value / of - 1) <= CPU_BAR)


def slower(directory: Path) -> Figure:
    """Two copies of psycopg, one slowed by 5 %: found in the same sets, from the tape, within a minute."""
    builds = [str(copy(directory / name, added)) for name, added in (("honest", 0.0), ("slowed", SLOWER - 1))]
    run = directory / "slower"
    words = ("run", "--tape", str(TAPES / "postgresql.tape"), "--driver", "psycopg", "--version", ",".join(builds))
    rowpath(*words, "-r", "1", "-q", "-o", str(directory / "built"), directory=directory)  # environments are made once
    begin = time.monotonic()
    done = rowpath(*words, *QUICK, "-q", "-o", str(run), directory=directory)
    if done.returncode:
        raise RowpathError(f"the run ended with {done.returncode}: {done.stderr.strip()}")
    compared = rowpath("compare", str(run), "--version", ",".join(builds), "--fail-on", GATE, directory=directory)
    took_s = time.monotonic() - begin
    met = compared.returncode == FAILED and took_s <= SLOWER_BAR_S
    lines = [line.strip() for line in compared.stdout.splitlines() if "×" in line]
    said = f"exit {compared.returncode} after {took_s:.0f} s: {lines[0] if lines else compared.stderr.strip()}"
    return Figure(f"psycopg made {SLOWER} times as slow, by tape", said, f"slower, within {SLOWER_BAR_S:.0f} s", met)


def copy(folder: Path, added: float) -> Path:
    """A folder of psycopg that pip can install, with its execution slowed by that share; 0: by reading clocks only."""
    adapter = adapter_of("python", "psycopg")
    program = python.interpreter(adapter, adapter.versions[0])
    if program is None:
        raise RowpathError("psycopg is not built here", "rowpath setup")
    (package,) = (program.parent.parent / "lib").glob("python*/site-packages/psycopg")
    shutil.copytree(package, folder / "psycopg")
    (folder / "pyproject.toml").write_text(PROJECT.format(version=adapter.versions[0]), encoding="utf-8")
    with (folder / "psycopg" / "cursor.py").open("a", encoding="utf-8") as file:
        file.write(BURN.replace("ADDED", str(added)))
    return folder


PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "psycopg"
version = "{version}"
dependencies = ["typing-extensions"]

[project.optional-dependencies]
binary = ["psycopg-binary=={version}"]

[tool.hatch.build.targets.wheel]
packages = ["psycopg"]
"""
