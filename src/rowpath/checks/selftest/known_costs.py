"""Known answers 1 to 6: what an operation of known cost takes, in time, CPU, bytes, system calls, memory and disk."""

from __future__ import annotations

import math
import socket
import statistics
import struct
import threading
from collections.abc import Iterator

from rowpath.checks.selftest.bench import NOTHING, Bench, Skipped, Verdict
from rowpath.execution.in_turn import peak_memory as peaks
from rowpath.execution.measured import Measured
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.machine.counters import counting_proxy, disk, memory, syncs
from rowpath.machine.counters import system_calls as call_counter
from rowpath.runners.manifest import language

MOST_BLOCKS = {False: 250, True: 650}  # the first of them warm up


def null_operation(bench: Bench, *, full: bool) -> Iterator[Verdict]:
    """1: the overhead per operation of each runner, by its least block of the null operation, is below its budget.

    One verdict per language.
    """
    for name in bench.languages():
        if budget := language(name).null_operation_ns:
            yield overhead(bench, name, "null", budget, full=full)


def overhead(bench: Bench, language_name: str, driver: str, budget_ns: float, *, full: bool) -> Verdict:
    """The verdict on one language's adapter that does nothing."""
    worker, work = bench.null_worker(language_name, driver=driver)
    least = math.inf
    for _ in range(MOST_BLOCKS[full]):
        reply = worker.sample(work, "steady", lead_in_ns=1_000_000, duration_ns=10_000_000).reply
        least = min(least, reply.ns / reply.operations)
        if not full and least <= budget_ns:  # further blocks could only be less
            break
    worker.close()
    what = f"null operation, {language_name}" + ("" if driver == "null" else f" {driver}")
    return Verdict(least <= budget_ns, what, f"{least:.0f} ns per operation", f"at most {budget_ns:.0f} ns")


BURNS_US = (0, 20, 50, 100, 200)
BURN_BLOCKS = 25
WITHIN = 0.02


def burn(bench: Bench, *, full: bool) -> Iterator[Verdict]:
    """2: a burn of d µs per answer shows with slope 1.00 ± 0.02, in the CPU of the side that burns, not of the other.

    Server-side burn by the ping server, client-side burn by the null adapter.
    """
    bench.require_compiler("burn")
    yield from _slopes(bench, full, "server", {"the latency": 1, "the server's CPU": 1, "the client's CPU": 0})
    yield from _slopes(bench, full, "client", {"the latency": 1, "the client's CPU": 1})


def _slopes(bench: Bench, full: bool, side: str, expected: dict[str, int]) -> Iterator[Verdict]:
    """Check the slopes of the blocks' medians over the burns, by least squares; µs per operation at each burn."""
    runs = [_started(bench, side, burn_us) for burn_us in BURNS_US]
    blocks: list[list[dict[str, float]]] = [[] for _ in BURNS_US]
    for _ in range(BURN_BLOCKS * (4 if full else 1)):
        for own, (worker, work) in zip(blocks, runs, strict=True):
            measured = _undisturbed(worker, work)
            reply = measured.reply
            all_operations = reply.operations + reply.lead_in_operations
            cpu_ns = {"client": measured.client_cpu_ns or 0, "server": measured.server_cpu_ns or 0}
            cpu = {f"the {name}'s CPU": ns / all_operations for name, ns in cpu_ns.items()}
            own.append({"the latency": reply.ns / reply.operations} | cpu)
    for what, slope in expected.items():
        medians_us = [statistics.median(block[what] for block in own) / 1000 for own in blocks]
        seen = statistics.linear_regression(BURNS_US, medians_us).slope
        yield Verdict.within(f"{side} burns: slope of {what}", seen, slope - WITHIN, slope + WITHIN, ".4f")


