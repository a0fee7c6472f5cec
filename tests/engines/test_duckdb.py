"""DuckDB: made and loaded by its Python driver, copied for each path, syncing its log as it says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.load_through_runner import run
from rowpath.machine.counters import syncs
from rowpath.model.path import AccessPath
from rowpath.runners.manifest import Command, load_manifest, toolchain
from rowpath.runners.process import Runner
from rowpath.runners.protocol import Open, OpenReply
from rowpath.workloads.workload_file import load_workload
from tests.engines.life import loaded, place

language: Any = toolchain("python")
ANY_PATH = AccessPath.of({"engine": "any"})


def test_duckdb_loads_and_copies(tmp_path: Path) -> None:
    engine = ENGINES["duckdb"]
    instance = engine.instance("embedded", "full", place(tmp_path))
    instance.start()
    assert not instance.check()
    for name in ("scan", "tab1", "types"):
        instance.load(loaded(load_workload(name)))
    assert instance.check()
    assert instance.pids() == []
    instance.own_copy(ANY_PATH)
    copy = Path(instance.options(ANY_PATH)["path"])
    assert copy.read_bytes() == (tmp_path / "data" / "duckdb" / "loaded.duckdb").read_bytes()
    assert copy.parent.stat().st_mode & 0o077 == 0
    assert instance.size_bytes() == copy.stat().st_size > 100_000
    assert instance.settle(ANY_PATH).ns > 0


@pytest.mark.parametrize(("storage", "oldest", "newest"), [("latest", 69, 1 << 32), ("v1.5.0", 64, 68)])
def test_the_file_has_the_format_that_its_storage_says(tmp_path: Path, storage: str, oldest: int, newest: int) -> None:
    instance = ENGINES["duckdb"].instance("embedded", "full", replace(place(tmp_path), storage=storage))
    instance.start()
    instance.load(loaded(load_workload("scan")))
    head = (tmp_path / "data" / "duckdb" / "loaded.duckdb").read_bytes()[:20]
    assert head[8:12] == b"DUCK"
    assert oldest <= int.from_bytes(head[12:], "little") <= newest


@pytest.mark.parametrize("durability", ["full", "none"])
def test_each_commit_is_synced_or_none(tmp_path: Path, durability: str) -> None:
    engine = ENGINES["duckdb"]
    adapter = next(each for each in load_manifest("python").adapter if each.driver == "duckdb")
    language.build([(adapter, engine.version())])
    plain = language.command(adapter, engine.version(), ANY_PATH)
    counters = syncs.make_file(tmp_path / "counters")
    runner = Runner.start(Command(plain.arguments, plain.environment | syncs.environment(counters)), (0,))
    try:
        runner.hello("duckdb")
        options = {"path": str(tmp_path / "own.duckdb"), "durability": durability, "statement": "bound"}
        runner.request(Open, 20, options=options, expect=OpenReply)
        run(runner, ["CREATE TABLE commits (i INTEGER)"])
        before = syncs.read(counters)["total"]
        run(runner, [f"INSERT INTO commits VALUES ({i})" for i in range(50)])
        synced = syncs.read(counters)["total"] - before
    finally:
        runner.stop()
    assert synced == (50 if durability == "full" else 0)
