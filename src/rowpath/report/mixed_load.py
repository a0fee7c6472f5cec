"""Tables of groups at work at once: rates, percentiles, backups, acknowledged writes, moved databases, searches."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from rowpath import text as fmt
from rowpath.analysis.mixed_load.model import GroupFigures, Latency, MixedLoadReport, RateSearch, RateTry
from rowpath.drawing.grid import Cell, Grid, figure, line, of_lines, ratio, without_empty, word, words
from rowpath.model.grouping import grouped
from rowpath.report.timeline import OF_A_PROCESS, heading, mean, seconds_of

PERCENTILES = (
    "p50, p99, p99.9, longest: service time in a closed loop; latency in an open loop, counted from an "
    "operation's scheduled start. Stall: the longest time without a completed operation; with several clients it "
    "is sampled once a second."
)
WITHHELD = "Not reached: fewer than 99 % of the scheduled operations completed, so latency percentiles are withheld"
WHEN = {"end": "at the end", "kill": "after a kill", "backup": "in a restored backup"}


def grids(report: MixedLoadReport) -> Iterator[tuple[str, Grid]]:
    """Every table with a key for the page, in the order in which they are read; none without rows."""
    by_path = grouped(report.figures, lambda each: each.name)
    made = [
        ("beside", beside_grid(report)),
        ("ratios", ratios_grid(report)),
        *((f"path-{number}", path_grid(name, found)) for number, (name, found) in enumerate(by_path.items())),
        ("backups", backups_grid(report)),
        ("effects", effects_grid(report)),
        ("acknowledged", acknowledged_grid(report)),
        ("failures", failures_grid(report)),
        ("moves", moves_grid(report)),
        *((f"rates-{number}", rate_search_grid(sweep)) for number, sweep in enumerate(report.rate_searches)),
        ("hosts", hosts_grid(report)),
        ("starts", starts_grid(report)),
        ("stages", stages_grid(report)),
        ("processes", processes_grid(report)),
    ]
    return ((key, grid) for key, grid in made if grid.rows)


def path_grid(name: str, figures: list[GroupFigures]) -> Grid:
    """Each group of one path in each stage: rate, percentiles, what failed, the longest stall."""
    lines = (
        line(
            *words(stage=each.stage, group=each.client_group),
            figure("clients", str(each.clients), 4),
            figure("requested", f"{fmt.rate(each.requested_per_s)} {each.pacing}" if each.requested_per_s else "", 2),
            figure("rate", fmt.rate(each.rate_per_s)),
            figure("interval", fmt.rate_interval(each.low, each.high), 1),
            *_percentiles(each),
            figure("service p99", fmt.duration(each.service.p99_ns) if each.pacing != "closed" else "", 6),
            figure("start delay, p99", fmt.duration(each.lateness.p99_ns) if each.lateness else "", 6),
            figure("stall", fmt.duration(each.longest_stall_s * 1e9) if each.longest_stall_s > 0 else "", 3),
            figure("failed", fmt.count(each.failed) if each.failed else "", 1),
            figure("rows per operation", fmt.count(each.rows_per_operation), 7),
            figure("client CPU per operation", fmt.duration(each.client_cpu_ns), 7),
            figure("touch", "wrong" if each.touch_ok is False else "", 7),
            status="wrong" if each.touch_ok is False else "ok",
        )
        for each in figures
    )
    sets = max((each.sets for each in figures), default=0)
    caption = f"{fmt.clean(name)}: client groups ({sets} set{'s' if sets != 1 else ''})"
    return without_empty(of_lines(caption, lines, _path_note(figures)))


def _percentiles(figures: GroupFigures) -> tuple[Cell, ...]:
    counted: Latency | None = figures.service if figures.pacing == "closed" else figures.latency
    texts = [fmt.MISSING, "not reached", fmt.MISSING, fmt.MISSING]
    if figures.reached and counted is not None:
        texts = [fmt.duration(ns) for ns in (counted.p50_ns, counted.p99_ns, counted.p999_ns, counted.most_ns)]
    return tuple(map(figure, ("p50", "p99", "p99.9", "longest"), texts, (2, 0, 5, 3)))


def _path_note(figures: list[GroupFigures]) -> str:
    sentences = [PERCENTILES]
    missed = [each for each in figures if not each.reached]
    if missed:
        due = (f"{fmt.clean(each.client_group)} ({fmt.clean(each.stage)}): {each.not_begun:,}" for each in missed)
        sentences.append(f"{WITHHELD}; due and never started: {', '.join(due)}.")
    cut = [fmt.clean(f"{each.client_group} ({each.stage})") for each in figures if each.cut]
    if cut:
        sentences.append(f"The run ended during: {', '.join(cut)}.")
    wrong = [fmt.clean(f"{each.client_group} ({each.stage})") for each in figures if each.touch_ok is False]
    if wrong:
        sentences.append(f"The checksum of the values read is wrong: {', '.join(wrong)}.")
    return " ".join(sentences)


def beside_grid(report: MixedLoadReport) -> Grid:
    """The rate of every group in every stage, a column for each path; no rows of fewer than two paths."""
    names = list(dict.fromkeys(each.name for each in report.figures))
    rates = {(each.stage, each.client_group, each.name): each.rate_per_s for each in report.figures}
    lines = (
        line(
            *words(stage=stage, group=group),
            *(
                figure(fmt.clean(name), fmt.rate(rates.get((stage, group, name))), max(0, at - 1))
                for at, name in enumerate(names)
            ),
        )
        for stage, group in dict.fromkeys((each.stage, each.client_group) for each in report.figures)
    )
    return of_lines("Rates by path", lines if len(names) > 1 else ())


def ratios_grid(report: MixedLoadReport) -> Grid:
    """Each group's rate behind a server relative to its rate on the same engine embedded."""
    lines = (
        line(
            *words(stage=each.stage, group=each.client_group, server=each.server, embedded=each.embedded),
            *ratio("server ÷ embedded", each.ratio, each.low, each.high),
            figure("sets", str(each.sets), 1),
        )
        for each in report.ratios
    )
    return of_lines("Rates: server against embedded, same engine", lines)