def _started(bench: Bench, side: str, burn_us: int) -> tuple[Worker, PreparedPhase]:
    if side == "server":
        planned = bench.path("c", "ping", NOTHING, transport="tcp", label=f"burn {burn_us}")
        instance = bench.instance("null", "server", f"burn{burn_us}", burn_ns=burn_us * 1000)
        worker, work = bench.worker(planned, instance), bench.work(NOTHING, "null")
        worker.prepare(work)
    else:
        worker, work = bench.null_worker(burn_ns=burn_us * 1000)
    worker.sample(work, "warm", duration_ns=50_000_000)
    return worker, work


def _undisturbed(worker: Worker, work: PreparedPhase) -> Measured:
    """A block that nothing else cut into, as far as outside evidence shows; the last one of ten otherwise."""
    for _ in range(10):
        measured = worker.sample(work, "steady", lead_in_ns=1_000_000, duration_ns=10_000_000)
        if not measured.disturbed:
            break
    return measured


TURNS = ((1, 1), (7, 4096), (65_536, 1), (100, 100), (1, 1_000_000))
TCP_INFO_BYTES_ACKED = 120  # its offset in struct tcp_info (linux/tcp.h); bytes_received follows


def counted_bytes(bench: Bench, *, full: bool) -> list[Verdict]:
    """3: a session of known size: the counting proxy, the kernel's own counters and the client agree to the byte.

    A talk of known turns through the proxy.
    """
    repeats = 50 if full else 10
    listener = socket.create_server(("127.0.0.1", 0))
    server = threading.Thread(target=_serve, args=(listener, repeats), daemon=True)
    counting = counting_proxy.Proxy(listener.getsockname()[1])
    try:
        server.start()
        with socket.create_connection(("127.0.0.1", counting.port)) as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for _ in range(repeats):
                for sent, received in TURNS:
                    client.sendall(bytes(sent))
                    _receive(client, received)
            info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
            counts = counting.read()
    finally:
        counting.stop()
        listener.close()
    server.join(10)
    sent, received = (repeats * sum(sizes) for sizes in zip(*TURNS, strict=True))
    acked, arrived = struct.unpack_from("<QQ", info, TCP_INFO_BYTES_ACKED)
    return [
        Verdict.exactly("bytes sent, by the proxy", counts.bytes_sent, sent),
        Verdict.exactly("bytes received, by the proxy", counts.bytes_received, received),
        Verdict.exactly("round trips, by the proxy", counts.round_trips, repeats * len(TURNS)),
        Verdict.exactly("bytes received, by the kernel (TCP_INFO)", arrived, received),
        # The kernel counts the connection's opening as one acknowledged byte.
        Verdict.exactly("bytes sent, by the kernel (TCP_INFO)", acked - 1, sent),
    ]


def _receive(stream: socket.socket, count: int) -> None:
    while count:
        count -= len(stream.recv(min(count, 1 << 16)))


def _serve(listener: socket.socket, repeats: int) -> None:
    stream, _ = listener.accept()
    with stream:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(repeats):
            for sent, received in TURNS:
                _receive(stream, sent)
                stream.sendall(bytes(received))
        stream.recv(1)  # until the client closes: our end of stream would count as a byte that it received


CALLING_OPERATIONS = 50
# Threads of a runner that hand over a request meet at a lock, or do not: that adds calls to some requests.
REPETITIONS = 7


def system_calls(bench: Bench, *, full: bool) -> Iterator[Verdict]:
    """4: operations that make N system calls: counted exactly, once the runner's own constant overhead is taken out.

    Check the count of system calls by the method that works here; strace may miss a call at either end.
    """
    bench.require_compiler("system calls")
    slack = {call_counter.METHOD: 0, call_counter.METHOD_STRACE: call_counter.STRACE_SLACK}.get(call_counter.probe())
    if slack is None:
        raise Skipped("system calls", call_counter.probe())
    constant = _counted(bench, 0)
    for calls in (1, 7, 100, 5_000) if full else (1, 7, 100):
        counted = _counted(bench, calls)
        own = None if counted is None or constant is None else counted - constant
        what = f"{CALLING_OPERATIONS} operations of {calls} calls each"
        yield Verdict.exactly(what, own, CALLING_OPERATIONS * calls, slack)


