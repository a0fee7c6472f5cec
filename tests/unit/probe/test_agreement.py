"""Which implementations agree about the rows: made deliveries of real adapters, hashed by the controller's codec."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec
import pytest

from rowpath.model.path import AccessPath
from rowpath.model.workload import Column
from rowpath.planning.plan import PlannedPath
from rowpath.probe.agreement import Agreement, Delivery, agreement_of, in_words, labels_of
from rowpath.probe.row_order import out_of_order
from rowpath.runners.manifest import every_adapter
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import ColumnDigest, VerifyReply
from rowpath.workloads import codec

K, MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1
COLUMNS = (
    Column(name="id", type="integer"),
    Column(name="at", type="timestamp", nullable=True),
    Column(name="x", type="float64", nullable=True),
    Column(name="a", type="array", nullable=True),
)
ROWS = [
    (1, "2020-01-01 00:00:00.123456789", 0.5, [1]),
    (2, "2020-01-01 00:00:00.123456500", None, codec.Bounded(0, [1, 2])),
    (3, None, 1e300, []),
]


def cut(row: Sequence[Any], digits: int) -> tuple[Any, ...]:
    at = row[1] and row[1][: 20 + digits].ljust(29, "0")
    return (row[0], at, *row[2:])


MICRO = [cut(row, 6) for row in ROWS]
MILLI = [cut(row, 3) for row in ROWS]


def finest(value: Any) -> int:
    if isinstance(value, float):
        return 0
    ns = value[2] if isinstance(value, tuple) else codec.Moment.of(value).time_ns
    return next(unit for unit in (10**9, 10**6, 1000, 1) if ns % unit == 0)


TIMES = ("time", "timetz", "timestamp", "timestamptz", "interval")


def replied(rows: Sequence[Sequence[Any]], columns: tuple[Column, ...] = COLUMNS, **more: Any) -> VerifyReply:
    whole, order = codec.Digest(), 0
    sums, orders = [0] * len(columns), [0] * len(columns)
    for row in rows:
        encoded = [codec.encode_value(value, column) for value, column in zip(row, columns, strict=True)]
        whole.add(b"".join(encoded))
        order = (order * K + codec.row_hash(b"".join(encoded))) & MASK
        for number, value in enumerate(encoded):
            sums[number] = (sums[number] + codec.row_hash(value)) & MASK
            orders[number] = (orders[number] * K + codec.row_hash(value)) & MASK
    units = [
        min((finest(row[at]) for row in rows if row[at] is not None), default=0) if column.type in TIMES else 0
        for at, column in enumerate(columns)
    ]
    bounds = [any(isinstance(row[at], codec.Bounded) for row in rows) for at in range(len(columns))]
    told = [
        ColumnDigest(f"{total:016x}", f"{of_order:016x}", units[number], bounds[number])
        for number, (total, of_order) in enumerate(zip(sums, orders, strict=True))
    ]
    made: dict[str, Any] = {"id": 1, "rows": len(rows), "touch": "0", "operations": 1, "digest": whole.text()}
    return VerifyReply(**made, order=f"{order:016x}", columns=told, **more)


ADAPTERS = {f"{each.language} {each.driver}": each for each in every_adapter()}
Source = Callable[[], list[Any]]


class Paths:
    """Paths of real adapters with made rows; each execution asks the path's source again."""

    def __init__(self, **sources: Source | list[Any]) -> None:
        self.sources = {}
        self.deliveries = []
        self.executed = 0
        for number, (name, source) in enumerate(sources.items()):
            adapter = ADAPTERS[name.partition("__")[0].replace("_", " ", 1).replace("_", "-")]
            path = AccessPath.of({"language": adapter.language, "driver": adapter.driver, "label": str(number)})
            rows = source if callable(source) else lambda kept=source: kept
            self.sources[path.id] = rows
            self.deliveries.append(Delivery(PlannedPath(path, adapter, "", name), replied(rows())))

    def above(self, *names: str) -> None:
        """Let these be paths of a layer above their driver."""
        for delivery in self.deliveries:
            planned = delivery.planned
            if planned.name in names:
                before = planned.path
                path = AccessPath.of({**dict(before.coordinates), "layer": "orm", "technique": "raw"}, before.label)
                object.__setattr__(planned, "path", path)
                self.sources[path.id] = self.sources[before.id]

    def again(self, delivery: Delivery, columns: tuple[Column, ...]) -> VerifyReply:
        self.executed += 1
        return replied(self.sources[delivery.planned.path.id](), columns)

    def kept(self, delivery: Delivery) -> list[list[bytes]]:
        rows = self.sources[delivery.planned.path.id]()
        return [[codec.encode_value(value, column) for value, column in zip(row, COLUMNS, strict=True)] for row in rows]

    def compared(self) -> Agreement:
        return agreement_of(
            self.deliveries, COLUMNS, labels_of([column.name for column in COLUMNS]), self.again, self.kept
        )

    def wrong(self) -> dict[str, str]:
        verdicts = self.compared().verdicts
        return {member.planned.name: in_words(v) for v in verdicts if v.wrong for member in v.members}


