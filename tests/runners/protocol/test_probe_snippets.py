"""The programs that a probe ends with, built and run for real: each must read every row, and hold no password."""

from __future__ import annotations

import itertools
import re
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.model.path import AccessPath
from rowpath.model.workload import ColumnSpec, Phase
from rowpath.own_database.candidates import Wanted, candidates
from rowpath.own_database.parameters import KeyedQuery, Placeholders, keyed
from rowpath.own_database.question import ProbeOptions, rows_by_options
from rowpath.own_database.target import Target, read_target
from rowpath.planning.plan import PlannedPath
from rowpath.probe.snippets import ABOUT, c_text, json_text, python_text, snippet
from rowpath.runners import manifest
from rowpath.runners.manifest import toolchain
from tests.runners.c.talk import started
from tests.runners.protocol.snippet_programs import Program, failures, run, start_python

csharp: Any = toolchain("csharp")
pytestmark = pytest.mark.apart
ROWS = 1234
COLUMNS = (ColumnSpec("id", "integer"), ColumnSpec("name", "varchar", length=20, nullable=True))
GIVEN_BY = ("statement", "format")  # what parameters are given by, beside the driver and the fetch form
SETTINGS = {
    "java": 2,
    "csharp": 1,
    "go": 2,
    "rust": 2,
    "python": 5,
}  # that are run of a driver: starting and compiling takes a second
# What ends a literal, an escape, a comment or a line in a language, or is a placeholder to a driver.
AWKWARD = (
    'it\'s "quoted" """ \'\'\' ` C:\\new \\u0041 \\x41 \\N{DASH} \\\' \\" ${x} {y} #{z} $1 $$ ? ??/ ?1 :name %s %(id)s '
    "%% %d 5% */ /* // -- # ; é€😀 e\u0301 \ufeff \u2028 \u2029 \x85 \u202e \u200d \xa0 \x01 \x1a \t|\r\n|\r|\n|\\"
)
# Drivers that make something else of it, and say so: libsqliteodbc's functions of wide signs know no emoji; others take
# placeholders out of a quoted text, when they are given parameters.
NOT_AWKWARD = (("sqlite", "ado-libsqliteodbc"), ("sqlite", "pyodbc"))
NOT_AWKWARD_WITH_PARAMETERS = (("mariadb", "mariadb"), ("mariadb", "mysql-connector"))
AS_BYTES = {"postgresql": "encode(convert_to({}, 'UTF8'), 'hex')"}


def unchanged(engine: str) -> str:
    """A condition that holds where the awkward text reaches the engine as it is."""
    escaped = AWKWARD.replace("\\", "\\\\") if engine == "mariadb" else AWKWARD
    literal = "'" + escaped.replace("'", "''") + "'"
    return f"{AS_BYTES.get(engine, 'lower(hex({}))').replace('{}', literal)} = '{AWKWARD.encode().hex()}'"


def plain(placeholders: Placeholders, engine: str) -> Placeholders:
    return Placeholders(
        tuple(piece.replace(unchanged(engine), "1 = 1") for piece in placeholders.pieces), placeholders.takes
    )


QUERIES = {
    "postgresql": f"SELECT g AS id, 'it''s \"row\" ' || g AS name\nFROM generate_series(1, {ROWS}) AS g\n"
    f'WHERE {unchanged("postgresql")}\nORDER BY "id"',
    "mariadb": f"SELECT seq AS id, CONCAT('it''s \"row\" ', seq) AS name FROM seq_1_to_{ROWS}\n"
    f"WHERE {unchanged('mariadb')}\nORDER BY `id`",
    **{
        engine: f"SELECT id, name FROM t WHERE name LIKE 'it''s \"%'\nAND {unchanged(engine)}\nORDER BY \"id\""
        for engine in ("sqlite", "duckdb")
    },
}


def settings(engine: str, deployment: str, with_parameters: bool = False) -> list[PlannedPath]:
    """Each driver with its defaults, and with one other value of each of its settings."""
    phase = Phase("query", "query", "SELECT 1", scan=deployment == "file")
    only_named = tuple(adapter.driver for adapter in manifest.every_adapter() if adapter.only_named)
    paths = [
        path
        for drivers in ((), only_named)
        for path in candidates(Wanted(engine, deployment, phase, keyed=with_parameters, drivers=drivers)).paths
    ]
    defaults: dict[str, PlannedPath] = {}
    seen: set[tuple[str, str, str]] = set()
    chosen: dict[str, list[PlannedPath]] = {}
    for planned in paths:
        key = f"{planned.adapter.language} {planned.adapter.driver}"
        default = defaults.setdefault(key, planned)
        apart = [(name, value) for name, value in planned.path.coordinates if value != default.path.get(name)]
        kind = (key, apart[0][0], apart[0][1].partition(":")[0]) if apart else (key, "", "")
        if len(apart) < 2 and kind not in seen:
            seen.add(kind)
            chosen.setdefault(key, []).append(planned)
    return [one for every in chosen.values() for one in every[: SETTINGS.get(every[0].adapter.language, len(every))]]


