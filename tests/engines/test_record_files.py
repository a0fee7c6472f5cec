"""Berkeley DB, LMDB, COBOL's files, a file for each record: filled through C, copied for each path, synced or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Engine
from rowpath.engines.load_through_runner import run
from rowpath.machine.counters import syncs
from rowpath.model.path import AccessPath
from rowpath.runners.manifest import Command, load_manifest, toolchain
from rowpath.runners.process import Runner
from rowpath.runners.protocol import (
    Open,
    OpenReply,
    ParameterSlice,
    PhaseSpec,
    Prepare,
    PrepareReply,
    Sample,
    SampleReply,
)
from rowpath.workloads.codec import write_rows
from rowpath.workloads.generators import rows
from rowpath.workloads.workload_file import for_engine, load_workload
from tests.engines.life import loaded, place

c: Any = toolchain("c")
ANY_PATH = AccessPath.of({"engine": "any"})
NAMES = ("berkeleydb", "lmdb", "cobol", "file-per-record")
COMMITS = 50
FILES = {
    "berkeleydb": {"hits.db", "mydata2.db"},
    "lmdb": {"data.mdb", "lock.mdb"},
    "cobol": {"hits.indexed", "hits.sequential", "mydata2.indexed"},
    "file-per-record": {"hits", "mydata2"},
}


def here(name: str) -> Engine:
    found = ENGINES[name].availability()
    if not found.ok:
        pytest.skip(found.reason)
    return ENGINES[name]


@pytest.mark.parametrize(
    ("name", "durability"), [(name, each) for name in NAMES for each in ENGINES[name].durabilities]
)
def test_it_loads_and_copies(tmp_path: Path, name: str, durability: str) -> None:
    instance = here(name).instance("embedded", durability, place(tmp_path))
    instance.start()
    assert not instance.check()
    for workload in ("scan", "keyed"):
        instance.load(loaded(load_workload(workload)))
    assert instance.check()
    assert instance.pids() == []
    assert instance.version == instance.facts()["version"] != "none"
    instance.own_copy(ANY_PATH)
    copy, source = Path(instance.options(ANY_PATH)["path"]), tmp_path / "data" / name / "loaded"
    assert {file.name for file in copy.iterdir()} == FILES[name]
    copied = [file for file in copy.rglob("*") if file.is_file()]
    assert all(file.read_bytes() == (source / file.relative_to(copy)).read_bytes() for file in copied)
    assert copy.parent.stat().st_mode & 0o077 == 0
    assert instance.size_bytes() > 6071 * 119
    assert instance.settle(ANY_PATH).ns > 0
    instance.load(loaded(load_workload("keyed")))  # over what is there


@pytest.mark.parametrize(
    ("name", "durability", "least", "most"),
    [
        ("berkeleydb", "full", COMMITS, 2 * COMMITS),
        ("berkeleydb", "none", 0, 0),
        ("lmdb", "full", COMMITS, 2 * COMMITS),
        ("lmdb", "none", 0, 0),
        ("cobol", "none", 0, 0),
        ("file-per-record", "none", 0, 0),
    ],
)
def test_each_insert_is_synced_or_none(tmp_path: Path, name: str, durability: str, least: int, most: int) -> None:
    engine = here(name)
    adapter = next(each for each in load_manifest("c").adapter if engine.name in each.engines)
    table = load_workload("keyed").tables["mydata2"]
    columns = table.columns
    write_rows(tmp_path / "rows", rows(table), table.columns)
    phase = PhaseSpec(
        name="insert",
        kind="execute",
        sql="",
        table="mydata2_new",
        access="insert",
        parameter_columns=columns,
        table_columns=columns,
        key_columns=list(table.primary_key),
    )
    counters = syncs.make_file(tmp_path / "counters")
    plain = c.command(adapter, adapter.versions[0], AccessPath.of({"driver": adapter.driver}))
    runner = Runner.start(Command(plain.arguments, plain.environment | syncs.environment(counters)), (0,))
    try:
        runner.hello(adapter.driver)
        runner.request(Open, 20, options={"path": str(tmp_path), "durability": durability}, expect=OpenReply)
        run(runner, [engine.create("mydata2_new", table)])
        given = ParameterSlice(file=str(tmp_path / "rows"), first=0, count=table.rows)
        runner.request(Prepare, 20, phase=phase, parameters=given, expect=PrepareReply)
        asked = {"regime": "warm", "lead_in_ns": 0, "duration_ns": 0, "first": 0}
        runner.request(Sample, 20, phase="insert", operations=1, **asked, expect=SampleReply)  # opens the file
        before = syncs.read(counters)["total"]
        asked["first"] = 1
        reply = runner.request(Sample, 20, phase="insert", operations=COMMITS, **asked, expect=SampleReply)
        assert (reply.operations, reply.failure) == (COMMITS, None)
        assert least <= syncs.read(counters)["total"] - before <= most
    finally:
        runner.stop()


def test_what_c_has_no_type_for_is_left_out() -> None:
    for name in NAMES[:2]:
        _, left_out = for_engine(load_workload("types"), ENGINES[name].supports)
        assert set(left_out) == {"types.c_interval", "types.c_array"}
        assert all("no type of its own" in reason for reason in left_out.values())
