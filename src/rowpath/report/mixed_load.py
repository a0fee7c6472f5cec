"""Tables of groups at work at once: rates, percentiles, backups, acknowledged writes, moves, rate searchs."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator

from rowpath import text as fmt
from rowpath.analysis.mixed_load.model import GroupFigures, Latency, MixedLoadReport, RateSearch
from rowpath.report.grid import Column, Grid, Row, without_empty
from rowpath.report.mixed_load_backups import acknowledged_grid, backups_grid, effects_grid, moves_grid
from rowpath.report.timeline import OF_A_PROCESS, heading, mean, seconds_of

PERCENTILES = (
    "p50, p99, p99.9, longest: of service time in a closed loop; in an open loop of latency, counted from when an "
    "operation was due. Stall: the longest time within which no operation of the group ended; of several clients as it "
    "was seen once a second."
)
WITHHELD = (
    "Not reached: fewer than 99 % of the operations that were due were done, so the percentiles of latency are withheld"
)


def grids(report: MixedLoadReport) -> Iterator[tuple[str, Grid]]:
    """Every table with a key for the page, in the order in which they are read; none without rows."""
    made = [
        ("beside", beside_grid(report)),
        ("ratios", ratios_grid(report)),
        *((f"path-{number}", path_grid(name, found)) for number, (name, found) in enumerate(_by_path(report))),
        ("backups", backups_grid(report)),
        ("effects", effects_grid(report)),
        ("acknowledged", acknowledged_grid(report)),
        ("failures", failures_grid(report)),
        ("moves", moves_grid(report)),
        *((f"rates-{number}", rate_search_grid(sweep)) for number, sweep in enumerate(report.rate_searchs)),
        ("stages", stages_grid(report)),
        ("processes", processes_grid(report)),
    ]
    return ((key, grid) for key, grid in made if grid.rows)


def _by_path(report: MixedLoadReport) -> list[tuple[str, list[GroupFigures]]]:
    found: dict[str, list[GroupFigures]] = {}
    for each in report.figures:
        found.setdefault(each.name, []).append(each)
    return list(found.items())


def path_grid(name: str, figures: Iterable[GroupFigures]) -> Grid:
    """Each group of one path in each stage: rate, percentiles, what failed, the longest stall."""
    columns = (
        Column("stage"),
        Column("group"),
        Column("clients", number=True, weight=4),
        Column("asked", number=True, weight=2),
        Column("rate", number=True),
        Column("interval", number=True, weight=1),
        Column("p50", number=True, weight=2),
        Column("p99", number=True),
        Column("p99.9", number=True, weight=5),
        Column("longest", number=True, weight=3),
        Column("service p99", number=True, weight=6),
        Column("begun late, p99", number=True, weight=6),
        Column("stall", number=True, weight=3),
        Column("failed", number=True, weight=1),
        Column("rows per operation", number=True, weight=7),
        Column("client CPU per operation", number=True, weight=7),
        Column("touch", number=True, weight=7),
    )
    listed = list(figures)
    rows = tuple(
        Row(
            (
                fmt.clean(each.stage),
                fmt.clean(each.client_group),
                str(each.clients),
                f"{fmt.rate(each.asked_per_s)} {each.pacing}" if each.asked_per_s else "",
                fmt.rate(each.rate_per_s),
                fmt.rate_interval(each.low, each.high),
                *_percentiles(each),
                fmt.duration(each.service.p99_ns) if each.pacing != "closed" else "",
                fmt.duration(each.lateness.p99_ns) if each.lateness else "",
                fmt.duration(each.longest_stall_s * 1e9) if each.longest_stall_s > 0 else "",
                fmt.count(each.failed) if each.failed else "",
                fmt.count(each.rows_per_operation),
                fmt.duration(each.client_cpu_ns),
                "wrong" if each.touch_ok is False else "",
            ),
            status="wrong" if each.touch_ok is False else "ok",
        )
        for each in listed
    )
    sets = max((each.sets for each in listed), default=0)
    caption = f"{fmt.clean(name)}: groups at work at once ({sets} set{'s' if sets != 1 else ''})"
    return without_empty(Grid(caption, columns, rows, _path_note(listed)))


def _percentiles(figures: GroupFigures) -> tuple[str, str, str, str]:
    counted: Latency | None = figures.service if figures.pacing == "closed" else figures.latency
    if not figures.reached or counted is None:
        return fmt.MISSING, "not reached", fmt.MISSING, fmt.MISSING
    found = (counted.p50_ns, counted.p99_ns, counted.p999_ns, counted.most_ns)
    p50, p99, p999, most = map(fmt.duration, found)
    return p50, p99, p999, most


def _path_note(figures: list[GroupFigures]) -> str:
    sentences = [PERCENTILES]
    missed = [each for each in figures if not each.reached]
    if missed:
        told = (f"{fmt.clean(each.client_group)} ({fmt.clean(each.stage)}): {each.not_begun:,}" for each in missed)
        sentences.append(f"{WITHHELD}; due and never begun: {', '.join(told)}.")
    cut = [fmt.clean(f"{each.client_group} ({each.stage})") for each in figures if each.cut]
    if cut:
        sentences.append(f"The run was ended within: {', '.join(cut)}.")
    wrong = [fmt.clean(f"{each.client_group} ({each.stage})") for each in figures if each.touch_ok is False]
    if wrong:
        sentences.append(f"The sum over the values that were taken is wrong: {', '.join(wrong)}.")
    return " ".join(sentences)


def beside_grid(report: MixedLoadReport) -> Grid:
    """The rate of every group in every stage, a column for each path; no rows of fewer than two paths."""
    names = list(dict.fromkeys(each.name for each in report.figures))
    columns = (
        Column("stage"),
        Column("group"),
        *(Column(fmt.clean(name), number=True, weight=max(0, at - 1)) for at, name in enumerate(names)),
    )
    rates = {(each.stage, each.client_group, each.name): each.rate_per_s for each in report.figures}
    rows = tuple(
        Row((fmt.clean(stage), fmt.clean(group), *(fmt.rate(rates.get((stage, group, name))) for name in names)))
        for stage, group in dict.fromkeys((each.stage, each.client_group) for each in report.figures)
    )
    return Grid("Rates of the paths side by side", columns, rows if len(names) > 1 else ())


def ratios_grid(report: MixedLoadReport) -> Grid:
    """Each group's rate behind a server relative to its rate on the same engine embedded."""
    columns = (
        Column("stage"),
        Column("group"),
        Column("server"),
        Column("embedded"),
        Column("server ÷ embedded", number=True),
        Column("interval", number=True, weight=1),
        Column("sets", number=True, weight=1),
    )
    rows = tuple(
        Row(
            (
                *map(fmt.clean, (each.stage, each.client_group, each.server, each.embedded)),
                fmt.ratio(each.ratio),
                fmt.interval(each.low, each.high),
                str(each.sets),
            )
        )
        for each in report.ratios
    )
    return Grid("Rates behind a server against those of the same engine embedded", columns, rows)