# Compiling and starting take most of the time: programs of these languages are tested side by side.
EVERY = frozenset(manifest.languages())
APART = ("rust", "go", "python")
TOGETHER = [*(frozenset({each}) for each in APART), EVERY - {*APART}]
some_languages = pytest.mark.parametrize("chosen", TOGETHER, ids=[*APART, "others"])


def shape(planned: PlannedPath, target: Target, given: KeyedQuery | None) -> set[tuple[str, str]]:
    """Each line of the path's program with the one behind it, whatever the query's text."""
    short = "SELECT BEGIN 1 END"
    if given is not None:
        pieces = ("SELECT BEGIN ", *[","] * (len(given.placeholders.pieces) - 2), " END")
        given = replace(given, placeholders=replace(given.placeholders, pieces=pieces))
    made = snippet(planned.name, planned.path.as_dict(), target, short, COLUMNS, given)
    assert made is not None, f"no template for {planned.name}"
    lines = [re.sub("BEGIN .* END", "", line) for line in made.text.splitlines() if ABOUT not in line]
    return set(itertools.pairwise(lines))


def check(
    target: Target,
    folder: Path,
    chosen: frozenset[str] = EVERY,
    asked: tuple[KeyedQuery | None, ...] = (None,),
    columns: tuple[ColumnSpec, ...] = COLUMNS,
    *,
    sql: str = "",
    drivers: tuple[str, ...] = (),
) -> None:
    """Every program of the engine in these languages reads all rows, or those of the first row of parameters.

    A program goes without where other ones of its driver that run have each two of its lines behind each other.
    `asked`: with these parameters, None: without; `sql`: another query; `drivers`: only these, each once.
    """
    programs: list[Program] = []
    shapes: dict[tuple[str, str, bool], set[tuple[str, str]]] = {}
    for given in asked:
        ways = set()
        for planned in settings(target.engine, target.deployment, given is not None):
            language, driver = planned.path.language, planned.adapter.driver
            way = (language, driver, *(() if drivers else (planned.path.fetch_form, *map(planned.path.get, GIVEN_BY))))
            if language not in chosen or (drivers and driver not in drivers):
                continue
            if (given or drivers) and way in ways:
                continue
            ways.add(way)
            is_plain = (target.engine, driver) in NOT_AWKWARD + NOT_AWKWARD_WITH_PARAMETERS * bool(given)
            known, new = shapes.setdefault((language, driver, is_plain), set()), shape(planned, target, given)
            if new <= known:
                continue
            known |= new
            query, parameters = sql or QUERIES.get(target.engine, ""), given
            if is_plain:
                query = query.replace(unchanged(target.engine), "1 = 1")
                parameters = given and replace(given, placeholders=plain(given.placeholders, target.engine))
            made = snippet(planned.name, planned.path.as_dict(), target, query, columns, parameters)
            assert made is not None
            assert not target.password or target.password not in made.text
            programs.append(Program(planned, made, given.rows[0][0] if given else ROWS))
    wrong = failures(programs, folder, target.password)
    assert not wrong, "\n\n".join(wrong)
    languages = {program.made.language for program in programs}
    duckdb = {"python", "java", "go", "node", "rust"}
    some = {"duckdb": duckdb, "parquet": {"python"}, "arrow": {"python"}, "file": {"c", "python", "java"}}
    wanted = some.get(target.engine, EVERY)
    absent = {"csharp"} if csharp.tools_problem() else set()
    absent |= {"go"} if manifest.toolchain("go").tools_problem() else set()  # type: ignore[attr-defined]
    absent |= {"rust"} if manifest.toolchain("rust").tools_problem() else set()  # type: ignore[attr-defined]
    absent |= {"node"} if shutil.which("node") is None else set()
    assert languages == (wanted & chosen) - absent


def keyed_query(engine: str) -> KeyedQuery:
    """The query with parameters of several types: as many rows as the first value says, more than any block has."""
    condition = f"id <= ? AND id > ? AND 'it''s' = ? AND 7 % 4 = 3 AND {'2.50' if engine != 'sqlite' else 2.5} = ?"
    sql = f"SELECT id, name FROM ({QUERIES[engine]}) AS t WHERE {condition}"
    floating = "double:2.5" if engine == "sqlite" else "numeric:2.5"
    return keyed(
        sql, engine, rows_by_options(ProbeOptions("", params=("integer:1034", "bigint:0", "text:it's", floating)))
    )


