"""Paths that differ only in how many statements are sent before the first answer is read."""

from __future__ import annotations

from collections.abc import Iterator

from rowpath import text as fmt
from rowpath.analysis.lookup import Lookup, PhaseFigures
from rowpath.drawing.grid import Grid, figure, line, of_lines, without_empty, word
from rowpath.report.cross_phase import families


def pipelines_grid(measured: PhaseFigures, names: list[str], lookup: Lookup) -> Grid:
    """Time, round trips and CPU by the size of the pipeline; no rows where no path was measured with two sizes."""
    lines = (
        line(
            word("path", name),
            figure("pipeline", str(size) if size > 1 else "off", 1),
            figure("time per operation", fmt.duration(measured.median("time", name)), 1),
            figure("faster than one by one", fmt.ratio(gain), 1),
            figure("round trips", fmt.count(measured.median("round_trips", name)), 1),
            figure("client CPU", fmt.duration(measured.median("client_cpu", name)), 1),
            figure("server CPU", fmt.duration(measured.median("server_cpu", name)), 1),
        )
        for size, name, gain in _gains(measured, names, lookup)
    )
    note = "Ratios of medians. An operation of a pipeline has no latency of its own: its time is the pipeline's over n."
    return without_empty(of_lines(f"In pipelines ({measured.regime})", lines, note))


def pipelines_sentence(measured: PhaseFigures, names: list[str], lookup: Lookup) -> str:
    """Which path gains most; empty where none was measured with a pipeline and without."""
    gains = [(gain, name) for _size, name, gain in _gains(measured, names, lookup) if gain]
    if not gains:
        return ""
    gain, name = max(gains)
    return f"{fmt.clean(name)} gains most: {fmt.ratio(gain)} the operations in the same time, by medians."


def _gains(measured: PhaseFigures, names: list[str], lookup: Lookup) -> Iterator[tuple[int, str, float | None]]:
    """(size, path, how many times faster than the same path one by one), of every path with a twin."""
    for family in families(names, lookup, "pipeline"):
        of_none = next((measured.median("time", name) for size, name in family if size == 1), None)
        for size, name in family:
            if time := measured.median("time", name):
                yield size, name, of_none / time if of_none and size > 1 else None