def changed(rows: list[Any], number: int, value: Any) -> list[Any]:
    return [(*rows[0][:number], value, *rows[0][number + 1 :]), *rows[1:]]


def test_all_agree_and_nothing_is_executed_again() -> None:
    paths = Paths(c_libpq=ROWS, java_pgjdbc=ROWS[::-1])
    found = paths.compared()
    assert len(found.agreeing) == 1 and found.voices == {"c libpq", "java pgjdbc"} and not paths.executed


@pytest.mark.parametrize(("number", "value"), [(0, 7), (2, 0.5000000000000001), (3, [2]), (1, None)])
def test_one_against_several_is_wrong_in_its_column(number: int, value: Any) -> None:
    paths = Paths(c_libpq=ROWS, java_pgjdbc=ROWS, go_pgx=changed(ROWS, number, value))
    assert paths.wrong() == {"go_pgx": f"column {COLUMNS[number].name}, unlike c libpq and 1 more"}


def test_settings_of_one_driver_and_drivers_with_one_decoder_are_one_voice() -> None:
    other = changed(ROWS, 2, 0.25)
    paths = Paths(go_pgx=other, go_pgx__2=other, go_pgx_stdlib=other, c_libpq=ROWS, java_pgjdbc=ROWS)
    assert msgspec.structs.replace(ADAPTERS["go pgx"], voice="pgx") is not None
    for delivery in paths.deliveries[:3]:
        object.__setattr__(delivery.planned, "adapter", msgspec.structs.replace(delivery.planned.adapter, voice="pgx"))
    assert set(paths.wrong()) == {"go_pgx", "go_pgx__2", "go_pgx_stdlib"}


def test_readers_of_ours_are_one_voice_and_never_the_truth_against_libraries() -> None:
    ours = changed(ROWS, 2, 0.25)
    paths = Paths(c_file=ours, java_file=ours, python_file=ours, python_pyarrow=ROWS, python_polars=ROWS)
    assert set(paths.wrong()) == {"c_file", "java_file", "python_file"}


def test_a_column_that_our_converter_read_is_its_voice() -> None:
    other = changed(ROWS, 2, 0.25)
    paths = Paths(c_libpq=other, c_psqlodbc=other, java_pgjdbc=ROWS, go_pgx=ROWS)
    for number in (0, 1):
        delivery = paths.deliveries[number]
        paths.deliveries[number] = Delivery(delivery.planned, replied(other, converted=["x"]))
    assert set(paths.wrong()) == {"c_libpq", "c_psqlodbc"}


def test_one_against_one_is_a_tie_and_nobody_is_wrong() -> None:
    found = Paths(c_libpq=ROWS, go_pgx=changed(ROWS, 2, 0.25)).compared()
    assert [verdict.wrong for verdict in found.verdicts] == [{}, {}]
    assert {verdict.ties["x"] for verdict in found.verdicts} == {"c libpq", "go pgx"}
    assert not found.voices


