"""The judgement of the known answer `block-length`: noise passes, a true difference does not."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from types import SimpleNamespace
from typing import Any

from rowpath.checks.selftest import inference
from rowpath.checks.selftest.inference import judge_block_length

LONG_NS = 500_000_000


def test_noise_around_one_passes() -> None:
    assert judge_block_length("c", [-0.10, 0.12, 0.03, -0.08, 0.05, -0.02, 0.09, -0.06, 0.04, 0.01]).passed


def test_short_blocks_that_cost_a_tenth_more_miss() -> None:
    verdict = judge_block_length(
        "c", [math.log(1.10) + noise for noise in (-0.05, 0.06, 0.01, -0.04, 0.02, -0.01, 0.04, -0.03)]
    )
    assert verdict.passed is False
    assert verdict.figure.startswith("1.1")


def test_one_and_a_half_percent_passes_and_three_miss_where_the_rounds_agree() -> None:
    assert judge_block_length("c", [math.log(1.015) + noise for noise in (-0.002, 0.002, 0.001, -0.001)]).passed
    assert judge_block_length("c", [math.log(1.03) + noise for noise in (-0.002, 0.002, 0.001, -0.001)]).passed is False


def test_an_interval_too_wide_to_tell_anything_misses() -> None:
    assert judge_block_length("c", [-0.3, 0.3, 0.2, -0.2, 0.1, -0.1]).passed is False


class Runners:
    """A bench of two: every operation of the first takes the same time, long blocks of the second now half, now twice.

    `blocks`: how many of each length each took.
    """

    def __init__(self) -> None:
        self.blocks: Counter[tuple[str, int]] = Counter()
        self._turns = itertools.cycle((0.5, 2.0))
        work = SimpleNamespace(name="keyed.read")
        made = SimpleNamespace(phases={"keyed.read": work}, loaded_tables=dict)
        self.phase_cache = SimpleNamespace(prepared_workload=lambda *_: made)

    def sqlite_drivers(self) -> list[tuple[str, str]]:
        return [("steady", "a"), ("noisy", "b")]

    def instance(self, *_how: str) -> Any:
        return SimpleNamespace(load=lambda _tables: None, own_copy=lambda _path: None)

    def path(self, name: str, *_how: str) -> Any:
        return SimpleNamespace(path=name)

    def worker(self, planned: Any, _instance: Any) -> Any:
        def sample(_work: Any, regime: str, *, duration_ns: int, lead_in_ns: int = 0) -> Any:
            if regime == "steady":
                self.blocks[planned.path, duration_ns] += 1
            cost = next(self._turns) if (planned.path, duration_ns) == ("noisy", LONG_NS) else 1.0
            return SimpleNamespace(reply=SimpleNamespace(ns=duration_ns * cost, operations=1000 * duration_ns))

        return SimpleNamespace(prepare=lambda _work: None, sample=sample)


def test_a_runner_whose_figure_is_known_takes_short_blocks_alone() -> None:
    bench = Runners()
    steady, noisy = inference.block_length(bench, full=False)  # type: ignore[arg-type]
    assert steady.passed and noisy.passed is False
    long = {name: bench.blocks[name, LONG_NS] for name in ("steady", "noisy")}
    assert long == {"steady": inference.ROUNDS, "noisy": inference.MOST_ROUNDS}
    assert bench.blocks["steady", 10_000_000] == bench.blocks["noisy", 10_000_000] == 20 * inference.MOST_ROUNDS