def hosts_grid(report: MixedLoadReport) -> Grid:
    """How much of each group each host did."""
    lines = (
        line(
            *words(path=each.name, stage=each.stage, group=each.client_group, host=each.host),
            figure("clients", str(each.clients), 2),
            figure("operations", fmt.count(each.operations)),
            figure("share", f"{each.share:.1%}"),
            figure("failed", fmt.count(each.failed) if each.failed else "", 1),
            word("lost", fmt.clean(each.lost), 1),
            status="failed" if each.lost else "ok",
        )
        for each in report.hosts
    )
    note = "A lost host's figures are its last, read once a second."
    return without_empty(of_lines("Client groups by host", lines, note if any(x.lost for x in report.hosts) else ""))


def starts_grid(report: MixedLoadReport) -> Grid:
    """How closely the hosts of a group began together."""
    lines = (
        line(
            *words(path=each.name, stage=each.stage, group=each.client_group, hosts=fmt.listed(each.hosts)),
            figure("skew", fmt.duration(each.skew_ns)),
            figure("±", fmt.duration(each.bound_ns)),
            figure("lead left", fmt.duration(each.lead_ns) if each.lead_ns > 0 else "none", 1),
            figure("clocks moved", fmt.duration(each.clock_moved_ns), 2),
            status="ok" if each.lead_ns > 0 else "failed",
        )
        for each in report.starts
    )
    note = (
        "Skew: from the first host's begin to the last one's, in the set with the longest skew; ±: bound of the "
        "clocks' error. Lead left: how long before the begin the last host knew of it. Clocks moved: within a stage."
    )
    return without_empty(of_lines("Common starts of several hosts", lines, note))