def test_a_layer_is_wrong_where_it_has_other_values_than_its_driver_however_many_say_the_same() -> None:
    zone = changed(ROWS, 1, "2020-01-01 01:00:00.123456789")
    paths = Paths(python_psycopg=ROWS, python_psycopg__1=zone, python_psycopg__2=zone, python_psycopg__3=MILLI)
    paths.above("python_psycopg__1", "python_psycopg__2", "python_psycopg__3")
    wrong = "column at, unlike python psycopg"
    assert paths.wrong() == {f"python_psycopg__{number}": wrong for number in (1, 2, 3)}
    assert paths.compared().voices == {"python psycopg"}


def test_a_layer_above_one_driver_does_not_decide_against_another() -> None:
    other = changed(ROWS, 2, 0.25)
    paths = Paths(python_psycopg=other, python_psycopg__1=other, c_libpq=ROWS)
    paths.above("python_psycopg__1")
    assert all(verdict.ties for verdict in paths.compared().verdicts)


def test_another_number_of_rows_is_wrong_or_a_tie() -> None:
    paths = Paths(c_libpq=ROWS, java_pgjdbc=ROWS, go_pgx=ROWS[:2])
    assert paths.wrong() == {"go_pgx": "2 rows, 3 by c libpq and 1 more"}
    found = Paths(c_libpq=ROWS, go_pgx=ROWS[:2]).compared()
    assert not any(verdict.wrong for verdict in found.verdicts) and all(verdict.ties for verdict in found.verdicts)


def test_each_path_is_compared_at_its_own_finest_unit() -> None:
    found = Paths(c_libpq=ROWS, java_pgjdbc=MICRO, go_pgx=MICRO, node_pg=MILLI).compared()
    assert not any(verdict.wrong or verdict.ties for verdict in found.verdicts)
    said = {note for verdict in found.verdicts for note in verdict.notes()}
    assert said == {"at compared in microseconds", "at compared in milliseconds"}


def test_two_paths_of_microseconds_stay_compared_to_the_microsecond() -> None:
    later = [(row[0], row[1] and row[1].replace("123456", "123457"), *row[2:]) for row in MICRO]
    paths = Paths(c_libpq=MICRO, java_pgjdbc=MICRO, go_pgx=later, node_pg=MILLI)
    assert set(paths.wrong()) == {"go_pgx"}


def test_rounding_is_accepted_and_named() -> None:
    rounded = [(row[0], row[1] and "2020-01-01 00:00:00.123457", *row[2:]) for row in ROWS]
    found = Paths(c_libpq=ROWS, java_pgjdbc=ROWS, go_pgx=rounded).compared()
    assert not any(verdict.wrong or verdict.ties for verdict in found.verdicts)
    assert [note for verdict in found.verdicts for note in verdict.notes()] == ["at compared in microseconds, rounded"]
    further = [(row[0], row[1] and "2020-01-01 00:00:00.123458", *row[2:]) for row in ROWS]
    assert set(Paths(c_libpq=ROWS, java_pgjdbc=ROWS, go_pgx=further).wrong()) == {"go_pgx"}


def test_lost_lower_bounds_are_named() -> None:
    bare = [(*row[:3], list(row[3])) for row in ROWS]
    found = Paths(c_libpq=ROWS, java_pgjdbc=bare, go_pgx=bare).compared()
    assert not any(verdict.wrong or verdict.ties for verdict in found.verdicts)
    assert {note for verdict in found.verdicts for note in verdict.notes()} == {"a compared without lower bounds"}


def test_what_the_engine_changes_is_noticed_and_nobody_is_blamed() -> None:
    state = [0.0]

    def volatile() -> list[Any]:
        state[0] += 1
        return [(*row[:2], state[0], row[3]) for row in ROWS]

    found = Paths(c_libpq=volatile, java_pgjdbc=volatile, go_pgx=volatile).compared()
    assert found.volatile == ["x"] and not found.rows_change
    assert not any(verdict.wrong or verdict.ties for verdict in found.verdicts)
    assert len(found.voices) == 3


