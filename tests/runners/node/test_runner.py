"""What the Node runner does besides the protocol: client threads, wide integers, collector, packages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.errors import EnvironmentMissing
from rowpath.model.path import AccessPath
from rowpath.model.workload import Column
from rowpath.runners import manifest
from rowpath.workloads import codec
from tests.runners.protocol.talk import K, LineTalk, Start, V, adapter, on_sqlite, sqlite_file, talks
from tests.waiting import until

SQLITE = adapter("node", "better-sqlite3")
pytestmark = pytest.mark.skipif(not manifest.availability(SQLITE, SQLITE.versions[0]).ok, reason="no Node")


@pytest.fixture
def start() -> Iterator[Start]:
    yield from talks("node")


def opened(start: Start, folder: Path, **changed: str) -> LineTalk:
    return start("better-sqlite3", on_sqlite(sqlite_file(folder), **changed))


def test_clients_are_threads_that_go_on_from_their_own_positions(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "p"
    codec.write_rows(file, [(key,) for key in range(1, 11)], [Column("k", "integer")])
    talk = opened(start, tmp_path, clients="4", concurrency="threads")
    phase = {"name": "x", "kind": "query", "sql": "SELECT k, v FROM t WHERE k = ?"}
    talk.ask(
        "prepare",
        phase=phase | {"columns": [K, V], "parameter_columns": [K]},
        parameters={"file": str(file), "first": 0, "count": 10},
    )
    sampled = talk.sample("x", operations=10, first=0)
    assert [client["operations"] for client in sampled["clients"]] == [2, 3, 2, 3]
    assert sampled["touch"] == f"{2 * sum(range(1, 11)):016x}"
    assert len(list(Path(f"/proc/{talk.process.pid}/task").iterdir())) > 4
    timed = talk.sample("x", lead_in_ns=1_000_000, duration_ns=5_000_000)
    assert timed["ns"] >= 5_000_000
    assert all(client["operations"] and client["lead_in_operations"] for client in timed["clients"])


THIRD_FAILS = """
import { mkdirSync, readdirSync, rmdirSync } from "node:fs";
import { Adapter } from "../core/adapter.js";

export default class extends Adapter {
  static concurrency = "threads";

  connect() {
    const { folder } = this.options;
    const number = readdirSync(folder).length + 1;
    if (number > 2) throw new Error("no third connection");
    this.place = `${folder}/${number}`;
    mkdirSync(this.place);
  }

