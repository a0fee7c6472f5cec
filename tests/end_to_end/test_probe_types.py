"""`rowpath probe` of tables of any type: no column is refused, and the report says which ones were not compared."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Place
from rowpath.machine import cpus
from rowpath.model.path import AccessPath
from rowpath.runners import manifest
from tests.end_to_end.command import records, rowpath
from tests.end_to_end.quick_probe import ONE_SET
from tests.engines.insides import psql
from tests.engines.life import reaching

ROWS = 1000
DRIVERS = ("libpq", "psqlodbc", "pgjdbc", "psycopg", "asyncpg", "adbc-postgresql", "connectorx", "ado-psqlodbc")
MAKE_TABLE = f"""
CREATE TYPE mood AS ENUM ('sad', 'glad', 'é');
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TABLE wide AS
SELECT g::bigint AS id, g AS small, timestamptz '2000-01-01 00:00+00' + g * interval '1 s' AS moment,
    (g * 1.25)::numeric(12,2) AS amount, CASE WHEN g % 7 > 0 THEN 'row ' || g || ' é😀' END AS label,
    CASE WHEN g % 5 > 0 THEN ARRAY['a' || g, NULL, 'b"c'] END AS tags, jsonb_build_object('k', g) AS doc,
    (ARRAY['sad', 'glad', 'é'])[1 + g % 3]::mood AS mood, ('10.0.' || g % 256 || '.1')::inet AS address,
    int4range(g, g + 5) AS span, point(g, g / 2.0) AS place, make_interval(months => g % 13, secs => g % 99) AS took,
    decode(md5(g::text), 'hex') AS bytes, g::positive AS rank, g % 2 = 0 AS flag, date '2000-01-01' + g AS day,
    (g / 3.0)::real AS ratio, md5(g::text)::uuid AS token
FROM generate_series(1, {ROWS}) AS g;
"""
SENTENCE = "3 of 18 columns not compared, except for NULL: address (inet), span (int4range), place (point)."


@pytest.fixture(name="server", scope="module")
def server_fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A private PostgreSQL with the table `wide`."""
    folder = tmp_path_factory.mktemp("types")
    for parent in reaching(folder):
        parent.chmod(parent.stat().st_mode | 0o055)
    (folder / "s").mkdir(mode=0o777)
    (folder / "s").chmod(0o777)
    instance: Any = ENGINES["postgresql"].instance(
        "server", "none", Place(folder / "d", folder / "s", cpus.server_cpus())
    )
    instance.start()
    try:
        psql(instance, MAKE_TABLE)
        yield instance
    finally:
        instance.stop()


def test_no_column_of_a_servers_table_is_refused(server: Any, tmp_path: Path) -> None:
    run, login = tmp_path / "run", server.options(AccessPath.of({"transport": "tcp"}))
    url = f"postgresql://{login['user']}@127.0.0.1:{login['port']}/{login['database']}"
    done = rowpath(
        "probe", url, "--query", "SELECT * FROM wide", "--budget", "20s", "--driver", ",".join(DRIVERS), "-o", run,
        "--tables", "--export-json", tmp_path / "out.json", added={"PGPASSWORD": login["password"]},
        program=ONE_SET,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert SENTENCE in done.stderr
    assert SENTENCE in done.stdout
    assert SENTENCE in (run / "report.html").read_text(encoding="utf-8")

    probe = json.loads((tmp_path / "out.json").read_text())["probe"]
    assert probe["not_compared"] == SENTENCE
    assert [group["rows"] for group in probe["digest_groups"]] == [ROWS]
    here = {each.language for each in manifest.every_adapter() if each.driver in DRIVERS and runs_here(each)}
    assert {each["language"] for each in probe["languages"]} == here
    assert {"c", "java", "python"} <= here
    failed = [each for each in probe["tried"] if each["status"] != "ok"]
    assert not [
        each for each in failed if each["path"]["driver"] != "connectorx" and "are not bound" not in each["left"]
    ]
    assert all(each["touch_ok"] for each in records(run, "sample"))


def runs_here(adapter: manifest.Adapter) -> bool:
    return manifest.availability(adapter, adapter.versions[0]).ok


def test_a_column_of_several_types_is_not_refused(tmp_path: Path) -> None:
    file = tmp_path / "own.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
        connection.executemany("INSERT INTO t (a) VALUES (?)", [("x",), (1,), (None,), (1.5,), (b"\0",), ("",)] * 100)
    connection.close()
    done = rowpath(
        "probe", f"sqlite://{file}", "--table", "t", "--redact-query", "--budget", "5s", "--driver",
        "sqlite,sqlite3,sqlite-jdbc", "-o", tmp_path / "run", "--export-json", tmp_path / "out.json",
        program=ONE_SET,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    probe = json.loads((tmp_path / "out.json").read_text())["probe"]
    assert not probe["not_compared"]
    assert [(group["rows"], group["difference"]) for group in probe["digest_groups"]] == [(600, "")]
    assert {each["language"] for each in probe["languages"]} == {"c", "java", "python"}