def test_a_driver_is_blamed_for_another_column_while_one_changes() -> None:
    state = [0.0]

    def volatile(first: int = 1) -> list[Any]:
        state[0] += 1
        return [(row[0] * first, row[1], state[0], row[3]) for row in ROWS]

    paths = Paths(c_libpq=volatile, java_pgjdbc=volatile, go_pgx=lambda: volatile(2))
    assert paths.wrong() == {"go_pgx": "column id, unlike c libpq and 1 more"}


def test_a_sum_of_floats_that_seldom_differs_is_no_fault() -> None:
    state = [0]

    def seldom() -> list[Any]:
        state[0] += 1
        return changed(ROWS, 2, 0.5 if state[0] % 3 else 0.5000000000000001)

    state[0] = 1
    paths = Paths(c_libpq=ROWS, java_pgjdbc=ROWS, go_pgx=seldom)
    state[0] = 2
    paths.deliveries[2] = Delivery(paths.deliveries[2].planned, replied(seldom()))
    assert paths.compared().volatile == ["x"]


def test_rows_that_come_and_go_prove_nothing() -> None:
    state = [0]

    def growing() -> list[Any]:
        state[0] += 1
        return ROWS * state[0]

    assert Paths(c_libpq=growing, java_pgjdbc=growing, go_pgx=growing).compared().rows_change


def test_what_our_reader_cannot_is_its_own_note_and_excuses_nobody_else() -> None:
    paths = Paths(c_libpq=ROWS, java_pgjdbc=ROWS, go_pgx=changed(ROWS, 3, None), node_pg=changed(ROWS, 0, 9))
    delivery = paths.deliveries[2]
    told = list(delivery.reply.columns)
    told[3] = msgspec.structs.replace(told[3], foreign=1, reason="'(1)' is no array")
    paths.deliveries[2] = Delivery(delivery.planned, msgspec.structs.replace(delivery.reply, columns=told))
    assert set(paths.wrong()) == {"node_pg"}
    notes = [note for verdict in paths.compared().verdicts for note in verdict.notes()]
    assert notes == ["a not compared: our reader cannot: '(1)' is no array"]


def test_the_same_values_in_other_rows_are_wrong() -> None:
    mixed = [(row[0], *other[1:]) for row, other in zip(ROWS, ROWS[::-1], strict=True)]
    assert paths_wrong(mixed) == {"go_pgx": "the values of c libpq and 1 more in other rows"}
    assert paths_wrong(ROWS[::-1]) == {}


def paths_wrong(rows: list[Any]) -> dict[str, str]:
    return Paths(c_libpq=ROWS, java_pgjdbc=ROWS, go_pgx=rows).wrong()


def test_a_path_that_loses_the_order_is_named_by_the_column_that_sorts() -> None:
    rows = [(1, None, 1.0, []), (1, None, 2.0, []), (2, None, 3.0, [])]
    paths = Paths(c_libpq=rows, java_pgjdbc=[rows[1], rows[0], rows[2]], go_pgx=[rows[2], *rows[:2]])
    for key in ("id", "ID", "1"):
        lost = out_of_order(paths.deliveries, COLUMNS, key, paths.again)
        assert [delivery.planned.name for delivery in lost] == ["go_pgx"]
    assert out_of_order(paths.deliveries, COLUMNS, "", paths.again) == []  # three orders of one voice each
    two = Paths(c_libpq=rows, java_pgjdbc=rows, go_pgx=rows[::-1])
    assert [each.planned.name for each in out_of_order(two.deliveries, COLUMNS, "", two.again)] == ["go_pgx"]


def test_an_execution_that_fails_leaves_the_comparison_as_it_was() -> None:
    paths = Paths(c_libpq=ROWS, java_pgjdbc=ROWS, go_pgx=MILLI)

    def fails(*_: object) -> VerifyReply:
        raise RunnerFailure("sql", "gone")

    labels = labels_of([column.name for column in COLUMNS])
    found = agreement_of(paths.deliveries, COLUMNS, labels, fails, paths.kept)
    assert [bool(verdict.wrong) for verdict in found.verdicts] == [False, True]


