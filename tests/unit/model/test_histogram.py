"""Histograms against HdrHistogram's promises: every value in its bucket, buckets within 0.8 %, percentiles exact."""

from __future__ import annotations

import random

import pytest

from rowpath.model import histogram

EDGES = [0, 1, 127, 128, 255, 256, 257, 511, 512, 10**3, 10**6, 10**9, 2**40 - 1, 2**40, 2**62, 2**63 - 1]


@pytest.mark.parametrize("value", EDGES + [random.Random(7).randrange(2**63) for _ in range(50)])
def test_a_value_lies_in_its_bucket_and_the_bucket_is_narrow(value: int) -> None:
    index = histogram.index_of(value)
    assert 0 <= index < histogram.COUNTS
    low, high = histogram.lowest_of(index), histogram.highest_of(index)
    assert low <= value <= high
    assert high - low <= value / 128


def test_buckets_follow_each_other_without_gap() -> None:
    for index in range(histogram.COUNTS - 1):
        if histogram.lowest_of(index + 1) < 2**63:
            assert histogram.highest_of(index) + 1 == histogram.lowest_of(index + 1)


def test_percentiles_are_those_of_the_sorted_values() -> None:
    generator = random.Random(1)
    values = sorted(int(generator.lognormvariate(12, 2)) for _ in range(10_000))
    counts = histogram.empty()
    for value in values:
        counts[histogram.index_of(value)] += 1
    for percent in (0.01, 50, 90, 99, 99.9, 99.99, 100):
        exact = values[max(0, -(-round(len(values) * percent) // 100) - 1)]
        found = histogram.percentile(counts, percent)
        assert found is not None
        assert exact <= found <= exact * (1 + 1 / 128) + 1


def test_none_of_nothing_and_the_rest_is_counted_above() -> None:
    counts = histogram.empty()
    assert histogram.percentile(counts, 99) is None
    counts[histogram.index_of(1000)] = 99
    counts[histogram.index_of(2_000_000_000)] = 1
    assert histogram.count_above(counts, 1_000_000) == 1
    assert histogram.highest_of(histogram.index_of(1000)) == histogram.percentile(counts, 99)


def test_what_is_kept_comes_back() -> None:
    counts = histogram.empty()
    counts[[0, 77, 7295]] = 1, 5, 2**40
    assert (histogram.decode(histogram.encode(counts)) == counts).all()