def stages_grid(report: MixedLoadReport) -> Grid:
    """What each path used in each stage: bytes on our own connections, CPU per operation."""
    lines = (
        line(
            *words(path=each.name, stage=each.stage),
            figure("length", fmt.duration(each.seconds * 1e9), 3),
            figure("bytes/s on Rowpath's connections", _bytes_per_s(each.traffic_bytes_per_s), 1),
            figure("interval", _bytes_interval(each.low, each.high), 2),
            figure("in a backup", _bytes_per_s(each.traffic_in_backup_bytes_per_s), 1),
            figure("bytes per operation", fmt.size(each.bytes_per_operation), 1),
            figure("client CPU per operation", fmt.duration(each.client_cpu_ns), 2),
            figure("server CPU per operation", fmt.duration(each.server_cpu_ns), 2),
        )
        for each in report.stages
    )
    note = (
        "Bytes of Rowpath's connections only, in both directions, without headers. CPU: whole processes, divided by "
        "the operations of all groups."
    )
    return without_empty(of_lines("Connections and CPU by stage, all groups together", lines, note))


def _bytes_per_s(value: float | None) -> str:
    return fmt.MISSING if value is None else f"{fmt.size(value)}/s"


def _bytes_interval(low: float | None, high: float | None) -> str:
    return f"{_bytes_per_s(low)} – {_bytes_per_s(high)}" if low is not None else ""


def failures_grid(report: MixedLoadReport) -> Grid:
    """Failed and refused operations by kind; they are in no rate."""
    lines = (
        line(
            *words(path=each.name, stage=each.stage, group=each.client_group, kind=failure.kind),
            word("code", failure.code, 1),
            figure("count", fmt.count(failure.count)),
            word("engine's message", failure.text, 2),
            status="failed",
        )
        for each in report.figures
        for failure in each.failures
    )
    return without_empty(of_lines("Failed and refused operations (not in rates)", lines))


def rate_search_grid(sweep: RateSearch) -> Grid:
    """Every rate that was tried, and the highest that kept the bound."""
    lines = (
        line(
            figure("rate", fmt.rate(each.rate_per_s)),
            figure("reached", "yes" if each.reached else "no"),
            figure("p50", fmt.duration(each.p50_ns if each.reached else None), 1),
            figure("p99", fmt.duration(each.p99_ns if each.reached else None)),
            figure("p99.9", fmt.duration(each.p999_ns if each.reached else None), 1),
            figure("bound kept", "yes" if _kept(each, sweep.bound_ns) else "no"),
        )
        for each in sorted(sweep.tries, key=lambda each: each.rate_per_s)
    )
    highest = "none of the rates tried" if sweep.highest_per_s is None else fmt.rate(sweep.highest_per_s)
    if sweep.highest_per_s is not None and not sweep.bounded:
        highest += " or more, no higher rate was tried"
    caption = (
        f"{fmt.clean(sweep.name)}: highest rate of {fmt.clean(sweep.client_group)} with p99 latency under "
        f"{fmt.duration(sweep.bound_ns)}: {highest}"
    )
    return of_lines(caption, lines)


def _kept(tried: RateTry, bound_ns: int) -> bool:
    return tried.reached and tried.p99_ns is not None and tried.p99_ns <= bound_ns


def processes_grid(report: MixedLoadReport) -> Grid:
    """CPU, memory, disk and the bytes on our own connections in each stage: means over its seconds in all sets."""
    values: dict[tuple[str, str], dict[tuple[str, str, str], list[float]]] = {}
    for path in report.lines:
        seconds = seconds_of(path)
        for at, (stage, _begin, _end) in enumerate(path.stages):
            inside = [number for number, second in enumerate(seconds) if second.stage == at]
            for series in path.series if inside else ():
                if series.quantity in OF_A_PROCESS and (value := mean(series, inside, seconds)) is not None:
                    row = values.setdefault((path.name, stage), {})
                    row.setdefault((series.quantity, series.of, series.unit), []).append(value)
    kinds = list(dict.fromkeys(key for row in values.values() for key in row))
    lines = (
        line(
            *words(path=name, stage=stage),
            *(
                figure(heading(quantity, of), _mean(found.get((quantity, of, unit), []), unit), _weight(quantity, of))
                for quantity, of, unit in kinds
            ),
        )
        for (name, stage), found in values.items()
    )
    note = "Means over each stage, of all sets. Sent (by the clients), received: on Rowpath's connections."
    return without_empty(of_lines("Processes and connections by stage", lines if kinds else (), note))


