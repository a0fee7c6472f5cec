"""Readers of files (whole, in segments, aggregates), COPY, blocks and connectorx, against the expected rows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance
from rowpath.model.path import AccessPath
from rowpath.model.workload import Column, Phase, Workload
from rowpath.runners import protocol as p
from rowpath.runners.process import RunnerFailure
from rowpath.workloads import codec
from rowpath.workloads import workload_file as workloads
from rowpath.workloads.expected import Expected
from rowpath.workloads.partitions import segments
from tests.runners.python.engines import postgresql_fixture, sqlite_file_fixture, sqlite_loaded_fixture  # noqa: F401
from tests.runners.python.talk import Talk, kept_fixture, living_fixture, start_fixture  # noqa: F401
from tests.runners.python.test_columnar import loaded

SCAN = workloads.load_workload("scan")
READ = SCAN.phases[0]
AGGREGATE = workloads.load_workload("aggregate")
RECORDS = SCAN.tables["hits"].rows
BOUNDS = (Column("begin", "integer", bits=64), Column("end", "integer", bits=64))

READERS = [
    ("file", "file", "row", "whole"),
    ("pyarrow", "file", "columnar", "whole"),
    ("pyarrow", "file", "row", "chunked:65536"),
    ("pyarrow", "parquet", "columnar", "whole"),
    ("pyarrow", "parquet", "row", "chunked:500"),
    ("pyarrow", "arrow", "columnar", "chunked:500"),
    ("pyarrow", "arrow", "row", "whole"),
    ("polars", "file", "columnar", "whole"),
    ("polars", "file", "row", "whole"),
    ("polars", "parquet", "columnar", "whole"),
    ("polars", "arrow", "row", "whole"),
    ("duckdb-files", "parquet", "columnar", "whole"),
    ("duckdb-files", "parquet", "block:7", "chunked:7"),
    ("duckdb-files", "file", "columnar", "chunked:500"),
    ("duckdb-files", "file", "row", "whole"),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Instance]:
    names = ("scan", "types")
    return {name: loaded(name, tmp_path_factory.mktemp(name), names) for name in ("file", "parquet", "arrow")}


def opened(
    start: Callable[..., Talk],
    files: dict[str, Instance],
    driver: str,
    engine: str,
    fetch: str,
    result: str,
    **more: str,
) -> Talk:
    talk = start(driver)
    talk.open(**files[engine].options(AccessPath.of({})), engine=engine, fetch=fetch, result=result, **more)
    return talk


def prepare_parts(talk: Talk, workload: Workload, ranges: list[tuple[int, int]]) -> str:
    """The workload's scan as segments, one for each range."""
    file = talk.folder / "parts.rows"
    codec.write_rows(file, ranges, BOUNDS)
    columns = msgspec.to_builtins(workload.tables["hits"].columns)
    spec = {"name": "scan.parts", "kind": "query", "table": "hits", "access": "segment", "columns": columns}
    spec |= {"table_columns": columns, "parameter_columns": msgspec.to_builtins(BOUNDS)}
    talk.runner.request(
        p.Prepare,
        20,
        phase=msgspec.convert(spec, p.PhaseSpec),
        parameters=p.ParameterSlice(file=str(file), first=0, count=len(ranges)),
        expect=p.PrepareReply,
    )
    return "scan.parts"


@pytest.mark.parametrize(("driver", "engine", "fetch", "result"), READERS)
def test_a_table_whole_and_as_one_row(
    kept: Callable[..., Talk], files: dict[str, Instance], driver: str, engine: str, fetch: str, result: str
) -> None:
    talk = opened(kept, files, driver, engine, fetch, result)
    for workload in (SCAN, AGGREGATE):
        readable = tuple(phase for phase in workload.phases if phase.scan or phase.access == "aggregate")
        check_phases(talk, ENGINES[engine], workload, msgspec.structs.replace(workload, phases=readable))


