"""CPU, memory, disk, queue, noise and sync counters against processes whose cost is known."""

from __future__ import annotations

import mmap
import os
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath.machine import counters as collect
from rowpath.machine import processes
from rowpath.machine.counters import core_users, cpu, disk, memory, noise, syncs
from rowpath.model.core_user import CoreUser

SPINNING = "rowpath-spins"

CHILD = """
import os, sys, time
for line in sys.stdin:
    what, _, amount = line.strip().partition(" ")
    if what == "burn":
        end = time.process_time_ns() + int(amount)
        while time.process_time_ns() < end:
            pass
    elif what == "touch":
        memory = bytearray(int(amount))
        memory[::4096] = b"x" * len(memory[::4096])
        del memory
    elif what == "write":
        with open(sys.argv[1], "wb") as file:
            file.write(b"x" * int(amount))
            file.flush()
            os.fsync(file.fileno())
    elif what == "fork":
        if os.fork() == 0:
            end = time.process_time_ns() + int(amount)
            while time.process_time_ns() < end:
                pass
            os._exit(0)
        os.wait()
    print("done", flush=True)
"""


class Child:
    """A process that does what it is told."""

    def __init__(self, process: processes.Process) -> None:
        self.pid = process.pid
        self._process = process

    def do(self, what: str, amount: int) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{what} {amount}\n".encode())
        self._process.stdin.flush()
        assert self._process.stdout.readline() == b"done\n"


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Child]:
    process = processes.start(
        [sys.executable, "-c", CHILD, tmp_path / "written"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    found = Child(process)
    found.do("nothing", 0)
    yield found
    processes.stop(process)


def test_every_means_is_told() -> None:
    means = collect.probe()
    counters = {"bytes and round trips", "syncs", "sync cost", "system calls", "bytes of our connections"}
    assert set(means) == {"cpu", "memory", "queue", "disk", "noise", "users of the cores"} | counters
    assert all(means.values())


def test_cpu_of_another_process(child: Child) -> None:
    before = cpu.process_ns(child.pid)
    assert before is not None
    child.do("burn", 100_000_000)
    after = cpu.process_ns(child.pid)
    assert after is not None
    assert 100_000_000 <= after - before < 110_000_000


def test_cpu_of_children_that_have_ended(child: Child) -> None:
    before = cpu.total_ns([child.pid])
    child.do("fork", 200_000_000)
    assert 180_000_000 <= cpu.total_ns([child.pid]) - before < 260_000_000


def test_cpu_of_nobody() -> None:
    process = processes.start(["true"])
    processes.stop(process)
    assert cpu.process_ns(process.pid) is None
    assert cpu.total_ns([process.pid]) == 0


def test_peak_memory_even_when_freed(child: Child) -> None:
    if collect.probe()["memory"].startswith("unavailable"):
        pytest.skip("clear_refs cannot be written here")
    assert memory.reset_peak(child.pid)
    before = memory.peak_bytes(child.pid)
    size = 200_000_000
    child.do("touch", size)
    after = memory.peak_bytes(child.pid)
    assert before is not None
    assert after is not None
    assert size * 0.98 <= after - before <= size * 1.02
    anonymous = memory.anonymous_bytes([child.pid])
    assert anonymous is not None
    assert anonymous < before


def test_what_is_resident_by_kind(child: Child, tmp_path: Path) -> None:
    size = 50_000_000
    written = tmp_path / "mapped"
    written.write_bytes(b"x" * size)
    before = memory.resident([os.getpid()])
    with written.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped, mmap.mmap(-1, size) as shared:
        shared[::4096] = b"x" * len(shared[::4096])
        assert sum(mapped[::4096]) > 0
        now = memory.resident([os.getpid()])
    assert before is not None
    assert now is not None
    assert now.shared - before.shared >= size
    # A folder in memory has its files among what is shared.
    assert now.file + now.shared - before.file - before.shared >= 2 * size
    assert now.anonymous - before.anonymous < size
    both = memory.resident([child.pid, os.getpid()])
    assert both is not None
    assert both.anonymous > now.anonymous


def test_nothing_is_resident_of_a_process_that_has_ended() -> None:
    process = processes.start(["true"])
    processes.stop(process)
    assert memory.resident([process.pid]) is None
    assert memory.anonymous_bytes([process.pid]) is None
    assert memory.peak_bytes(process.pid) is None


def test_bytes_written(child: Child) -> None:
    before = disk.written_bytes([child.pid])
    child.do("write", 3_000_000)
    after = disk.written_bytes([child.pid])
    if before is None or after is None:
        pytest.skip("/proc/PID/io cannot be read here")
    if after == before:
        pytest.skip("the file system of the temporary folder writes to memory")
    assert 3_000_000 <= after - before < 3_200_000


@pytest.mark.parametrize("has_loop_thread", [True, False])
def test_waiting_for_the_cpu_is_seen(child: Child, has_loop_thread: bool) -> None:
    loop_tid = child.pid if has_loop_thread else 0
    only = {min(os.sched_getaffinity(0))}
    processes.pin(child.pid, only)
    hog = processes.start([sys.executable, "-c", "while True: pass"], cpus=only)
    try:
        time.sleep(0.2)
        before = cpu.clocks(child.pid, loop_tid)
        began = time.monotonic_ns()
        child.do("burn", 100_000_000)
        wall = time.monotonic_ns() - began
        after = cpu.clocks(child.pid, loop_tid)
    finally:
        processes.stop(hog)
    assert before is not None
    assert after is not None
    assert cpu.foreign_wait_ns(before, after) / wall > 0.02


def test_the_spin_sees_a_hog() -> None:
    only = min(os.sched_getaffinity(0))
    before = os.sched_getaffinity(0)
    hog = processes.start([sys.executable, "-c", "while True: pass"], cpus={only})
    try:
        time.sleep(0.2)
        longest, share = noise.spin(only, 100_000_000)
    finally:
        processes.stop(hog)
    assert os.sched_getaffinity(0) == before
    assert longest > 1_000_000
    assert share > 0.1


def test_noise_counters() -> None:
    found = noise.read()
    assert found.spin_gap_max_ns >= 0
    assert 0 <= found.spin_gap_share <= 1


def test_sync_counters(tmp_path: Path) -> None:
    file = syncs.make_file(tmp_path / "counters")
    assert syncs.read(file)["total"] == 0
    file.write_bytes(struct.pack("<8Q", 1, 2, 3, 4, 5, 0, 0, 0))
    assert syncs.read(file) == {
        "fsync": 1,
        "fdatasync": 2,
        "sync_file_range": 3,
        "msync": 4,
        "sync_writes": 5,
        "total": 15,
    }


def users_of(cpu: int, own: set[int]) -> list[CoreUser]:
    """Who had that CPU for a tenth of a second, but `own`."""
    before = core_users.look({cpu})
    time.sleep(0.1)
    return [each for each in core_users.users(before, core_users.look({cpu}), {cpu}, own) if each.name == SPINNING]


def test_who_had_a_core_is_named_and_who_was_moved_away_is_not() -> None:
    last, *others = sorted(os.sched_getaffinity(0), reverse=True)
    program = f"import ctypes; ctypes.CDLL(None).prctl(15, b'{SPINNING}')\nwhile True: pass"
    hog = processes.start([sys.executable, "-c", program], cpus={last})
    try:
        while processes.name(hog.pid) != SPINNING:
            time.sleep(0.01)
        (found,) = users_of(last, own=set())
        assert found.kind == "ours"
        assert found.ns > 1_000_000
        assert not users_of(last, own={os.getpid()}), "what a path's own processes start is the path's"
        if others:
            processes.pin(hog.pid, {others[0]})
            assert not users_of(last, own=set())
    finally:
        processes.stop(hog, processes.AT_ONCE)
