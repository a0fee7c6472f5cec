"""Layers of Java over a query, or a table, of the user's own: the rows of the bare driver, and programs that run."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from rowpath.engines.base import Instance
from rowpath.execution.verification_pass import StatementsSent
from rowpath.machine import jvm, maven, postgresql_programs
from rowpath.model.path import AccessPath
from rowpath.model.probe import TriedPath
from rowpath.model.workload import Column, LogicalType
from rowpath.own_database.mapped_table import MappedTable, attributes_of, reserved
from rowpath.own_database.target import read_target
from rowpath.probe.layer_programs import program
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import ParameterSlice, PhaseSpec, VerifyReply
from rowpath.tape.proxy import RecordingProxy
from rowpath.workloads import codec
from tests.engines.difficult_table import ROWS, TABLE
from tests.engines.insides import psql
from tests.runners.java.talk import ADAPTERS, Talk, java, loaded, path_of

PGJDBC = ADAPTERS["pgjdbc"]
LAYERS = {layer.name: layer for layer in PGJDBC.layers if layer.own_query}
MAPPED = [name for name, layer in LAYERS.items() if not layer.unmapped]
WHOLE = 'SELECT * FROM "Own"'
SIGNS = """SELECT id, 'a :b {0} 50% #{c} ${d} ? \\ "e" ''f''' AS "odd %s.x[0]", at::text AS at FROM "Own" WHERE id > """
FINE = """
    SELECT time '10:00:00.123456' AS clock, timetz '10:00:00.123456+02' AS zoned, date '1500-01-01' AS day,
    timestamp '1500-01-01 01:02:03.000001' AS local, timestamptz '2024-01-01 10:00:00.123456+02' AS at,
    ARRAY[date '2024-01-01'] AS days, ARRAY[1.5, NULL] AS prices, ARRAY[ARRAY[1, 2]] AS nested, B'101' AS bits,
    point(1, 2) AS place, 'c'::char(3) AS padded"""
LOST = {"jooq": {"clock"}, "hibernate": {"clock", "zoned"}}  # read as java.sql.Time
NO_TYPE: dict[str, tuple[LogicalType, tuple[str, ...]]] = {
    "'NaN'::numeric": ("decimal", ("mybatis", "jooq", "hibernate")),
    "'infinity'::timestamptz": ("timestamptz", ("jooq",)),
}
# A layer's tests follow each other, so that they share its process.
each_layer = pytest.mark.parametrize("name", LAYERS, scope="module")
pytestmark = pytest.mark.skipif(
    bool(jvm.compiler_problem()) or not postgresql_programs.availability().ok, reason="no JDK or no PostgreSQL"
)


def path(layer: str = "none", technique: str = "none") -> AccessPath:
    above = {"layer": layer, "technique": technique} if layer != "none" else {}
    return path_of("pgjdbc", **above)


@pytest.fixture(name="server", scope="module")
def server_fixture() -> Iterator[Instance]:
    with loaded([("postgresql", "server")], []) as started:
        every = [path(name, form) for name in LAYERS for form in ("raw", "mapped")]
        java.build([(PGJDBC, path().version)], [path(), *every])
        server = started["postgresql", "server"]
        psql(server, TABLE)
        yield server


def delivered(talk: Talk, sql: str, columns: list[Any], parameters: ParameterSlice | None = None) -> VerifyReply:
    given = [Column("p", "integer")] if parameters else []
    talk.prepare_spec(PhaseSpec("q", "query", sql, columns=columns, parameter_columns=given), parameters)
    reply = talk.verify("q")
    sampled = talk.sample("q", operations=1)
    assert (sampled.failed, sampled.rows, sampled.touch) == (0, reply.rows, reply.touch), sampled.failure
    return reply


@pytest.fixture(name="truth", scope="module")
def truth_fixture(server: Instance, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the bare driver delivers, by query, with the columns of each."""
    file = tmp_path_factory.mktemp("own") / "p.rows"
    codec.write_rows(file, [(290,)], [Column("p", "integer")])
    slices = {f"{SIGNS}?": ParameterSlice(str(file), 0, 1)}
    bare, found = path(), {}
    talk = Talk(PGJDBC, bare, server.options(bare))
    try:
        for sql in (WHOLE, FINE, f"{SIGNS}5 AND doc ? 'a'", f"{SIGNS}?"):
            columns = talk.describe(sql.replace("> ?", "> 5").replace("?", "??"))
            found[sql] = columns, slices.get(sql), delivered(talk, sql, columns, slices.get(sql))
    finally:
        talk.close()
    return found


@each_layer
def test_rows_are_those_of_the_driver_by_one_statement(name: str, server: Instance, truth: dict[str, Any]) -> None:
    """Also where the query holds what a layer reads in its own way."""
    options, sent = server.options(path()), StatementsSent("postgresql")
    proxy = RecordingProxy("postgresql", ("127.0.0.1", int(options["port"])), records=sent)
    proxy.start()
    talk = Talk(PGJDBC, path(name, "raw"), options | {"port": proxy.port})
    try:
        for sql in truth.keys() - {FINE}:
            columns, parameters, bare = truth[sql]
            reply = delivered(talk, sql, columns, parameters)
            assert (reply.rows, reply.digest, reply.touch) == (bare.rows, bare.digest, bare.touch), sql
            sent.texts.clear()
            assert talk.sample("q", operations=1).failed == 0
            assert len(sent.texts) == 1, sent.texts
        assert talk.log == []
    finally:
        talk.close()
        proxy.stop()


