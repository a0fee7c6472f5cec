"""The experiments of the width by their names, in short forms: clients, load, wide, columnar, tls."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from rowpath.cli.options import parse_filters
from rowpath.cli.plan import plan_for
from tests.end_to_end.command import ROOT, called, error_form, records, rowpath

Samples = list[dict[str, Any]]

pytestmark = pytest.mark.apart


def ran(tmp_path: Path, experiment: str, *arguments: str, rounds: int = 1) -> tuple[Path, str]:
    """A run of one set of few rounds that must go well: its directory and what it printed."""
    text = (ROOT / "experiments" / f"{experiment}.toml").read_text(encoding="utf-8")
    text = re.sub(r"^rounds = .*\n", "", text, flags=re.MULTILINE)
    file = tmp_path / f"{experiment}.toml"
    file.write_text(text.replace("[measure]\n", f"[measure]\nrounds = {rounds}\n", 1), encoding="utf-8")
    directory = tmp_path / "run"
    done = rowpath("run", file, *arguments, "-r", "1", "-w", "0.05", "-o", directory, "--gate", "--tables")
    assert done.returncode == 0, done.stdout + done.stderr
    return directory, done.stdout


def names(directory: Path) -> dict[str, str]:
    return {record["path_id"]: record["name"] for record in records(directory, "path")}


def test_clients_share_every_row_among_them(tmp_path: Path) -> None:
    directory, shown = ran(tmp_path, "clients", "language=c,python", "clients=1,8", "engine=postgresql")
    assert "Clients at once" in shown
    known = names(directory)
    assert {name for name in known.values() if name.endswith("8 clients")} == {
        "PostgreSQL C 8 clients",
        "PostgreSQL Python threads 8 clients",
        "PostgreSQL Python tasks 8 clients",
    }
    several = [sample for sample in records(directory, "sample") if sample["clients"]]
    for sample in several:
        assert len(sample["clients"]) == 8
        assert sum(client["operations"] for client in sample["clients"]) == sample["operations"]
    reads = [sample for sample in several if sample["phase"] == "read" and sample["regime"] == "steady"]
    assert {known[sample["path_id"]] for sample in reads} == {name for name in known.values() if "8" in name}
    assert all(sample["touch_ok"] for sample in reads)
    assert all(min(client["operations"] for client in sample["clients"]) > 0 for sample in reads)
    written = [record for record in records(directory, "verify") if record["phase"] == "insert" and record["set"] == 0]
    assert {known[record["path_id"]] for record in written} == set(known.values())
    assert all(record["ok"] for record in written)


def test_every_way_of_loading_leaves_the_same_rows(tmp_path: Path) -> None:
    directory, shown = ran(tmp_path, "load", "engine=sqlite,postgresql", "driver=sqlite,libpq,psycopg")
    assert "Loading (load): rows a second by way" in shown
    known = names(directory)
    loaded = [record for record in records(directory, "verify") if record["set"] == 0]
    assert all(record["ok"] for record in loaded)
    for phase, least in (("single", 3), ("batch-100", 3), ("bulk", 6)):
        assert len({record["path_id"] for record in loaded if record["phase"] == phase}) >= least, phase
    assert {name for name in known.values() if "copy" in name} >= {"PostgreSQL C copy", "PostgreSQL psycopg copy"}
    settled = {record["phase"] for record in records(directory, "settle")}
    assert settled == {"single", "batch-100", "bulk"}, "deferred cost"


def test_the_cost_model_of_a_wide_table(tmp_path: Path) -> None:
    export = tmp_path / "results.json"
    _directory, shown = ran(tmp_path, "wide", "engine=postgresql", "language=c", "--export-json", str(export), rounds=4)
    assert "Cost of an operation, a row, a value and a byte" in shown
    models = json.loads(export.read_text())["cost_models"]
    assert {model["name"] for model in models} == {"PostgreSQL C text", "PostgreSQL C binary"}
    for model in models:
        # One set beside other tests: which of the three a cost goes to is chance.
        assert sum(model[of]["ns"] for of in ("row", "value", "byte")) > 0
        assert [held["phase"] for held in model["held_out"]] == ["rows-300-mixed", "rows-30-mixed"]
        assert all(held["ratio"] > 0 for held in model["held_out"])
    page = (tmp_path / "run" / "report.html").read_text()
    assert "Cost of an operation, a row, a value and a byte" in page


def test_columns_stand_apart_from_rows_unless_asked(tmp_path: Path) -> None:
    directory, shown = ran(tmp_path, "columnar", "engine=duckdb", "driver=duckdb")
    assert "fetch=columnar" in shown
    assert "fetch=row" in shown
    scans = [sample for sample in records(directory, "sample") if sample["phase"] == "scan"]
    assert scans
    assert all(sample["touch_ok"] for sample in scans)
    together = called("show", directory, "--together", "fetch", "--tables")
    assert together.returncode == 0, together.stderr
    assert "The work differs" in together.stdout
    assert "fetch=columnar" not in together.stdout


def test_tls_is_negotiated_where_asked_for_and_nowhere_else(tmp_path: Path) -> None:
    directory, shown = ran(tmp_path, "tls", "driver=libpq,psycopg")
    asked = {record["path_id"]: record["coordinates"]["tls"] for record in records(directory, "path")}
    told = {record["path_id"]: record["facts"]["settings"]["tls"] for record in records(directory, "facts")}
    assert set(asked.values()) == {"off", "on"}
    for path_id, tls in asked.items():
        assert told[path_id].split()[0] == tls, path_id
    assert "connect · first" in shown


@pytest.mark.parametrize("experiment", ["clients", "columnar", "load", "tls", "wide"])
def test_the_plan_says_how_long_and_what_not(experiment: str) -> None:
    done = called("run", experiment, "--plan")
    assert done.returncode == 0, done.stderr
    assert "min, not counting builds" in done.stdout
    assert (ROOT / "experiments" / f"{experiment}.toml").is_file()


def test_a_coordinate_that_cannot_be_ranked_together(tmp_path: Path) -> None:
    done = called("run", "clients", "--together", "durability", cwd=tmp_path)
    assert done.returncode == 2
    assert "durability" in error_form(done.stderr)[0]


@pytest.mark.parametrize(
    ("words", "expected"),
    [(("go-postgres",), 13), (("node-postgres",), 8), (("languages", "engine=sqlite"), 7), (("rust-postgres",), 7)],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_language_has_every_path(words: tuple[str, ...], expected: int) -> None:
    plan = plan_for(words[0], parse_filters(list(words[1:])), extended=False, seed=1)
    assert len(plan.paths) == expected, plan.dropped