def test_columns_without_a_name_or_with_one_name_are_called_by_their_numbers() -> None:
    assert labels_of(["a", "", "b", "b"]) == ("a", "column 2", "b (column 3)", "b (column 4)")


INTEGERS = Column(name="", type="integer", nullable=True)
TEXT = Column(name="", type="text", nullable=True)
# Of each type a value and the one that is its smallest step away.
STEPS: tuple[tuple[str, Any, Any, dict[str, Any]], ...] = (
    ("integer", 1 << 126, (1 << 126) + 1, {"bits": 128}),
    ("decimal", Decimal("0.1"), Decimal("0.10000000000000000000000000000000000001"), {}),
    ("decimal", Decimal("NaN"), Decimal("Infinity"), {}),
    ("float32", 0.5, 0.5 + 2**-24, {}),
    ("float64", 0.1, 0.1 + 2**-56, {}),
    ("boolean", True, False, {}),
    ("char", "a", "b", {"length": 4}),
    ("varchar", "a ", "a", {"length": 4}),
    ("text", "e\u0301", "\u00e9", {}),
    ("text", "a\0", "a", {}),
    ("text", b"\xff", b"\xfe", {}),
    ("json", '{"a":1}', '{"a": 1}', {}),
    ("binary", b"\0\0", b"\0", {}),
    ("bits", "10", "100", {}),
    ("date", "0044-03-15 BC", "0044-03-16 BC", {}),
    ("date", "2024-00-00", "2024-01-00", {}),
    ("time", "24:00:00", "00:00:00", {}),
    ("time", "-00:00:00.000000001", "00:00:00", {}),
    ("timetz", "12:00:00+05:00", "11:00:00+04:00", {}),
    ("timestamp", "2020-01-01 00:00:00.000000001", "2020-01-01 00:00:00", {}),
    ("timestamp", math.inf, -math.inf, {}),
    ("timestamptz", "2020-01-01 00:00:00.000000001+00:00", "2020-01-01 00:00:00+00:00", {}),
    ("interval", (0, 1, 0), (0, 0, 86_400_000_000_000), {}),
    ("interval", (0, 0, 1), (0, 0, 0), {}),
    ("uuid", UUID(int=0), UUID(int=1), {}),
    ("array", [1, None], [None, 1], {}),
    ("array", [[1], [2]], [1, 2], {}),
    ("array", codec.Bounded(0, [1]), [1], {"fields": (INTEGERS,)}),
    ("array", ["NULL"], [None], {"fields": (TEXT,)}),
    ("struct", [1, None], [None, 1], {"fields": (INTEGERS, INTEGERS)}),
    ("map", {1: None}, {1: 1}, {"fields": (INTEGERS, INTEGERS)}),
    ("rows", [[1], [2]], [[2], [1]], {"fields": (INTEGERS,)}),
    ("any", 9007199254740993, 9007199254740992.0, {}),
)


def comparison(made: list[Delivery], columns: tuple[Column, ...], rows_of: dict[str, list[Any]]) -> Agreement:
    def again(delivery: Delivery, wanted: tuple[Column, ...]) -> VerifyReply:
        return replied(rows_of[delivery.planned.path.id], wanted)

    def kept(delivery: Delivery) -> list[list[bytes]]:
        rows = rows_of[delivery.planned.path.id]
        return [[codec.encode_value(value, column) for value, column in zip(row, columns, strict=True)] for row in rows]

    return agreement_of(made, columns, ("id", "v"), again, kept)


