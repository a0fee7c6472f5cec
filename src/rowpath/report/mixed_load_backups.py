"""Tables of backups, what they did to the groups, acknowledged writes, and databases that were moved."""

from __future__ import annotations

from rowpath import text as fmt
from rowpath.analysis.mixed_load.model import MixedLoadReport
from rowpath.report.grid import Grid, figure, line, of_lines, without_empty, word

WHEN = {"end": "at the end", "kill": "after a kill", "backup": "in a restored backup"}


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
            word("path", each.name),
            word("group", each.client_group),
            figure("inside", fmt.rate(each.inside_per_s)),
            figure("without", fmt.rate(each.outside_per_s)),
            figure("during ÷ without", fmt.ratio(each.ratio)),
            figure("interval", fmt.interval(each.low, each.high), 1),
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
