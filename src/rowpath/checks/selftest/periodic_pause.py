"""16: a periodic pause of a path's own raises mean and CPU by its share and the finding; a neighbour's does not."""

from __future__ import annotations

import math
import sys

from rowpath.analysis.model import Result
from rowpath.checks.selftest.bench import NOTHING, Bench, Verdict
from rowpath.machine import cpus, processes

BURN_NS = 20_000
BLOCK_NS = 10_000_000
PAUSE_NS = 8_000_000
EVERY_BLOCKS = 20
SHARE = PAUSE_NS / (EVERY_BLOCKS * BLOCK_NS)
# A neighbour that takes the core for 8 ms in every 240.
NEIGHBOUR = """
import time
while True:
    end = time.perf_counter() + 0.008
    while time.perf_counter() < end:
        pass
    time.sleep(0.232)
"""


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """A path that pauses beside one that does not; then two that do not, beside a neighbour that takes the core."""
    name = bench.languages()[0]
    every = EVERY_BLOCKS * BLOCK_NS // BURN_NS
    quiet = {"burn_ns": str(BURN_NS)}
    pausing = quiet | {"pause_ns": str(PAUSE_NS), "pause_every": str(every)}
    paths = [
        bench.path(name, "null", NOTHING, name="pauses", label="pauses", **pausing),
        bench.path(name, "null", NOTHING, name="steady", label="steady", **quiet),
    ]
    sets = 12 if full else 4
    own, _ = bench.run(paths, NOTHING, sets=sets, rounds=100, warm_cap_s=0.1)
    mean, median, cpu = _excess(own.results)
    raised = any(finding.id == "periodic-cost" for finding in own.findings)
    neighbour = processes.start([sys.executable, "-c", NEIGHBOUR], cpus=cpus.server_cpus())
    try:
        beside, _ = bench.run([paths[1]], NOTHING, sets=sets, rounds=100, warm_cap_s=0.1)
    finally:
        processes.stop(neighbour, processes.AT_ONCE)
    foreign = any(finding.id == "periodic-cost" for finding in beside.findings)
    return [
        Verdict.within("own pause: the median", median, -0.01, 0.01, "+.1%"),
        Verdict.within("own pause: the mean", mean, 0.5 * SHARE, 1.5 * SHARE, "+.1%"),
        Verdict.within("own pause: CPU per operation", cpu, 0.5 * SHARE, 1.5 * SHARE, "+.1%"),
        Verdict.either("own pause: the finding periodic-cost", raised),
        Verdict.either("a neighbour's: the finding periodic-cost", foreign, expected=False),
    ]


def _excess(results: tuple[Result, ...]) -> tuple[float, float, float]:
    """How much dearer the path that pauses is: by the mean, by the median, by CPU per operation (mean).

    Not a number where all blocks of one of them were disturbed.
    """
    values = {(r.name, r.metric): r for r in results if r.regime == "steady"}

    def ratio(metric: str, form: str) -> float:
        pauses, steady = (getattr(values.get((name, metric)), form, None) for name in ("pauses", "steady"))
        return float(pauses / steady - 1) if pauses and steady else math.nan

    return ratio("time", "mean"), ratio("time", "median"), ratio("client_cpu", "mean")
