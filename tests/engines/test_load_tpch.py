"""Every engine's loader brings TPC-H's rows in, to the last blank."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rowpath.cli.main import main
from rowpath.engines import load_through_runner

DRIVERS = {
    "postgresql": "libpq",
    "mariadb": "libmariadb",
    "sqlite": "sqlite",
    "derby": "derby",
    "h2": "h2",
    "hsqldb": "hsqldb",
    "duckdb": "duckdb",
    "parquet": "pyarrow",
    "arrow": "pyarrow",
    "file": "file",
}
LANGUAGES = {
    "derby": "java",
    "h2": "java",
    "hsqldb": "java",
    "duckdb": "python",
    "parquet": "python",
    "arrow": "python",
}
JAVA, SERVERS = ("derby", "h2", "hsqldb"), ("postgresql", "mariadb")
EXPERIMENT = """
schema_version = 1
name = "loaders"
title = "One path of every engine"
phases = [
  "tpch.customer", "tpch.orders", "tpch.customer-aggregate", "tpch.orders-aggregate", "tpch.orders-bounds",
  "lineitem.scan"
]
scale = 0.001
"""
SELECTION = """
[[paths]]
select = {{ engine = "{engine}", language = "{language}", driver = "{driver}"{more} }}
"""


def test_every_loader(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_through_runner, "SLICE_ROWS", 400)  # HSQLDB takes its rows in slices, the last one smaller
    file = tmp_path / "loaders.toml"
    text = EXPERIMENT
    for engine, driver in DRIVERS.items():
        more = ', placement = "same"' if engine in SERVERS else ', deployment = "embedded"' if engine in JAVA else ""
        text += SELECTION.format(engine=engine, language=LANGUAGES.get(engine, "c"), driver=driver, more=more)
    file.write_text(text)
    assert main(["verify", str(file), "--quiet", "-o", str(tmp_path / "run")]) == 0, capsys.readouterr()
    records = [json.loads(line) for line in (tmp_path / "run" / "samples.jsonl").read_text().splitlines()]
    engine_of = {each["path_id"]: each["coordinates"]["engine"] for each in records if each["record"] == "path"}
    right: dict[str, dict[str, str]] = {engine: {} for engine in DRIVERS}
    for each in records:
        if each["record"] == "verify":
            assert each["ok"], each
            right[engine_of[each["path_id"]]][each["phase"]] = each["digest"]
    assert set(engine_of.values()) == set(DRIVERS)
    for found in right.values():
        assert found["customer"].startswith("150:")
        assert found["orders"].startswith("1500:")
        assert found["scan"].startswith("6000:")
    for engine in ("sqlite", "duckdb", *JAVA, *SERVERS):
        assert set(right[engine]) == {
            "customer",
            "orders",
            "customer-aggregate",
            "orders-aggregate",
            "orders-bounds",
            "scan",
        }
