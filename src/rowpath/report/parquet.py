"""The Parquet export: the same long form as the CSV, numbers as numbers, and in its metadata which run it is of."""

from __future__ import annotations

import importlib.util
import io
import math
import sys
import typing
from typing import Any, BinaryIO

from rowpath.analysis.model import Analysis, Result
from rowpath.errors import EnvironmentMissing
from rowpath.report.json import SCHEMA_VERSION
from rowpath.report.long_table import AFTER, BEFORE, coordinate_titles

PACKAGE = "pyarrow"


def check_available() -> None:
    """EnvironmentMissing where the package that writes Parquet is not installed."""
    if importlib.util.find_spec(PACKAGE) is None:
        raise EnvironmentMissing(
            f"the Parquet export needs the Python package {PACKAGE}, which is not installed",
            f"{sys.executable} -m pip install {PACKAGE}",
        )


def write_parquet(analysis: Analysis, file: BinaryIO) -> None:
    """Writes one row per result; null is "not known", also where a figure is not finite."""
    import pyarrow
    from pyarrow import parquet

    hints = typing.get_type_hints(Result)
    types = {int: pyarrow.int64(), float | None: pyarrow.float64()}

    def field(name: str) -> Any:
        kind = types.get(hints[name], pyarrow.string())
        return pyarrow.array([_value(getattr(each, name)) for each in analysis.results], kind)

    columns = {name: field(name) for name in BEFORE}
    for key, title in coordinate_titles(analysis).items():
        columns[title] = pyarrow.array([each.path.get(key) for each in analysis.results], pyarrow.string())
    columns |= {name: field(name) for name in AFTER}
    # Not into the file itself: a pipe cannot tell its position.
    written = io.BytesIO()
    parquet.write_table(pyarrow.table(columns).replace_schema_metadata(_metadata(analysis)), written)
    file.write(written.getvalue())


def _value(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _metadata(analysis: Analysis) -> dict[str, str]:
    run = analysis.run
    return {
        "rowpath.schema_version": str(SCHEMA_VERSION),
        "rowpath.version": run.rowpath,
        "rowpath.experiment": run.experiment.name,
        "rowpath.started": run.started,
        "rowpath.seed": str(run.seed),
    }
