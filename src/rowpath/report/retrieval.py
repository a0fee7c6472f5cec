"""Tables of bulk retrieval: every way out of an engine, by form, with its distance to the floor."""

from __future__ import annotations

from rowpath import text as fmt
from rowpath.analysis.model import Against, BlockSize, BlockSizes, Retrieval, RetrievalPath
from rowpath.report.grid import Column, Grid, Row, without_empty


def retrieval_grid(retrieval: Retrieval) -> Grid:
    """One row per path, forms one after the other, floors last."""
    rows = tuple(Row(_cells(path)) for path in (*retrieval.paths, *retrieval.floors))
    columns = (
        Column("path"),
        Column("form"),
        *(
            Column(title, number=True, weight=weight)
            for title, weight in (
                ("time", 0),
                ("rows/s", 0),
                ("of the drain", 0),
                ("interval", 3),
                ("client CPU s per million rows", 1),
                ("server CPU s per million rows", 1),
                ("waiting", 2),
                ("first row", 3),
                ("peak memory", 4),
                ("bytes per row", 3),
                ("of the aggregate", 2),
            )
        ),
    )
    where = ", ".join(part for part in (retrieval.regime, retrieval.conditions) if part)
    title = f"{retrieval.workload}.{retrieval.phase} out of {retrieval.engine}, {retrieval.deployment} ({where})"
    notes = ["Rows, blocks, columns and COPY are not the same work: compare within a form."]
    if retrieval.floors:
        notes.append(f"The drain is {fmt.clean(retrieval.floors[0].name)}: the same bytes taken, nothing parsed.")
    elif retrieval.no_floor:
        notes.append(f"No drain: {retrieval.no_floor}.")
    if retrieval.aggregate_ns is not None:
        name, took = fmt.clean(retrieval.aggregate), fmt.duration(retrieval.aggregate_ns)
        notes.append(f"The aggregate is one row of sums over the same table: {name}, {took}.")
    return without_empty(Grid(title, columns, rows, " ".join(notes)))


def _cells(path: RetrievalPath) -> tuple[str, ...]:
    drain = path.to_drain or Against(0.0)
    return (
        fmt.clean(path.name),
        path.form,
        fmt.duration(path.cost_ns),
        fmt.rate(path.rows_per_s),
        fmt.ratio(drain.ratio or None),
        fmt.interval(drain.low, drain.high),
        _seconds(path.client_cpu_ns),
        _seconds(path.server_cpu_ns),
        fmt.MISSING if path.waiting is None else fmt.share(path.waiting),
        fmt.duration(path.first_row_ns),
        fmt.figure(path.client_peak_bytes, "bytes"),
        fmt.count(path.bytes_per_row),
        fmt.ratio(path.to_aggregate.ratio if path.to_aggregate else None),
    )


def _seconds(ns_per_row: float | None) -> str:
    """CPU seconds of a million rows."""
    return fmt.MISSING if ns_per_row is None else f"{ns_per_row / 1000:.2f}"


def block_sizes_grid(found: tuple[BlockSizes, ...]) -> Grid:
    """Each path's cost over the size of its blocks, and from which size on nothing is gained."""
    every = sorted({size.size for each in found for size in each.sizes})
    rows = []
    for each in found:
        by_size = {size.size: size for size in each.sizes}
        told = [_told(by_size[size]) if size in by_size else fmt.MISSING for size in every]
        rows.append(
            Row((fmt.clean(each.name), f"{each.workload} · {each.phase}", each.what, fmt.count(each.enough), *told))
        )
    columns = (
        Column("path"),
        Column("phase", weight=1),
        Column("what has the size"),
        Column("enough from", number=True),
        *(Column(f"n = {size:,}", number=True) for size in every),
    )
    note = (
        "Time relative to the path's fastest size, steady. Enough: the least size that is not shown to be more than "
        "2 % slower than it."
    )
    return Grid("How many rows at a time", columns, tuple(rows), note)


def _told(size: BlockSize) -> str:
    return fmt.ratio(size.against.ratio) if size.against else fmt.MISSING