def _counted(bench: Bench, calls: int) -> int | None:
    """The least of some repetitions."""
    worker, work = bench.null_worker(system_calls=calls)
    worker.sample(work, "warm", operations=CALLING_OPERATIONS)
    counts: list[int] = []
    for _ in range(REPETITIONS):
        with call_counter.counting(worker.runner.pid) as counted:
            worker.sample(work, "steady", operations=CALLING_OPERATIONS)
        counts += [counted.calls] if counted.calls is not None else []
    worker.close()
    return min(counts, default=None)


PEAK_TOLERANCE = 0.02
TAKEN_BYTES = (8 << 20, 200_000_000)


def peak_memory(bench: Bench, *, full: bool) -> Iterator[Verdict]:
    """5: operations that take X bytes, touch them and give them back: the peak rises by X ± 2 %, though all is freed.

    No figure is finer than the kernel's counters are.

    Compare with the same process when it did nothing.
    """
    bench.require_compiler("peak memory")
    if memory.probe() != memory.METHOD:
        raise Skipped("peak memory", memory.probe())
    for taken in (*TAKEN_BYTES, 1 << 30) if full else TAKEN_BYTES:
        worker, work = bench.null_worker(memory_bytes=taken)
        worker.sample(work, "warm", operations=1)
        with peaks([worker]) as [idle]:
            pass
        with peaks([worker]) as [busy]:
            worker.sample(work, "steady", operations=3)
        with peaks([worker]) as [freed]:
            pass
        worker.close()
        for what, record, truth in (("taken and freed", busy, taken), ("left afterwards", freed, 0)):
            rise = (record.client_peak_bytes or 0.0) - (idle.client_peak_bytes or 0.0)
            resolution = 2 * memory.resolution_bytes()  # of a difference
            passed = abs(rise - truth) <= max(PEAK_TOLERANCE * taken, resolution)
            bar = f"{truth / 1e6:,.1f} MB, within {PEAK_TOLERANCE:.0%} of what was taken or {resolution / 1e6:.1f} MB"
            yield Verdict(passed, f"{taken / 1e6:,.1f} MB {what}", f"{rise / 1e6:,.1f} MB", bar)


WRITING_OPERATIONS = 25
DISK_COSTS = ((4096, 0), (65_536, 1), (12_288, 3), (0, 2))  # bytes, syncs of each operation


def disk_writes(bench: Bench, *, full: bool) -> Iterator[Verdict]:
    """6: operations that write X bytes and sync K times: /proc/PID/io and the sync counter show them, exactly.

    Whole pages, because the kernel counts a page when it is made dirty.
    """
    bench.require_compiler("disk writes")
    if syncs.probe() != syncs.METHOD:
        raise Skipped("syncs", syncs.probe())
    for size, sync_count in DISK_COSTS:
        counters = syncs.make_file(bench.directory / f"syncs-{size}-{sync_count}")
        written = {"path": str(bench.directory / "written")}
        counted = syncs.environment(counters)
        worker, work = bench.null_worker("c", counted, written, disk_bytes=size, syncs=sync_count)
        worker.sample(work, "warm", operations=1)
        before_bytes, before = worker.written_bytes(), syncs.read(counters)["total"]
        operations = WRITING_OPERATIONS * (10 if full else 1)
        worker.sample(work, "steady", operations=operations)
        after_bytes, after = worker.written_bytes(), syncs.read(counters)["total"]
        worker.close()
        what = f"{operations} operations of {size:,} bytes and {sync_count} syncs"
        yield Verdict.exactly(f"{what}: syncs", after - before, operations * sync_count)
        if before_bytes is None or after_bytes is None:
            yield Verdict(None, f"{what}: bytes", disk.probe())
        elif size and before_bytes == after_bytes:
            yield Verdict(None, f"{what}: bytes", f"{bench.directory} is kept in memory")
        else:
            yield Verdict.exactly(f"{what}: bytes", after_bytes - before_bytes, operations * size)