def stages_grid(report: MixedLoadReport) -> Grid:
    """What each path used in each stage: bytes on our own connections, CPU per operation."""
    columns = (
        Column("path"),
        Column("stage"),
        Column("length", number=True, weight=3),
        Column("bytes/s on our connections", number=True, weight=1),
        Column("interval", number=True, weight=2),
        Column("in a backup", number=True, weight=1),
        Column("bytes per operation", number=True, weight=1),
        Column("client CPU per operation", number=True, weight=2),
        Column("server CPU per operation", number=True, weight=2),
    )
    rows = tuple(
        Row(
            (
                fmt.clean(each.name),
                fmt.clean(each.stage),
                fmt.duration(each.seconds * 1e9),
                _bytes_per_s(each.traffic_bytes_per_s),
                f"{_bytes_per_s(each.low)} – {_bytes_per_s(each.high)}" if each.low is not None else "",
                _bytes_per_s(each.traffic_in_backup_bytes_per_s),
                fmt.size(each.bytes_per_operation),
                fmt.duration(each.client_cpu_ns),
                fmt.duration(each.server_cpu_ns),
            )
        )
        for each in report.stages
    )
    note = (
        "Bytes of our own connections alone, in both directions, without headers. CPU: of whole processes, divided by "
        "the operations of all groups."
    )
    return without_empty(Grid("Connections and CPU by stage, all groups together", columns, rows, note))


