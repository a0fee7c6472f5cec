"""Columnar paths and the drivers that have them, against the controller's expected rows, on real engines and files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance, Place
from rowpath.model.path import AccessPath
from rowpath.model.workload import Phase, Table, result_columns
from rowpath.runners import protocol as p
from rowpath.runners.process import RunnerFailure
from rowpath.workloads import workload_file
from rowpath.workloads.expected import Expected
from tests.runners.python.engines import postgresql_fixture, sqlite_file_fixture, sqlite_loaded_fixture  # noqa: F401
from tests.runners.python.talk import ADAPTERS, Talk, kept_fixture, living_fixture, start_fixture  # noqa: F401
from tests.runners.python.test_adapters import SOME_WORKLOADS, check_every_phase

READ = ("scan",)
MOST_STORED = 3000  # more than a vector of DuckDB's
SOME_STORED = 300  # where rows go one by one, or a hundred at once


def loaded(engine_name: str, folder: Path, names: tuple[str, ...], storage: str = "") -> Instance:
    engine, place = ENGINES[engine_name], Place(folder, folder, (0,), storage=storage)
    instance = engine.instance(engine.deployments[0], engine.durabilities[0], place)
    instance.start()
    tables: dict[str, Table] = {}
    for name in names:
        workload, _ = workload_file.for_engine(workload_file.load_workload(name), engine.supports)
        tables |= workload.tables
    instance.load(tables)
    return instance


@pytest.fixture(scope="module")
def duckdb(tmp_path_factory: pytest.TempPathFactory) -> Instance:
    return loaded("duckdb", tmp_path_factory.mktemp("duckdb"), ("scan", "keyed", "tab1", "types"))


@pytest.mark.parametrize(
    ("statement", "fetch", "result"),
    [
        ("bound", "row", "whole"),
        ("bound", "block:10240", "chunked:10240"),
        ("text", "columnar", "chunked:10240"),
    ],
)
def test_duckdb(kept: Callable[..., Talk], duckdb: Instance, statement: str, fetch: str, result: str) -> None:
    path = AccessPath.of({"engine": "duckdb", "fetch": fetch, "statement": statement})
    duckdb.own_copy(path)
    talk = kept("duckdb")
    talk.open(**duckdb.options(path), statement=statement, fetch=fetch, result=result, durability="none", threads="2")
    check_every_phase(talk, ENGINES["duckdb"], SOME_WORKLOADS)
    facts = talk.facts()
    assert facts.settings["threads"] == "2"
    assert facts.settings["fsync_mode"] == "NONE"
    assert facts.engine_version == facts.driver_version == duckdb.version


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Instance]:
    return {name: loaded(name, tmp_path_factory.mktemp(name), READ) for name in ("parquet", "arrow")}


# Stamps and settings; the rows of every combination are looked at in test_retrieval and in conformance.
@pytest.mark.parametrize(
    ("engine", "driver", "fetch", "result", "threads"),
    [
        ("parquet", "pyarrow", "columnar", "chunked:65536", "2"),
        ("arrow", "pyarrow", "row", "whole", "1"),
        ("arrow", "polars", "columnar", "whole", "1"),
        ("parquet", "polars", "row", "whole", "2"),
    ],
)
def test_columnar_files(
    start: Callable[..., Talk],
    files: dict[str, Instance],
    engine: str,
    driver: str,
    fetch: str,
    result: str,
    threads: str,
) -> None:
    talk = start(driver)
    options = files[engine].options(AccessPath.of({}))
    talk.open(**options, engine=engine, fetch=fetch, result=result, threads=threads)
    check_every_phase(talk, ENGINES[engine], READ)
    facts = talk.facts()
    assert facts.settings["threads"] == threads
    assert facts.driver_version == ADAPTERS[driver].versions[0]
    keyed = workload_file.load_workload("keyed")
    with pytest.raises(RunnerFailure, match="whole tables") as caught:
        talk.prepare(keyed, keyed.phase("read"))
    assert caught.value.kind == "unsupported"


@pytest.mark.parametrize("compression", ["zstd", "lz4"])
@pytest.mark.parametrize(
    ("engine", "drivers"), [("parquet", "pyarrow polars duckdb-files"), ("arrow", "pyarrow polars")]
)
def test_compressed_files(
    start: Callable[..., Talk], tmp_path: Path, engine: str, drivers: str, compression: str
) -> None:
    written = loaded(engine, tmp_path, READ, compression)
    assert written.facts()["compression"] == compression
    assert written.size_bytes() < 6071 * 45  # of a row that is not compressed
    for driver in drivers.split():
        talk = start(driver)
        talk.open(**written.options(AccessPath.of({})), engine=engine, fetch="columnar", result="whole", threads="1")
        check_every_phase(talk, ENGINES[engine], READ)


@pytest.mark.parametrize(("statement", "fetch"), [("prepared", "row"), ("bound", "columnar")])
def test_adbc_sqlite(kept: Callable[..., Talk], sqlite_file: Path, statement: str, fetch: str) -> None:
    talk = kept("adbc-sqlite")
    talk.open(path=str(sqlite_file), statement=statement, fetch=fetch, durability="full")
    check_every_phase(talk, ENGINES["sqlite"], SOME_WORKLOADS)
    scan = workload_file.load_workload("scan")
    assert talk.verify(talk.prepare(scan, scan.phases[0])).converted == ["REQTS"]
    settings = talk.facts().settings
    assert (settings["synchronous"], settings["journal_mode"]) == ("FULL", "wal")


@pytest.mark.parametrize(("fetch", "transport"), [("row", "unix"), ("columnar", "tcp")])
def test_adbc_postgresql(kept: Callable[..., Talk], postgresql: dict[str, Any], fetch: str, transport: str) -> None:
    talk = kept("adbc-postgresql")
    options = {**postgresql, "statement": "bound", "fetch": fetch, "transport": transport, "tls": "off"}
    with pytest.raises(RunnerFailure) as caught:
        talk.open(**options | {"password": "wrong"})
    assert caught.value.kind == "connect"
    assert postgresql["password"] not in str(caught.value)
    assert Path(f"/proc/{talk.open(**options).server_pid}").exists()
    check_every_phase(talk, ENGINES["postgresql"], SOME_WORKLOADS)
    facts = talk.facts()
    assert facts.driver_version == ADAPTERS["adbc-postgresql"].versions[0]
    assert (facts.settings["tls"], facts.settings["TimeZone"]) == ("off", "UTC")
    scan = workload_file.load_workload("scan")
    with pytest.raises(RunnerFailure) as caught:
        talk.verify(talk.prepare(scan, scan.phases[0], "SELECT * FROM nowhere"))
    assert (caught.value.kind, caught.value.code) == ("sql", "42P01")


def stored(talk: Talk, engine: Any, way: str, size: int, rows: int) -> str:
    """Store rows as the phase `way` of the workload `load` does, so many at once; the digest of the table."""
    workload = workload_file.load_workload("load")
    phase = workload.phase(way)
    assert phase.parameters is not None
    few = msgspec.structs.replace(phase.parameters, count=rows)
    phase = msgspec.structs.replace(phase, parameters=few, rows_per_operation=size)
    for reset in workload_file.reset_for(workload, phase, engine):
        talk.run(reset)
    name = talk.prepare(
        workload, phase, workload_file.sql_for(workload, phase, engine), way=phase.way, rows_per_operation=size
    )
    operations = rows // size
    sample = talk.sample(name, operations=operations, lead_in_ns=0, first=0)
    assert (sample.operations, sample.failed, sample.failure) == (operations, 0, None)
    after = Phase(
        name="after",
        kind="query",
        sql=workload_file.whole_sql(phase.after, workload.tables[phase.after]),
        table=phase.after,
    )
    found = talk.verify(talk.prepare(workload, after)).digest
    assert found == Expected(workload, engine.supports).after_digest(phase, operations)
    return found


@pytest.mark.parametrize("bulk", ["arrow", "appender", "executemany"])
def test_duckdb_stores(kept: Callable[..., Talk], duckdb: Instance, bulk: str) -> None:
    path = AccessPath.of({"engine": "duckdb", "bulk": bulk})
    duckdb.own_copy(path)
    talk = kept("duckdb")
    talk.open(**duckdb.options(path), statement="bound", fetch="columnar", durability="none", bulk=bulk)
    most = SOME_STORED if bulk == "executemany" else MOST_STORED
    assert stored(talk, ENGINES["duckdb"], "bulk", most, most).startswith(f"{most}:")
    assert stored(talk, ENGINES["duckdb"], "batch-100", 100, SOME_STORED).startswith("300:")


def test_adbc_stores(kept: Callable[..., Talk], sqlite_file: Path, postgresql: dict[str, Any]) -> None:
    for driver, engine, options in (
        ("adbc-sqlite", ENGINES["sqlite"], {"path": str(sqlite_file), "durability": "none"}),
        ("adbc-postgresql", ENGINES["postgresql"], postgresql | {"transport": "unix"}),
    ):
        talk = kept(driver)
        talk.open(**options, statement="prepared", fetch="columnar", bulk="arrow")
        assert stored(talk, engine, "bulk", MOST_STORED, MOST_STORED).startswith("3000:")
        assert stored(talk, engine, "batch-100", 100, SOME_STORED).startswith("300:")


@pytest.mark.parametrize("fetch", ["row", "columnar"])
def test_clients_of_duckdb_share_the_work(kept: Callable[..., Talk], duckdb: Instance, fetch: str) -> None:
    path = AccessPath.of({"engine": "duckdb", "clients": "8", "fetch": fetch})
    duckdb.own_copy(path)
    talk = kept("duckdb")
    talk.open(**duckdb.options(path), statement="bound", fetch=fetch, clients="8", concurrency="threads")
    keyed = workload_file.load_workload("keyed")
    phase = keyed.phase("read")
    sample = talk.sample(talk.prepare(keyed, phase), operations=200, lead_in_ns=0, first=0)
    assert (sample.operations, sample.failed, len(sample.clients)) == (200, 0, 8)
    expected = Expected(keyed, ENGINES["duckdb"].supports)
    assert int(sample.touch, 16) in (expected.touches(phase).expected(0, 200) or ())


def test_a_column_is_read_and_not_only_counted(kept: Callable[..., Talk], duckdb: Instance) -> None:
    """The same number of rows with other values is another touch sum, in every column."""
    path = AccessPath.of({"engine": "duckdb", "fetch": "columnar"})
    duckdb.own_copy(path)
    talk = kept("duckdb")
    talk.open(**duckdb.options(path), statement="bound", fetch="columnar", durability="none")
    scan = workload_file.load_workload("scan")
    phase = scan.phases[0]
    names = [column.name for column in result_columns(scan, phase)]
    name = talk.prepare(scan, phase)
    whole = int(talk.sample(name, operations=1, lead_in_ns=0).touch, 16)
    longer = {"REQTYPE": "REQTYPE || '12345'", "REQTS": "REQTS + INTERVAL 1 SECOND", "REQUSER": "REQUSER + 5"}
    for column in names:
        other = longer.get(column, f"{column} || 'x'" if column in ("REQFILE", "BROWSER") else f"{column} + 1")
        changed = ", ".join(f"{other} AS {each}" if each == column else each for each in names)
        name = talk.prepare(scan, phase, f"SELECT {changed} FROM hits")
        assert int(talk.sample(name, operations=1, lead_in_ns=0).touch, 16) != whole, column


def stopped(talk: Talk, behaviour: str, sql: str) -> p.InterruptReply:
    """How a long query ended that was to be stopped after a second: at work by then on a busy machine too."""
    return talk.runner.request(
        p.Interrupt, 60, kind=behaviour, sql=sql, after_ms=1_000, most_ms=40_000, expect=p.InterruptReply
    )


def test_long_queries_are_stopped_or_said_not_to_be(
    kept: Callable[..., Talk], sqlite_file: Path, postgresql: dict[str, Any], tmp_path: Path
) -> None:
    talk = kept("duckdb")
    talk.open(path=str(tmp_path / "own.duckdb"), statement="bound")
    reply = stopped(talk, "cancel", ENGINES["duckdb"].slow_query)
    assert (reply.honoured, reply.usable) == (True, True), reply.text
    with pytest.raises(RunnerFailure, match="no statement timeout"):
        stopped(talk, "timeout", ENGINES["duckdb"].slow_query)
    talk = kept("adbc-postgresql")
    talk.open(**postgresql, statement="bound", transport="unix")
    for behaviour in ("cancel", "timeout"):
        reply = stopped(talk, behaviour, ENGINES["postgresql"].slow_query)
        assert (reply.honoured, reply.usable) == (True, True), reply.text
    talk = kept("adbc-sqlite")
    talk.open(path=str(sqlite_file), statement="bound")
    with pytest.raises(RunnerFailure, match="no way to stop"):
        stopped(talk, "cancel", ENGINES["sqlite"].slow_query)
