"""5: operations that take X bytes, touch them and give them back: the peak rises by X ± 2 %, though all is freed.

No figure is finer than the kernel's counters are.
"""

from __future__ import annotations

from rowpath.checks.selftest.bench import Bench, Verdict
from rowpath.execution.in_turn import peak_memory
from rowpath.machine.counters import memory

TOLERANCE = 0.02
BYTES = (8 << 20, 200_000_000)


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """Compare with the same process when it did nothing."""
    if skipped := bench.without_compiler("peak memory"):
        return skipped
    if memory.probe() != memory.METHOD:
        return [Verdict(None, "peak memory", memory.probe())]
    verdicts = []
    for taken in (*BYTES, 1 << 30) if full else BYTES:
        worker, work = bench.null_worker(memory_bytes=taken)
        worker.sample(work, "warm", operations=1)
        with peak_memory([worker]) as [idle]:
            pass
        with peak_memory([worker]) as [busy]:
            worker.sample(work, "steady", operations=3)
        with peak_memory([worker]) as [freed]:
            pass
        worker.close()
        for what, record, truth in (("taken and freed", busy, taken), ("left afterwards", freed, 0)):
            rise = (record.client_peak_bytes or 0.0) - (idle.client_peak_bytes or 0.0)
            resolution = 2 * memory.resolution_bytes()  # of a difference
            passed = abs(rise - truth) <= max(TOLERANCE * taken, resolution)
            bar = f"{truth / 1e6:,.1f} MB, within {TOLERANCE:.0%} of what was taken or {resolution / 1e6:.1f} MB"
            verdicts.append(Verdict(passed, f"{taken / 1e6:,.1f} MB {what}", f"{rise / 1e6:,.1f} MB", bar))
    return verdicts
