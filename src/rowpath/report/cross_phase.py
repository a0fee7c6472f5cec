"""Tables that hold several paths or phases against each other: clients at once, and ways of loading."""

from __future__ import annotations

from rowpath import text as fmt
from rowpath.analysis.model import AcrossLink, Analysis, Coefficient, CostModel
from rowpath.report.figures import Figure
from rowpath.report.grid import Column, Grid, Row, without_empty
from rowpath.report.lookup import Lookup, Measured
from rowpath.report.ranking import is_ranked

PREDICTED_WITHIN = 0.10  # of the measured time, for a prediction to count as right


def clients_grid(measured: Measured, names: list[str], lookup: Lookup) -> Grid:
    """Rate, CPU and fairness by the number of clients; no rows where no path was measured with several."""
    rows = []
    for family in _families(names, lookup):
        alone = next((measured.median("rate", name) for clients, name in family if clients == 1), None)
        for clients, name in family:
            rate = measured.median("rate", name)
            if not rate:
                continue
            cells = (
                fmt.clean(name),
                str(clients),
                fmt.rate(rate),
                fmt.ratio(rate / alone) if alone and clients > 1 else fmt.MISSING,
                fmt.duration(clients * 1e9 / rate),
                fmt.duration(measured.median("client_cpu", name)),
                fmt.duration(measured.median("server_cpu", name)),
                fmt.count(measured.median("fairness", name)),
            )
            rows.append(Row(cells))
    titles = ("clients", "operations/s", "of one client's", "each client waits", "client CPU", "server CPU", "fairness")
    columns = (Column("path"), *(Column(title, number=True, weight=1) for title in titles))
    note = "Fairness: Jain's index over the clients' operations, 1 when all did as many. CPU is per operation."
    return without_empty(Grid(f"Clients at once ({measured.regime})", columns, tuple(rows), note))


def clients_figure(key: str, measured: Measured, names: list[str], lookup: Lookup) -> Figure | None:
    """Operations a second over the number of clients, one line per path; None without several clients."""
    rows = []
    for family in _families(names, lookup):
        points = [(clients, measured.median("rate", name)) for clients, name in family]
        found = [{"clients": clients, "rate": rate} for clients, rate in points if rate]
        if len(found) > 1:
            first, name = family[0]
            deployment = lookup.coordinate(name, "deployment")
            rows.append({"name": _without_clients(name, first), "deployment": deployment, "points": found})
    if not rows:
        return None
    what = f"{measured.workload} {measured.phase}, {measured.regime}"
    return Figure(
        key, "clients", f"{what}: operations a second by number of clients; the table holds the figures", tuple(rows)
    )


def _families(names: list[str], lookup: Lookup) -> list[list[tuple[int, str]]]:
    """Paths that differ in nothing but the number of clients, fewest first; those that stand alone are left out."""
    families: dict[tuple[tuple[str, str], ...], list[tuple[int, str]]] = {}
    for name in names:
        coordinates = lookup.coordinates(name)
        if coordinates.get("ranges", "none") != "none":
            continue  # one retrieval in parts: report/scaling.py
        clients = coordinates.pop("clients", "1")
        families.setdefault(tuple(sorted(coordinates.items())), []).append((int(clients), name))
    return [sorted(family) for family in families.values() if len(family) > 1]


def _without_clients(name: str, clients: int) -> str:
    ending = f" {clients} client{'s' if clients > 1 else ''}"
    return fmt.clean(name).removesuffix(ending)


