"""16: a periodic pause of a path's own raises mean and CPU by its share and the finding; a neighbour's does not."""

from __future__ import annotations

import sys

from rowpath.analysis.model import Result
from rowpath.checks.selftest.bench import Bench, Verdict
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
        bench.path(name, "null", "null.nothing", name="pauses", label="pauses", **pausing),
        bench.path(name, "null", "null.nothing", name="steady", label="steady", **quiet),
    ]
    sets = 12 if full else 4
    own, _ = bench.run(paths, "null.nothing", sets=sets, rounds=100, warm_cap_s=0.1)
    mean, median, cpu = _excess(own.results)
    raised = [finding for finding in own.findings if finding.id == "periodic-cost"]
    neighbour = processes.start([sys.executable, "-c", NEIGHBOUR], cpus=cpus.server_cpus())
    try:
        beside, _ = bench.run([paths[1]], "null.nothing", sets=sets, rounds=100, warm_cap_s=0.1)
    finally:
        processes.stop(neighbour, processes.AT_ONCE)
    foreign = [finding for finding in beside.findings if finding.id == "periodic-cost"]
    return [
        Verdict(abs(median) <= 0.01, "own pause: the median", f"{median:+.1%}", "within 1 % of the path without"),
        _near(mean, "own pause: the mean"),
        _near(cpu, "own pause: CPU per operation"),
        Verdict(bool(raised), "own pause: the finding periodic-cost", "raised" if raised else "missing", "raised"),
        Verdict(not foreign, "a neighbour's: the finding periodic-cost", "raised" if foreign else "absent", "absent"),
    ]


def _excess(results: tuple[Result, ...]) -> tuple[float, float, float]:
    """How much dearer the path that pauses is: by the mean, by the median, by CPU per operation (mean)."""
    values = {(r.name, r.metric): r for r in results if r.regime == "steady"}

    def ratio(metric: str, form: str) -> float:
        pauses = getattr(values["pauses", metric], form)
        return float(pauses / getattr(values["steady", metric], form) - 1)

    return ratio("time", "mean"), ratio("time", "median"), ratio("client_cpu", "mean")


def _near(excess: float, what: str) -> Verdict:
    lowest, highest = 0.5 * SHARE, 1.5 * SHARE
    passed = lowest <= excess <= highest
    return Verdict(passed, what, f"{excess:+.1%}", f"{SHARE:.0%} more, give or take half of it")
