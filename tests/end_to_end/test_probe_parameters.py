"""`rowpath probe` of queries with parameters, on real engines: each operation its row, and as which type it arrives."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines.base import Place
from rowpath.engines.postgresql import Postgresql
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.machine import cpus
from rowpath.model.path import AccessPath
from rowpath.model.workload import Column, Phase
from rowpath.own_database.access import Access, open_access
from rowpath.own_database.candidates import Wanted, candidates
from rowpath.own_database.parameters import KeyedQuery, keyed
from rowpath.own_database.question import ProbeOptions, rows_by_options
from rowpath.own_database.target import read_target
from rowpath.own_database.throttled_worker import (
    Budget,
    DatabaseRest,
    RowConsistency,
    ThrottledWorker,
    as_columns,
    work_of,
)
from rowpath.planning.plan import PlannedPath
from rowpath.probe.differences import different_types
from rowpath.probe.worker_pool import WorkerPool
from rowpath.runners import manifest
from tests.end_to_end.command import error_form, records, rowpath
from tests.end_to_end.quick_probe import ONE_SET
from tests.engines.insides import psql

ROWS = 20_000
TABLE = f"""
CREATE TABLE t AS SELECT i::bigint AS id, 'row ' || i AS b, lpad(i::text, 8, '0')::char(8) AS code
    FROM generate_series(1, {ROWS}) AS i;
ALTER TABLE t ADD PRIMARY KEY (id); CREATE INDEX t_code ON t (code); ANALYZE t;
CREATE TABLE awkward AS SELECT i AS id, 'NaN'::numeric AS n, '{{{{1,2}},{{3,NULL}}}}'::int[] AS a,
    '12:00+05'::timetz AS z,
    CASE i WHEN 3 THEN date '0044-03-15 BC' ELSE date '2026-03-04' END AS day FROM generate_series(1, 4) AS i;"""


@pytest.fixture(name="url", scope="module")
def url_fixture() -> Iterator[str]:
    directory = Path(tempfile.mkdtemp(prefix="rowpath-"))
    directory.chmod(0o711)
    instance = Postgresql().instance("server", "none", Place(directory / "d", directory / "s", cpus.server_cpus()))
    try:
        instance.start()
        psql(instance, TABLE)
        found: dict[str, Any] = instance.options(AccessPath.of({"engine": "postgresql", "transport": "tcp"}))
        yield f"postgresql://{found['user']}:{found['password']}@127.0.0.1:{found['port']}/{found['database']}"
    finally:
        instance.stop()
        shutil.rmtree(directory, ignore_errors=True)


def test_each_operation_takes_the_next_row_of_a_file(tmp_path: Path) -> None:
    database, run = tmp_path / "own.db", tmp_path / "run"
    connection = sqlite3.connect(database)
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, b TEXT, c REAL)")
    rows = ((number, f"row {number} é", None if number < 150 else number / 3) for number in range(ROWS))
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    connection.commit()
    connection.close()
    keys = [7 * number for number in range(200)]
    (tmp_path / "keys.csv").write_text("id:bigint\n" + "".join(f"{key}\n" for key in keys))
    done = rowpath(
        "probe", f"sqlite://{database}", "--query", "SELECT c, b, id FROM t WHERE id = :id", "--params",
        tmp_path / "keys.csv", "--budget", "6s", "--driver=sqlite,sqlite3,sqlite-jdbc", "-o", run,
        "--export-json", tmp_path / "out.json", program=ONE_SET,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    probe = json.loads((tmp_path / "out.json").read_text())["probe"]
    (group,) = probe["digest_groups"]
    used = group["rows"]
    assert 1 < used <= len(keys)
    assert any(f"{used} " in each and "row of parameters" in each for each in probe["caveats"])
    samples = records(run, "sample")
    assert samples and all(each["touch_ok"] for each in samples)
    assert {each["rows"] // each["operations"] for each in samples} == {1}
    assert {each["language"] for each in probe["snippets"]} == {"c", "python", "java"}
    assert all("WHERE id = " in each["text"] for each in probe["snippets"])


@pytest.mark.parametrize(("keys", "unread"), [((1, 2), False), ((1, 3), True)])
def test_rows_of_awkward_values_are_compared(url: str, tmp_path: Path, keys: tuple[int, ...], unread: bool) -> None:
    (tmp_path / "keys.csv").write_text("id:integer\n" + "".join(f"{key}\n" for key in keys))
    done = rowpath(
        "probe", url, "--query", "SELECT * FROM awkward WHERE id = $1", "--params", tmp_path / "keys.csv",
        "--budget", "12s", "--driver", "libpq,pgx,psycopg,adbc-postgresql", "-o", tmp_path / "run",
        "--export-json", tmp_path / "out.json", program=ONE_SET,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    probe = json.loads((tmp_path / "out.json").read_text())["probe"]
    most, *others = probe["digest_groups"]
    assert (most["rows"], most["difference"]) == (2, "")
    assert any(each["difference"] == "a" and "[1, 2, 3, NULL] (adbc-postgresql)" in each["example"] for each in others)
    assert any("refuses a value of these rows" in each for each in probe["caveats"]) == unread
    failed = {each["path"]["driver"] for each in probe["tried"] if each["status"] == "failed"}
    assert ("psycopg" in failed) == unread


def test_a_parameter_of_another_type_than_the_column_is_found(url: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = rowpath(
        "probe", url, "--query", "SELECT b FROM t WHERE id = $1", "--params-from",
        "SELECT id::numeric(9, 0) AS id FROM t WHERE id % 100 = 0 AND b > 'row'", "--redact-query", "--budget", "8s",
        "--driver", "libpq,asyncpg", "-o", run, "--export-json", tmp_path / "out.json", program=ONE_SET,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    findings = json.loads((tmp_path / "out.json").read_text())["findings"]
    (finding,) = (each for each in findings if each["id"] == "parameter-type")
    assert "c libpq" in finding["text"] and "asyncpg" not in finding["text"]  # asyncpg asks the server for the type
    assert "as numeric, and the column needs bigint" in finding["text"]
    assert "Seq Scan" in finding["evidence"] and "Index Scan using index 1" in finding["evidence"]
    journal = (run / "samples.jsonl").read_text(encoding="utf-8")
    assert "t_pkey" not in journal and "b > 'row'" not in journal and "id = " not in journal
    tried = [each["tried"] for each in records(run, "probe") if each["tried"]]
    assert "plan_cache_mode" in tried[0]["path"]


Ready = tuple[KeyedQuery, PreparedPhase, list[PlannedPath], WorkerPool]


@contextlib.contextmanager
def ready(access: Access, sql: str, parameter: str, driver: str, folder: Path) -> Iterator[Ready]:
    """The query with its parameter, the driver's prepared paths in the order of tries, and processes for them."""
    query = keyed(sql, "postgresql", rows_by_options(ProbeOptions("", params=(parameter,))))
    query.write(folder / "rows")
    found = candidates(
        Wanted("postgresql", "server", Phase("query", "query", sql), drivers=(driver,), keyed=True)
    ).paths
    paths = [each for each in found if each.path.get("statement") == "prepared"]
    manifest.build([(paths[0].adapter, paths[0].path.version)], paths=[paths[0].path])
    columns = access.described(query)
    work = replace(
        work_of(query.placeholders.sql, columns),
        parameter_columns=query.columns,
        parameter_file=folder / "rows",
        parameter_count=1,
    )
    assert access.deliveries(query, as_columns(columns), folder / "rows")[0] == [[("row 7",)]]
    worker_pool = WorkerPool(
        lambda planned: ThrottledWorker(
            planned, access.instance, session=access.session, rest=DatabaseRest(Budget(60.0)),
            row_consistency=RowConsistency(), log=lambda _line: None, timeout_s=60.0,
        )
    )  # fmt: skip
    try:
        yield query, work, paths, worker_pool
    finally:
        worker_pool.stop()