def _weight(quantity: str, of: str) -> int:
    return {"cpu": 1, "sent": 1, "received": 1, "memory": 3}.get(quantity, 2) + 3 * (of == "controller")


def _mean(values: list[float], unit: str) -> str:
    return fmt.figure(statistics.fmean(values), unit) if values else fmt.MISSING


def backups_grid(report: MixedLoadReport) -> Grid:
    """The backups: how many, how long, how large, and whether each could be restored."""
    lines = [
        line(
            word("path", each.name),
            word("stage", each.stage, 2),
            word("way", each.way, 1),
            figure("made", fmt.count(each.made)),
            figure("failed", fmt.count(each.failed) if each.failed else "", 1),
            figure("stopped", fmt.count(each.stopped) if each.stopped else "", 1),
            figure("restored and right", fmt.count(each.restored)),
            figure("duration", fmt.duration(_ns(each.seconds))),
            figure("interval", fmt.duration_interval(_ns(each.low), _ns(each.high)), 1),
            figure("size", fmt.size(each.kept_bytes), 2),
            status="failed" if each.failed else "ok",
        )
        for each in report.backups
    ]
    reasons = dict.fromkeys(fmt.clean(f"{each.name}: {reason}") for each in report.backups for reason in each.reasons)
    note = ["Right: an engine started on the restored backup delivered every expected row."]
    if any(each.stopped for each in report.backups):
        note.append("Stopped: its engine was killed on purpose, or the run ended.")
    note += [f"{reason.rstrip('.')}." for reason in reasons]
    return without_empty(of_lines("Backups", lines, " ".join(note)))


def _ns(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e9


def effects_grid(report: MixedLoadReport) -> Grid:
    """What each group's rate was inside the backup's span and without one."""
    lines = (
        line(
            *words(path=each.name, group=each.client_group),
            figure("inside", fmt.rate(each.inside_per_s)),
            figure("without", fmt.rate(each.outside_per_s)),
            *ratio("during ÷ without", each.ratio, each.low, each.high),
            word("stage", each.stage, 2),
            word("compared with", each.against, 2),
            figure("sets", str(each.sets), 1),
        )
        for each in report.effects
    )
    return of_lines("Rates during a backup and without one", lines)


def acknowledged_grid(report: MixedLoadReport) -> Grid:
    """Whether every acknowledged write was in the database."""
    lines = (
        line(
            word("path", each.name),
            word("looked for", WHEN[each.when]),
            word("durability", each.durability, 1),
            figure("checks", fmt.count(each.checks), 2),
            figure("acknowledged writes", fmt.count(each.writes)),
            figure("rows", fmt.count(each.rows), 3),
            figure("lost", fmt.count(each.lost)),
            figure("doubled", fmt.count(each.doubled), 1),
            figure("in doubt", fmt.count(each.in_doubt), 1),
            figure("recovery", fmt.duration(_ns(each.recovery_s)), 2),
            status="failed" if each.lost or each.doubled else "ok",
        )
        for each in report.checks
    )
    note = (
        "Acknowledged: the client received success. In doubt: the client received no result, so the row may be there "
        "or not. Recovery: from the start of the killed engine to its first answer."
    )
    return without_empty(of_lines("Acknowledged writes, checked in the database", lines, note))


def moves_grid(report: MixedLoadReport) -> Grid:
    """Database directories that were copied under another engine, and whether it delivered the same rows."""
    lines = (
        line(
            word("from", each.source),
            word("to", each.target),
            figure("size", fmt.size(each.bytes), 2),
            figure("time", fmt.duration(each.seconds * 1e9), 1),
            word("rows after it", "the same" if each.ok else "different" if each.digest else "none"),
            word("digest", each.digest, 3, code=True),
            word("expected", each.expected, 4, code=True),
            status="ok" if each.ok else "wrong",
        )
        for each in report.moves
    )
    reasons = (fmt.clean(f"{each.target}: {each.reason}.") for each in report.moves if each.reason)
    return without_empty(of_lines("Databases copied as directories", lines, " ".join(reasons)))
