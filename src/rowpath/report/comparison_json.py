"""The JSON export of a comparison."""

from __future__ import annotations

from typing import Any, TextIO

import msgspec

from rowpath.analysis.comparison.model import ComparedRow, ComparedRun, Confirmed, Gate
from rowpath.analysis.model import Finding
from rowpath.model.base import Frozen
from rowpath.report.comparison import Outcome, verdict

SCHEMA_VERSION = 2


class ComparisonExport(Frozen, frozen=True):
    """Two sides of runs. Ratios are head ÷ base; times are in ns, sizes in bytes, as each row's `unit` names them."""

    schema_version: int
    base: tuple[ComparedRun, ...]
    head: tuple[ComparedRun, ...]
    paired: bool
    despite: tuple[str, ...]
    verdict: str
    failed: bool
    rows: tuple[ComparedRow, ...]
    findings: tuple[Finding, ...]
    gates: tuple[Gate, ...]
    confirmed: tuple[Confirmed, ...]
    only_base: tuple[str, ...]
    only_head: tuple[str, ...]


def write_json(outcome: Outcome, file: TextIO) -> None:
    """Writes the export as schemas/comparison.schema.json describes it."""
    comparison = outcome.comparison
    export = ComparisonExport(
        schema_version=SCHEMA_VERSION,
        base=comparison.base,
        head=comparison.head,
        paired=comparison.paired,
        despite=comparison.despite,
        verdict=verdict(outcome),
        failed=outcome.failed,
        rows=comparison.rows,
        findings=comparison.findings,
        gates=outcome.gates,
        confirmed=outcome.confirmed,
        only_base=comparison.only_base,
        only_head=comparison.only_head,
    )
    file.write(msgspec.json.format(msgspec.json.encode(export), indent=1).decode())
    file.write("\n")


def schema() -> dict[str, Any]:
    """The JSON Schema of the export: every field is always there, none but those described."""
    made = msgspec.json.schema(ComparisonExport)
    for definition in made["$defs"].values():
        if definition.get("type") == "object":
            definition["required"] = list(definition["properties"])
            for field in definition["properties"].values():
                field.pop("default", None)
    made["$defs"]["ComparisonExport"]["properties"]["schema_version"]["const"] = SCHEMA_VERSION
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Rowpath comparison"} | made
