"""How much a core's speed changes, from pieces of equal work."""

from __future__ import annotations

import itertools
import os
from types import SimpleNamespace

import pytest

from rowpath.machine.counters import noise


def spread_of(pieces_ns: list[int], monkeypatch: pytest.MonkeyPatch) -> float:
    """Of these pieces, over and over."""
    served = itertools.cycle(pieces_ns)
    monkeypatch.setattr(noise, "_piece_ns", lambda: next(served))
    # A clock that goes on by a millisecond with each look: so many moments, however long this process waits for a CPU.
    clock = SimpleNamespace(perf_counter_ns=itertools.count(0, 1_000_000).__next__, sleep=lambda _seconds: None)
    monkeypatch.setattr(noise, "time", clock)
    return noise.speed_spread(min(os.sched_getaffinity(0)), 0.02)


def test_a_steady_core_has_no_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    assert spread_of([40_000], monkeypatch) == 1.0


def test_a_piece_that_was_interrupted_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    assert spread_of([40_000, 900_000, 40_000], monkeypatch) == 1.0


def test_two_levels_are_the_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    assert spread_of([40_000] * noise.PIECES + [60_000] * noise.PIECES, monkeypatch) == 1.5


def test_the_process_goes_back_to_its_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.sched_getaffinity(0)
    spread_of([1], monkeypatch)
    assert os.sched_getaffinity(0) == before
