"""Several paths or phases against each other: clients at once, links, ways of loading, the cost model."""

from __future__ import annotations

import math

from rowpath import text as fmt
from rowpath.analysis.curves_model import AcrossLink, CostModel
from rowpath.analysis.lookup import Lookup, PhaseFigures
from rowpath.analysis.model import Analysis
from rowpath.analysis.scaling import without_clients
from rowpath.analysis.wording import ratio_text
from rowpath.drawing.grid import Grid, figure, line, of_lines, ratio, without_empty, word, words
from rowpath.drawing.line_chart import Chart, Curve, Point, named, valued
from rowpath.drawing.picture import Picture, PlainBar, plain
from rowpath.report.growth import coefficient

PREDICTED_WITHIN = 0.10  # of the measured time, for a prediction to count as right


def clients_grid(measured: PhaseFigures, names: list[str], lookup: Lookup) -> Grid:
    """Rate, CPU and fairness by the number of clients; no rows where no path was measured with several."""
    lines = []
    for family in families(names, lookup, "clients"):
        of_one = next((measured.median("rate", name) for clients, name in family if clients == 1), None)
        for clients, name in family:
            rate = measured.median("rate", name)
            if not rate:
                continue
            found = line(
                word("path", name),
                figure("clients", str(clients), 1),
                figure("operations/s", fmt.rate(rate), 1),
                figure("relative to one client", fmt.ratio(rate / of_one if of_one and clients > 1 else None), 1),
                figure("wait per client", fmt.duration(clients * 1e9 / rate), 1),
                figure("client CPU", fmt.duration(measured.median("client_cpu", name)), 1),
                figure("server CPU", fmt.duration(measured.median("server_cpu", name)), 1),
                figure("fairness", fmt.count(measured.median("fairness", name)), 1),
            )
            lines.append(found)
    note = "Fairness: Jain's index over the clients' operations; 1 means equal shares. CPU is per operation."
    return without_empty(of_lines(f"Clients at once ({measured.regime})", lines, note))


def clients_chart(measured: PhaseFigures, names: list[str], lookup: Lookup) -> Chart | None:
    """Operations a second over the number of clients, one curve per path; None without several clients."""
    curves = []
    for family in families(names, lookup, "clients"):
        points = [(clients, measured.median("rate", name)) for clients, name in family]
        found = tuple(Point(clients, rate) for clients, rate in points if rate)
        if len(found) > 1:
            first, name = family[0]
            curves.append(Curve(without_clients(fmt.clean(name), first), found))
    if not curves:
        return None
    what = f"{measured.workload} {measured.phase}, {measured.regime}"
    return Chart(
        label=f"{what}: operations a second by number of clients; the table holds the figures",
        up="operations/s",
        across=valued("clients at once", (point.x for curve in curves for point in curve.points), fmt.count),
        curves=tuple(curves),
        text=fmt.rate,
        explanation="A point is the median rate of the sets.",
    )


def clients_sentence(chart: Chart | None) -> str:
    """Which path reaches most, with how many clients, and what it had with its fewest."""
    if chart is None:
        return ""
    most, curve = max(((point, curve) for curve in chart.curves for point in curve.points), key=lambda pair: pair[0].y)
    fewest = curve.points[0]
    found = f"Most operations/s, by medians: {curve.name} with {most.x:g} clients, {fmt.rate(most.y)}"
    if most == fewest:
        return f"{found}; more clients add none."
    return f"{found}; with {fewest.x:g}, {fmt.rate(fewest.y)}."


def families(names: list[str], lookup: Lookup, key: str) -> list[list[tuple[int, str]]]:
    """Paths that differ in nothing but a coordinate that counts, fewest first; those without a twin are left out."""
    found: dict[tuple[tuple[str, str], ...], list[tuple[int, str]]] = {}
    for name in names:
        coordinates = lookup.coordinates(name)
        if coordinates.get("ranges", "none") != "none":
            continue  # one retrieval in parts: report/scaling.py
        number = coordinates.pop(key, "")
        found.setdefault(tuple(sorted(coordinates.items())), []).append((int(number) if number.isdigit() else 1, name))
    return [sorted(family) for family in found.values() if len(family) > 1]


