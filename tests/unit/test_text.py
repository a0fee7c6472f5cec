"""Numbers as people read them."""

from __future__ import annotations

import locale
import math

import pytest

from rowpath import text as fmt
from rowpath.drawing.grid import heading, plain


@pytest.mark.parametrize(
    ("value_ns", "text"),
    [
        (0, "0 ns"),
        (0.5, "0.500 ns"),
        (41, "41.0 ns"),
        (999.4, "999 ns"),
        (999.6, "1.00 µs"),
        (9996, "10.0 µs"),
        (1.2345e6, "1.23 ms"),
        (2e9, "2.00 s"),
        (1234.5e9, "1,230 s"),
        (-1500, "-1.50 µs"),
        (None, "–"),
        (math.nan, "–"),
    ],
)
def test_duration(value_ns: float | None, text: str) -> None:
    assert fmt.duration(value_ns) == text


@pytest.mark.parametrize(
    ("value_ns", "text"),
    [
        (0, "+0 ns"),
        (-12_345, "-12.3 µs"),
        (59_900_000_000, "+59.9 s"),
        (-125_000_000_000, "-2 min 05 s"),
        (15_000 * 10**9, "+4 h 10 min"),
        (-(3 * 86_400 + 4 * 3_600) * 10**9, "-3 d 04 h"),
    ],
)
def test_offset(value_ns: float, text: str) -> None:
    assert fmt.offset(value_ns) == text


@pytest.mark.parametrize(
    ("value", "text"), [(950, "950/s"), (81_234, "81.2 k/s"), (1.2e6, "1.20 M/s"), (999_600, "1.00 M/s")]
)
def test_rate(value: float, text: str) -> None:
    assert fmt.rate(value) == text


@pytest.mark.parametrize(("value", "text"), [(7, "56.0 b/s"), (12.5e6, "100 Mb/s"), (1.25e9, "10.0 Gb/s"), (None, "–")])
def test_bit_rate(value: float | None, text: str) -> None:
    assert fmt.bit_rate(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(120, "120 B"), (1023, "1,023 B"), (1536, "1.50 KiB"), (1023 * 1024, "1,023 KiB"), (304 * 2**20, "304 MiB")],
)
def test_size(value: float, text: str) -> None:
    assert fmt.size(value) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (2.271, 2.349, "2.27–2.35"),
        (0.984, 1.021, "0.98–1.02"),
        (9.87, 10.23, "9.9–10.2"),
        (109, 119, "109–119"),
        (None, 1, ""),
    ],
)
def test_interval(low: float | None, high: float | None, text: str) -> None:
    assert fmt.interval(low, high) == text


def test_ratio_count_share_and_clock() -> None:
    assert (fmt.ratio(2.312), fmt.ratio(114.4), fmt.ratio(None)) == ("2.31×", "114×", "–")
    assert (fmt.count(6071.0), fmt.count(1.5), fmt.count(0.002)) == ("6,071", "1.50", "0.00200")
    assert fmt.share(0.0251) == "2.5 %"
    assert (fmt.clock(0.2), fmt.clock(125), fmt.clock(4200), fmt.clock(-3)) == (
        "1 s",
        "2 min 05 s",
        "1 h 10 min",
        "0 s",
    )


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (5710, "ns/operation", "5.71 µs"),
        (1.5e6, "rows/s", "1.50 M/s"),
        (2048, "bytes/operation", "2.00 KiB"),
        (2048, "bytes/s", "2.00 KiB/s"),
        (2.6, "s", "2.60 s"),
        (1, "round trips/operation", "1"),
        (math.inf, "ns", "–"),
    ],
)
def test_figure_goes_by_the_unit_of_its_record(value: float, unit: str, text: str) -> None:
    assert fmt.figure(value, unit) == text


def test_clean_takes_out_escape_sequences_controls_and_direction_marks() -> None:
    assert fmt.clean("a\x1b[31mred\x1b[0m\nb\x00\x07\u202ec\x1b]0;title\x07d") == "ared bcd"


def test_nothing_depends_on_the_locale() -> None:
    before = locale.setlocale(locale.LC_ALL)
    try:
        for name in ("de_DE.UTF-8", "C.UTF-8"):
            try:
                locale.setlocale(locale.LC_ALL, name)
            except locale.Error:
                continue
            assert fmt.duration(1.5e6) == "1.50 ms"
    finally:
        locale.setlocale(locale.LC_ALL, before)


def test_a_field_of_a_record_shows_in_the_unit_of_its_name() -> None:
    assert plain(1200, "pressure_some_us") == "1.20 ms"
    assert plain("8129724", "memory_kib") == "7.75 GiB"
    assert plain(0.95, "confidence") == "95.0 %"
    assert plain(5000.0, "first_block_ns_per_operation") == "5.00 µs"
    assert plain([1, 2]) == "1, 2"
    assert plain(None) == "–"
    assert (heading("spin_gap_max_ns"), heading("ns")) == ("spin gap max", "time")


def test_many_names_are_counted() -> None:
    names = [f"h{number}" for number in range(99)]
    assert fmt.listed(names[:8]) == ", ".join(names[:8])
    assert fmt.listed(names) == "h0, h1, h2 … h98 (99)"
