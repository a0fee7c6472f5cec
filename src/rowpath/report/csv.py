"""The CSV export: the long form of the results, a column per coordinate."""

from __future__ import annotations

import csv
import re
from typing import TextIO

from rowpath.model import COORDINATES, Analysis, Result
from rowpath.report import format as fmt

BEFORE = ("workload", "phase", "regime", "metric", "unit", "name")
AFTER = (
    "median",
    "mean",
    "low",
    "high",
    "min",
    "best_of_five",
    "sets",
    "blocks",
    "status",
    "reason",
    "digest",
    "means",
)
# A spreadsheet takes a text that begins like this for a formula.
FORMULA = ("=", "+", "-", "@")
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


def write_csv(analysis: Analysis, file: TextIO) -> None:
    """Writes one line per result with a heading: RFC 4180, a decimal point in every locale, empty where unknown."""
    known = list(COORDINATES)
    extra = sorted({key for each in analysis.results for key in each.path} - set(known))
    used = [key for key in known if any(key in each.path for each in analysis.results)] + extra
    # A coordinate that is called like a field of the record gets a prefix.
    titles = [f"path_{key}" if key in BEFORE or key in AFTER else key for key in used]
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow([*BEFORE, *titles, *AFTER])
    for each in analysis.results:
        coordinates = [_text(each.path.get(key, "")) for key in used]
        writer.writerow([*_fields(each, BEFORE), *coordinates, *_fields(each, AFTER)])


def _fields(result: Result, names: tuple[str, ...]) -> list[str]:
    return [_cell(getattr(result, name)) for name in names]


def _cell(value: str | float | None) -> str:
    if value is None:
        return ""
    return _text(value) if isinstance(value, str) else repr(value)


def _text(value: str) -> str:
    cleaned = fmt.clean(value)
    return f"'{cleaned}" if cleaned.startswith(FORMULA) and not NUMBER.fullmatch(cleaned) else cleaned