def server(engine: str, options: dict[str, Any]) -> Target:
    return Target(
        engine, "server", host=options["host"], port=int(options["port"]), database=options["database"],
        user=options["user"], password=options["password"], shown="…",
    )  # fmt: skip


@pytest.fixture(name="folder")
def folder_fixture(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "programs é"
    place.mkdir()
    yield place


@some_languages
@pytest.mark.parametrize("engine", ["postgresql", "mariadb"])
def test_programs_read_every_row_from_a_server(engine: str, chosen: frozenset[str], folder: Path) -> None:
    with started(engine) as instance:
        options = instance.options(AccessPath.of({"engine": engine, "transport": "tcp"}))
        check(server(engine, options), folder, chosen, (keyed_query(engine), None))


@pytest.mark.parametrize("engine", ["postgresql", "mariadb"])
def test_programs_keep_names_of_parameters_where_the_driver_takes_them(engine: str, folder: Path) -> None:
    (folder / "keys.csv").write_text("first id:integer,text:text\n17,it's\n")
    query = QUERIES[engine].replace("%", "%%")
    sql = f"SELECT id, name FROM ({query}) AS t WHERE id <= %(first id)s AND 'it''s' = %(text)s AND 0 < %(first id)s"
    given = keyed(sql, engine, rows_by_options(ProbeOptions("", params_file=folder / "keys.csv")))
    with started(engine) as instance:
        target = server(engine, instance.options(AccessPath.of({"engine": engine, "transport": "tcp"})))
        for driver in {"postgresql": ("psycopg", "psycopg2"), "mariadb": ("pymysql", "mysqlclient")}[engine]:
            check(target, folder, frozenset({"python"}), (given,), drivers=(driver,))
            text = (folder / "fastest-python.py").read_text()
            assert text.count("%(first id)s") == 2 and """PARAMETERS = {'first id': 17, 'text': "it's"}""" in text


COMPILES_ARROW = ("duckdb", "rust")
OF_FILES = [
    pytest.param(engine, chosen, id=f"{engine}-{name}", marks=[pytest.mark.long] * ((engine, name) == COMPILES_ARROW))
    for engine in ("sqlite", "duckdb")
    for name, chosen in zip((*APART, "others"), TOGETHER, strict=True)
]


@pytest.mark.parametrize(("engine", "chosen"), OF_FILES)
def test_programs_read_every_row_from_a_file(engine: str, chosen: frozenset[str], folder: Path) -> None:
    file = folder / f"with blank é.{engine}"
    readable = {"config": {"storage_compatibility_version": "v1.5.0"}} if engine == "duckdb" else {}  # by every build
    make = f"""
import {engine if engine == "duckdb" else "sqlite3"} as module
connection = module.connect({str(file)!r}, **{readable!r})
connection.execute("CREATE TABLE t (id INTEGER NOT NULL, name VARCHAR(20))")
rows = [(number, f'it\\'s "row" {{number}}') for number in range({ROWS})]
connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
connection.commit()
"""
    adapter = next(p.adapter for p in settings(engine, "embedded") if p.adapter.language == "python")
    run([*start_python(adapter, folder, "-c"), make], folder, "")
    check(Target(engine, "embedded", path=file, shown="…"), folder, chosen, (keyed_query(engine), None))


def test_programs_take_a_query_that_is_longer_than_a_constant_of_java(folder: Path) -> None:
    file = folder / "own.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE t (id INTEGER NOT NULL, name VARCHAR(20))")
        connection.executemany("INSERT INTO t VALUES (?, 'a')", [(number,) for number in range(ROWS)])
    connection.close()
    names = ", ".join(f"'😀 {number}'" for number in range(20_000))
    sql = f'SELECT id, name FROM t WHERE name NOT IN ({names})\nORDER BY "id"'
    assert len(sql.encode()) > 4 * 65_535
    drivers = ("sqlite", "sqlite3", "sqlite-jdbc", "mono-data-sqlite", "mattn-sqlite3", "node-sqlite", "rusqlite")
    check(Target("sqlite", "embedded", path=file, shown="…"), folder, sql=sql, drivers=drivers)