@pytest.mark.parametrize("driver", ["pyarrow", "polars", "duckdb-files"])
def test_no_reader_guesses_at_escapes(kept: Callable[..., Talk], files: dict[str, Instance], driver: str) -> None:
    talk = opened(kept, files, driver, "file", "columnar", "whole")
    types = workloads.load_workload("types")
    plain = msgspec.structs.replace(
        types,
        tables={"types": msgspec.structs.replace(types.tables["types"], columns=types.tables["types"].columns[:13])},
    )
    with pytest.raises(RunnerFailure, match="backslash escapes") as caught:
        talk.prepare(plain, plain.phases[0])
    assert caught.value.kind == "unsupported"


def records_or_bytes(files: dict[str, Instance], engine: str) -> int:
    if engine != "file":
        return RECORDS
    folder = Path(files["file"].options(AccessPath.of({}))["path"])
    return (folder / "hits.tbl").stat().st_size


@pytest.mark.parametrize(
    ("driver", "engine", "fetch", "result"), [each for each in READERS if each[:2] != ("duckdb-files", "file")]
)
def test_the_segments_of_a_file_are_the_whole(
    kept: Callable[..., Talk], files: dict[str, Instance], driver: str, engine: str, fetch: str, result: str
) -> None:
    talk = opened(kept, files, driver, engine, fetch, result)
    size, expected = records_or_bytes(files, engine), Expected(SCAN)
    for n in (1, 3, 8):
        name = prepare_parts(talk, SCAN, segments(size, n))
        sample = talk.sample(name, operations=n, first=0, lead_in_ns=0)
        assert (sample.operations, sample.failure, sample.rows) == (n, None, RECORDS)
        assert int(sample.touch, 16) in (expected.touches(READ).expected(0, 1) or ())
        assert talk.verify(name, 0, n).digest == expected.verify_digest(READ, 0, 1, 100_000)
    # A record belongs to the segment in which its first byte lies, wherever the cut is.
    cuts = [0, 1, 1, 2, 5000, size - 1, size]
    name = prepare_parts(talk, SCAN, list(pairwise(cuts)))
    assert talk.verify(name, 0, len(cuts) - 1).digest == expected.verify_digest(READ, 0, 1, 100_000)


def test_duckdb_says_that_it_has_no_bytes(kept: Callable[..., Talk], files: dict[str, Instance]) -> None:
    talk = opened(kept, files, "duckdb-files", "file", "row", "whole")
    with pytest.raises(RunnerFailure, match="by its bytes") as caught:
        prepare_parts(talk, SCAN, [(0, 10)])
    assert caught.value.kind == "unsupported"


@pytest.mark.parametrize("concurrency", ["threads", "processes"])
@pytest.mark.parametrize(("driver", "engine"), [("file", "file"), ("pyarrow", "parquet"), ("polars", "file")])
def test_clients_read_a_segment_each(
    start: Callable[..., Talk], files: dict[str, Instance], driver: str, engine: str, concurrency: str
) -> None:
    talk = opened(start, files, driver, engine, "row", "whole", clients="3", concurrency=concurrency)
    name = prepare_parts(talk, SCAN, segments(records_or_bytes(files, engine), 3))
    sample = talk.sample(name, operations=3, first=0, lead_in_ns=0)
    assert (sample.operations, sample.failure, sample.rows) == (3, None, RECORDS)
    assert [client.operations for client in sample.clients] == [1, 1, 1]
    assert int(sample.touch, 16) in (Expected(SCAN).touches(READ).expected(0, 1) or ())


