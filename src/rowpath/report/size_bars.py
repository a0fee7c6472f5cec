"""The 99th percentile by the number of connections as bars of text."""

from __future__ import annotations

import math

from rowpath import text as fmt
from rowpath.analysis.chapters.sizing import Sizing, connections, verdict
from rowpath.analysis.size_choice import SizeFigures
from rowpath.report.bars import TextBar, TextPicture


def picture(sizing: Sizing, rows: int) -> TextPicture:
    """The sizes in order; of more than `rows` those that decide, and the nearest to what was found."""
    choice = sizing.choice
    known = [one for one in choice.sizes if one.p99_ns]
    deciding = {choice.found, choice.best, choice.broken, *(one.size for one in known[-1:])}
    middle = choice.found or choice.best or (known[-1].size if known else 1)

    def importance(one: SizeFigures) -> tuple[bool, float]:
        return one.size not in deciding, abs(math.log(one.size / middle))

    shown = sorted(sorted(known, key=importance)[:rows], key=lambda one: one.size)
    lines = tuple(
        TextBar(
            connections(one.size),
            one.p99_ns or 0.0,
            (fmt.duration(one.p99_ns), fmt.rate(one.rate_per_s), verdict(one, choice)),
            first=one.size == choice.found,
        )
        for one in shown
    )
    rest = f"+ {len(known) - len(shown)} more" if len(known) > len(shown) else ""
    return TextPicture("99th percentile by number of connections", ("p99", "rate", "verdict"), lines, rest, "sizing")
