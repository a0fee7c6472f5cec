"""13: a CPU hog beside the run is flagged, block by block, and in the findings; a quiet run is not."""

from __future__ import annotations

import sys

from rowpath.checks.selftest.bench import NOTHING, Bench, Verdict, samples
from rowpath.machine import cpus, processes

HOG = "while True: pass"


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """Measure the same path with and without a hog pinned to its core."""
    name = bench.languages()[0]
    paths = [bench.path(name, "null", NOTHING, burn_ns="20000")]
    shares = {}
    found = {}
    for hogged in (False, True):
        hog = processes.start([sys.executable, "-c", HOG], cpus=cpus.server_cpus()) if hogged else None
        try:
            analysis, records = bench.run(paths, NOTHING, sets=3 if full else 1)
        finally:
            if hog is not None:
                processes.stop(hog, processes.AT_ONCE)
        blocks = samples(records, paths[0].name, paths)
        shares[hogged] = sum(bool(block.disturbed) for block in blocks) / len(blocks)
        found[hogged] = any(finding.id == "disturbed-blocks" for finding in analysis.findings)
    return [
        Verdict(shares[True] >= 0.5, "blocks flagged beside a hog", f"{shares[True]:.0%}", "at least 50 %"),
        Verdict.either("the finding disturbed-blocks", found[True]),
        Verdict(shares[False] <= 0.3, "blocks flagged without one", f"{shares[False]:.0%}", "at most 30 %"),
    ]
