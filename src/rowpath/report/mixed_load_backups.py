"""Tables of backups, what they did to the groups, acknowledged writes, and databases that were moved."""

from __future__ import annotations

from rowpath import text as fmt
from rowpath.analysis.mixed_load.model import MixedLoadReport
from rowpath.report.grid import Column, Grid, Row, without_empty

WHEN = {"end": "at the end", "kill": "after a kill", "backup": "in a restored backup"}


def backups_grid(report: MixedLoadReport) -> Grid:
    """The backups: how many, how long, how large, and whether each could be restored."""
    columns = (
        Column("path"),
        Column("stage", weight=2),
        Column("way", weight=1),
        Column("made", number=True),
        Column("failed", number=True, weight=1),
        Column("stopped", number=True, weight=1),
        Column("restored and right", number=True),
        Column("duration", number=True),
        Column("interval", number=True, weight=1),
        Column("size", number=True, weight=2),
    )
    rows = []
    reasons: dict[str, None] = {}
    for each in report.backups:
        duration = fmt.duration(each.seconds * 1e9) if each.seconds is not None else fmt.MISSING
        low, high = (end * 1e9 if end is not None else None for end in (each.low, each.high))
        cells = (
            fmt.clean(each.name),
            fmt.clean(each.stage),
            fmt.clean(each.way),
            fmt.count(each.made),
            fmt.count(each.failed) if each.failed else "",
            fmt.count(each.stopped) if each.stopped else "",
            fmt.count(each.restored),
            duration,
            fmt.duration_interval(low, high),
            fmt.size(each.kept_bytes),
        )
        rows.append(Row(cells, status="failed" if each.failed else "ok"))
        reasons |= dict.fromkeys(fmt.clean(f"{each.name}: {reason}") for reason in each.reasons)
    note = ["Right: an engine started on the restored backup delivered every row it had to."]
    if any(each.stopped for each in report.backups):
        note.append("Stopped: ended with its engine, killed on purpose, or with the run.")
    note += [f"{reason.rstrip('.')}." for reason in reasons]
    return without_empty(Grid("Backups", columns, tuple(rows), " ".join(note)))


def effects_grid(report: MixedLoadReport) -> Grid:
    """What each group's rate was inside the backup's span and without one."""
    columns = (
        Column("path"),
        Column("group"),
        Column("inside", number=True),
        Column("without", number=True),
        Column("inside ÷ without", number=True),
        Column("interval", number=True, weight=1),
        Column("stage", weight=2),
        Column("compared with", weight=2),
        Column("sets", number=True, weight=1),
    )
    rows = tuple(
        Row(
            (
                fmt.clean(each.name),
                fmt.clean(each.client_group),
                fmt.rate(each.inside_per_s),
                fmt.rate(each.outside_per_s),
                fmt.ratio(each.ratio),
                fmt.interval(each.low, each.high),
                fmt.clean(each.stage),
                fmt.clean(each.against),
                str(each.sets),
            )
        )
        for each in report.effects
    )
    return Grid("Rates inside a backup against those without one", columns, rows)


def acknowledged_grid(report: MixedLoadReport) -> Grid:
    """Whether every acknowledged write was in the database."""
    columns = (
        Column("path"),
        Column("looked for"),
        Column("durability", weight=1),
        Column("checks", number=True, weight=2),
        Column("acknowledged writes", number=True),
        Column("rows", number=True, weight=3),
        Column("lost", number=True),
        Column("doubled", number=True, weight=1),
        Column("in doubt", number=True, weight=1),
        Column("recovery", number=True, weight=2),
    )
    rows = tuple(
        Row(
            (
                fmt.clean(each.name),
                WHEN[each.when],
                fmt.clean(each.durability),
                fmt.count(each.checks),
                fmt.count(each.writes),
                fmt.count(each.rows),
                fmt.count(each.lost),
                fmt.count(each.doubled),
                fmt.count(each.in_doubt),
                fmt.duration(each.recovery_s * 1e9) if each.recovery_s is not None else fmt.MISSING,
            ),
            status="failed" if each.lost or each.doubled else "ok",
        )
        for each in report.checks
    )
    note = (
        "Acknowledged: its client was told of its success. In doubt: nobody was told how it ended, so it may be there "
        "or not. Recovery: from the start of the killed engine to its first answer."
    )
    return without_empty(Grid("Acknowledged writes, looked for in the database", columns, rows, note))


def moves_grid(report: MixedLoadReport) -> Grid:
    """Database directories that were copied under another engine, and whether it delivered the same rows."""
    columns = (
        Column("from"),
        Column("to"),
        Column("size", number=True, weight=2),
        Column("time", number=True, weight=1),
        Column("rows after it"),
        Column("digest", weight=3, code=True),
        Column("expected", weight=4, code=True),
    )
    rows = tuple(
        Row(
            (
                fmt.clean(each.source),
                fmt.clean(each.target),
                fmt.size(each.bytes),
                fmt.duration(each.seconds * 1e9),
                "the same" if each.ok else "not the same" if each.digest else "none",
                each.digest,
                each.expected,
            ),
            status="ok" if each.ok else "wrong",
        )
        for each in report.moves
    )
    reasons = (fmt.clean(f"{each.target}: {each.reason}.") for each in report.moves if each.reason)
    return without_empty(Grid("Databases moved by copying their directory", columns, rows, " ".join(reasons)))
