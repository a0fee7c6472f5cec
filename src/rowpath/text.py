"""Numbers and texts as people read them: three significant digits, units, no locale."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Sequence

MISSING = "–"
LISTED = 8  # names in a sentence
DAY_S = 86_400
MINUTE_NS = 60e9

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)")
_TIME = ("ns", "µs", "ms", "s")
_RATE = ("/s", " k/s", " M/s", " G/s")
_BITS = ("b", "kb", "Mb", "Gb")
_BYTES = ("B", "KiB", "MiB", "GiB", "TiB")


def _significant(value: float) -> str:
    """Three significant digits without an exponent: `1.23`, `12.3`, `123`, `1,230`, `0.00123`."""
    if value == 0:
        return "0"
    rounded = round(value, 2 - math.floor(math.log10(abs(value))))
    decimals = 2 - math.floor(math.log10(abs(rounded)))  # 9.996 became 10.0
    return f"{rounded:,.{max(0, decimals)}f}"


def _known(value: float | None, form: Callable[[float], str]) -> str:
    """The value in its form; one that is not known or not finite is missing."""
    return MISSING if value is None or not math.isfinite(value) else form(value)


def _scaled(value: float, base: int, units: Sequence[str]) -> tuple[float, str]:
    """The value in the unit in which its three digits are smallest but not below 1."""
    position = 0
    while position + 1 < len(units) and abs(value) >= base - (0.5 if base == 1000 else 0):
        value /= base
        position += 1
    return value, units[position]


def _in_units(value: float, units: Sequence[str], gap: str) -> str:
    scaled, unit = _scaled(value, 1000, units)
    return f"{_significant(scaled)}{gap}{unit}"


def listed(names: Sequence[str]) -> str:
    """All names; of many only the first three, the last and their number: `h1, h2, h3 … h99 (99)`."""
    if len(names) <= LISTED:
        return ", ".join(names)
    return f"{', '.join(names[:3])} … {names[-1]} ({len(names)})"


def duration(value_ns: float | None) -> str:
    """A time in nanoseconds: `850 ns`, `12.3 µs`, `1.25 ms`, `2.00 s`."""
    return _known(value_ns, lambda value: _in_units(value, _TIME, " "))


def clock(seconds: float) -> str:
    """A time to wait, in seconds: `45 s`, `2 min 05 s`, `1 h 10 min`, `2 d 04 h`."""
    whole = max(0, math.ceil(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < DAY_S:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // DAY_S} d {whole % DAY_S // 3600:02d} h"


def offset(value_ns: float) -> str:
    """How far a clock is ahead of another (+) or behind it: `+12.3 µs`, `-3 d 04 h`."""
    apart_ns = abs(value_ns)
    sign = "-" if value_ns < 0 else "+"
    return sign + (duration(apart_ns) if apart_ns < MINUTE_NS else clock(apart_ns / 1e9))


def rate(value_per_s: float | None) -> str:
    """A rate per second: `950/s`, `81.2 k/s`, `1.20 M/s`."""
    return _known(value_per_s, lambda value: _in_units(value, _RATE, ""))


def bit_rate(bytes_per_s: float | None) -> str:
    """A link's rate in bits: `100 Mb/s`, `1.00 Gb/s`."""
    return _known(bytes_per_s, lambda value: f"{_in_units(8 * value, _BITS, ' ')}/s")


def size(value_bytes: float | None) -> str:
    """A size in bytes: `120 B`, `1.50 KiB`, `304 MiB`."""
    if value_bytes is None or not math.isfinite(value_bytes):
        return MISSING
    value, unit = _scaled(value_bytes, 1024, _BYTES)
    digits = f"{value:,.0f}" if abs(value) >= 1000 else _significant(value)
    return f"{count(value) if unit == 'B' else digits} {unit}"


def count(value: float | None) -> str:
    """An exact number: all digits of an integer, three significant ones of anything else."""
    if value is None or not math.isfinite(value):
        return MISSING
    return f"{round(value):,}" if math.isclose(value, round(value), rel_tol=1e-9) else _significant(value)


def counted(number: int, noun: str) -> str:
    """A number of things: `1 path`, `3 paths`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def share(value: float | None) -> str:
    """A share of 1 in per cent: `2.5 %`."""
    return _known(value, lambda known: f"{100 * known:.1f} %")


def ratio(value: float | None) -> str:
    """A ratio: `2.31×`."""
    return _known(value, lambda known: f"{_significant(known)}×")


def interval(low: float | None, high: float | None) -> str:
    """The interval of a ratio: `2.27–2.35`, with the digits of its upper end."""
    if low is None or high is None or not math.isfinite(low) or not math.isfinite(high):
        return ""
    decimals = max(0, 2 - math.floor(math.log10(abs(high)))) if high else 2
    return f"{low:,.{decimals}f}–{high:,.{decimals}f}"


def rate_interval(low: float | None, high: float | None) -> str:
    """The interval of a rate per second in the unit of its upper end: `23.9–24.6 k/s`."""
    return _interval_in(low, high, _RATE, "")


def duration_interval(low_ns: float | None, high_ns: float | None) -> str:
    """The interval of a time in nanoseconds in the unit of its upper end: `4.10–4.62 s`."""
    return _interval_in(low_ns, high_ns, _TIME, " ")


def _interval_in(low: float | None, high: float | None, units: Sequence[str], gap: str) -> str:
    if low is None or not high or not math.isfinite(low) or not math.isfinite(high):
        return ""
    value, unit = _scaled(high, 1000, units)
    return f"{interval(low * value / high, value)}{gap}{unit}"


_NS = {"ns": 1.0, "µs": 1e3, "ms": 1e6, "s": 1e9, "seconds": 1e9}


def figure(value: float | None, unit: str) -> str:
    """A value of a metric in the unit that its record names."""
    if value is None or not math.isfinite(value):
        return MISSING
    base = unit.partition("/")[0].strip()
    if base in {"KB", "MB"}:  # an article's own unit
        return f"{_significant(value)} {unit}"
    if unit.endswith("/s") and base != "bytes":
        return rate(value)
    if base in _NS:
        return duration(value * _NS[base])
    if base in {"bytes", "B"}:
        return size(value) + ("/s" if unit.endswith("/s") else "")
    return count(value)


def per(unit: str) -> str:
    """What a figure is counted by: `operation` of `ns/operation`; empty when by nothing or by second."""
    what = unit.partition("/")[2]
    return "" if what == "s" else what


def clean(text: str) -> str:
    """Text of a driver or an engine without escape sequences and control characters; a line break becomes a space."""
    if text.isascii() and text.isprintable():
        return text
    spaced = re.sub(r"[\r\n\t]", " ", _ESCAPE.sub("", text))
    return "".join(c for c in spaced if unicodedata.category(c) not in {"Cc", "Cf", "Co", "Cs"})


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """Foreign text (of a driver or a server) without control characters."""
    return _CONTROL.sub("", text)
