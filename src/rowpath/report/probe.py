"""The tables of a probe: one per language, settings that mattered, other round-trip times, what was tried."""

from __future__ import annotations

from rowpath import text as fmt
from rowpath.analysis.model import Analysis
from rowpath.analysis.probe_results import FULL, ROUND_TRIP_TIMES_MS
from rowpath.drawing.grid import Grid, figure, line, of_lines, word, words
from rowpath.model.probe import LanguageBest, Probe

KEYS = ("settings", "round-trips", "groups", "tried")
OTHER_WORK = "≠"
FORMS = {
    "row": "rows",
    "block": f"blocks {OTHER_WORK}",
    "columnar": f"columns {OTHER_WORK}",
    "copy": f"COPY {OTHER_WORK}",
}
BASELINES = {"yours": " ← yours", "usual": " ← usual"}


def languages(analysis: Analysis) -> tuple[Grid, ...]:
    """A table per language: its drivers in their fastest settings, fastest first; empty when the run is no probe."""
    return tuple(map(_language, analysis.probe.languages)) if analysis.probe else ()


def grids(analysis: Analysis) -> tuple[tuple[str, Grid], ...]:
    """The other tables with their keys, those without rows left out; empty when the run is no probe."""
    probe = analysis.probe
    if probe is None:
        return ()
    made = (_settings(probe), _round_trips(probe), _groups(probe), _tried(probe))
    return tuple((key, grid) for key, grid in zip(KEYS, made, strict=True) if grid.rows)


def _language(best: LanguageBest) -> Grid:
    lines = (
        line(
            word("path", f"{row.description}{BASELINES.get(row.baseline, '')}"),
            word("as", FORMS.get(row.form, row.form)),
            figure("time", fmt.duration(row.time_ns)),
            figure("× fastest", fmt.ratio(row.ratio)),
            figure("95 % interval", fmt.interval(row.low, row.high) or fmt.MISSING, 2),
            word("from", row.step, 1),
        )
        for row in best.rows
    )
    notes = [f"{OTHER_WORK}: other work. A program that needs rows must still build them."]
    notes = notes if any(OTHER_WORK in FORMS.get(row.form, "") for row in best.rows) else []
    notes += ["A try may be off by half."] if any(row.step == "try" for row in best.rows) else []
    return of_lines(f"{best.title or best.language}: your rows, fastest first", lines, " ".join(notes))


def _settings(probe: Probe) -> Grid:
    lines = (
        line(
            *words(setting=each.coordinate, better=each.better, worse=each.worse),
            figure("worse ÷ better", fmt.ratio(each.ratio)),
            word("seen with", each.driver, 1),
            word("from", each.step, 1),
        )
        for each in probe.settings
    )
    rough = any(each.step != FULL for each in probe.settings)
    note = "A try is one short measurement with up to 50 % error; a round interleaves blocks; full sets are complete."
    return of_lines("Settings with an effect: two paths that differ only in this setting", lines, note if rough else "")


def _round_trips(probe: Probe) -> Grid:
    lines = []
    for each in probe.at_round_trips:
        at = [fmt.duration(time_ns) for time_ns in each.at_ns] or [fmt.MISSING] * len(ROUND_TRIP_TIMES_MS)
        found = line(
            word("path", each.name),
            figure("round trips", fmt.count(each.round_trips) if each.round_trips is not None else "unknown"),
            figure("here", fmt.duration(each.time_ns)),
            *(figure(f"+{time_ms:g} ms", text) for time_ms, text in zip(ROUND_TRIP_TIMES_MS, at, strict=True)),
        )
        lines.append(found)
    note = "Time here + round trips × the added time per round trip; bandwidth is not modelled."
    return of_lines("Predicted time over a slower link", lines, note)


def _groups(probe: Probe) -> Grid:
    lines = (
        line(
            word("digest", each.digest, code=True),
            figure("rows", f"{each.rows:,}"),
            figure("paths", str(len(each.names))),
            word("first of them", each.names[0]),
            word("first column that differs", each.difference or fmt.MISSING),
        )
        for each in probe.digest_groups
    )
    agree = len(probe.digest_groups) == 1
    caption = "Delivered rows: all paths agree" if agree else "Delivered rows: the paths do NOT agree"
    notes = [probe.not_compared, "" if agree else "Rowpath cannot know which rows are right: compare them yourself."]
    return of_lines(caption, lines, " ".join(filter(None, notes)))


def _tried(probe: Probe) -> Grid:
    lines = (
        line(
            word("path", each.name),
            word("until", each.step or "not tried", 1),
            figure("time", fmt.duration(each.execution_ns)),
            figure("relative to fastest", fmt.ratio(each.ratio)),
            figure("interval", fmt.interval(each.low, each.high) or fmt.MISSING, 2),
            word("why it stopped", each.left or fmt.MISSING),
            status=each.status,
        )
        for each in probe.tried
    )
    return of_lines("Everything tried", lines)