def link_grid(found: tuple[AcrossLink, ...]) -> Grid:
    """Each path over an emulated link beside the same path without it; no rows where no such pair was measured."""
    rows = tuple(
        Row(
            (
                fmt.clean(each.name),
                f"{each.workload} · {each.phase}",
                each.regime,
                fmt.duration(each.without_ns),
                fmt.count(each.round_trips),
                fmt.duration(each.predicted_ns),
                fmt.duration(each.measured_ns),
                fmt.ratio(each.ratio),
                fmt.interval(each.low, each.high),
            )
        )
        for each in found
    )
    columns = (
        Column("path"),
        Column("phase"),
        Column("regime", weight=1),
        *(
            Column(title, number=True, weight=weight)
            for title, weight in (
                ("without the link", 1),
                ("round trips", 0),
                ("predicted", 0),
                ("measured", 0),
                ("measured ÷ predicted", 0),
                ("interval", 1),
            )
        ),
    )
    added = ", ".join(dict.fromkeys(f"{each.link}: {fmt.duration(each.added_ns)}" for each in found))
    note = (
        "Predicted: the time without the link + round trips per operation × what the link was measured to add to each "
        f"({added})."
    )
    return Grid("Across a link, time per operation", columns, rows, note)


def cost_model_grid(models: tuple[CostModel, ...]) -> Grid:
    """What an operation, a row, a value and a KiB cost on each path, and how well that predicts the held-out shapes."""
    rows = []
    phases = list(dict.fromkeys(predicted.phase for model in models for predicted in model.held_out))
    for model in models:
        predictions = {predicted.phase: predicted.ratio for predicted in model.held_out}
        cells = (
            fmt.clean(model.name),
            _coefficient(model.operation),
            _coefficient(model.row),
            _coefficient(model.value),
            _coefficient(model.byte, 1024),
            f"{fmt.ratio(model.worst_ratio)} in {model.worst_phase}",
            *(fmt.ratio(predictions.get(phase)) for phase in phases),
        )
        rows.append(Row(cells))
    titles = ("per operation", "per row", "per value", "per KiB of values", "worst fit")
    columns = (
        Column("path"),
        *(Column(title, number=True, weight=2 if title == "worst fit" else 0) for title in titles),
        *(Column(f"predicted ÷ measured: {phase}", number=True, weight=1) for phase in phases),
    )
    every = [abs(predicted.ratio - 1) <= PREDICTED_WITHIN for model in models for predicted in model.held_out]
    note = (
        "Time per operation = operation + rows + values + bytes, each at least 0, fitted to least relative error in "
        f"each set; intervals over the sets. ≈ 0: not told apart from 0. {sum(every)} of {len(every)} predictions of "
        f"shapes that were held out are within {fmt.share(PREDICTED_WITHIN)}."
    )
    return Grid("What an operation, a row, a value and a byte cost", columns, tuple(rows), note)


def _coefficient(coefficient: Coefficient, scale: int = 1) -> str:
    if not coefficient.known:
        return "≈ 0"
    text = fmt.duration(coefficient.ns * scale)
    if coefficient.low is None or coefficient.high is None:
        return text
    return f"{text} ± {fmt.share((coefficient.high - coefficient.low) / 2 / coefficient.ns)}"


def loading_grid(analysis: Analysis, workload: str, lookup: Lookup) -> Grid:
    """Rows a second of every path by each way of loading of a workload; no rows when it has none."""
    phases = _loading_phases(analysis, workload)
    ranked = [
        row.name for each in analysis.rankings if each.workload == workload for row in each.rows if is_ranked(row)
    ]
    rows = []
    for name in dict.fromkeys(ranked):
        cells = [fmt.clean(name), lookup.coordinate(name, "durability"), lookup.coordinate(name, "bulk")]
        rates = [
            _row_rate(lookup.measured(workload, phase, "steady"), name, stored) for phase, stored in phases.items()
        ]
        known = [rate for rate in rates if rate]
        cells += [fmt.rate(rate) for rate in rates]
        cells.append(fmt.ratio(max(known) / min(known)) if len(known) > 1 else fmt.MISSING)
        rows.append(Row(tuple(cells)))
    columns = (
        Column("path"),
        Column("durability"),
        Column("bulk way"),
        *(Column(f"{phase}, rows/s", number=True, weight=1) for phase in phases),
        Column("fastest ÷ slowest", number=True, weight=2),
    )
    caption = f"Loading ({workload}): rows a second by way, steady"
    return Grid(caption, columns, tuple(rows) if len(phases) > 1 else ())


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
