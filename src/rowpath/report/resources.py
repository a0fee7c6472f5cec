"""What an operation costs besides time, what came before it, and how cold compares with steady."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rowpath import text as fmt
from rowpath.analysis.lookup import Lookup, PhaseFigures
from rowpath.drawing.grid import Cell, Grid, figure, line, of_lines, without_empty, word
from rowpath.model.metrics import shown_in, title


def resources_grid(measured: PhaseFigures, names: Sequence[str], lookup: Lookup) -> Grid:
    """CPU, memory, round trips, bytes and disk of each path, and the lines of its adapter."""
    lines = []
    for name in names:
        code, closure = lookup.lines_of_code.get(name), lookup.lines_of_code_closure.get(name)
        counts = figure("lines of code", fmt.count(code), 1), figure("with families", fmt.count(closure), 1)
        lines.append(line(*_cells(shown_in("costs"), measured, name), *counts))
    caption = f"Resources per operation ({measured.regime})"
    return without_empty(of_lines(caption, lines, "–: not available on this machine or for this path."))


def effort_grid(measured: PhaseFigures, names: Sequence[str]) -> Grid:
    """Connecting, preparing, executing, first row and the rest, each timed apart, and what warming up took."""
    lines = (line(*_cells(shown_in("effort"), measured, name)) for name in names)
    table = without_empty(of_lines(f"Where the time goes ({measured.regime})", lines))
    rows = tuple(row for row in table.rows if any(cell != fmt.MISSING for cell in row.cells[1:]))
    return Grid(table.caption, table.columns, rows if len(table.columns) > 1 else ())


def _cells(metrics: Sequence[str], measured: PhaseFigures, name: str) -> Iterator[Cell]:
    yield word("path", name)
    for metric in metrics:
        yield figure(title(metric), measured.text(metric, name), 1)


def regimes_grid(cold_ones: PhaseFigures, steady_ones: PhaseFigures, names: Sequence[str]) -> Grid:
    """The first pass of a fresh process beside the steady one; no rows when only one regime was measured."""
    lines = []
    for name in names:
        cold = cold_ones.result("time", name)
        steady = steady_ones.result("time", name)
        if not cold or not steady or not cold.median or not steady.median:
            continue
        found = line(
            word("path", name),
            figure("cold", fmt.duration(cold.median), 1),
            figure("cold, best of five", fmt.duration(cold.best_of_five), 1),
            figure("steady", fmt.duration(steady.median), 1),
            figure("steady, least", fmt.duration(steady.min), 1),
            figure("cold ÷ steady", fmt.ratio(cold.median / steady.median), 1),
        )
        lines.append(found)
    return without_empty(of_lines("Cold beside steady, time per operation", lines))
