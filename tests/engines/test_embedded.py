"""SQLite, files and no engine at all."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.null import PingServer
from rowpath.model.path import AccessPath
from rowpath.workloads.generators import delimited_value, rows
from rowpath.workloads.workload_file import for_engine, load_workload
from tests.engines.life import kill_the_controller, loaded, place
from tests.waiting import gone

ANY_PATH = AccessPath.of({"engine": "any"})


@pytest.mark.parametrize("durability", ["full", "none"])
def test_sqlite_loads_copies_and_is_sound(tmp_path: Path, durability: str) -> None:
    engine = ENGINES["sqlite"]
    instance = engine.instance("embedded", durability, place(tmp_path))
    instance.start()
    for name in ("scan", "tab1", "types"):
        workload, _ = for_engine(load_workload(name), engine.supports)
        instance.load(loaded(workload))
    assert instance.check()
    assert instance.pids() == []
    assert instance.facts()["journal_mode"] == ("wal" if durability == "full" else "delete")
    instance.own_copy(ANY_PATH)
    copy = Path(instance.options(ANY_PATH)["path"])
    assert copy.read_bytes() == (tmp_path / "data" / "sqlite" / "loaded.sqlite").read_bytes()
    assert copy.parent.stat().st_mode & 0o077 == 0
    assert [file.name for file in copy.parent.iterdir()] == [copy.name], "no log beside the copy"
    connection = sqlite3.connect(copy)
    table, _ = for_engine(load_workload("types"), engine.supports)
    expected = [_kept(row) for row in rows(table.tables["types"])]
    assert connection.execute("SELECT * FROM types ORDER BY id").fetchall() == expected
    connection.execute("INSERT INTO tab1 (c2, c3, c4, c5, c6) VALUES ('a', 'b', 'c', 'd', 1)")
    assert connection.execute("SELECT max(c1) FROM tab1").fetchone() == (10001,)
    connection.commit()
    connection.close()
    instance.own_copy(ANY_PATH)
    with sqlite3.connect(copy) as again:
        assert again.execute("SELECT max(c1) FROM tab1").fetchone() == (10000,), "a fresh copy begins anew"
    again.close()


def _kept(row: tuple[object, ...]) -> tuple[object, ...]:
    same = int | float | str | bytes | None
    return tuple(value if isinstance(value, same) else delimited_value(value) for value in row)


def test_files(tmp_path: Path) -> None:
    instance = ENGINES["file"].instance("file", "none", place(tmp_path))
    instance.start()
    instance.load(loaded(load_workload("scan")))
    options = instance.options(ANY_PATH)
    lines = (Path(options["path"]) / "hits.tbl").read_text().splitlines()
    assert len(lines) == 6071
    assert all(line.count(options["delimiter"]) == 6 for line in lines)
    assert instance.size_bytes() > 6071 * 50


def test_nothing_is_an_engine_too(tmp_path: Path) -> None:
    instance = ENGINES["null"].instance("none", "none", place(tmp_path))
    instance.start()
    assert instance.check()
    assert instance.options(ANY_PATH) == {}
    instance.stop()


@pytest.mark.skipif(shutil.which(os.environ.get("CC", "cc").split()[0]) is None, reason="no C compiler")
def test_ping_server(tmp_path: Path) -> None:
    instance = ENGINES["null"].instance("server", "none", place(tmp_path))
    assert isinstance(instance, PingServer)
    instance.start()
    pids = instance.pids()
    assert instance.check()
    assert Path(instance.options(ANY_PATH)["socket"]).is_socket()
    os.kill(pids[0], signal.SIGKILL)
    assert gone(pids)
    assert not instance.check()
    instance.start()
    assert instance.check()
    pids = instance.pids()
    instance.stop()
    assert gone(pids)
    assert gone(kill_the_controller("null", tmp_path))


def test_every_engine_spells_every_table(tmp_path: Path) -> None:
    for name in ("sqlite", "derby", "postgresql"):
        engine = ENGINES[name]
        workload, _ = for_engine(load_workload("types"), engine.supports)
        for table, definition in workload.tables.items():
            text = engine.create(table, definition)
            assert text.startswith(f"CREATE TABLE {table} (")
            assert all(f"{column.name} " in text for column in definition.columns)
    with pytest.raises(KeyError):
        ENGINES["informix"]
