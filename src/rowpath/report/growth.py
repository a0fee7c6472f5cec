"""Tables of how time grows: with the size of a result, and what very many operations take on each side."""

from __future__ import annotations

from collections.abc import Iterable

from rowpath import text as fmt
from rowpath.analysis.model import Coefficient, Sweep
from rowpath.report.grid import Column, Grid, Row, without_empty
from rowpath.report.lookup import Lookup, Measured


def sweep_grid(sweep: Sweep) -> Grid:
    """What a result costs on each path whatever its size, what each row adds, and between which sizes a path leads."""
    leads = dict(leading(sweep))
    rows = [
        Row((fmt.clean(line.name), _ns(line.fixed), _ns(line.row), leads.get(line.name, fmt.MISSING)))
        for line in sweep.lines
    ]
    columns = (
        Column("path"),
        Column("fixed", number=True),
        Column("per row", number=True),
        Column("leads"),
    )
    where = f" ({fmt.clean(sweep.comparison)})" if sweep.comparison != "all paths" else ""
    note = (
        "Time per operation = fixed + rows × per row, fitted to least relative error in each set over the sizes "
        f"{sweep.least_rows} to {sweep.most_rows}; intervals over the sets. ≈ 0: not told apart from 0."
    )
    return without_empty(Grid(f"How time grows with the result{where}", columns, tuple(rows), note))


def leading(sweep: Sweep) -> Iterable[tuple[str, str]]:
    """Each leader's name and the sizes at which it leads, in words."""
    ends = [*(leader.from_rows for leader in sweep.leaders[1:]), None]
    for leader, end in zip(sweep.leaders, ends, strict=True):
        interval = f" ({fmt.count(leader.low)}–{fmt.count(leader.high)})" if leader.low and leader.high else ""
        start = f"from {fmt.count(leader.from_rows)}{interval}"
        if end is None:
            yield leader.name, "all sizes" if len(sweep.leaders) == 1 else f"{start} rows on"
        else:
            yield leader.name, f"{start} to {fmt.count(end)} rows"


def _ns(coefficient: Coefficient) -> str:
    if not coefficient.known:
        return "≈ 0"
    if coefficient.low is None or coefficient.high is None:
        return fmt.duration(coefficient.ns)
    width = (coefficient.high - coefficient.low) / 2 / coefficient.ns
    return f"{fmt.duration(coefficient.ns)} ± {fmt.share(width)}"


def many_grid(measured: Measured, names: Iterable[str], lookup: Lookup, operations: int) -> Grid:
    """Seconds, CPU seconds of both sides and peak memory of so many operations."""
    rows = []
    for name in names:
        took = measured.median("time", name)
        if took is None or lookup.coordinate(name, "engine") == "null":
            continue
        client, server = measured.median("client_cpu", name), measured.median("server_cpu", name)
        alone = lookup.coordinate(name, "deployment") != "server"
        both = client if alone or client is None else None if server is None else client + server
        cells = (
            fmt.clean(name),
            _seconds(took, operations),
            *(_seconds(each, operations) for each in (client, server, both)),
            *(
                fmt.figure(found.median, found.unit) if (found := measured.result(metric, name)) else fmt.MISSING
                for metric in ("client_peak_memory", "server_peak_memory")
            ),
        )
        rows.append((took, Row(cells)))
    titles = ("seconds", "CPU s, client", "CPU s, server", "CPU s, both", "client peak memory", "server peak memory")
    columns = (Column("path"), *(Column(title, number=True) for title in titles))
    title = f"{measured.workload}.{measured.phase}: {operations:,} operations ({measured.regime})"
    note = "Peak memory of a server is of the whole server with its caches."
    ordered = tuple(row for _took, row in sorted(rows, key=lambda pair: pair[0]))
    return without_empty(Grid(title, columns, ordered, note))


def _seconds(ns: float | None, operations: int) -> str:
    return fmt.MISSING if ns is None else f"{ns * operations / 1e9:.2f}"
