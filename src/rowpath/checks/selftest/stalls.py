"""7: a stall in each hundredth operation shows in the maximum and, by its share, in the mean."""

from __future__ import annotations

from typing import Any

from rowpath.checks.selftest.bench import Bench, Verdict, samples
from rowpath.checks.selftest.null_adapter import PHASE

BURN_NS = 20_000
STALL_NS = 20_000_000
EVERY = 100
SHARE_TOLERANCE = 0.10
# A block ends at the first operation past its end, which is mostly a stall, and the lead-in after it has none: short
# blocks hold more stalls than their share. These hold 22.
BLOCK_MS = 500
FINDING = "closed-loop-hides-stall"


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """The same path with the stall and without."""
    name = bench.languages()[0]
    verdicts = []
    for stalls in (True, False):
        costs = {"burn_ns": str(BURN_NS)}
        if stalls:
            costs |= {"stall_ns": str(STALL_NS), "stall_every": str(EVERY)}
        path = bench.path(name, "null", PHASE, label="stalls" if stalls else "calm", **costs)
        analysis, records = bench.run([path], PHASE, sets=6 if full else 2, rounds=6, block_ms=BLOCK_MS, warm_cap_s=0.3)
        blocks = samples(records, path.name, [path])
        raised = any(finding.id == FINDING and path.name in finding.paths for finding in analysis.findings)
        what = f"the finding {FINDING}, {'with' if stalls else 'without'} the stall"
        verdicts.append(Verdict(raised == stalls, what, "raised" if raised else "absent", _said(stalls)))
        if stalls:
            verdicts += _figures(blocks)
    return verdicts


def _said(stalls: bool) -> str:
    return "raised" if stalls else "absent"


def _figures(blocks: list[dict[str, Any]]) -> list[Verdict]:
    longest = min(block["max_ns"] for block in blocks)  # of each block: a busy machine makes some longer
    # Waiting for the core after a sleep is the machine's doing.
    mean = sum(block["ns"] - (block["wait_ns"] or 0) for block in blocks) / sum(block["operations"] for block in blocks)
    share = (mean - BURN_NS) / (STALL_NS / EVERY)
    return [
        Verdict(
            STALL_NS <= longest <= 1.5 * STALL_NS,
            "the least of the blocks' longest operations",
            f"{longest / 1e6:.1f} ms",
            "20 to 30 ms",
        ),
        Verdict(
            abs(share - 1) <= SHARE_TOLERANCE,
            "the stalls in the mean",
            f"{share:.3f} of their share",
            f"within {SHARE_TOLERANCE:.0%} of 1",
        ),
    ]