  close() {
    rmdirSync(this.place);
  }
}
"""


def test_threads_that_cannot_all_connect_keep_no_connection(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (source := tmp_path / "third_fails.js").write_text(THIRD_FAILS)
    (folder := tmp_path / "connections").mkdir()
    third_fails = msgspec.structs.replace(adapter("node", "null"), driver="third-fails", source=str(source))
    monkeypatch.setattr(manifest, "_external", [third_fails])
    talk = LineTalk(third_fails)
    try:
        talk.hello()
        threads = Path(f"/proc/{talk.process.pid}/task")
        before = len(list(threads.iterdir()))
        refused = talk.ask("open", options={"folder": str(folder), "clients": "3"})["error"]
        assert "no third connection" in refused["text"]
        assert list(folder.iterdir()) == []
        until(lambda: len(list(threads.iterdir())) == before, "end of the clients' threads")
        assert "error" not in talk.ask("open", options={"folder": str(folder), "clients": "2"})
        assert sorted(each.name for each in folder.iterdir()) == ["1", "2"]
        talk.ask("close")
        assert list(folder.iterdir()) == []
    finally:
        talk.end()


def test_wide_integers_keep_every_bit(start: Start, tmp_path: Path) -> None:
    talk = opened(start, tmp_path)
    sql = "SELECT 9223372036854775807, 1, '123456789012345678.9' UNION ALL SELECT -9007199254740993, NULL, '-0.5'"
    wide, decimal = {"name": "w", "type": "integer", "bits": 64}, {"name": "d", "type": "decimal"}
    columns = [wide, {**K, "nullable": True}, decimal]
    talk.ask("prepare", phase={"name": "x", "kind": "query", "sql": sql, "columns": columns}, parameters=None)
    touch = (2**63 - 1 + 1 + 123456789012345678 - 9007199254740993 + 1) % 2**64
    assert talk.sample("x", operations=1)["touch"] == f"{touch:016x}"
    assert talk.ask("verify", phase="x", first=0, count=1)["touch"] == f"{touch:016x}"


def test_more_and_fewer_columns_than_declared(start: Start, tmp_path: Path) -> None:
    talk = opened(start, tmp_path)
    digests = set()
    for columns in ([K], [K, V], [K, V, {**V, "name": "w"}]):
        phase = {"name": "x", "kind": "query", "sql": "SELECT k, v FROM t", "columns": columns}
        talk.ask("prepare", phase=phase, parameters=None)
        reply = talk.ask("verify", phase="x", first=0, count=1)
        digests.add(reply["digest"])
        assert reply["rows"] == 10
        assert reply["touch"] == talk.sample("x", operations=1)["touch"]
        assert [column.get("foreign", 0) for column in reply["columns"]] == [0, 0, 10][: len(columns)]
    assert len(digests) == 2  # what was not declared is in the digest all the same
    assert reply["columns"][2]["reason"] == '"undefined" (undefined) is no text'


def test_collections_are_timed(start: Start, tmp_path: Path) -> None:
    talk = opened(start, tmp_path)
    talk.ask(
        "prepare", phase={"name": "x", "kind": "query", "sql": "SELECT k, v FROM t", "columns": [K, V]}, parameters=None
    )
    for _ in range(30):
        sampled = talk.sample("x", duration_ns=300_000_000)
        if sampled["collections"]:
            break
    assert sampled["collections"] > 0
    assert 0 < sampled["collector_ns"] < sampled["window_ns"]


def test_a_failed_transaction_is_undone(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "p"
    codec.write_rows(file, [(11,), (3,), (12,)], [Column("k", "integer")])
    talk = opened(start, tmp_path)
    phase = {"name": "x", "kind": "execute", "sql": "INSERT INTO t (k) VALUES (?)", "transaction": "transaction"}
    talk.ask(
        "prepare", phase=phase | {"parameter_columns": [K]}, parameters={"file": str(file), "first": 0, "count": 3}
    )
    sampled = talk.sample("x", operations=3, first=0)
    assert (sampled["operations"], sampled["failed"]) == (2, 1)
    assert (sampled["failure"]["kind"], sampled["failure"]["code"]) == ("sql", "SQLITE_CONSTRAINT_PRIMARYKEY")
    again = talk.sample("x", duration_ns=20_000_000_000)
    assert (again["operations"], again["failed"]) == (0, 100)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found, version = adapter("node", "pg"), adapter("node", "pg").versions[0]
    module: Any = manifest.toolchain("node")
    monkeypatch.setattr(module, "node_version", lambda: "18.19.0")
    old = manifest.availability(found, version)
    assert (old.ok, old.reason) == (False, "Node 18.19.0 is older than 20")
    assert "apt-get install nodejs npm" in old.remedy
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    assert manifest.availability(found, version).reason == "Node is missing (node not found)"
    with pytest.raises(EnvironmentMissing, match="Node is missing"):
        manifest.build([(found, version)])


def test_a_driver_that_does_not_compile_is_refused_and_others_are_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module: Any = manifest.toolchain("node")
    manifest.build([(adapter("node", "pg"), adapter("node", "pg").versions[0])])
    driver = msgspec.structs.replace(SQLITE, build=SQLITE.build | {"package": "better-sqlite3"})
    monkeypatch.setattr(module, "_compiled", lambda adapter, version: tmp_path / f"compiled-{adapter.driver}")
    (tmp_path / "compiled-better-sqlite3.failed").write_text("better-sqlite3 does not compile: no")
    refused = manifest.availability(driver, driver.versions[0])
    assert (refused.ok, refused.reason) == (False, "better-sqlite3 does not compile: no")
    with pytest.raises(EnvironmentMissing, match="does not compile"):
        manifest.command(driver, driver.versions[0], AccessPath.of({}))
    assert manifest.availability(adapter("node", "pg"), adapter("node", "pg").versions[0]).ok
