"""The exports: JSON by its schema, CSV and Parquet by their usual readers, trackers' forms, files that fail."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import msgspec
import pytest
from pyarrow import parquet

from rowpath.analysis.chapters import CHAPTERS
from rowpath.analysis.model import Analysis, RankedPath, Ranking, Result
from rowpath.cli import options
from rowpath.errors import EnvironmentMissing, UsageError
from rowpath.model.metrics import METRICS
from rowpath.report import exports, tracked
from rowpath.report.exports import open_export
from rowpath.report.json import SCHEMA_VERSION, export_form, schema, write_json
from rowpath.report.long_table import write_csv, write_parquet
from rowpath.report.markdown import write_markdown
from rowpath.report.tracked import write_bencher, write_github_benchmark
from tests.golden.analysis_fixture import analysis

SCHEMA = Path(__file__).parents[3] / "schemas" / "results.schema.json"
FIELDS = {
    *("workload", "phase", "regime", "metric", "unit", "path", "median", "mean", "low", "high", "min"),
    *("best_of_five", "sets", "blocks", "status", "reason", "digest"),
}


def _json() -> dict[str, object]:
    file = io.StringIO()
    write_json(analysis(), file)
    return dict(json.loads(file.getvalue()))


def test_the_export_holds_the_whole_analysis() -> None:
    fields = set(Analysis.__struct_fields__) - {"chapters"}
    fields |= {chapter.key for chapter in CHAPTERS.values() if chapter.figures}
    assert fields <= set(export_form().__struct_fields__)
    export = _json()
    for name in Analysis.__struct_fields__:
        if name not in ("dropped", "chapters"):  # paths by their coordinates; fields of their own
            assert export[name] == json.loads(msgspec.json.encode(getattr(analysis(), name))), name
    dropped = export["dropped"]
    assert isinstance(dropped, list)
    assert [each["reason"] for each in dropped] == [each.reason for each in analysis().dropped] != []


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


def test_every_field_of_a_result_is_a_column() -> None:
    file = io.StringIO(newline="")
    write_csv(analysis(), file)
    titles = next(csv.reader(io.StringIO(file.getvalue(), newline="")))
    assert {"engine", "driver"} | set(Result.__struct_fields__) - {"path"} <= set(titles)
    assert _parquet(analysis()).column_names == titles


def _parquet(of: Analysis) -> Any:
    file = io.BytesIO()
    write_parquet(of, file)
    return parquet.read_table(io.BytesIO(file.getvalue()))


def test_parquet_has_numbers_as_numbers_and_says_which_run_it_is_of() -> None:
    table = _parquet(analysis())
    first = analysis().results[0]
    row = table.slice(0, 1).to_pylist()[0]
    assert table.num_rows == len(analysis().results)
    assert [str(table.schema.field(name).type) for name in ("median", "sets", "unit")] == ["double", "int64", "string"]
    assert (row["median"], row["sets"], row["unit"]) == (first.median, first.sets, first.unit)
    assert (row["engine"], row["best_of_five"]) == (first.path["engine"], None)
    found = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
    assert found["rowpath.schema_version"] == str(SCHEMA_VERSION)
    assert found["rowpath.started"] == analysis().run.started
    assert found["rowpath.experiment"] == analysis().run.experiment.name


def test_parquet_does_not_know_a_figure_that_is_not_finite_nor_a_coordinate_that_a_path_lacks() -> None:
    first, second = analysis().results[:2]
    odd = msgspec.structs.replace(first, high=float("nan"), path=first.path | {"poll": "1"})
    rows = _parquet(msgspec.structs.replace(analysis(), results=(odd, second))).to_pylist()
    assert [row["high"] for row in rows] == [None, second.high]
    assert [row["poll"] for row in rows] == ["1", None]


def test_without_its_package_the_parquet_export_is_refused_before_any_file_is_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text("before")
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(EnvironmentMissing) as caught:
        exports.open_exports({"json": str(kept), "parquet": str(tmp_path / "r.parquet")})
    assert "pyarrow" in caught.value.message
    assert caught.value.hint == f"{sys.executable} -m pip install pyarrow"
    assert kept.read_text() == "before"
    assert not (tmp_path / "r.parquet").exists()


def test_parquet_goes_to_stdout_as_bytes(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    exports.write_exports(analysis(), exports.open_exports({"parquet": "-"}))
    written = capsysbinary.readouterr().out
    assert parquet.read_table(io.BytesIO(written)).num_rows == len(analysis().results)
    print("stdout is still open")


def _bencher(of: Analysis) -> dict[str, dict[str, dict[str, float]]]:
    file = io.StringIO()
    write_bencher(of, file)
    return dict(json.loads(file.getvalue()))


def _github(of: Analysis) -> list[dict[str, Any]]:
    file = io.StringIO()
    write_github_benchmark(of, file)
    return list(json.loads(file.getvalue()))


def _figure(name: str, metric: str, regime: str = "steady") -> Result:
    (found,) = (
        each
        for each in analysis().results
        if (each.name, each.metric, each.regime, each.workload) == (name, metric, regime, "keyed")
        and each.phase == "read"
    )
    return found


def test_bencher_gets_its_own_measures_with_the_interval() -> None:
    time, rate = (_figure("sqlite c", metric) for metric in ("time", "rate"))
    found = _bencher(analysis())[f"{analysis().run.experiment.name}: keyed.read · steady · sqlite c"]
    assert found["latency"] == {"value": time.median, "lower_value": time.low, "upper_value": time.high}
    assert found["throughput"]["value"] == rate.median
    assert "client-cpu" in found
    assert (
        METRICS["time"].unit == "ns/operation" and METRICS["rate"].unit == "operations/s"
    )  # what Bencher takes them for


def test_github_benchmark_gets_figures_of_which_less_is_better() -> None:
    time = _figure("sqlite c", "time")
    entries = _github(analysis())
    by_name = {entry["name"]: entry for entry in entries}
    assert len(by_name) == len(entries)
    entry = by_name[f"{analysis().run.experiment.name}: keyed.read · steady · sqlite c · time"]
    assert (entry["value"], entry["unit"], entry["range"]) == (time.median, "ns/operation", "5659–5773")
    assert "engine=sqlite" in entry["extra"] and "over 6 sets" in entry["extra"]
    for entry in entries:
        assert set(entry) <= {"name", "unit", "value", "range", "extra"}
        assert isinstance(entry["value"], float)
        assert not any(
            entry["name"].endswith(f"· {metric.title}") for metric in METRICS.values() if metric.more_is_better
        )


def _with(result: Result, rankings: tuple[Ranking, ...] = ()) -> Analysis:
    return msgspec.structs.replace(analysis(), results=(result,), rankings=rankings)


def test_what_does_not_count_is_not_exported_and_named() -> None:
    good = _figure("sqlite c", "time")
    assert len(_bencher(_with(good))) == len(_github(_with(good))) == 1
    assert tracked.left_out(_with(good)) == []
    busy = msgspec.structs.replace(good, status="disturbed", reason="the machine was too busy\x1b[2J")
    unknown = msgspec.structs.replace(good, median=float("nan"))
    without = msgspec.structs.replace(good, median=None, status="wrong", reason="digest")
    for bad, why in ((busy, "disturbed: the machine was too busy"), (unknown, "not known"), (without, "wrong: digest")):
        assert _bencher(_with(bad)) == {}
        assert _github(_with(bad)) == []
        head, line = tracked.left_out(_with(bad))
        assert head.endswith("not ranked: 1 figure")
        assert line == f"  keyed.read · steady · sqlite c: {why}"


def test_a_path_that_is_not_ranked_is_not_exported_although_it_was_measured() -> None:
    good = _figure("sqlite c", "time")
    memory = _figure("sqlite c", "lines_of_code", "none")
    memory = msgspec.structs.replace(memory, metric="client_peak_memory", unit="bytes")
    row = RankedPath("sqlite c", "id", rank=0, cost_ns=1.0, reason="faster than its floor, which is impossible")
    steady = Ranking("keyed", "read", "steady", "", (row,))
    cold = Ranking("keyed", "read", "cold", "", (msgspec.structs.replace(row, rank=1),))
    both = msgspec.structs.replace(analysis(), results=(good, memory), rankings=(steady,))
    assert _bencher(both) == {}
    assert tracked.left_out(both)[0].endswith(": 2 figures")
    (left,) = _bencher(msgspec.structs.replace(both, rankings=(steady, cold)))
    assert left.endswith(": keyed.read · sqlite c")  # ranked cold, so its memory counts


def test_many_places_that_are_left_out_are_counted() -> None:
    good = _figure("sqlite c", "time")
    bad = tuple(msgspec.structs.replace(good, name=f"p{number}", status="failed") for number in range(25))
    lines = tracked.left_out(msgspec.structs.replace(analysis(), results=bad))
    assert len(lines) == 1 + tracked.MOST_LINES + 1
    assert lines[0].endswith(": 25 figures") and lines[-1] == "  … and 5 more places"


def test_every_form_has_an_option_and_a_writer() -> None:
    assert list(exports.WRITERS) == list(options.EXPORTS)
    assert set(exports.TRACKED) < set(exports.WRITERS) > set(exports.BINARY)


def test_what_is_left_out_is_said_on_stderr_only_for_forms_that_leave_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = _with(msgspec.structs.replace(_figure("sqlite c", "time"), status="failed"))
    for form, expected in (("csv", 0), ("bencher", 2), ("github_benchmark", 2)):
        files = exports.open_exports({form: str(tmp_path / form)})
        exports.write_exports(bad, files)
        assert len(capsys.readouterr().err.splitlines()) == expected
        assert files[form].closed


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
