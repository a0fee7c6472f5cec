"""10: the shapes of warming up are distinguished: made series, and a real runner of each language."""

from __future__ import annotations

import random

from rowpath.checks.selftest.bench import Bench, Verdict
from rowpath.execution.warm_up import classify, is_flat

BLOCKS = 120


def made(shape: str, seed: int) -> list[float]:
    """A series of 120 blocks of that shape with 3 % noise."""
    noise = random.Random(seed)
    levels = {
        "flat": [100.0] * BLOCKS,
        "warm-up": [100.0 + 300.0 * 0.9**number for number in range(BLOCKS)],
        "slowdown": [100.0 if number < 40 else 150.0 for number in range(BLOCKS)],
        "no steady state": [100.0 if (number // 15) % 2 else 160.0 for number in range(BLOCKS)],
    }
    return [level * noise.gauss(1.0, 0.03) for level in levels[shape]]


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """Every shape many times; then that warming up a real runner ends flat."""
    verdicts = []
    trials = 200 if full else 50
    for shape in ("flat", "warm-up", "slowdown", "no steady state"):
        right = sum(classify(made(shape, seed)) == shape for seed in range(trials))
        verdicts.append(
            Verdict(right >= 0.95 * trials, f"made series, {shape}", f"{right} of {trials}", "at least 95 %")
        )
    for name in bench.languages():
        worker, work = bench.null_worker(name, burn_ns=20_000)
        blocks = []
        for _ in range(400):
            reply = worker.sample(work, "warm", duration_ns=10_000_000).reply
            blocks.append(reply.ns / reply.operations)
            if len(blocks) >= 9 and is_flat(blocks[-9:]):
                break
        verdicts.append(
            Verdict(is_flat(blocks[-9:]), f"a real {name} runner", f"flat after {len(blocks)} blocks", "flat in 4 s")
        )
        worker.close()
    return verdicts
