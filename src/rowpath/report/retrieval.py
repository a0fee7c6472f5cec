"""Bulk retrieval: every way out of an engine, by form, with its distance to the floor."""

from __future__ import annotations

from rowpath import text as fmt
from rowpath.analysis.curves_model import Against, Retrieval, RetrievalPath
from rowpath.analysis.wording import ratio_text
from rowpath.drawing.grid import Grid, Line, figure, line, of_lines, ratio, without_empty, words
from rowpath.drawing.picture import Picture, PlainBar, plain


def retrieval_grid(retrieval: Retrieval) -> Grid:
    """One row per path, forms one after the other, floors last."""
    lines = map(_line, (*retrieval.paths, *retrieval.floors))
    where = ", ".join(part for part in (retrieval.regime, retrieval.conditions) if part)
    title = f"{retrieval.workload}.{retrieval.phase} from {retrieval.engine}, {retrieval.deployment} ({where})"
    notes = ["Rows, blocks, columns and COPY are different work: compare within one form."]
    if retrieval.floors:
        notes.append(f"The drain is {fmt.clean(retrieval.floors[0].name)}: it reads the same bytes and parses nothing.")
    elif retrieval.no_floor:
        notes.append(f"No drain: {retrieval.no_floor}.")
    if retrieval.aggregate_ns is not None:
        name, took = fmt.clean(retrieval.aggregate), fmt.duration(retrieval.aggregate_ns)
        notes.append(f"The aggregate is one row of sums over the same table: {name}, {took}.")
    return without_empty(of_lines(title, lines, " ".join(notes)))


def retrieval_picture(retrieval: Retrieval) -> Picture | None:
    """Every way out as a bar, fastest first, its note the form; × is the distance to the drain."""
    drained = bool(retrieval.floors)
    meaning = " × is the time relative to the drain, with its 95 % interval." if drained else ""
    return plain(
        "retrieval",
        f"{retrieval.engine}, {retrieval.deployment}: {retrieval.workload}.{retrieval.phase}",
        (_bar(each) for each in sorted((*retrieval.paths, *retrieval.floors), key=lambda each: each.cost_ns)),
        fmt.duration,
        f"Time of the whole table on a logarithmic axis: shorter is better.{meaning}",
    )


def _bar(path: RetrievalPath) -> PlainBar:
    drain = path.to_drain or Against(0.0)
    return PlainBar(
        name=fmt.clean(path.name),
        value=path.cost_ns,
        text=fmt.duration(path.cost_ns),
        ratio=fmt.ratio(drain.ratio) if drain.ratio else "",
        interval=fmt.interval(drain.low, drain.high),
        note=path.form,
    )


def retrieval_sentence(retrieval: Retrieval) -> str:
    """The fastest path of each form, with its distance to the drain."""
    fastest: dict[str, RetrievalPath] = {}
    for each in sorted(retrieval.paths, key=lambda each: each.cost_ns):
        fastest.setdefault(each.form, each)
    named = [f"{form} by {fmt.clean(each.name)}{_of_drain(each)}" for form, each in fastest.items()]
    return f"Fastest of each form, by medians: {'; '.join(named)}." if named else ""


def _of_drain(path: RetrievalPath) -> str:
    drain = path.to_drain
    return f", {ratio_text(drain.ratio, drain.low, drain.high)} of the drain" if drain else ""


def _line(path: RetrievalPath) -> Line:
    drain = path.to_drain or Against(0.0)
    return line(
        *words(path=path.name, form=path.form),
        figure("time", fmt.duration(path.cost_ns)),
        figure("rows/s", fmt.rate(path.rows_per_s)),
        *ratio("of the drain", drain.ratio or None, drain.low, drain.high, 3),
        figure("client CPU s per million rows", _seconds(path.client_cpu_ns), 1),
        figure("server CPU s per million rows", _seconds(path.server_cpu_ns), 1),
        figure("waiting", fmt.MISSING if path.waiting is None else fmt.share(path.waiting), 2),
        figure("first row", fmt.duration(path.first_row_ns), 3),
        figure("peak memory", fmt.figure(path.client_peak_bytes, "bytes"), 4),
        figure("bytes per row", fmt.count(path.bytes_per_row), 3),
        figure("of the aggregate", fmt.ratio(path.to_aggregate.ratio if path.to_aggregate else None), 2),
    )


def _seconds(ns_per_row: float | None) -> str:
    """CPU seconds of a million rows."""
    return fmt.MISSING if ns_per_row is None else f"{ns_per_row / 1000:.2f}"