def _bytes_per_s(value: float | None) -> str:
    return fmt.MISSING if value is None else f"{fmt.size(value)}/s"


def failures_grid(report: MixedLoadReport) -> Grid:
    """Failed and refused operations by kind; they are in no rate."""
    columns = (
        Column("path"),
        Column("stage"),
        Column("group"),
        Column("kind"),
        Column("code", weight=1),
        Column("count", number=True),
        Column("what the engine said", weight=2),
    )
    rows = tuple(
        Row(
            (
                fmt.clean(each.name),
                fmt.clean(each.stage),
                fmt.clean(each.client_group),
                fmt.clean(failure.kind),
                fmt.clean(failure.code),
                fmt.count(failure.count),
                fmt.clean(failure.text),
            ),
            status="failed",
        )
        for each in report.figures
        for failure in each.failures
    )
    return without_empty(Grid("Failed and refused operations, in no rate", columns, rows))


def rate_search_grid(sweep: RateSearch) -> Grid:
    """Every rate that was tried, and the highest that kept the bound."""
    columns = (
        Column("rate", number=True),
        Column("reached", number=True),
        Column("p50", number=True, weight=1),
        Column("p99", number=True),
        Column("p99.9", number=True, weight=1),
        Column("bound kept", number=True),
    )
    rows = tuple(
        Row(
            (
                fmt.rate(each.rate_per_s),
                "yes" if each.reached else "no",
                *(fmt.duration(value if each.reached else None) for value in (each.p50_ns, each.p99_ns, each.p999_ns)),
                "yes" if each.reached and each.p99_ns is not None and each.p99_ns <= sweep.bound_ns else "no",
            )
        )
        for each in sorted(sweep.tries, key=lambda each: each.rate_per_s)
    )
    highest = "none of those tried" if sweep.highest_per_s is None else fmt.rate(sweep.highest_per_s)
    if sweep.highest_per_s is not None and not sweep.bounded:
        highest += " at least, no higher one was tried"
    caption = (
        f"{fmt.clean(sweep.name)}: highest rate of {fmt.clean(sweep.client_group)} with p99 of latency under "
        f"{fmt.duration(sweep.bound_ns)}: {highest}"
    )
    return Grid(caption, columns, rows)


def processes_grid(report: MixedLoadReport) -> Grid:
    """CPU, memory, disk and the bytes on our own connections in each stage: means over its seconds in all sets."""
    values: dict[tuple[str, str], dict[tuple[str, str, str], list[float]]] = {}
    for line in report.lines:
        seconds = seconds_of(line)
        for at, (stage, _begin, _end) in enumerate(line.stages):
            inside = [number for number, second in enumerate(seconds) if second.stage == at]
            for series in line.series if inside else ():
                if series.quantity in OF_A_PROCESS and (value := mean(series, inside, seconds)) is not None:
                    row = values.setdefault((line.name, stage), {})
                    row.setdefault((series.quantity, series.of, series.unit), []).append(value)
    kinds = list(dict.fromkeys(key for row in values.values() for key in row))
    columns = (
        Column("path"),
        Column("stage"),
        *(Column(heading(quantity, of), number=True, weight=_weight(quantity, of)) for quantity, of, _unit in kinds),
    )
    rows = tuple(
        Row((fmt.clean(name), fmt.clean(stage), *(_mean(found.get(kind, []), kind[2]) for kind in kinds)))
        for (name, stage), found in values.items()
    )
    note = "Means over each stage, of all sets. Sent (by the clients), received: on our own connections."
    return without_empty(Grid("Processes and connections by stage", columns, rows if kinds else (), note))


def _weight(quantity: str, of: str) -> int:
    return {"cpu": 1, "sent": 1, "received": 1, "memory": 3}.get(quantity, 2) + 3 * (of == "controller")


def _mean(values: list[float], unit: str) -> str:
    return fmt.figure(statistics.fmean(values), unit) if values else fmt.MISSING
