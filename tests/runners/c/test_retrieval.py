"""How the C runner's libpq retrieves: COPY, cursors and chunks of any size deliver the same rows as a whole result."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance
from rowpath.machine import c_compiler
from rowpath.model.workload import Column
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import (
    PhaseSpec,
    Prepare,
    PrepareReply,
    RunReply,
    RunStatements,
    Verify,
    VerifyReply,
)
from rowpath.workloads import codec
from tests.runners.c.talk import Talk, started

pytestmark = pytest.mark.skipif(shutil.which(c_compiler.words()[0]) is None, reason="no C compiler")
COLUMNS = (
    Column(name="n", type="integer"),
    Column(name="t", type="text", nullable=True),
    Column(name="m", type="decimal", precision=15, scale=2, nullable=True),
    Column(name="x", type="decimal", nullable=True),
    Column(name="d", type="date"),
    Column(name="b", type="binary", nullable=True),
    Column(name="t", type="varchar", length=20),
)
TEXTS = (None, "", "\\N", "a\tb\nc\rd\\e\b\f\v", "é€😀", "\\.")
SQL = "SELECT n, t, m, x, d, b, u AS t FROM kept;"
ROWS: list[tuple[Any, ...]] = [
    (
        number,
        TEXTS[number % len(TEXTS)],
        None if number % 5 == 0 else Decimal(number * 37 - 900) / 100,
        None if number % 7 == 0 else Decimal(number) * 10**20 + Decimal("0.125"),
        date(1992 + number % 7, 1 + number % 12, 1 + number % 28),
        None if number % 3 == 0 else bytes([0, 9, 10, 92, number % 256]),
        "same",
    )
    for number in range(250)
]
SHAPES = [
    {"fetch": "copy", "statement": "text", "format": "text"},
    {"fetch": "copy", "statement": "text", "format": "binary"},
    {"result": "cursor:1"},
    {"result": "cursor:50", "format": "binary"},
    {"result": "cursor:250", "statement": "bound"},
    {"result": "cursor:100000", "statement": "text"},
    {"result": "chunked:1", "format": "binary"},
    {"result": "chunked:100000"},
]


@pytest.fixture(scope="module")
def instance() -> Iterator[Instance]:
    if not ENGINES["postgresql"].availability().ok:
        pytest.skip("PostgreSQL cannot run here")
    with started("postgresql") as running:
        with Talk("libpq", running) as talk:
            talk.ask(
                RunStatements,
                RunReply,
                statements=[
                    "CREATE TABLE kept (n int, t text, m numeric(15,2), x numeric, d date, b bytea, u varchar(20))",
                    *(f"INSERT INTO kept VALUES ({', '.join(map(literal, row))})" for row in ROWS),
                ],
            )
        yield running


def literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"'\\x{value.hex()}'"
    return f"'{value}'"


def prepare(talk: Talk, sql: str = SQL, columns: tuple[Column, ...] = COLUMNS, **changed: Any) -> None:
    if talk.path.get("fetch") != "copy" and "cursor" not in talk.path.get("result"):
        sql = sql.removesuffix(";")
    spec = PhaseSpec(name="q", kind="query", sql=sql, columns=columns, **changed)
    talk.ask(Prepare, PrepareReply, phase=spec, parameters=None)


def verified(talk: Talk) -> VerifyReply:
    reply: VerifyReply = talk.ask(Verify, VerifyReply, phase="q", first=0, count=1)
    return reply


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "-".join(shape.values()))
def test_the_same_rows_whatever_the_way(shape: dict[str, str], instance: Instance) -> None:
    wanted = codec.digest(ROWS, COLUMNS)
    with Talk("libpq", instance, **shape) as talk:
        for transaction in ("autocommit", "transaction"):
            prepare(talk, transaction=transaction)
            assert verified(talk).digest == wanted
            sampled = talk.sample("q", operations=3)
            assert (sampled.rows, sampled.failed, sampled.bytes) == (750, 0, 0)
        prepare(talk, "SELECT n, t, m, x, d, b, u FROM kept WHERE n < 0 -- none")
        assert verified(talk).rows == 0
        prepare(talk, "SELECT 1 / (n - 100) FROM kept", COLUMNS[:1])
        failed = talk.sample("q", operations=1)
        assert failed.failure is not None
        assert failed.failure.code == "22012"
        prepare(talk)  # nothing is left of the failed one
        assert verified(talk).digest == wanted


def test_copy_takes_parameters_as_literals_and_many_columns(instance: Instance) -> None:
    with Talk("libpq", instance, fetch="copy", statement="text", format="binary") as talk:
        wide = tuple(Column(name="same", type="integer", nullable=True) for _ in range(1600))
        prepare(talk, "SELECT " + ", ".join("NULL::int" if n % 2 else str(n) for n in range(1600)), wide)
        row = tuple(None if n % 2 else n for n in range(1600))
        assert verified(talk).digest == codec.digest([row], wide)
        long = (Column(name="long", type="text"),)
        prepare(talk, "SELECT repeat('0123456789abcdef', 65536)", long)
        assert verified(talk).digest == codec.digest([("0123456789abcdef" * 65536,)], long)


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ({"fetch": "copy", "statement": "prepared"}, "statement=text"),
        ({"fetch": "copy", "statement": "text", "result": "chunked:500"}, "chunked:500"),
        ({"statement": "text", "format": "binary"}, "text only"),
    ],
)
def test_what_does_not_exist_is_unsupported(shape: dict[str, str], said: str, instance: Instance) -> None:
    with pytest.raises(RunnerFailure, match=said) as refused:
        Talk("libpq", instance, **shape)
    assert refused.value.kind == "unsupported"


@pytest.mark.parametrize("form", ["text", "binary"])
@pytest.mark.parametrize("fetch", ["row", "copy"])
def test_types_of_the_databases_own(fetch: str, form: str, instance: Instance) -> None:
    """As bytes, which are text only where the format is text."""
    statement = "text" if fetch == "copy" else "bound"
    column = (Column(name="address", type="text", nullable=True),)
    with Talk("libpq", instance, fetch=fetch, format=form, statement=statement) as talk:
        prepare(talk, "SELECT '127.0.0.1'::inet AS address", column)
        bytes_of = {"text": b"127.0.0.1", "binary": b"\x02\x20\x00\x04\x7f\x00\x00\x01"}
        assert verified(talk).digest == codec.digest([(bytes_of[form],)], column)
