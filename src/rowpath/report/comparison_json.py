"""The JSON export of a comparison."""

from __future__ import annotations

from typing import Any, TextIO

from rowpath.analysis.comparison.model import Comparison, Confirmed, Gate
from rowpath.report.comparison import ComparisonOutcome, verdict
from rowpath.report.json_export import export_of, schema_of, write_export

SCHEMA_VERSION = 2


class ComparisonExport(Comparison, frozen=True):
    """Two sides of runs. Ratios are head ÷ base; times are in ns, sizes in bytes, as each row's `unit` names them."""

    schema_version: int
    verdict: str
    failed: bool
    gates: tuple[Gate, ...]
    confirmed: tuple[Confirmed, ...]


def write_json(outcome: ComparisonOutcome, file: TextIO) -> None:
    """Writes the export as schemas/comparison.schema.json describes it."""
    own = {"verdict": verdict(outcome), "failed": outcome.failed, "gates": outcome.gates}
    own |= {"schema_version": SCHEMA_VERSION, "confirmed": outcome.confirmed}
    write_export(export_of(ComparisonExport, outcome.comparison, own), file)


def schema() -> dict[str, Any]:
    """The JSON Schema of the export: every field is always there, none but those described."""
    return schema_of(ComparisonExport, "Rowpath comparison", SCHEMA_VERSION)
