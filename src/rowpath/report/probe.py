"""The tables of a probe: the fastest per language, settings that mattered, other round-trip times, what was tried."""

from __future__ import annotations

from rowpath import text as fmt
from rowpath.analysis.model import Analysis
from rowpath.analysis.probe_results import FULL, ROUND_TRIP_TIMES_MS
from rowpath.model.probe import Probe
from rowpath.report.grid import Column, Grid, Row

KEYS = ("languages", "settings", "round-trips", "groups", "tried")


def grids(analysis: Analysis) -> tuple[tuple[str, Grid], ...]:
    """The tables with their keys, those without rows left out; empty when the run is no probe."""
    probe = analysis.probe
    if probe is None:
        return ()
    made = (_languages(probe), _settings(probe), _round_trips(probe), _groups(probe), _tried(probe))
    return tuple((key, grid) for key, grid in zip(KEYS, made, strict=True) if grid.rows)


def _languages(probe: Probe) -> Grid:
    columns = (
        Column("language"),
        Column("fastest path"),
        Column("fetch"),
        Column("time", number=True),
        Column("to the fastest of all", number=True),
        Column("from", weight=1),
    )
    rows = tuple(
        Row((each.language, each.name, each.form, fmt.duration(each.time_ns), fmt.ratio(each.ratio), each.step))
        for each in probe.languages
    )
    note = (
        "Rows, blocks and columns are not the same work: a program that needs rows has yet to make them of the others."
    )
    return Grid("The fastest path of each language", columns, rows, note if len(_forms(probe)) > 1 else "")


def _forms(probe: Probe) -> set[str]:
    return {each.form for each in probe.languages}


def _settings(probe: Probe) -> Grid:
    columns = (
        Column("setting"),
        Column("better"),
        Column("worse"),
        Column("worse ÷ better", number=True),
        Column("seen with", weight=1),
        Column("from", weight=1),
    )
    rows = tuple(
        Row((each.coordinate, each.better, each.worse, fmt.ratio(each.ratio), each.driver, each.step))
        for each in probe.settings
    )
    rough = any(each.step != FULL for each in probe.settings)
    note = "A try is one short look and may be off by half; a round is interleaved blocks, full sets are full sets."
    return Grid("Settings that mattered: two paths that differ in nothing else", columns, rows, note if rough else "")


def _round_trips(probe: Probe) -> Grid:
    columns = (
        Column("path"),
        Column("round trips", number=True),
        Column("here", number=True),
        *(Column(f"+{time_ms:g} ms", number=True) for time_ms in ROUND_TRIP_TIMES_MS),
    )
    rows = []
    for each in probe.at_round_trips:
        at = [fmt.duration(time_ns) for time_ns in each.at_ns] or [fmt.MISSING] * len(ROUND_TRIP_TIMES_MS)
        trips = fmt.count(each.round_trips) if each.round_trips is not None else "unknown"
        rows.append(Row((each.name, trips, fmt.duration(each.time_ns), *at)))
    note = "Its time here + its round trips × that time, for each round trip more than here; bandwidth left aside."
    return Grid("What it would take over a longer way", columns, tuple(rows), note)


def _groups(probe: Probe) -> Grid:
    columns = (
        Column("digest", code=True),
        Column("rows", number=True),
        Column("paths", number=True),
        Column("first of them"),
        Column("first column that differs"),
    )
    rows = tuple(
        Row((each.digest, f"{each.rows:,}", str(len(each.names)), each.names[0], each.difference or fmt.MISSING))
        for each in probe.digest_groups
    )
    agree = len(probe.digest_groups) == 1
    caption = "What was delivered: all paths agree" if agree else "What was delivered: the paths do NOT agree"
    return Grid(
        caption, columns, rows, "" if agree else "Nobody here knows which rows are right; see with your own eyes."
    )


def _tried(probe: Probe) -> Grid:
    columns = (
        Column("path"),
        Column("until", weight=1),
        Column("time", number=True),
        Column("to the fastest", number=True),
        Column("interval", number=True, weight=2),
        Column("why no further"),
    )
    rows = tuple(
        Row(
            (
                each.name,
                each.step or "not tried",
                fmt.duration(each.execution_ns),
                fmt.ratio(each.ratio),
                fmt.interval(each.low, each.high) or fmt.MISSING,
                fmt.clean(each.left) or fmt.MISSING,
            ),
            status=each.status,
        )
        for each in probe.tried
    )
    return Grid("Everything that was tried", columns, rows)