@pytest.mark.parametrize("driver", ["libpq", "psycopg", "pgjdbc"])
def test_the_servers_own_plans_tell(url: str, tmp_path: Path, driver: str) -> None:
    found = {}
    with open_access(read_target(url, {}), ProbeOptions(""), tmp_path) as access:
        for where, parameter in (("id = ?", "bigint:7"), ("id = ?", "numeric:7"), ("code = ?", "text:00000007")):
            sql = f"SELECT b FROM t WHERE {where}"
            with ready(access, sql, parameter, driver, tmp_path) as (query, work, paths, worker_pool):
                differing = list(different_types(access, worker_pool, paths[:1], work, query, tmp_path / "kept"))
            indexes = (set(each.plan_column.indexes) - set(each.plan_sent.indexes) for each in differing)
            found[parameter] = set().union(*indexes)
    assert found == {"bigint:7": set(), "numeric:7": {"t_pkey"}, "text:00000007": set()}


@pytest.mark.parametrize(
    ("mode", "custom", "generic"),
    [("auto", 5, 7), ("force_custom_plan", 12, 0), ("force_generic_plan", 0, 12)],
)
def test_a_path_is_past_five_executions_before_it_is_timed(
    url: str, tmp_path: Path, mode: str, custom: int, generic: int
) -> None:
    sql = "SELECT b FROM t WHERE id = ?"
    with (
        open_access(read_target(url, {}), ProbeOptions(""), tmp_path) as access,
        ready(access, sql, "bigint:7", "libpq", tmp_path) as (_query, work, paths, worker_pool),
    ):
        planned = next(each for each in paths if each.path.get("plan_cache_mode") == mode)
        plans = "custom_plans * 100 + generic_plans AS n"
        counts = f"SELECT {plans} FROM pg_prepared_statements WHERE statement LIKE 'SELECT b %'"
        column = (Column("n", "integer", bits=64),)
        with worker_pool.turned_to(planned, work) as worker:
            asked = replace(work_of(counts, ()), name="counts", columns=column)
            worker.prepare(asked)
            assert int(worker.verify(asked, 0, 1).touch, 16) == custom * 100 + generic


def test_parameters_that_do_not_fit_are_refused_before_anything_is_done(url: str, tmp_path: Path) -> None:
    sql = "SELECT b FROM t WHERE id = $1 AND code = $2"
    done = rowpath("probe", url, "--query", sql, "--param", "bigint:7", "-o", tmp_path / "run")
    assert done.returncode == 2
    message, hint = error_form(done.stderr)
    assert "takes 2 parameters, and 1" in message and "docs/probe.md" in hint
    assert not (tmp_path / "run").exists()
