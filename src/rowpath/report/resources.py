"""What an operation costs besides time, what came before it, and how cold compares with steady."""

from __future__ import annotations

from collections.abc import Sequence

from rowpath import text as fmt
from rowpath.report.grid import Column, Grid, Row, without_empty
from rowpath.report.lookup import Lookup, Measured

RESOURCES = (
    "client_cpu",
    "server_cpu",
    "client_peak_memory",
    "server_peak_memory",
    "round_trips",
    "bytes_sent",
    "bytes_received",
    "commits",
    "syncs",
    "disk_written",
    "deferred",
)
EFFORT = ("connect", "prepare", "execute", "first_row", "rest", "warm_up", "warm_up_time")


def resources_grid(measured: Measured, names: Sequence[str], lookup: Lookup) -> Grid:
    """CPU, memory, round trips, bytes and disk of each path, and the lines of its adapter."""
    table = _grid(f"Resources per operation ({measured.regime})", RESOURCES, measured, names)
    lines = tuple(
        (fmt.count(lookup.lines_of_code(name)), fmt.count(lookup.lines_of_code_closure(name))) for name in names
    )
    return without_empty(
        Grid(
            table.caption,
            (
                *table.columns,
                Column("lines of code", number=True, weight=1),
                Column("with families", number=True, weight=1),
            ),
            tuple(Row((*row.cells, *counts)) for row, counts in zip(table.rows, lines, strict=True)),
            "–: not available on this machine or for this path.",
        )
    )


def effort_grid(measured: Measured, names: Sequence[str]) -> Grid:
    """Connecting, preparing, executing, first row and the rest, each timed apart, and what warming up took."""
    table = without_empty(_grid(f"Where the time goes ({measured.regime})", EFFORT, measured, names))
    rows = tuple(row for row in table.rows if any(cell != fmt.MISSING for cell in row.cells[1:]))
    return Grid(table.caption, table.columns, rows if len(table.columns) > 1 else ())


def _grid(caption: str, metrics: Sequence[str], measured: Measured, names: Sequence[str]) -> Grid:
    rows = []
    for name in names:
        found = [measured.result(metric, name) for metric in metrics]
        figures = (fmt.figure(each.median, each.unit) if each else fmt.MISSING for each in found)
        rows.append(Row((fmt.clean(name), *figures)))
    columns = (Column("path"), *(Column(fmt.metric(metric), number=True, weight=1) for metric in metrics))
    return Grid(caption, columns, tuple(rows))


def regimes_grid(cold_ones: Measured, steady_ones: Measured, names: Sequence[str]) -> Grid:
    """The first pass of a fresh process beside the steady one; no rows when only one regime was measured."""
    rows = []
    for name in names:
        cold = cold_ones.result("time", name)
        steady = steady_ones.result("time", name)
        if not cold or not steady or not cold.median or not steady.median:
            continue
        cells = (
            fmt.clean(name),
            fmt.duration(cold.median),
            fmt.duration(cold.best_of_five),
            fmt.duration(steady.median),
            fmt.duration(steady.min),
            fmt.ratio(cold.median / steady.median),
        )
        rows.append(Row(cells))
    titles = ("cold", "cold, best of five", "steady", "steady, least", "cold ÷ steady")
    columns = (Column("path"), *(Column(title, number=True, weight=1) for title in titles))
    return without_empty(Grid("Cold beside steady, time per operation", columns, tuple(rows)))
