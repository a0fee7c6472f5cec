"""Tables that hold several paths or phases against each other: clients at once, and ways of loading."""

from __future__ import annotations

from rowpath import text as fmt
from rowpath.analysis.model import AcrossLink, Analysis, CostModel
from rowpath.analysis.scaling import without_clients
from rowpath.report.figures import Figure
from rowpath.report.grid import Grid, figure, line, of_lines, without_empty, word
from rowpath.report.growth import coefficient
from rowpath.report.lookup import Lookup, Measured
from rowpath.report.ranking import is_ranked

PREDICTED_WITHIN = 0.10  # of the measured time, for a prediction to count as right


def clients_grid(measured: Measured, names: list[str], lookup: Lookup) -> Grid:
    """Rate, CPU and fairness by the number of clients; no rows where no path was measured with several."""
    lines = []
    for family in _families(names, lookup):
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


def clients_figure(key: str, measured: Measured, names: list[str], lookup: Lookup) -> Figure | None:
    """Operations a second over the number of clients, one line per path; None without several clients."""
    rows = []
    for family in _families(names, lookup):
        points = [(clients, measured.median("rate", name)) for clients, name in family]
        found = [{"clients": clients, "rate": rate} for clients, rate in points if rate]
        if len(found) > 1:
            first, name = family[0]
            deployment = lookup.coordinate(name, "deployment")
            rows.append({"name": without_clients(fmt.clean(name), first), "deployment": deployment, "points": found})
    if not rows:
        return None
    what = f"{measured.workload} {measured.phase}, {measured.regime}"
    return Figure(
        key, "clients", f"{what}: operations a second by number of clients; the table holds the figures", tuple(rows)
    )


def _families(names: list[str], lookup: Lookup) -> list[list[tuple[int, str]]]:
    """Paths that differ in nothing but the number of clients, fewest first; those without such a twin are left out."""
    families: dict[tuple[tuple[str, str], ...], list[tuple[int, str]]] = {}
    for name in names:
        coordinates = lookup.coordinates(name)
        if coordinates.get("ranges", "none") != "none":
            continue  # one retrieval in parts: report/scaling.py
        clients = coordinates.pop("clients", "1")
        families.setdefault(tuple(sorted(coordinates.items())), []).append((int(clients), name))
    return [sorted(family) for family in families.values() if len(family) > 1]


def link_grid(found: tuple[AcrossLink, ...]) -> Grid:
    """Each path over an emulated link beside the same path without it; no rows where no such pair was measured."""
    lines = (
        line(
            word("path", each.name),
            word("phase", f"{each.workload} · {each.phase}"),
            word("regime", each.regime, 1),
            figure("without the link", fmt.duration(each.without_ns), 1),
            figure("round trips", fmt.count(each.round_trips)),
            figure("predicted", fmt.duration(each.predicted_ns)),
            figure("measured", fmt.duration(each.measured_ns)),
            figure("measured ÷ predicted", fmt.ratio(each.ratio)),
            figure("interval", fmt.interval(each.low, each.high), 1),
        )
        for each in found
    )
    added = ", ".join(dict.fromkeys(f"{each.link}: {fmt.duration(each.added_ns)}" for each in found))
    note = (
        f"Predicted: time without the link + round trips per operation × the measured delay per round trip ({added})."
    )
    return of_lines("Across a link, time per operation", lines, note)


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


def loading_grid(analysis: Analysis, workload: str, lookup: Lookup) -> Grid:
    """Rows a second of every path by each way of loading of a workload; no rows when it has none."""
    phases = _loading_phases(analysis, workload)
    ranked = [
        row.name for each in analysis.rankings if each.workload == workload for row in each.rows if is_ranked(row)
    ]
    lines = []
    for name in dict.fromkeys(ranked):
        rates = {
            phase: _row_rate(lookup.measured(workload, phase, "steady"), name, stored)
            for phase, stored in phases.items()
        }
        known = [rate for rate in rates.values() if rate]
        found = line(
            word("path", name),
            word("durability", lookup.coordinate(name, "durability")),
            word("bulk way", lookup.coordinate(name, "bulk")),
            *(figure(f"{phase}, rows/s", fmt.rate(rate), 1) for phase, rate in rates.items()),
            figure("fastest ÷ slowest", fmt.ratio(max(known) / min(known) if len(known) > 1 else None), 2),
        )
        lines.append(found)
    caption = f"Loading ({workload}): rows a second by way, steady"
    return of_lines(caption, lines if len(phases) > 1 else ())


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


def _row_rate(measured: Measured, name: str, stored: int) -> float | None:
    rate = measured.median("rate", name)
    return rate * stored if rate else None
