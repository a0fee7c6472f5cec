"""The controller with 3, 10, 30 and 100 hosts without work: start, common start, looks, memory (docs/hosts.md).

What is real and what is simulated: `bench.idle_hosts`. Every number of hosts has a controller process of its own. All
agents share this machine's cores: on hosts of their own nothing of this takes longer, but for the network's way.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean, median
from typing import Any, cast

import msgspec
from typing_extensions import override

from bench import idle_hosts
from bench.figure import Figure
from rowpath.checks.selftest.bench import Bench
from rowpath.execution.mixed_load.stage import Stage
from rowpath.hosts import cluster, hosts_file, setup
from rowpath.hosts.far_load import LEAD_NS
from rowpath.hosts.session import Session
from rowpath.machine import private_directories
from rowpath.machine.counters import memory
from rowpath.model.experiment import StageTable

ROOT = Path(__file__).parents[1]
COUNTS = (3, 10, 30, 100)
SECONDS, SECONDS_OF_MOST = 12.0, 90.0  # of the stage
SETTLED, LONG = 30, 60  # looks after which memory must not grow, and so many that show it
HOST_BYTES = 110 << 20  # of an agent's process
MIB = 1 << 20
BAR_LOOK_S, BAR_LEAD_NS, BAR_GROWTH_MIB, BAR_FILES = 0.5, LEAD_NS // 4, 5.0, 1024
TIMEOUT_S = 600.0


class Found(msgspec.Struct):
    """What one number of hosts came to; of looks one figure each."""

    hosts: int
    join_s: float = 0.0
    hello_s: float = 0.0
    ready_s: float = 0.0
    clocks_s: float = 0.0
    bound_ns: int = 0
    way_s: float = 0.0
    lead_left_ns: int = 0  # the least
    spread_ns: int = 0
    looks_s: list[float] = []
    cpus_s: list[float] = []  # of the controller in them
    resident_bytes: list[int] = []
    files: int = 0
    threads: int = 0
    calls_to_join: int = 0
    calls_to_begin: int = 0
    calls_for_cores: dict[str, int] = {}
    calls_of_looks: list[int] = []
    released: bool | None = None  # whether all others began although one host was held; None: none was
    lost: str = ""


def measure(bench: Bench) -> Iterator[Figure]:
    """Figures of each number of hosts, as far as there is memory."""
    if not setup.is_here():
        yield Figure("many hosts", f"Ray is not here ({setup.HINT})", "", None)
        return
    for count in COUNTS:
        if memory_available() < count * HOST_BYTES:
            yield Figure(f"{count} hosts", f"memory for {count} agents is not available", "", None)
            continue
        seconds = SECONDS_OF_MOST if count == COUNTS[-1] else SECONDS
        yield from figures(found_of(bench.directory / f"hosts-{count}", count, seconds))


def memory_available() -> int:
    """Bytes that programs can still have."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))


def figures(found: Found) -> Iterator[Figure]:
    """What one number of hosts came to, with its bars."""
    name = f"{found.hosts} hosts"
    taken = f"join {found.join_s:.1f} s, hello {found.hello_s * 1e3:.0f} ms, clients ready {found.ready_s:.1f} s, "
    taken += f"clocks {found.clocks_s * 1e3:.0f} ms (±{found.bound_ns / 1e3:.0f} µs), one way {found.way_s:.1f} s"
    yield Figure(f"{name}: start", taken, "", None)
    lead = f"{found.lead_left_ns / 1e6:.0f} ms of {LEAD_NS / 1e6:.0f} ms left, spread {found.spread_ns / 1e6:.1f} ms"
    bar = f"at least {BAR_LEAD_NS / 1e6:.0f} ms left"
    yield Figure(f"{name}: common start", lead, bar, found.lead_left_ns >= BAR_LEAD_NS)
    look_s = f"{median(found.looks_s) * 1e3:.0f} ms, longest {max(found.looks_s) * 1e3:.0f} ms"
    look_s += f", controller's CPU {median(found.cpus_s) * 1e3:.0f} ms, {median(found.calls_of_looks):.0f} calls"
    yield Figure(f"{name}: one look", look_s, f"at most {BAR_LOOK_S:g} s", max(found.looks_s) <= BAR_LOOK_S)
    growth = growth_mib_per_min(found.resident_bytes)
    held = f"{found.resident_bytes[-1] / MIB:.0f} MiB, {found.files} files, {found.threads} threads"
    long = len(found.resident_bytes) >= LONG
    held += f", {growth:+.1f} MiB a minute" if long else ""
    met = found.files < BAR_FILES and growth <= BAR_GROWTH_MIB
    bar = f"at most {BAR_GROWTH_MIB:g} MiB a minute, {BAR_FILES} files"
    yield Figure(f"{name}: controller", held, bar if long else "", met if long else None)


