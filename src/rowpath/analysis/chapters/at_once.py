"""Paths that differ only in how much they do at once: clients, or statements sent before the first answer is read."""

from __future__ import annotations

from collections.abc import Iterator

from rowpath import text as fmt
from rowpath.analysis.chapter import Chapter, RankedPhase
from rowpath.analysis.chapters.scalings import without_clients
from rowpath.drawing.grid import figure, line, of_lines, without_empty, word
from rowpath.drawing.line_chart import Chart, Curve, Point, of_curves
from rowpath.drawing.section import Opening, Section, of_chart

Family = list[tuple[int, str]]  # number and path, the least number first


def _families(phase: RankedPhase, key: str) -> list[Family]:
    """Paths that differ in nothing but a coordinate that counts; those without a twin are left out."""
    families: dict[tuple[tuple[str, str], ...], Family] = {}
    for name in phase.names:
        coordinates = phase.lookup.coordinates(name)
        if coordinates.get("ranges", "none") != "none":
            continue  # one retrieval in parts: scalings.py
        number = coordinates.pop(key, "")
        alike = tuple(sorted(coordinates.items()))
        families.setdefault(alike, []).append((int(number) if number.isdigit() else 1, name))
    return [sorted(family) for family in families.values() if len(family) > 1]


def _clients(phase: RankedPhase) -> Iterator[Section]:
    """Rate, CPU and fairness by the number of clients."""
    measured, families = phase.measured, _families(phase, "clients")
    lines = []
    for family in families:
        of_one = next((measured.median("rate", name) for clients, name in family if clients == 1), None)
        lines += [
            line(
                word("path", name),
                figure("clients", str(clients), 1),
                figure("operations/s", fmt.rate(rate), 1),
                figure("relative to one client", fmt.ratio(rate / of_one if of_one and clients > 1 else None), 1),
                figure("wait per client", fmt.duration(clients * 1e9 / rate), 1),
                figure("client CPU", fmt.duration(measured.median("client_cpu", name)), 1),
                figure("server CPU", fmt.duration(measured.median("server_cpu", name)), 1),
                figure("fairness", fmt.count(measured.median("fairness", name)), 1),
            )
            for clients, name in family
            if (rate := measured.median("rate", name))
        ]
    note = "Fairness: Jain's index over the clients' operations; 1 means equal shares. CPU is per operation."
    grid = without_empty(of_lines(f"Clients at once ({measured.regime})", lines, note))
    chart = _clients_chart(phase, families)
    sentence = ""
    if chart:  # which path reaches most, with how many clients, and what it had with its fewest
        every = ((point, curve) for curve in chart.curves for point in curve.points)
        most, curve = max(every, key=lambda pair: pair[0].y)
        fewest = curve.points[0]
        sentence = f"Most operations/s, by medians: {curve.name} with {most.x:g} clients, {fmt.rate(most.y)}; "
        sentence += "more clients add none." if most == fewest else f"with {fewest.x:g}, {fmt.rate(fewest.y)}."
    yield Section(f"{phase.key}-clients", grid, of_chart(sentence, chart), leading=True)


def _clients_chart(phase: RankedPhase, families: list[Family]) -> Chart | None:
    """Operations a second over the number of clients, one curve per path; None without several clients."""
    measured = phase.measured
    what = f"{measured.workload} {measured.phase}, {measured.regime}"
    return of_curves(
        f"{what}: operations a second by number of clients; the table holds the figures",
        "operations/s",
        "clients at once",
        (
            Curve(
                without_clients(fmt.clean(family[0][1]), family[0][0]),
                tuple(Point(clients, rate) for clients, name in family if (rate := measured.median("rate", name))),
            )
            for family in families
        ),
        fmt.rate,
        "A point is the median rate of the sets.",
        least=2,
    )


def _pipelines(phase: RankedPhase) -> Iterator[Section]:
    """Time, round trips and CPU by the size of the pipeline; the sentence names the path that gains most."""
    measured = phase.measured
    lines, gains = [], []
    for family in _families(phase, "pipeline"):
        of_none = next((measured.median("time", name) for size, name in family if size == 1), None)
        for size, name in family:
            time = measured.median("time", name)
            if not time:
                continue
            gain = of_none / time if of_none and size > 1 else None
            gains += [(gain, name)] if gain else []
            row = line(
                word("path", name),
                figure("pipeline", str(size) if size > 1 else "off", 1),
                figure("time per operation", fmt.duration(time), 1),
                figure("faster than one by one", fmt.ratio(gain), 1),
                figure("round trips", fmt.count(measured.median("round_trips", name)), 1),
                figure("client CPU", fmt.duration(measured.median("client_cpu", name)), 1),
                figure("server CPU", fmt.duration(measured.median("server_cpu", name)), 1),
            )
            lines.append(row)
    sentence = ""
    if gains:
        gain, name = max(gains)
        sentence = f"{fmt.clean(name)} gains most: {fmt.ratio(gain)} the operations in the same time, by medians."
    note = "Ratios of medians. An operation of a pipeline has no latency of its own: its time is the pipeline's over n."
    grid = without_empty(of_lines(f"In pipelines ({measured.regime})", lines, note))
    yield Section(f"{phase.key}-pipelines", grid, Opening(sentence), leading=True)


CLIENTS: Chapter[None] = Chapter("clients", of_phase=_clients)
PIPELINES: Chapter[None] = Chapter("pipelines", of_phase=_pipelines)
