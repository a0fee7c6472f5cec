"""7: a stall in each hundredth operation shows in the maximum and, by its share, in the mean."""

from __future__ import annotations

from typing import Any

from rowpath.checks.selftest.bench import NOTHING, Bench, Verdict, samples
from rowpath.journal.records import SampleRecord

BURN_NS = 20_000
STALL_NS = 20_000_000
EVERY = 100
SHARE_TOLERANCE = 0.10
# A block ends at the first operation past its end, which is mostly a stall, and the lead-in after it has none: short
# blocks hold more stalls than their share. These hold 22. Without a stall any block will do.
BLOCK_MS = {True: 500, False: 50}
FINDING = "closed-loop-hides-stall"


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """Measure the same path with the stall and without it."""
    name = bench.languages()[0]
    verdicts = []
    for stalls in (True, False):
        costs = {"stall_ns": str(STALL_NS), "stall_every": str(EVERY)} if stalls else {}
        label = "stalls" if stalls else "calm"
        path = bench.path(name, "null", NOTHING, label=label, burn_ns=str(BURN_NS), **costs)
        how: dict[str, Any] = {"sets": 6 if full else 2, "rounds": 6, "block_ms": BLOCK_MS[stalls], "warm_cap_s": 0.3}
        analysis, records = bench.run([path], NOTHING, **how)
        raised = any(finding.id == FINDING and path.name in finding.paths for finding in analysis.findings)
        what = f"the finding {FINDING}, {'with' if stalls else 'without'} the stall"
        verdicts.append(Verdict.either(what, raised, stalls))
        if stalls:
            verdicts += _figures(samples(records, path.name, [path]))
    return verdicts


def _figures(blocks: list[SampleRecord]) -> list[Verdict]:
    longest = min(block.max_ns for block in blocks)  # of each block: a busy machine makes some longer
    # Waiting for the core after a sleep is the machine's doing.
    mean = sum(block.ns - (block.wait_ns or 0) for block in blocks) / sum(block.operations for block in blocks)
    share = (mean - BURN_NS) / (STALL_NS / EVERY)
    least_ms, most_ms = STALL_NS / 1e6, 1.5 * STALL_NS / 1e6
    return [
        Verdict.within("the least of the blocks' longest operations, ms", longest / 1e6, least_ms, most_ms, ".1f"),
        Verdict.within("the stalls' share in the mean", share, 1 - SHARE_TOLERANCE, 1 + SHARE_TOLERANCE, ".3f"),
    ]
