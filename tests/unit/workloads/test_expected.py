"""The controller's own answers, checked the slow way."""

from __future__ import annotations

from rowpath.model.workload import Workload
from rowpath.workloads import codec, generators
from rowpath.workloads.expected import Expected
from rowpath.workloads.workload_file import at_scale, for_engine, load_workload

MASK64 = codec.MASK64


def slow_touch(workload: Workload, name: str, first: int, operations: int, padded: bool) -> int:
    phase = workload.phase(name)
    table = workload.tables[phase.table]
    assert phase.parameters is not None
    indexes = list(generators.parameter_indexes(phase.parameters))
    make = generators.row_maker(table)
    positions = range(first, first + operations)
    return sum(codec.touch_row(make(indexes[p % len(indexes)]), table.columns, padded) for p in positions) & MASK64


def test_touch_by_key_wraps_around() -> None:
    keyed = load_workload("keyed")
    touches = Expected(keyed).touches("read")
    for first, operations in ((0, 1), (3, 4), (997, 7), (0, 2500), (123456, 2001)):
        right = {slow_touch(keyed, "read", first, operations, padded) for padded in (False, True)}
        assert touches.expected(first, operations) == right


def test_touch_of_a_scan() -> None:
    scan = load_workload("scan")
    expected = Expected(scan)
    table = scan.tables["hits"]
    rows = list(generators.rows(table))
    right = {sum(codec.touch_row(row, table.columns, padded) for row in rows) * 3 & MASK64 for padded in (False, True)}
    assert expected.touches("read").expected(17, 3) == right
    assert expected.rows("read", 17, 3) == 3 * 6071
    assert expected.verify_digest("read", 5, 1, 100_000) == codec.digest(rows, table.columns)
    assert expected.verify_digest("read", 0, 2, 100) == codec.digest(rows[:100], table.columns)


def test_the_aggregate() -> None:
    workload = load_workload("aggregate")
    expected = Expected(workload)
    rows = list(generators.rows(workload.tables["hits"]))
    answer = (
        len(rows),
        sum(row[4] for row in rows),
        min(row[3] for row in rows),
        max(row[3] for row in rows),
        min(row[4] for row in rows),
        max(row[6] for row in rows),
    )
    assert expected.verify_digest("read", 0, 1, 10) == codec.digest([answer], workload.phase("read").columns)
    assert expected.rows("read", 0, 5) == 5


def test_connecting_delivers_one_row_of_one() -> None:
    expected = Expected(load_workload("connect"))
    assert expected.touches("first").expected(9, 4) == {4}
    assert expected.rows("first", 9, 4) == 4


def test_writes_are_proven_by_what_is_there_after() -> None:
    keyed = load_workload("keyed")
    expected = Expected(keyed)
    table = keyed.tables["mydata2"]
    assert expected.touches("insert").expected(0, 10) is None
    assert expected.rows("insert", 0, 10) == 0
    assert expected.after_digest("create", 1) == "0:0000000000000000"
    assert expected.after_digest("insert", 10) == codec.digest(generators.rows(table, 10), table.columns)
    assert expected.after_digest("read", 10) == ""

    tab1 = load_workload("tab1")
    before = list(generators.rows(tab1.tables["tab1"]))
    changed = generators.row_maker(tab1.tables["tab1_changed"])
    parameters = tab1.phase("update").parameters
    assert parameters is not None
    for index in list(generators.parameter_indexes(parameters))[:20]:
        assert changed(index) != before[index]
        before[index] = changed(index)
    assert Expected(tab1).after_digest("update", 20) == codec.digest(before, tab1.tables["tab1"].columns)


def test_payload_is_a_lower_bound_on_text_and_binary() -> None:
    for name, phase in (("scan", "read"), ("keyed", "read"), ("tab1", "select"), ("keyed", "insert")):
        workload = load_workload(name)
        bytes_ = Expected(workload).payload_bytes(phase, 0, 1)
        assert bytes_ > 0
        if name == "scan":
            text = sum(
                len(generators.delimited_value(value))
                for row in generators.rows(workload.tables["hits"])
                for value in row
            )
            assert 0.4 * text < bytes_ <= text
    assert Expected(load_workload("keyed")).payload_bytes("read", 0, 1000) == 1000 * 34


def test_types_has_every_unit_of_length_and_only_the_engines_columns() -> None:
    types = load_workload("types")
    assert len(Expected(types).touches("read").expected(0, 1) or ()) == 6
    missing = ("uuid", "array", "interval")

    def supports(kind: str) -> str:
        return "it has none" if kind in missing else ""

    narrowed, reasons = for_engine(types, supports)
    assert set(reasons) == {"types.c_uuid", "types.c_array", "types.c_interval"}
    columns = narrowed.tables["types"].columns
    right = codec.digest(generators.rows(narrowed.tables["types"]), columns)
    assert Expected(types, supports).verify_digest("read", 0, 1, 100) == right


def test_nothing_is_known_of_the_null_phase() -> None:
    expected = Expected(load_workload("null"))
    assert expected.touches("nothing").expected(0, 5) is None
    assert expected.rows("nothing", 0, 5) == 0
    assert expected.verify_digest("nothing", 0, 1, 1) == ""


def test_what_a_counting_phase_leaves() -> None:
    library = at_scale(load_workload("library"), 0.001)
    ledger, phase = library.tables["ledger"], library.phase("write")
    assert phase.parameters is not None
    indexes = list(generators.parameter_indexes(phase.parameters))
    columns = ledger.columns
    for operations in (0, 7, len(indexes), 2 * len(indexes) + 3):
        done = [indexes[position % len(indexes)] for position in range(operations)]
        right = [(row[0], done.count(index), row[2]) for index, row in enumerate(generators.rows(ledger))]
        assert Expected(library).after_digest("write", operations) == codec.digest(right, columns)
