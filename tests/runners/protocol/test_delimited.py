"""Every reader of delimited text over files as people have them: the same rows, typed by the whole file."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rowpath.model.path import AccessPath
from rowpath.model.workload import Column
from rowpath.own_database import delimited
from rowpath.own_database.throttled_worker import as_columns
from rowpath.runners import manifest
from rowpath.runners import protocol as p
from rowpath.runners.manifest import Adapter, toolchain
from rowpath.runners.process import Runner, RunnerFailure
from rowpath.workloads import codec
from tests.runners.protocol.talk import Talk

READERS = {
    f"{adapter.language}-{adapter.driver}": adapter
    for adapter in manifest.every_adapter()
    if "file" in adapter.engines and not adapter.floor
}
COLUMNAR = ("pyarrow", "polars", "duckdb-files")
LONG = "é" * 200_000 + '\n"' + "x" * 700_000
WIDE = "x" * 80
MANY = 30_000  # rows with it are more than two blocks of any reader, and than DuckDB looks at for types
TABLE = "data"
Row = tuple[Any, ...]


class Case(NamedTuple):
    """A file, and what every reader must make of it."""

    content: str | bytes
    types: str
    rows: list[Row]
    given: dict[str, str] = {}
    suffix: str = ".csv"
    unable: tuple[str, ...] = ()  # drivers that refuse it, in their own words


CASES = {
    "quotes, CRLF and mark": Case(
        '\ufeffid;name;note\r\n1;"na""me";"line1\nline2; ü"\r\n2;;\r\n3;"x";"a\r\nb"\r\n',
        "integer text text",
        [(1, 'na"me', "line1\nline2; ü"), (2, None, None), (3, "x", "a\r\nb")],
    ),
    "a header with a line feed": Case('id,"na\nme"\n1,a\n', "integer text", [(1, "a")]),
    "leading zeros": Case(
        "1,01067,town 1\n2,10115,town 2\n", "integer text text", [(1, "01067", "town 1"), (2, "10115", "town 2")]
    ),
    "what is no number": Case(
        "a,b,c,d,e\n+1,1_000, 1,9223372036854775808,-0\n2,3,4,5,6\n",
        "text text text text text",
        [("+1", "1_000", " 1", "9223372036854775808", "-0"), ("2", "3", "4", "5", "6")],
    ),
    "numbers": Case(
        "i,d,f,e\n-9223372036854775808,1.50,0.1,1e5\n9223372036854775807,-0.25,0.30000000000000004,-2.5E-3\n",
        "integer decimal float64 float64",
        [
            (-(2**63), Decimal("1.50"), 0.1, 1e5),
            (2**63 - 1, Decimal("-0.25"), 0.30000000000000004, -0.0025),
        ],
    ),
    "wide decimals": Case(
        "d\n123456789012345678901234567890.12\n-1.00\n",
        "decimal",
        [(Decimal("123456789012345678901234567890.12"),), (Decimal("-1.00"),)],
    ),
    "days and times": Case(
        "d,t,u,bad,late,clock\n2024-02-29,2024-01-01 00:00:00,2024-01-01T23:59:59.123456,2024-02-30,"
        "2024-01-01 24:00:00,24:00:00\n,,,,,\n0001-01-01,9999-12-31 23:59:59.5,1969-12-31T00:00:00,2024-01-01,,\n",
        "date timestamp timestamp text text text",
        [
            (
                date(2024, 2, 29),
                datetime(2024, 1, 1),
                datetime(2024, 1, 1, 23, 59, 59, 123456),
                "2024-02-30",
                "2024-01-01 24:00:00",
                "24:00:00",
            ),
            (None,) * 6,
            (
                date(1, 1, 1),
                datetime(9999, 12, 31, 23, 59, 59, 500000),
                datetime(1969, 12, 31),
                "2024-01-01",
                None,
                None,
            ),
        ],
    ),
    "truth values": Case(
        "a,b\ntrue,t\nFALSE,f\nTrue,t\n,\n", "boolean text", [(True, "t"), (False, "f"), (True, "t"), (None, None)]
    ),
    "words that are not NULL": Case(
        "a;b\nNULL;NA\nnan;\\N\nnull;-\n", "text text", [("NULL", "NA"), ("nan", "\\N"), ("null", "-")]
    ),
    "everything quoted": Case(
        '"id","price","day"\n"1","1.50","2024-01-01"\n"2","2.25","2024-01-02"\n',
        "integer decimal date",
        [(1, Decimal("1.50"), date(2024, 1, 1)), (2, Decimal("2.25"), date(2024, 1, 2))],
    ),
    "quoted empty fields only": Case('"1","","x"\n"2","3","y"\n', "integer text text", [(1, "", "x"), (2, "3", "y")]),
    "both kinds of empty fields": Case(
        '1,"",x\n2,,y\n3,z,\n', "integer text text", [(1, None, "x"), (2, None, "y"), (3, "z", None)]
    ),
    "both kinds, told apart": Case(
        '1,"",x\n2,,y\n3,z,\n',
        "integer text text",
        [(1, "", "x"), (2, None, "y"), (3, "z", None)],
        given={"null": "unquoted"},
        unable=("file python",),
    ),
    "tabs": Case('a\tb\n1\t"x\ty"\n2\tz, a\n', "integer text", [(1, "x\ty"), (2, "z, a")], suffix=".tsv"),
    "bars": Case("1|a\n2|b\n", "integer text", [(1, "a"), (2, "b")], suffix=".txt"),
    "decimal commas": Case("a;b\n1,5;2\n3,5;4\n", "text integer", [("1,5", 2), ("3,5", 4)]),
    "one column": Case("word\nx\n\ny\n", "text", [("x",), (None,), ("y",)]),
    "one quoted column": Case('word\n"a, b"\n"c\nd"\n', "text", [("a, b",), ("c\nd",)]),
    "no final newline": Case("a,b\n1,x\n2,y", "integer text", [(1, "x"), (2, "y")]),
    "no final newline behind a quote": Case('a,b\n1,"x"\n2,"y"', "integer text", [(1, "x"), (2, "y")]),
    "a last field that is empty": Case("a,b\n1,x\n2,", "integer text", [(1, "x"), (2, None)]),
    "blank lines at the end": Case("a,b\r\n1,x\r\n2,y\r\n\r\n\r\n", "integer text", [(1, "x"), (2, "y")]),
    "only a header": Case("a,b\n", "text text", []),
    "only a header without its end": Case("a,b", "text text", []),
    "names that are empty, double or odd": Case(
        ",a,a,A b,*,from\n1,2,3,4,5,6\n", "integer integer integer integer integer integer", [(1, 2, 3, 4, 5, 6)]
    ),
    "quotes that mean nothing": Case('id,size\n1,5" disk\n2,ab"c"\n', "integer text", [(1, '5" disk'), (2, 'ab"c"')]),
    "quotes in an unquoted field": Case(
        'id,size\n1,5" disk\n2,"x"\n', "integer text", [(1, '5" disk'), (2, "x")], unable=("polars",)
    ),
    "another quote": Case(
        "id,note\n1,'a, b'\n2,'it''s'\n", "integer text", [(1, "a, b"), (2, "it's")], given={"quote": "'"}
    ),
    "LF and CRLF": Case('a,b\n1,x\r\n2,"y\nz"\n3,\r\n', "integer text", [(1, "x"), (2, "y\nz"), (3, None)]),
    "a carriage return in quotes": Case('a,b\n1,"x\ry"\n2,z\n', "integer text", [(1, "x\ry"), (2, "z")]),
    "NUL": Case('a,b\n1,x\0y\n2,"\0"\n', "integer text", [(1, "x\0y"), (2, "\0")]),
    "long fields": Case(f'a,b\n1,"{LONG.replace(chr(34), chr(34) * 2)}"\n2,z\n', "integer text", [(1, LONG), (2, "z")]),
    "a text in the last row": Case(
        "a,b,c\n" + "".join(f"{i},{i},{WIDE}\n" for i in range(MANY)) + "1,x,\n",
        "integer text text",
        [(i, str(i), WIDE) for i in range(MANY)] + [(1, "x", None)],
    ),
    "a quote in the last row": Case(
        "a,b\n" + "".join(f"{i},{WIDE}\n" for i in range(MANY)) + '1,"x, y"\n',
        "integer text",
        [(i, WIDE) for i in range(MANY)] + [(1, "x, y")],
    ),
    "records over the ends of blocks": Case(
        "a;b\n" + "".join(f'{i};"{"é" * (i % 7)}""\n;{i}"\n' for i in range(60_000)),
        "integer text",
        [(i, f'{"é" * (i % 7)}"\n;{i}') for i in range(60_000)],
    ),
    "no header that is a value": Case(
        "2024-01-01,x\n2024-01-02,y\n", "date text", [(date(2024, 1, 1), "x"), (date(2024, 1, 2), "y")]
    ),
    "names that come again are rows": Case(
        "Anna,Berlin\nBob,Paris\nCid,Berlin\n", "text text", [("Anna", "Berlin"), ("Bob", "Paris"), ("Cid", "Berlin")]
    ),
    "a header that looks like data": Case("2019,2020\n1,2\n", "integer integer", [(1, 2)], given={"header": "yes"}),
}


@pytest.fixture(scope="module")
def started() -> Iterator[Callable[[Adapter], Talk]]:
    """A runner of an adapter, the same one each time."""
    talks: dict[tuple[str, str], Talk] = {}
    with contextlib.ExitStack() as stack:

        def start(adapter: Adapter) -> Talk:
            key = (adapter.language, adapter.driver)
            if key not in talks:
                version, path = adapter.versions[0], AccessPath.of({"engine": "file", "driver": adapter.driver})
                language: Any = toolchain(adapter.language)
                language.build([(adapter, version)], [path])
                runner = Runner.start(language.command(adapter, version, path), (0,))
                stack.callback(runner.stop)
                runner.hello(adapter.driver)
                talks[key] = Talk(runner)
            return talks[key]

        yield start


def made(case: Case, folder: Path) -> dict[str, str]:
    """The options of `open` that a probe of the file finds."""
    file = folder / f"user{case.suffix}"
    file.write_bytes(case.content if isinstance(case.content, bytes) else case.content.encode())
    (folder / f"{TABLE}.tbl").symlink_to(file)
    dialect, _ = delimited.dialect_of(file, case.given, {".csv": ",", ".tsv": "\t", ".txt": "\t"}[case.suffix])
    return {"engine": "file", "path": str(folder), **dialect.options()}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_reader_delivers_the_same(case: Case, started: Callable[[Adapter], Talk], tmp_path: Path) -> None:
    options = made(case, tmp_path)
    describing = started(READERS["python-pyarrow"])
    describing.open(options, fetch="row", result="whole")
    described = as_columns(describing.describe(TABLE))
    assert " ".join(column.type for column in described) == case.types
    expected, seen = codec.digest(case.rows, described), 0
    for name, adapter in READERS.items():
        if not manifest.availability(adapter, adapter.versions[0]).ok:
            continue
        for fetch in ("row", "columnar") if adapter.driver in COLUMNAR else ("row",):
            talk = started(adapter)
            talk.open(options, fetch=fetch, result="whole", statement="text", driver=adapter.driver)
            phase = p.PhaseSpec(
                name="q", kind="query", table=TABLE, scan=True, columns=described, table_columns=described
            )
            if adapter.driver in case.unable or f"{adapter.driver} {adapter.language}" in case.unable:
                with pytest.raises(RunnerFailure):
                    talk.prepare_spec(phase)
                    talk.verify("q")
                continue
            talk.prepare_spec(phase)
            reply = talk.verify("q", max_rows=1 << 30)
            assert (name, fetch, reply.rows, reply.digest) == (name, fetch, len(case.rows), expected)
            sampled = talk.sample("q", operations=1)
            assert (name, fetch, sampled.failed, sampled.touch) == (name, fetch, 0, reply.touch)
            seen += 1
    assert seen


@pytest.mark.parametrize("name", READERS)
def test_parts_of_a_file_with_quotes_are_refused(name: str, started: Callable[[Adapter], Talk], tmp_path: Path) -> None:
    adapter = READERS[name]
    if not manifest.availability(adapter, adapter.versions[0]).ok:
        pytest.skip("not here")
    options = made(CASES["quotes, CRLF and mark"], tmp_path)
    columns = (text_column(),) * 3
    parts = tuple(Column(word, "integer", bits=64) for word in ("begin", "end"))
    codec.write_rows(tmp_path / "parts", [(0, 10)], parts)
    talk = started(adapter)
    talk.open(options, fetch="row", result="whole", statement="text")
    phase = p.PhaseSpec(
        name="s", kind="query", table=TABLE, access="segment", columns=columns, table_columns=columns,
        parameter_columns=parts,
    )  # fmt: skip
    with pytest.raises(RunnerFailure, match="by its bytes") as refused:
        talk.prepare_spec(phase, p.ParameterSlice(str(tmp_path / "parts"), 0, 1))
    assert refused.value.kind == "unsupported"


def text_column() -> Column:
    return Column("c", "text", nullable=True)
