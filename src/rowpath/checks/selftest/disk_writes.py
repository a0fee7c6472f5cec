"""6: operations that write X bytes and sync K times: /proc/PID/io and the sync counter show them, exactly."""

from __future__ import annotations

from rowpath.checks.selftest.bench import Bench, Verdict
from rowpath.machine.counters import disk, syncs

OPERATIONS = 25
COSTS = ((4096, 0), (65_536, 1), (12_288, 3), (0, 2))  # bytes, syncs of each operation


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """Whole pages, because the kernel counts a page when it is made dirty."""
    if skipped := bench.without_compiler("disk writes"):
        return skipped
    if syncs.probe() != syncs.METHOD:
        return [Verdict(None, "syncs", syncs.probe())]
    verdicts = []
    for size, each in COSTS:
        counters = syncs.make_file(bench.directory / f"syncs-{size}-{each}")
        written = {"path": str(bench.directory / "written")}
        counted = syncs.environment(counters)
        worker, work = bench.null_worker("c", counted, written, disk_bytes=size, syncs=each)
        worker.sample(work, "warm", operations=1)
        before_bytes, before = worker.written_bytes(), syncs.read(counters)["total"]
        operations = OPERATIONS * (10 if full else 1)
        worker.sample(work, "steady", operations=operations)
        after_bytes, after = worker.written_bytes(), syncs.read(counters)["total"]
        worker.close()
        what = f"{operations} operations of {size:,} bytes and {each} syncs"
        verdicts.append(Verdict.exactly(f"{what}: syncs", after - before, operations * each))
        if before_bytes is None or after_bytes is None:
            verdicts.append(Verdict(None, f"{what}: bytes", disk.probe()))
        elif size and before_bytes == after_bytes:
            verdicts.append(Verdict(None, f"{what}: bytes", f"{bench.directory} is kept in memory"))
        else:
            verdicts.append(Verdict.exactly(f"{what}: bytes", after_bytes - before_bytes, operations * size))
    return verdicts
