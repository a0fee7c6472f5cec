"""What stands between a program and its rows adds to the same path without it, as text: by the ratio within sets."""

from __future__ import annotations

from rowpath import text as fmt
from rowpath.analysis.model import Against


def signed(ns: float) -> str:
    """`+9 µs`, `−300 ns`."""
    return f"{'−' if ns < 0 else '+'}{fmt.duration(abs(ns))}"


def added(direct_ns: float, against: Against | None) -> str:
    """What it adds to `direct_ns`."""
    return signed((against.ratio - 1) * direct_ns) if against else fmt.MISSING


def interval(direct_ns: float, against: Against | None) -> str:
    """Its interval, from end to end."""
    if against is None or against.low is None or against.high is None:
        return fmt.MISSING
    return " to ".join(signed((end - 1) * direct_ns) for end in (against.low, against.high))


def with_half_width(direct_ns: float, against: Against | None) -> str:
    """`+9 µs ± 300 ns`."""
    if against is None or against.low is None or against.high is None:
        return added(direct_ns, against)
    return f"{added(direct_ns, against)} ± {fmt.duration((against.high - against.low) / 2 * direct_ns)}"
