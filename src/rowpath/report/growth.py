"""Tables of how time grows: with the size of a result, and what many operations take on each side."""

from __future__ import annotations

from collections.abc import Iterable

from rowpath import text as fmt
from rowpath.analysis.curves_model import Coefficient, Sweep
from rowpath.analysis.lookup import Lookup, PhaseFigures
from rowpath.drawing.grid import Grid, figure, line, of_lines, without_empty, word
from rowpath.drawing.line_chart import Chart, Curve, Point, valued
from rowpath.model.workload import Workload


def sweep_grid(sweep: Sweep) -> Grid:
    """What a result costs on each path whatever its size, what each row adds, and between which sizes a path leads."""
    leads = dict(leading(sweep))
    lines = (
        line(
            word("path", each.name),
            figure("fixed", coefficient(each.fixed)),
            figure("per row", coefficient(each.row)),
            word("leads", leads.get(each.name, fmt.MISSING)),
        )
        for each in sweep.lines
    )
    where = f" ({fmt.clean(sweep.comparison)})" if sweep.comparison != "all paths" else ""
    note = (
        "Time per operation = fixed + rows × per row, fitted to least relative error in each set over the sizes "
        f"{sweep.least_rows} to {sweep.most_rows}; intervals over the sets. ≈ 0: not distinguishable from 0."
    )
    return without_empty(of_lines(f"Growth of time with the number of rows{where}", lines, note))


def sweep_chart(sweep: Sweep, workload: Workload, lookup: Lookup) -> Chart | None:
    """Measured time per operation over the size of the result, one curve per path."""
    phases = [each for each in workload.phases if each.rows_per_operation > 0]
    curves = []
    for each in sweep.lines:
        found = (
            (phase, lookup.measured(workload.name, phase.name, "steady").result("time", each.name)) for phase in phases
        )
        points = tuple(
            Point(phase.rows_per_operation, result.median, result.low, result.high)
            for phase, result in found
            if result and result.median
        )
        curves.append(Curve(fmt.clean(each.name), tuple(sorted(points))))
    rows = [point.x for curve in curves for point in curve.points]
    if not rows:
        return None
    return Chart(
        label="Time per operation by number of rows; the table holds the fitted figures",
        up="time per operation",
        across=valued("rows of a result", rows, fmt.count),
        curves=tuple(curves),
        text=fmt.duration,
        explanation="A point is the median time of the sets.",
    )


def sweep_sentence(sweep: Sweep) -> str:
    """Which path leads at which sizes."""
    named = [f"{fmt.clean(name)} ({sizes})" for name, sizes in leading(sweep)]
    return f"Fastest by number of rows: {', then '.join(named)}." if named else ""


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


def coefficient(found: Coefficient, scale: int = 1) -> str:
    """A fitted coefficient of `scale` units with its interval, in words where it is not distinguishable from 0."""
    if not found.known:
        return "≈ 0"
    text = fmt.duration(found.ns * scale)
    if found.low is None or found.high is None:
        return text
    return f"{text} ± {fmt.share((found.high - found.low) / 2 / found.ns)}"


def many_grid(measured: PhaseFigures, names: Iterable[str], lookup: Lookup, operations: int) -> Grid:
    """Seconds, CPU seconds of both sides and peak memory of this many operations."""
    lines = []
    for name in names:
        took = measured.median("time", name)
        if took is None or lookup.coordinate(name, "engine") == "null":
            continue
        client, server = measured.median("client_cpu", name), measured.median("server_cpu", name)
        served = lookup.coordinate(name, "deployment") == "server"
        both = client if not served or client is None else None if server is None else client + server
        made = line(
            word("path", name),
            figure("seconds", _seconds(took, operations)),
            figure("CPU s, client", _seconds(client, operations)),
            figure("CPU s, server", _seconds(server, operations)),
            figure("CPU s, both", _seconds(both, operations)),
            figure("client peak memory", measured.text("client_peak_memory", name)),
            figure("server peak memory", measured.text("server_peak_memory", name)),
        )
        lines.append((took, made))
    title = f"{measured.workload}.{measured.phase}: {operations:,} operations ({measured.regime})"
    note = "Peak memory of a server includes the whole server and its caches."
    ordered = (made for _took, made in sorted(lines, key=lambda pair: pair[0]))
    return without_empty(of_lines(title, ordered, note))


def _seconds(ns: float | None, operations: int) -> str:
    return fmt.MISSING if ns is None else f"{ns * operations / 1e9:.2f}"
