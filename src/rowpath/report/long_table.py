"""The results as a table: a row per result, a column per coordinate between the fields; of CSV and Parquet."""

from __future__ import annotations

from rowpath.analysis.model import Analysis, Result
from rowpath.model.path import COORDINATES

BEFORE = ("workload", "phase", "regime", "metric", "unit", "name")
AFTER = tuple(name for name in Result.__struct_fields__ if name not in (*BEFORE, "path"))


def coordinate_titles(analysis: Analysis) -> dict[str, str]:
    """Every coordinate that a path has → the title of its column; a field's name gets a prefix."""
    known = list(COORDINATES)
    extra = sorted({key for each in analysis.results for key in each.path} - set(known))
    used = [key for key in known if any(key in each.path for each in analysis.results)] + extra
    return {key: f"path_{key}" if key in BEFORE or key in AFTER else key for key in used}