def test_a_question_mark_that_is_an_operator_reaches_the_server(folder: Path) -> None:
    sql = f"{QUERIES['postgresql'].replace('ORDER BY', 'AND (jsonb_build_object(1, 2)) ? $$1$$ ORDER BY')}"
    drivers = ("libpq", "psycopg", "pgjdbc", "pgx", "pg", "tokio-postgres")
    with started("postgresql") as instance:
        target = server("postgresql", instance.options(AccessPath.of({"engine": "postgresql", "transport": "tcp"})))
        check(target, folder, EVERY - {"csharp"}, sql=sql, drivers=drivers)


def test_texts_survive_as_literals_of_each_language(folder: Path) -> None:
    text = 'a "quoted" \\ back?? \n second line ä€ \' \t end'
    assert eval(python_text(text)) == text
    assert eval(python_text("x\ny")) == "x\ny"
    assert c_text('a"\n?') == '"a\\"\\n"\n    "\\?"'
    assert json_text('a"\nä') == '"a\\"\\nä"'
    (folder / "t.c").write_text(f"#include <stdio.h>\nint main(void) {{ fputs({c_text(text)}, stdout); return 0; }}\n")
    run(["cc", "-Werror", "t.c", "-o", "t"], folder, "")
    assert run(["./t"], folder, "") == text


@pytest.mark.parametrize("engine", ["parquet", "arrow", "file"])
def test_programs_read_every_row_of_a_file_without_an_engine(engine: str, folder: Path) -> None:
    file = folder / f"rows é.{'tbl' if engine == 'file' else engine}"
    if engine == "file":
        file.write_text("".join(f"{number}|it's {number}\n" for number in range(ROWS)), encoding="utf-8")
    else:
        write = "parquet.write_table" if engine == "parquet" else "feather.write_feather"
        make = f"""
import pyarrow
from pyarrow import feather, parquet
{write}(pyarrow.table({{"id": list(range({ROWS}))}}), {str(file)!r})
"""
        adapter = next(p.adapter for p in settings(engine, "file") if p.adapter.driver == "pyarrow")
        run([*start_python(adapter, folder, "-c"), make], folder, "")
    check(Target(engine, "file", path=file, shown="…"), folder)


@pytest.mark.parametrize("quoted", [True, False])
def test_programs_read_every_row_of_a_file_as_people_have_it(quoted: bool, folder: Path) -> None:
    file = folder / "rows é.csv"
    lines = (
        f'{number},"it\'s ""row"",\n{number}"\r\n' if quoted else f"{number},0{number}\n" for number in range(ROWS)
    )
    file.write_text("id,na'me\r\n" + "".join(lines), encoding="utf-8-sig", newline="")
    columns = (COLUMNS[0], msgspec.structs.replace(COLUMNS[1], name="na'me"))
    check(read_target(str(file), {}), folder, columns=columns)


def test_every_server_and_embedded_engine_has_templates_for_all_of_its_drivers() -> None:
    for engine, deployment in (("h2", "server"), ("h2", "embedded"), ("derby", "embedded"), ("mysql", "server")):
        target = Target(engine, deployment, host="h", port=1, path=Path("/x"), shown="…")
        for planned in candidates(Wanted(engine, deployment, Phase("query", "query", "SELECT 1"))).paths:
            made = snippet(planned.name, planned.path.as_dict(), target, "SELECT 1", COLUMNS)
            assert made and made.text and made.run, planned.name


def test_a_driver_of_the_users_own_gets_a_program_without_its_secrets() -> None:
    target = read_target("odbc:SERVER=h;UID=u;PWD=hunter2;TOKEN=abc", {}, odbc_driver=Path(__file__))
    made = snippet("c odbc", {"language": "c", "driver": "odbc"}, target, "SELECT 1", COLUMNS)
    assert made and f'"DRIVER={__file__};SERVER=h;TOKEN=***;UID=u"' in made.text
    assert "hunter2" not in made.text and "abc" not in made.text


def test_a_binary_copy_reads_columns_of_any_type(folder: Path) -> None:
    sql = (
        "SELECT g AS id, ARRAY['a', NULL] AS tags, '::1'::inet AS address, g * 1.5 AS n FROM generate_series(1, 7) AS g"
    )
    with started("postgresql") as instance:
        target = server("postgresql", instance.options(AccessPath.of({"engine": "postgresql", "transport": "tcp"})))
        found = candidates(Wanted("postgresql", "server", Phase("query", "query", sql))).paths
        wanted = {"driver": "psycopg", "fetch": "copy", "format": "binary"}
        planned = next(one for one in found if wanted.items() <= one.path.as_dict().items())
        made = snippet(planned.name, planned.path.as_dict(), target, sql, COLUMNS)
        assert made is not None
        (folder / made.file).write_text(made.text, encoding="utf-8")
        said = run(start_python(planned.adapter, folder, made.file), folder, target.password)
        assert said == "7 rows\n", made.text
