"""The CSV exports: the long form of the results, a column per coordinate; and the time line's seconds."""

from __future__ import annotations

import csv
import re
from typing import TextIO

from rowpath import text as fmt
from rowpath.analysis.chapters.mixed_load import report_of
from rowpath.analysis.model import Analysis, Result
from rowpath.report.long_table import AFTER, BEFORE, coordinate_titles

SECONDS = ("name", "path_id", "set", "stage", "begin_s", "end_s", "backup", "quantity", "of", "unit", "value")
# A spreadsheet takes a text that begins like this for a formula.
FORMULA = ("=", "+", "-", "@")
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


def write_csv(analysis: Analysis, file: TextIO) -> None:
    """Writes one line per result with a heading: RFC 4180, a decimal point in every locale, empty where unknown."""
    titles = coordinate_titles(analysis)
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow([*BEFORE, *titles.values(), *AFTER])
    for each in analysis.results:
        coordinates = [_text(each.path.get(key, "")) for key in titles]
        writer.writerow([*_fields(each, BEFORE), *coordinates, *_fields(each, AFTER)])


def write_timeline(analysis: Analysis, file: TextIO) -> None:
    """Writes one line per path, set, second and quantity with a heading; none where there is nothing to tell.

    `begin_s`, `end_s`: seconds since the first stage's begin; `backup`: whether one was under way.
    """
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(SECONDS)
    for line in report_of(analysis).lines:
        for at, second in enumerate(line.seconds):
            stage = line.stages[second.stage][0] if second.stage >= 0 else ""
            backup = "yes" if line.in_backup(second) else "no"
            for each in line.series:
                if (value := each.values[at]) is None:
                    continue
                before: list[str | float] = [line.name, line.path_id, line.set, stage, second.begin, second.end]
                writer.writerow(map(cell_text, [*before, backup, each.quantity, each.of, each.unit, value]))


def _fields(result: Result, names: tuple[str, ...]) -> list[str]:
    return [cell_text(getattr(result, name)) for name in names]


def cell_text(value: str | float | None) -> str:
    """A value as a cell: a number as it is, empty where unknown; no text that a spreadsheet takes for a formula."""
    if value is None:
        return ""
    return _text(value) if isinstance(value, str) else repr(value)


def _text(value: str) -> str:
    cleaned = fmt.clean(value)
    return f"'{cleaned}" if cleaned.startswith(FORMULA) and not NUMBER.fullmatch(cleaned) else cleaned
