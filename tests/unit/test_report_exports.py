"""The exports: JSON by its schema, CSV by the standard's reader, files that can't be written."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import msgspec
import pytest

from rowpath.analysis.model import Analysis
from rowpath.errors import UsageError
from rowpath.report.exports import open_export, write_csv, write_json, write_markdown
from rowpath.report.json import Export, schema
from tests.golden.analysis_fixture import analysis

SCHEMA = Path(__file__).parents[2] / "schemas" / "results.schema.json"
FIELDS = {
    *("workload", "phase", "regime", "metric", "unit", "path", "median", "mean", "low", "high", "min"),
    *("best_of_five", "sets", "blocks", "status", "reason", "digest"),
}


def _json() -> dict[str, object]:
    file = io.StringIO()
    write_json(analysis(), file)
    return dict(json.loads(file.getvalue()))


def test_the_export_holds_the_whole_analysis() -> None:
    assert set(Analysis.__struct_fields__) <= set(Export.__struct_fields__)


def test_the_schema_is_current() -> None:
    assert json.loads(SCHEMA.read_text()) == json.loads(msgspec.json.encode(schema()))


def test_the_export_follows_the_schema_and_a_broken_one_does_not() -> None:
    kept = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(kept)
    export = _json()
    jsonschema.validate(export, kept)
    for broken in (
        export | {"schema_version": 99},
        export | {"more": 1},
        {k: v for k, v in export.items() if k != "results"},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, kept)


def test_every_record_has_every_field_of_the_long_form() -> None:
    results = _json()["results"]
    assert isinstance(results, list)
    assert results
    for record in results:
        assert set(record) >= FIELDS
        assert {"engine", "deployment", "language", "driver", "version", "placement"} <= set(record["path"])
    assert {record["status"] for record in results} >= {"ok", "tied", "wrong"}


def test_a_figure_that_is_not_finite_becomes_null() -> None:
    odd = msgspec.structs.replace(analysis().results[0], low=float("nan"), high=float("inf"))
    file = io.StringIO()
    write_json(msgspec.structs.replace(analysis(), results=(odd,)), file)
    record = json.loads(file.getvalue())["results"][0]
    assert (record["low"], record["high"]) == (None, None)


def test_csv_has_one_line_per_result_and_a_column_per_coordinate() -> None:
    file = io.StringIO(newline="")
    write_csv(analysis(), file)
    rows = list(csv.DictReader(io.StringIO(file.getvalue(), newline="")))
    assert len(rows) == len(analysis().results)
    assert rows[0]["engine"] == "null"
    assert float(rows[0]["median"]) == 41.0
    assert rows[0]["best_of_five"] == ""


def test_csv_holds_no_formula_and_leaves_numbers_alone() -> None:
    first = analysis().results[0]
    odd = msgspec.structs.replace(first, reason="=1+1", path=first.path | {"prepare_threshold": "-1", "unit": "x"})
    file = io.StringIO(newline="")
    write_csv(msgspec.structs.replace(analysis(), results=(odd,)), file)
    row = next(csv.DictReader(io.StringIO(file.getvalue(), newline="")))
    assert (row["reason"], row["prepare_threshold"], row["path_unit"]) == ("'=1+1", "-1", "x")


def test_markdown_escapes_what_drivers_say() -> None:
    file = io.StringIO()
    write_markdown(analysis(), file)
    text = file.getvalue()
    assert "<script>" not in text
    assert "\\<script\\>" in text
    assert "\x1b" not in text


def test_open_export_fails_at_once_with_the_path(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        open_export(str(tmp_path / "no" / "such.json"))
    assert "no/such.json" in caught.value.message
    assert caught.value.hint
    with pytest.raises(UsageError):
        open_export(str(tmp_path))


def test_open_export_makes_the_file_and_writes_utf_8(tmp_path: Path) -> None:
    with open_export(str(tmp_path / "ünïcode name.md")) as file:
        assert (tmp_path / "ünïcode name.md").exists()
        write_markdown(analysis(), file)
    assert "µs" in (tmp_path / "ünïcode name.md").read_bytes().decode("utf-8")
    assert open_export("-") is sys.stdout