def link_grid(found: tuple[AcrossLink, ...]) -> Grid:
    """Each path over an emulated link beside the same path without it; no rows where no such pair was measured."""
    lines = (
        line(
            *words(path=each.name, phase=f"{each.workload} · {each.phase}"),
            word("regime", each.regime, 1),
            figure("without the link", fmt.duration(each.without_ns), 1),
            figure("round trips", fmt.count(each.round_trips)),
            figure("predicted", fmt.duration(each.predicted_ns)),
            figure("measured", fmt.duration(each.measured_ns)),
            *ratio("measured ÷ predicted", each.ratio, each.low, each.high),
        )
        for each in found
    )
    added = ", ".join(dict.fromkeys(f"{each.link}: {fmt.duration(each.added_ns)}" for each in found))
    note = (
        f"Predicted: time without the link + round trips per operation × the measured delay per round trip ({added})."
    )
    return of_lines("Across a link, time per operation", lines, note)


def link_picture(found: tuple[AcrossLink, ...]) -> Picture | None:
    """Time per operation over a link as bars, each split into what it is without one and what round trips add."""
    return plain(
        "links",
        "Time per operation over a link",
        (
            PlainBar(
                name=fmt.clean(f"{each.name}, {each.workload} · {each.phase}, {each.regime}"),
                value=each.measured_ns,
                text=fmt.duration(each.measured_ns),
                ratio=fmt.ratio(each.ratio),
                interval=fmt.interval(each.low, each.high),
                parts=_of_link(each),
            )
            for each in sorted(found, key=lambda each: each.measured_ns)
        ),
        fmt.duration,
        "Measured time per operation on a logarithmic axis: shorter is better. A bar's colours are shares of its time. "
        "× is measured ÷ predicted, with its 95 % interval.",
        (
            ("client", "without the link"),
            ("waiting", "predicted for the link's round trips"),
            ("server", "not predicted"),
        ),
    )


def _of_link(each: AcrossLink) -> tuple[tuple[str, float], ...]:
    own = min(1.0, each.without_ns / each.measured_ns)
    predicted = min(1.0, each.predicted_ns / each.measured_ns)
    parts = ("client", own), ("waiting", max(0.0, predicted - own)), ("server", 1.0 - max(own, predicted))
    return tuple((kind, share) for kind, share in parts if share > 0)


def link_sentence(found: tuple[AcrossLink, ...]) -> str:
    """How many times over a link are what round trips predict, and which is furthest from that."""
    if not found:
        return ""
    right = sum(abs(each.ratio - 1) <= PREDICTED_WITHIN for each in found)
    furthest = max(found, key=lambda each: abs(math.log(each.ratio)))
    return (
        f"Round trips predict {right} of {len(found)} times within {fmt.share(PREDICTED_WITHIN)}; furthest is "
        f"{fmt.clean(furthest.name)}, {ratio_text(furthest.ratio, furthest.low, furthest.high)} of its prediction."
    )


def cost_model_chart(models: tuple[CostModel, ...]) -> Chart | None:
    """What an operation, a row, a value and a KiB cost, one curve per path; what may as well be 0 is left out."""
    names = ("operation", "row", "value", "KiB")
    curves = []
    for model in models:
        listed = (model.operation, 1), (model.row, 1), (model.value, 1), (model.byte, 1024)
        points = tuple(
            Point(at, found.ns * scale, found.low and found.low * scale, found.high and found.high * scale)
            for at, (found, scale) in enumerate(listed)
            if found.known and found.ns > 0
        )
        if points:
            curves.append(Curve(fmt.clean(model.name), points))
    if not curves:
        return None
    label = "What an operation, a row, a value and a KiB cost on each path; the table holds the figures"
    explanation = "A point is a fitted cost; one that may as well be 0 has no point."
    return Chart(label, "time each", named("each", names), tuple(curves), fmt.duration, explanation)


def cost_model_sentence(models: tuple[CostModel, ...]) -> str:
    """The paths with the least and the greatest cost of a row, and of an operation."""
    parts = []
    for what, known in (
        ("an operation", [(each.operation, each.name) for each in models if each.operation.known]),
        ("a row", [(each.row, each.name) for each in models if each.row.known]),
    ):
        if len(known) > 1:
            low, high = (chosen(known, key=lambda pair: pair[0].ns) for chosen in (min, max))
            ends = (f"{coefficient(found)} ({fmt.clean(name)})" for found, name in (low, high))
            parts.append(f"{what} costs from {' to '.join(ends)}")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def cost_model_grid(models: tuple[CostModel, ...]) -> Grid:
    """What an operation, a row, a value and a KiB cost on each path, and how well that predicts the held-out shapes."""
    phases = list(dict.fromkeys(predicted.phase for model in models for predicted in model.held_out))
    lines = []
    for model in models:
        predictions = {predicted.phase: predicted.ratio for predicted in model.held_out}
        found = line(
            word("path", model.name),
            figure("per operation", coefficient(model.operation)),
            figure("per row", coefficient(model.row)),
            figure("per value", coefficient(model.value)),
            figure("per KiB of values", coefficient(model.byte, 1024)),
            figure("worst fit", f"{fmt.ratio(model.worst_ratio)} in {model.worst_phase}", 2),
            *(figure(f"predicted ÷ measured: {phase}", fmt.ratio(predictions.get(phase)), 1) for phase in phases),
        )
        lines.append(found)
    every = [abs(predicted.ratio - 1) <= PREDICTED_WITHIN for model in models for predicted in model.held_out]
    note = (
        "Time per operation = operation + rows + values + bytes, each at least 0, fitted to least relative error in "
        "each set; intervals over the sets. ≈ 0: not distinguishable from 0. "
        f"{sum(every)} of {len(every)} predictions of held-out shapes are within {fmt.share(PREDICTED_WITHIN)}."
    )
    return of_lines("Cost of an operation, a row, a value and a byte", lines, note)