@pytest.mark.parametrize("name", MAPPED, scope="module")
def test_objects_of_a_table_are_the_driver_s_rows(name: str, server: Instance, truth: dict[str, Any]) -> None:
    mapped = path(name, "mapped")
    talk = Talk(PGJDBC, mapped, server.options(mapped))
    try:
        columns, _none, bare = truth[WHOLE]
        names = attributes_of([column.name for column in columns], reserved(LAYERS[name], "java"))
        attributes = [structs.replace(column, name=name) for column, name in zip(columns, names, strict=True)]
        table = {"table": '"public"."Own"', "table_columns": attributes, "key_columns": ("part", "id")}
        spec = PhaseSpec("q", "query", columns=columns, **table)
        talk.prepare_spec(spec)
        reply = talk.verify("q")
        assert (reply.rows, reply.digest, reply.touch) == (bare.rows, bare.digest, bare.touch)
    finally:
        talk.close()


@each_layer
def test_parts_of_a_second_that_a_layer_loses_show_in_their_column(
    name: str, server: Instance, truth: dict[str, Any]
) -> None:
    raw, (columns, _none, bare) = path(name, "raw"), truth[FINE]
    talk = Talk(PGJDBC, raw, server.options(raw))
    try:
        talk.prepare_spec(PhaseSpec("q", "query", FINE, columns=columns))
        pairs = zip(columns, bare.columns, talk.verify("q").columns, strict=True)
        assert {column.name for column, its, own in pairs if its.digest != own.digest} == LOST.get(name, set())
    finally:
        talk.close()


@each_layer
def test_values_that_a_layer_has_no_type_for_are_refused(name: str, server: Instance) -> None:
    raw = path(name, "raw")
    talk = Talk(PGJDBC, raw, server.options(raw))
    try:
        for value, (kind, refusing) in NO_TYPE.items():
            columns = [Column("value", kind)]
            talk.prepare_spec(PhaseSpec("q", "query", f"SELECT {value} AS value", columns=columns))
            if name not in refusing:
                assert talk.verify("q").rows == 1
                continue
            with pytest.raises(RunnerFailure) as failure:
                talk.verify("q")
            assert failure.value.kind == "sql"
    finally:
        talk.close()


@each_layer
def test_more_or_fewer_columns_than_declared_are_refused(name: str, server: Instance) -> None:
    """A layer that asks for each column by its name leaves out what is not declared, and finds no third."""
    raw, sql = path(name, "raw"), "SELECT 1 AS a, 2 AS b"
    talk = Talk(PGJDBC, raw, server.options(raw))
    try:
        for declared in (1, 3):
            columns = [Column(each, "integer") for each in "abc"[:declared]]
            talk.prepare_spec(PhaseSpec("q", "query", sql, columns=columns))
            if declared == 1 and name in ("hibernate", "mybatis"):
                assert talk.verify("q").rows == 1
                continue
            words = "The column name c was not found" if name == "hibernate" else f"2 columns came where {declared}"
            with pytest.raises(RunnerFailure, match=words) as failure:
                talk.verify("q")
            assert failure.value.kind == ("sql" if name == "hibernate" else "verify")
    finally:
        talk.close()


@each_layer
def test_the_program_of_a_layer_compiles_and_reads_every_row(
    name: str, server: Instance, truth: dict[str, Any], tmp_path: Path
) -> None:
    options, raw = server.options(path()), path(name, "raw")
    url = f"postgresql://{options['user']}@127.0.0.1:{options['port']}/{options['database']}"
    target = read_target(url, {"HOME": str(tmp_path)})
    tried = TriedPath("x", raw.as_dict() | {"language": "java"}, "sets")
    table = MappedTable('"public"."Own"', ("part", "id"))
    (tmp_path / "jars").mkdir()
    for jar in maven.fetch([*java.artefacts(PGJDBC, path().version), *LAYERS[name].packages]):
        (tmp_path / "jars" / jar.name).symlink_to(jar)
    for sql, mapped in ((WHOLE, table), (f"{SIGNS}5 AND doc ? 'a'", None)):
        columns, _none, bare = truth[sql]
        made = program(tried, target, sql, columns, mapped)
        assert made is not None and made.file == f"layer-{name}.java"
        assert all(artefact in made.text for artefact in LAYERS[name].packages)
        (tmp_path / made.file).write_text(made.text)
        words = [jvm.java_command(), maven.SHORT_LIVED, *shlex.split(made.run.removeprefix("java "))]
        done = subprocess.run(
            words, cwd=tmp_path, env={"DB_PASSWORD": options["password"]}, capture_output=True, text=True,
            timeout=60, check=False,
        )  # fmt: skip
        objects = f"{ROWS} objects\n" if mapped and name in MAPPED else ""
        assert done.stdout == f"{bare.rows} rows\n{objects}", done.stderr
