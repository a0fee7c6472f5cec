"""The C runner's delimited files: segments that are together the whole, and sums."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rowpath.machine import c_compiler
from rowpath.model.workload import Column
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import ParameterSlice, PhaseSpec, Prepare, PrepareReply, Verify, VerifyReply
from rowpath.workloads import codec
from tests.runners.c.talk import Talk

pytestmark = pytest.mark.skipif(shutil.which(c_compiler.words()[0]) is None, reason="no C compiler")
COLUMNS = (
    Column(name="k", type="integer"),
    Column(name="m", type="decimal", precision=15, scale=2, nullable=True),
    Column(name="d", type="date"),
    Column(name="s", type="text", nullable=True),
    Column(name="f", type="float64"),
    Column(name="at", type="timestamp"),
)
ROWS: list[tuple[Any, ...]] = [
    (
        number,
        None if number % 7 == 0 else Decimal(number * 7919 % 100_003 - 50_000) / 100,
        date(1992 + number % 7, 1 + number % 12, 1 + number % 28),
        None if number % 11 == 0 else "x|y\\\n" * (60_000 if number == 500 else number % 4) + "é" * (number % 3),
        number / 8,
        datetime(2000, 1, 1, number % 24, number % 60, 1, number),
    )
    for number in range(3000)
]
PARTS = (Column(name="begin", type="integer", bits=64), Column(name="end", type="integer", bits=64))
SUMS = (
    Column(name="count", type="integer", bits=64),
    Column(name="sum_m", type="decimal", precision=38, scale=2, nullable=True),
    Column(name="min_m", type="decimal", precision=15, scale=2, nullable=True),
    Column(name="max_d", type="date", nullable=True),
    Column(name="min_s", type="text", nullable=True),
    Column(name="max_s", type="text", nullable=True),
    Column(name="sum_k", type="integer", bits=64, nullable=True),
    Column(name="max_f", type="float64", nullable=True),
    Column(name="min_at", type="timestamp", nullable=True),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("file")
    lines = ("|".join(map(spelt, row)) + "\n" for row in ROWS)
    (made / "t.tbl").write_text("".join(lines), encoding="utf-8", newline="")
    (made / "none.tbl").write_text("")
    yield made


def spelt(value: Any) -> str:
    if value is None:
        return "\\N"
    return str(value).replace("\\", "\\\\").replace("|", "\\|").replace("\n", "\\n")


def talk_to(folder: Path, **coordinates: str) -> Talk:
    place: Any = SimpleNamespace(options=lambda _path: {"path": str(folder), "delimiter": "|"}, own_copy=lambda _: None)
    return Talk("file", place, **coordinates)


def prepare(talk: Talk, parameters: ParameterSlice | None = None, **changed: Any) -> None:
    spec: dict[str, Any] = {"name": "q", "kind": "query", "table": "t", "table_columns": COLUMNS}
    talk.ask(Prepare, PrepareReply, phase=PhaseSpec(**(spec | changed)), parameters=parameters)


@pytest.mark.parametrize("clients", [1, 2, 3, 8, 64])
def test_segments_are_together_the_whole(clients: int, folder: Path, tmp_path: Path) -> None:
    size = (folder / "t.tbl").stat().st_size
    cuts = [size * number // clients for number in range(clients + 1)]
    codec.write_rows(tmp_path / "parts", itertools.pairwise(cuts), PARTS)
    given = ParameterSlice(file=str(tmp_path / "parts"), first=0, count=clients)
    columns = {"columns": COLUMNS, "parameter_columns": PARTS}
    with talk_to(folder, clients=str(clients)) as talk:
        prepare(talk, given, access="segment", **columns)
        reply = talk.ask(Verify, VerifyReply, phase="q", first=0, count=clients)
        assert reply.digest == codec.digest(ROWS, COLUMNS)
        sampled = talk.sample("q", operations=clients, first=0)
        assert (sampled.rows, sampled.failed, sampled.touch) == (len(ROWS), 0, reply.touch)


def test_a_cut_before_between_and_behind_records(folder: Path, tmp_path: Path) -> None:
    """Every byte of the first records as a place to cut."""
    first_three = sum(len("|".join(map(spelt, row)).encode()) + 1 for row in ROWS[:3])
    parts = [part for cut in range(first_three + 1) for part in ((0, cut), (cut, first_three))]
    codec.write_rows(tmp_path / "parts", parts, PARTS)
    given = ParameterSlice(file=str(tmp_path / "parts"), first=0, count=len(parts))
    with talk_to(folder) as talk:
        columns = {"columns": COLUMNS, "parameter_columns": PARTS}
        prepare(talk, given, access="segment", **columns)
        for number in range(0, len(parts), 2):
            reply = talk.ask(Verify, VerifyReply, phase="q", first=number, count=2)
            assert reply.digest == codec.digest(ROWS[:3], COLUMNS), parts[number]


def test_sums(folder: Path) -> None:
    money = [row[1] for row in ROWS if row[1] is not None]
    texts = [row[3] for row in ROWS if row[3] is not None]
    answer = (
        len(ROWS),
        sum(money),
        min(money),
        max(row[2] for row in ROWS),
        min(texts),
        max(texts),
        sum(row[0] for row in ROWS),
        max(row[4] for row in ROWS),
        min(row[5] for row in ROWS),
    )
    with talk_to(folder) as talk:
        for _ in range(2):  # nothing of one operation is left in the next
            prepare(talk, access="aggregate", columns=SUMS)
            reply = talk.ask(Verify, VerifyReply, phase="q", first=0, count=2)
            assert reply.rows == 2
            assert reply.digest == codec.digest([answer, answer], SUMS)
        prepare(talk, access="aggregate", columns=SUMS, table="none")
        empty = (0, *([None] * 8))
        assert talk.ask(Verify, VerifyReply, phase="q", first=0, count=1).digest == codec.digest([empty], SUMS)


@pytest.mark.parametrize("name", ["avg_m", "sum_d", "max_nothing"])
def test_what_is_no_sum_is_unsupported(name: str, folder: Path) -> None:
    with talk_to(folder) as talk, pytest.raises(RunnerFailure, match=f"column {name}") as refused:
        prepare(talk, access="aggregate", columns=(Column(name=name, type="integer"),))
    assert refused.value.kind == "unsupported"


@pytest.mark.parametrize(
    ("values", "refusal"),
    [
        ("1|2.00|1992-01-01|a|0.5", "column f: the line has another number of values"),
        ("1|2.00|1992-01-01|a|0.5|2000-01-01 00:00:00|", "column at: the line has another number of values"),
    ],
)
def test_a_line_that_does_not_fit(values: str, refusal: str, folder: Path) -> None:
    right = "|".join(map(spelt, ROWS[1])) + "\n"
    (folder / "wrong.tbl").write_text(f"{right}{values}\n{right}")
    with talk_to(folder) as talk:
        prepare(talk, scan=True, columns=COLUMNS, table="wrong")
        with pytest.raises(RunnerFailure, match=refusal):
            talk.ask(Verify, VerifyReply, phase="q", first=0, count=1)


@pytest.mark.parametrize(
    ("values", "position"),
    [
        ("|2.00|1992-01-01|a|0.5|2000-01-01 00:00:00", 0),
        ("1x|2.00|1992-01-01|a|0.5|2000-01-01 00:00:00", 0),
        ("1|2.00|1992-01-01|a|0.5|2000-01-01 00:0/:00", 5),
    ],
)
def test_a_value_that_is_not_of_its_type(values: str, position: int, folder: Path) -> None:
    right = "|".join(map(spelt, ROWS[1])) + "\n"
    (folder / "foreign.tbl").write_text(f"{right}{values}\n{right}")
    with talk_to(folder) as talk:
        prepare(talk, scan=True, columns=COLUMNS, table="foreign")
        reply = talk.ask(Verify, VerifyReply, phase="q", first=0, count=1)
        assert reply.rows == 3
        assert [each.foreign for each in reply.columns] == [int(i == position) for i in range(len(COLUMNS))]


def test_numbers_and_times_in_unusual_forms(folder: Path) -> None:
    lines = ("+7|2.0|1992-01-01|a|5e-1|2000-01-01T00:00:01", "-0|2|1992-01-01|a|.5|2000-01-01 00:00:01.000000000")
    (folder / "unusual.tbl").write_text("".join(f"{line}\n" for line in lines))
    day, at = date(1992, 1, 1), datetime(2000, 1, 1, 0, 0, 1)
    rows = [(number, Decimal(2), day, "a", 0.5, at) for number in (7, 0)]
    with talk_to(folder) as talk:
        prepare(talk, scan=True, columns=COLUMNS, table="unusual")
        reply = talk.ask(Verify, VerifyReply, phase="q", first=0, count=1)
        assert reply.digest == codec.digest(rows, COLUMNS)