def growth_mib_per_min(resident_bytes: list[int]) -> float:
    """Of the last looks against those after which it should not grow."""
    late = resident_bytes[SETTLED:] or resident_bytes
    size = max(1, len(late) // 4)
    apart_min = max(1, len(late) - size) / 60
    return (mean(late[-size:]) - mean(late[:size])) / MIB / apart_min


def found_of(folder: Path, count: int, seconds: float, held: int = 0) -> Found:
    """What so many hosts came to in a process of its own; nothing stays. CalledProcessError."""
    folder.mkdir()
    words = [sys.executable, "-m", "bench.many_hosts", str(folder), str(count), str(seconds), str(held)]
    try:
        environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
        done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, check=True, timeout=TIMEOUT_S)
        return msgspec.json.decode(done.stdout.splitlines()[-1], type=Found)
    finally:
        if (file := folder / idle_hosts.FILE).is_file():
            cluster.down(file, hosts_file.read(file), lambda _text: None)


class WatchedStage(Stage):
    """A stage that keeps what its looks took, what the controller held at each, and the calls."""

    calls: Counter[str]
    found: Found
    calls_so_far = 0
    listened_s = listened_cpu_s = 0.0

    @override
    def _begin(self) -> None:
        before, listen = self.calls.total(), self.processes.listen

        def listened() -> None:
            cpu_s = time.process_time()
            self.listened_s = took_s(listen)
            self.listened_cpu_s = time.process_time() - cpu_s

        self.processes.listen = listened  # type: ignore[method-assign]
        super()._begin()
        self.found.calls_to_begin = self.calls.total() - before
        self.calls_so_far = self.calls.total()

    @override
    def _look(self, now_ns: int) -> None:
        cpu_s = time.process_time()
        self.found.looks_s.append(self.listened_s + took_s(lambda: super(WatchedStage, self)._look(now_ns)))
        self.found.cpus_s.append(self.listened_cpu_s + time.process_time() - cpu_s)
        held = memory.resident([os.getpid()])
        assert held is not None
        self.found.resident_bytes.append(held.anonymous + held.file + held.shared)
        before, self.calls_so_far = self.calls_so_far, self.calls.total()
        if now_ns < self.end_ns:  # then states are looked at all the time
            self.found.calls_of_looks.append(self.calls_so_far - before)


def took_s(call: Callable[[], object]) -> float:
    """The time that a call took."""
    begun_s = time.perf_counter()
    call()
    return time.perf_counter() - begun_s


def main(folder: Path, count: int, seconds: float, held: int) -> None:
    """Measure one number of hosts and print it."""
    found = Found(count)
    with tempfile.TemporaryDirectory(prefix="rowpath-bench-") as private:
        bench = Bench(Path(private))
        try:
            with idle_hosts.nodes(folder, private_directories.free_port()) as state:
                begun_s = time.perf_counter()
                with idle_hosts.joined(state, count, events=folder, held=held) as session:
                    found.join_s = time.perf_counter() - begun_s
                    _measure(found, session, bench, seconds)
                if held:
                    found.released = (folder / idle_hosts.RELEASED).exists()
        finally:
            bench.close()
    print(msgspec.json.encode(found).decode())


def _measure(found: Found, session: Session, bench: Bench, seconds: float) -> None:
    calls = session._cluster.calls  # type: ignore[attr-defined]
    found.calls_to_join = calls.total()
    names = tuple(host.name for host in session.file.host)
    found.hello_s = took_s(lambda: session._cluster.ask_all(names, "hello"))
    begun_s = time.perf_counter()
    far, members = idle_hosts.opened(session, bench)
    found.ready_s = time.perf_counter() - begun_s
    found.clocks_s = took_s(far.read_clocks)
    found.bound_ns = max(each.bound_ns for each in far.clocks.values())
    found.way_s = took_s(lambda: session.way(names[1], names[0], "before"))
    before = calls.copy()
    far.helpers_cpu_ns()
    far.take_cores()
    found.calls_for_cores = dict(calls - before)
    table = StageTable(name="at work", client_groups=idle_hosts.GROUPS, seconds=seconds)
    usage = cast(Any, far.usage(None, 0))
    zero_ns = time.monotonic_ns()
    stage = WatchedStage(table, members, [], cast(Any, far), None, zero_ns, TIMEOUT_S, usage, lambda *_: None)
    stage.calls, stage.found = calls, found
    found.lost = stage.run().lost
    found.files, found.threads = (len(list(Path(f"/proc/self/{each}").iterdir())) for each in ("fd", "task"))
    record = far.start_record()
    assert record is not None
    found.lead_left_ns = min(start.lead_ns for start in record.starts)
    begun = [each for every in idle_hosts.begun_ns(far, members).values() for each in every]
    found.spread_ns = max(begun) - min(begun)
    far.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