@pytest.mark.parametrize(
    "coordinates",
    [
        "psycopg text copy whole text unix",
        "psycopg text copy whole binary tcp",
        "psycopg bound block:1 whole text unix",
        "psycopg bound row cursor:7 text unix",
        "psycopg2 text block:7 whole text unix",
        "sqlite3 bound block:7 whole none none",
        "connectorx text columnar whole binary unix",
        "connectorx text row whole binary tcp",
    ],
)
def test_forms(kept: Callable[..., Talk], postgresql: dict[str, Any], sqlite_file: Path, coordinates: str) -> None:
    driver, *values = coordinates.split()
    options = dict(zip(("statement", "fetch", "result", "format", "transport"), values, strict=True))
    engine = "sqlite" if driver == "sqlite3" else "postgresql"
    talk = kept(driver)
    talk.open(**postgresql, path=str(sqlite_file), **options, engine=engine, durability="none")
    names = ("scan", "aggregate", "keyed") if driver == "connectorx" else ("scan", "aggregate", "keyed", "types")
    for name in names:
        reads = workloads.load_workload(name)
        only = msgspec.structs.replace(reads, phases=tuple(each for each in reads.phases if each.kind == "query"))
        check_phases(talk, ENGINES[engine], reads, only)
    assert talk.facts().driver_version


def check_phases(talk: Talk, engine: Any, whole: Workload, only: Workload) -> None:
    """Digest and touch of these phases."""
    workload, _ = workloads.for_engine(only, engine.supports)
    expected = Expected(whole, engine.supports)
    for phase in workload.phases:
        name = talk.prepare(workload, phase, workloads.sql_for(workload, phase, engine))
        count = 2 if phase.scan else 5
        assert talk.verify(name, 2, count).digest == expected.verify_digest(phase, 2, count, 100_000), name
        sample = talk.sample(name, operations=count, first=0, lead_in_ns=0)
        assert (sample.operations, sample.failure) == (count, None)
        assert int(sample.touch, 16) in (expected.touches(phase).expected(0, count) or ())


def test_connectorx_delivers_what_it_changes_and_tells_its_failures(
    kept: Callable[..., Talk], postgresql: dict[str, Any]
) -> None:
    talk = kept("connectorx")
    options = {**postgresql, "engine": "postgresql", "fetch": "columnar", "transport": "tcp", "tls": "off"}
    talk.open(**options)
    types = workloads.load_workload("types")
    only = msgspec.structs.replace(
        types.phases[0], columns=tuple(c for c in types.tables["types"].columns if c.name == "c_json")
    )
    assert talk.verify(talk.prepare(types, only, "SELECT c_json FROM types")).rows == 6
    with pytest.raises(RunnerFailure, match="nowhere") as caught:
        talk.verify(talk.prepare(SCAN, READ, "SELECT * FROM nowhere"))
    assert caught.value.kind == "sql"
    with pytest.raises(RunnerFailure, match="not implemented") as caught:  # a panic of its own is no crash of ours
        talk.verify(talk.prepare(SCAN, READ, "SELECT INTERVAL '1 day'"))
    assert caught.value.kind == "sql"
    with pytest.raises(RunnerFailure, match="without columns") as caught:
        talk.prepare(types, msgspec.structs.replace(only, columns=()), "SELECT FROM types", columns=())
    assert caught.value.kind == "unsupported"


def test_connectorx_parts_a_table_by_its_key(start: Callable[..., Talk], postgresql: dict[str, Any]) -> None:
    talk = start("connectorx")
    talk.open(**postgresql, engine="postgresql", fetch="columnar", transport="unix", threads="2")
    tab1 = workloads.load_workload("tab1")
    table, read = tab1.tables["tab1"], tab1.phase("select")
    names = ", ".join(column.name for column in table.columns)
    whole = Phase(name="whole", kind="query", sql=f"SELECT {names} FROM tab1", table="tab1", scan=True)
    sample = talk.sample(talk.prepare(tab1, whole), operations=1, first=0, lead_in_ns=0)
    assert (sample.failure, sample.rows) == (None, table.rows)
    assert talk.facts().settings["rayon_threads"] == "2"
    with pytest.raises(RunnerFailure, match="threads=1"):
        talk.prepare(tab1, read)
