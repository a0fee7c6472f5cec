"""Tables and charts of retrievals in parts: what each number of clients came to, and the law through them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rowpath import text as fmt
from rowpath.analysis.curves_model import Scaling, ScalingLaw, ScalingLevel
from rowpath.analysis.scaling import cores_text
from rowpath.analysis.wording import ratio_text
from rowpath.drawing.grid import Grid, figure, line, of_lines, ratio, without_empty
from rowpath.drawing.line_chart import Chart, Curve, Point, valued


def scaling_grid(scaling: Scaling) -> Grid:
    """Time, speed-up, efficiency and CPU per row of one path by the number of clients."""
    lines = (
        line(
            figure("clients", str(level.clients)),
            figure("time", fmt.duration(level.cost_ns)),
            figure("rows/s", fmt.rate(level.rate), 1),
            *ratio("speed-up", level.speed_up, level.low, level.high),
            figure("efficiency", fmt.share(level.efficiency), 1),
            figure("client CPU per row", fmt.duration(level.client_cpu_ns), 1),
            figure("server CPU per row", fmt.duration(level.server_cpu_ns), 1),
            figure("idle", fmt.share(level.idle), 2),
            figure("n−1 bounds cost", fmt.duration(level.finding_bounds_ns), 2),
            figure("speed-up with them", fmt.ratio(_with_bounds(scaling, level)), 3),
            status=level.status,
            reason=fmt.clean(f"{level.status}: {level.reason}") if level.status != "ok" else "",
        )
        for level in scaling.levels
    )
    how = f"{scaling.regime}, ranges={scaling.ranges}"
    how += f", placement={scaling.placement}" if scaling.placement != "none" else ""
    caption = f"{fmt.clean(scaling.name)}: {scaling.workload}.{scaling.phase} in parts at once ({how})"
    return without_empty(of_lines(caption, lines, " ".join(_notes(scaling))))


def _with_bounds(scaling: Scaling, level: ScalingLevel) -> float | None:
    """The speed-up when finding the bounds is part of the retrieval."""
    one = next((each.cost_ns for each in scaling.levels if each.clients == 1), None)
    if not one or not level.cost_ns or level.finding_bounds_ns is None:
        return None
    return one / (level.cost_ns + level.finding_bounds_ns)


def _notes(scaling: Scaling) -> Iterable[str]:
    cores = cores_text(scaling)
    yield f"{cores[0].upper()}{cores[1:]}."
    for level in scaling.levels:
        if level.status != "ok":
            who = f"{level.clients} client{'s' if level.clients > 1 else ''}"
            yield f"{who}: {level.status}, {fmt.clean(level.reason)}."
    if scaling.bound_ns is not None:
        found = f"{fmt.duration(scaling.bound_ns)} each, as measured by {fmt.clean(scaling.bound_name)}"
        yield f"The time to find the n − 1 bounds is not included: {found}."
    if scaling.law is None:
        yield f"No Universal Scalability Law: {scaling.no_law}."
    else:
        yield from _law(scaling.law, scaling)


def _law(law: ScalingLaw, scaling: Scaling) -> Iterable[str]:
    """The law's parameters in words, and nothing beyond the numbers of clients that were measured."""
    most = scaling.levels[-1].clients
    contention = _parameter("contention σ", law.contention, law.contention_low, law.contention_high)
    coherence = _parameter("coherence κ", law.coherence, law.coherence_low, law.coherence_high)
    yield (
        f"Universal Scalability Law over {law.levels} client counts, fitted in each set: {contention}; "
        f"{coherence}; one client {fmt.rate(law.rate_of_one)}; no level more than {fmt.share(law.worst)} off."
    )
    if law.peak is not None:
        yield f"Its peak rate is at {law.peak:.1f} clients."
    if most > scaling.cores > 0:
        yield (
            f"Beyond {scaling.cores} clients they shared cores, so σ includes the lack of cores: "
            "no prediction for more cores or clients."
        )
    else:
        yield f"No prediction for more than {most} clients."


def _parameter(name: str, value: float, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return f"{name} {value:.4f} (one set: no interval)"
    if low <= 0 <= high:
        return f"{name} is not distinguishable from 0 ({low:.4f} to {high:.4f})"
    return f"{name} {value:.4f} ({low:.4f} to {high:.4f})"


def scaling_chart(scalings: Sequence[Scaling]) -> Chart | None:
    """Speed-up with its interval over the number of clients, one curve per path; None without two levels of any."""
    curves = []
    for scaling in scalings:
        points = tuple(
            Point(level.clients, level.speed_up if level.clients > 1 and level.speed_up else 1.0, level.low, level.high)
            for level in scaling.levels
            if level.status == "ok" and (level.speed_up is not None or level.clients == 1)
        )
        if len(points) > 1:
            curves.append(Curve(fmt.clean(scaling.name), points))
    if not curves:
        return None
    clients = [point.x for curve in curves for point in curve.points]
    first = scalings[0]
    return Chart(
        label=f"{first.workload} {first.phase}: speed-up by number of clients; the tables hold the figures",
        up="speed-up",
        across=valued("clients at once", [1.0, *clients], fmt.count),
        curves=tuple(curves),
        text=fmt.ratio,
        explanation="A point is the speed-up against the same path with one client.",
        lines=(Curve("ideal", (Point(1, 1), Point(max(clients), max(clients)))),),
    )


def scaling_sentence(scalings: Iterable[Scaling]) -> str:
    """The greatest speed-up that was measured, and how many clients it took."""
    known = [
        (level.speed_up, level, fmt.clean(scaling.name))
        for scaling in scalings
        for level in scaling.levels
        if level.speed_up is not None and level.clients > 1
    ]
    if not known:
        return ""
    speed_up, level, name = max(known, key=lambda each: each[0])
    gained = f"{ratio_text(speed_up, level.low, level.high)} with {level.clients} clients."
    if level.low is not None and level.low <= 1:
        return f"No gain is shown; the highest is {name}: {gained}"
    return f"{name} gains most: {gained}"
