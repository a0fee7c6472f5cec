"""The results as a table for CSV and Parquet: a row per result, a column per coordinate; the time line's seconds."""

from __future__ import annotations

import csv
import importlib.util
import io
import math
import re
import sys
import typing
from collections.abc import Sequence
from typing import Any, BinaryIO, TextIO

from rowpath import text as fmt
from rowpath.analysis.chapters.mixed_load import report_of
from rowpath.analysis.model import Analysis, Result
from rowpath.errors import EnvironmentMissing
from rowpath.model.path import COORDINATES
from rowpath.report.json import SCHEMA_VERSION

BEFORE = ("workload", "phase", "regime", "metric", "unit", "name")
AFTER = tuple(name for name in Result.__struct_fields__ if name not in (*BEFORE, "path"))
SECONDS = ("name", "path_id", "set", "stage", "begin_s", "end_s", "backup", "quantity", "of", "unit", "value")
# A spreadsheet takes a text that begins like this for a formula.
FORMULA = ("=", "+", "-", "@")
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
PACKAGE = "pyarrow"  # writes Parquet


def coordinate_titles(results: Sequence[Result]) -> dict[str, str]:
    """Every coordinate that a path has → the title of its column; a field's name gets a prefix."""
    own = {key for result in results for key in result.path}
    used = [key for key in COORDINATES if key in own] + sorted(own - set(COORDINATES))
    return {key: f"path_{key}" if key in BEFORE or key in AFTER else key for key in used}


def write_csv(analysis: Analysis, file: TextIO) -> None:
    """Writes one line per result with a heading: RFC 4180, a decimal point in every locale, empty where unknown."""
    titles = coordinate_titles(analysis.results)
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow([*BEFORE, *titles.values(), *AFTER])
    for result in analysis.results:
        before, after = ([getattr(result, name) for name in names] for names in (BEFORE, AFTER))
        writer.writerow(map(cell_text, [*before, *(result.path.get(key, "") for key in titles), *after]))


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
            before: list[str | float] = [line.name, line.path_id, line.set, stage, second.begin, second.end, backup]
            for series in line.series:
                if (value := series.values[at]) is not None:
                    writer.writerow(map(cell_text, [*before, series.quantity, series.of, series.unit, value]))


def cell_text(value: str | float | None) -> str:
    """A value as a cell: a number as it is, empty where unknown; no text that a spreadsheet takes for a formula."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return repr(value)
    cleaned = fmt.clean(value)
    return f"'{cleaned}" if cleaned.startswith(FORMULA) and not NUMBER.fullmatch(cleaned) else cleaned


def check_package(what: str, package: str = PACKAGE) -> None:
    """EnvironmentMissing where a package of the user's choice is not installed; `what` needs it."""
    if importlib.util.find_spec(package) is None:
        raise EnvironmentMissing(
            f"{what} needs the Python package {package}, which is not installed",
            f"{sys.executable} -m pip install {package}",
        )


def columns(analysis: Analysis) -> dict[str, list[Any]]:
    """One row per result as the CSV has it, numbers as numbers; None is "not known", also where one is not finite."""

    def field(name: str) -> list[Any]:
        values = [getattr(result, name) for result in analysis.results]
        return [None if isinstance(value, float) and not math.isfinite(value) else value for value in values]

    named = {name: field(name) for name in BEFORE}
    for key, title in coordinate_titles(analysis.results).items():
        named[title] = [result.path.get(key) for result in analysis.results]
    return named | {name: field(name) for name in AFTER}


def arrow_table(analysis: Analysis) -> Any:
    """`columns` as a pyarrow.Table; in its metadata stands which run it is of. Errors: EnvironmentMissing."""
    check_package("an Arrow table")
    import pyarrow

    hints = typing.get_type_hints(Result)
    types = {int: pyarrow.int64(), float | None: pyarrow.float64()}
    table = pyarrow.table(
        {
            name: pyarrow.array(values, types.get(hints.get(name, str), pyarrow.string()))
            for name, values in columns(analysis).items()
        }
    )
    run = analysis.run
    metadata = {
        "rowpath.schema_version": str(SCHEMA_VERSION),
        "rowpath.version": run.rowpath,
        "rowpath.experiment": run.experiment.name,
        "rowpath.started": run.started,
        "rowpath.seed": str(run.seed),
    }
    return table.replace_schema_metadata(metadata)


def write_parquet(analysis: Analysis, file: BinaryIO) -> None:
    """Writes `arrow_table` as Parquet."""
    from pyarrow import parquet

    # Not into the file itself: a pipe cannot tell its position.
    written = io.BytesIO()
    parquet.write_table(arrow_table(analysis), written)
    file.write(written.getvalue())