@pytest.mark.parametrize(("kind", "digits"), [("float32", 6), ("float64", 15)])
@pytest.mark.parametrize("finer_paths", [1, 2])
def test_floats_that_text_rounds_agree_with_those_of_two_voices(kind: Any, digits: int, finer_paths: int) -> None:
    columns = (Column(name="id", type="integer"), Column(name="v", type=kind, nullable=True))
    finer = [(1, 16777215.0 if digits == 6 else 0.1 + 0.2), (2, 0.5), (3, None), (4, float("nan"))]
    rounded = [(at, value and float(f"{value:.{digits}g}")) for at, value in finer]
    paths = Paths(c_libpq=[], java_pgjdbc=[], go_pgx=[], rust_postgres=[])
    sources = [finer] * finer_paths + [rounded] * (4 - finer_paths)
    pairs = list(zip(paths.deliveries, sources, strict=True))
    made = [Delivery(one.planned, replied(rows, columns)) for one, rows in pairs]
    found = comparison(made, columns, {one.planned.path.id: rows for one, rows in pairs})
    if finer_paths == 1:
        assert {verdict.first.planned.name: verdict.wrong for verdict in found.verdicts if verdict.wrong} == {
            "c_libpq": {"v": "java pgjdbc and 2 more"}
        }
        return
    assert not any(verdict.wrong or verdict.ties for verdict in found.verdicts)
    notes = {verdict.first.planned.name: list(verdict.notes()) for verdict in found.verdicts}
    assert notes == {"c_libpq": [], "go_pgx": [f"v compared in {digits} digits, as text has it"]}


def test_texts_that_end_at_a_nul_are_wrong_however_many_say_so() -> None:
    columns = (Column(name="id", type="integer"), Column(name="v", type="text", nullable=True))
    whole, cut = [(1, "bar\0baz"), (2, "\0"), (3, None)], [(1, "bar"), (2, ""), (3, None)]
    paths = Paths(c_libpq=[], java_pgjdbc=[], go_pgx=[])
    pairs = list(zip(paths.deliveries, (cut, cut, whole), strict=True))
    made = [Delivery(one.planned, replied(rows, columns)) for one, rows in pairs]
    found = comparison(made, columns, {one.planned.path.id: rows for one, rows in pairs})
    assert [verdict.wrong for verdict in found.verdicts] == [{}, {"v": "go pgx"}]


@pytest.mark.parametrize(
    ("value", "other", "alike"),
    [
        (0, "0", True),
        (1.5, "1.5", True),
        (1, "1.0", True),
        (0.1 + 0.2, "0.3", True),
        (Decimal("19.99"), 19.99, True),
        ("1", 1, True),
        (1067, "01067", False),
        (None, "", False),
        ("a", "b", False),
        (9007199254740993, 9007199254740992.0, False),
    ],
)
def test_values_of_several_types_agree_as_text(value: Any, other: Any, alike: bool) -> None:
    columns = (Column(name="id", type="integer"), Column(name="v", type="any", nullable=True))
    paths = Paths(c_libpq=[], java_pgjdbc=[], go_pgx=[])
    pairs = list(zip(paths.deliveries, ([(1, value)], [(1, value)], [(1, other)]), strict=True))
    made = [Delivery(one.planned, replied(rows, columns)) for one, rows in pairs]
    found = comparison(made, columns, {one.planned.path.id: rows for one, rows in pairs})
    *_, last = found.verdicts
    assert (
        (last.wrong, list(last.notes())) == ({}, ["v compared as text"])
        if alike
        else last.wrong == {"v": "c libpq and 1 more"}
    )


@pytest.mark.parametrize(("kind", "value", "next_value", "declared"), STEPS, ids=[step[0] for step in STEPS])
def test_a_liar_that_changes_one_value_by_its_smallest_step_is_found(
    kind: str, value: Any, next_value: Any, declared: dict[str, Any]
) -> None:
    columns = (Column(name="id", type="integer"), Column(name="v", type=kind, nullable=True, **declared))  # type: ignore[arg-type]

    def of(values: list[Any]) -> list[Any]:
        return [(at, one) for at, one in enumerate(values)]

    honest, lied = of([value, None, value]), of([value, None, next_value])
    paths = Paths(c_libpq=[], java_pgjdbc=[], go_pgx=[])
    made = [
        Delivery(one.planned, replied(rows, columns))
        for one, rows in zip(paths.deliveries, (honest, honest, lied), strict=True)
    ]
    rows_of = {one.planned.path.id: rows for one, rows in zip(made, (honest, honest, lied), strict=True)}
    found = comparison(made, columns, rows_of)
    assert [verdict.wrong for verdict in found.verdicts] == [{}, {"v": "c libpq and 1 more"}]