def _loading_rates(analysis: Analysis, workload: str, lookup: Lookup) -> dict[str, dict[str, float | None]]:
    """Rows a second by path and way of loading of a workload; {} when it has not several ways."""
    phases = _loading_phases(analysis, workload)
    ranked = [row.name for each in analysis.rankings if each.workload == workload for row in each.rows if row.is_ranked]
    return {
        name: {
            phase: _row_rate(lookup.measured(workload, phase, "steady"), name, stored)
            for phase, stored in phases.items()
        }
        for name in dict.fromkeys(ranked if len(phases) > 1 else ())
    }


def loading_chart(analysis: Analysis, workload: str, lookup: Lookup) -> Chart | None:
    """Rows a second over the ways of loading of a workload, one curve per path; None when it has not several."""
    rates = _loading_rates(analysis, workload, lookup)
    curves = [
        Curve(fmt.clean(name), tuple(Point(at, rate) for at, rate in enumerate(by_way.values()) if rate))
        for name, by_way in rates.items()
    ]
    if not any(curve.points for curve in curves):
        return None
    curves.sort(key=lambda curve: max((point.y for point in curve.points), default=0.0), reverse=True)
    ways = next(iter(rates.values()))
    label = f"{workload}: rows a second by way of loading; the table holds the figures"
    explanation = "A point is the median rate of the sets."
    return Chart(label, "rows/s", named("way of loading", list(ways)), tuple(curves), fmt.rate, explanation)


def loading_sentence(analysis: Analysis, workload: str, lookup: Lookup) -> str:
    """The fastest way of loading, and how many times as fast as the same path's slowest."""
    rates = _loading_rates(analysis, workload, lookup)
    known = [(rate, name, way) for name, by_way in rates.items() for way, rate in by_way.items() if rate]
    if not known:
        return ""
    most, name, way = max(known)
    least, slowest = min((rate, way) for way, rate in rates[name].items() if rate)
    return (
        f"Fastest, by medians: {fmt.clean(name)} by {fmt.clean(way)}, {fmt.rate(most)}; "
        f"its slowest way is {fmt.clean(slowest)}, {fmt.rate(least)}."
    )


def loading_grid(analysis: Analysis, workload: str, lookup: Lookup) -> Grid:
    """Rows a second of every path by each way of loading of a workload; no rows when it has none."""
    lines = []
    for name, rates in _loading_rates(analysis, workload, lookup).items():
        known = [rate for rate in rates.values() if rate]
        found = line(
            *words(path=name, durability=lookup.coordinate(name, "durability")),
            word("bulk way", lookup.coordinate(name, "bulk")),
            *(figure(f"{phase}, rows/s", fmt.rate(rate), 1) for phase, rate in rates.items()),
            figure("fastest ÷ slowest", fmt.ratio(max(known) / min(known) if len(known) > 1 else None), 2),
        )
        lines.append(found)
    caption = f"Loading ({workload}): rows a second by way, steady"
    return of_lines(caption, lines)


def _loading_phases(analysis: Analysis, workload: str) -> dict[str, int]:
    """The measured phases that store rows into one table, with the rows of an operation; {} when none is a load."""
    known = analysis.run.workloads.get(workload)
    measured = {each.phase for each in analysis.rankings if each.workload == workload}
    storing = [each for each in (known.phases if known else ()) if each.after and each.name in measured]
    if not any(each.kind == "load" for each in storing):
        return {}
    return {
        each.name: each.rows_per_operation if each.kind == "load" else 1
        for each in storing
        if each.kind in ("execute", "load")
    }


def _row_rate(measured: PhaseFigures, name: str, stored: int) -> float | None:
    rate = measured.median("rate", name)
    return rate * stored if rate else None
