"""What tables take of disk and time is said before it starts, and refused without room."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path

import msgspec
import pytest

from rowpath.cli.main import main
from rowpath.cli.plan import plan_for
from rowpath.machine import disk_space
from rowpath.model.path import AccessPath
from rowpath.planning import disk_estimate
from rowpath.planning.plan import Plan
from rowpath.workloads.workload_file import load_workload

EXPERIMENT = """
schema_version = 1
name = "bulk"
title = "Bulk"
phases = ["{phase}"]
{scale}
[measure]
sets = 1
max_sets = 1
[[paths]]
select = {{ language = "python", driver = "sqlite3" }}
"""
Usage = namedtuple("Usage", "total used free")


def experiment(folder: Path, phase: str = "tpch.orders", scale: str = "scale = 10") -> str:
    file = folder / "bulk.toml"
    file.write_text(EXPERIMENT.format(phase=phase, scale=scale))
    return str(file)


def plan(name: str) -> Plan:
    return plan_for(name, {}, seed=1)


def test_it_grows_with_rows_engines_and_copies(tmp_path: Path) -> None:
    ten, one = (plan(experiment(tmp_path, scale=f"scale = {scale}")) for scale in (10, 1))
    large, small = disk_estimate.estimate(ten), disk_estimate.estimate(one)
    assert (small.rows, small.engines) == (1_650_000, 1)
    assert small.text_bytes == pytest.approx(194_648_305, rel=0.01)  # what tpchgen-cli makes
    assert large.text_bytes == pytest.approx(10 * small.text_bytes)
    # What is loaded and the copy that each path of an embedded engine works on.
    assert small.disk_bytes == pytest.approx((1 + len(one.paths)) * 1.05 * small.text_bytes)
    assert large.seconds > 5 * small.seconds
    assert "16,500,000 rows" in large.text()
    assert "into 1 engine:" in large.text()


def test_small_tables_are_not_worth_a_word(tmp_path: Path) -> None:
    assert disk_estimate.estimate(plan(experiment(tmp_path, "keyed.read", ""))).text() == ""


def test_text_bytes_of_other_tables_are_a_sample(tmp_path: Path) -> None:
    from rowpath.workloads.generators import write_delimited

    table = load_workload("retrieve").tables["hits_large"]
    write_delimited(tmp_path / "t", msgspec.structs.replace(table, rows=5000))
    assert disk_estimate.text_bytes(table) / table.rows == pytest.approx(
        (tmp_path / "t").stat().st_size / 5000, rel=0.1
    )


def test_a_run_without_room_is_refused_before_it_makes_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(disk_space.shutil, "disk_usage", lambda _folder: Usage(8e9, 7e9, 1e9))
    status = main(["run", experiment(tmp_path), "-o", str(tmp_path / "run")])
    said = capsys.readouterr().err
    assert status == 3
    assert "loading 16,500,000 rows into 1 engine needs about" in said
    assert "which has 1.0 GB free" in said
    assert "--scale" in said
    assert not (tmp_path / "run").exists()
    assert not (tmp_path / "cache").exists()


def test_a_plan_says_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", experiment(tmp_path), "--plan"]) == 0
    assert "tables: 16,500,000 rows, " in capsys.readouterr().out


def test_a_server_of_others_takes_no_disk_of_ours(tmp_path: Path) -> None:
    found = plan(experiment(tmp_path))
    theirs = [AccessPath.of(planned.path.as_dict() | {"engine_version": "by-url"}) for planned in found.paths]
    import dataclasses

    paths = tuple(dataclasses.replace(planned, path=path) for planned, path in zip(found.paths, theirs, strict=True))
    assert disk_estimate.estimate(dataclasses.replace(found, paths=paths)).disk_bytes == 0
