"""The parameters of a user's query: placeholders of each form, values of each type, files, and how they are written."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from rowpath.errors import UsageError
from rowpath.model.workload import Column, Phase
from rowpath.own_database.candidates import Wanted, candidates
from rowpath.own_database.parameters import keyed, placeholders
from rowpath.own_database.question import ProbeOptions, keyed_by_options, rows_by_options
from rowpath.own_database.throttled_worker import KeyedRowConsistency, settings_of
from rowpath.workloads.codec import digest, read_kept, touch_row, write_rows
from rowpath.workloads.expected import Delivery


@pytest.mark.parametrize(
    ("sql", "engine", "written", "takes"),
    [
        ("SELECT a FROM t WHERE b = ? AND c = '?'", "sqlite", "SELECT a FROM t WHERE b = ? AND c = '?'", "1"),
        ("SELECT a::text FROM t WHERE b = $2 AND c > $1", "postgresql", None, "2 1"),
        ("SELECT a FROM t WHERE b = $1 OR c = $1", "postgresql", None, "1 1"),
        ("SELECT 5 %% 2, a FROM t WHERE b = %s", "mysql", "SELECT 5 % 2, a FROM t WHERE b = ?", "1"),
        ("SELECT a FROM t WHERE b = :key -- :what\n", "sqlite", "SELECT a FROM t WHERE b = ? -- :what\n", "key"),
        ("SELECT a[1:n], now()::date FROM t WHERE b = :n", "postgresql", None, "n"),
        ("SELECT $x$ $1 $x$, a FROM t WHERE b = $1", "postgresql", None, "1"),
        ("SELECT a FROM t WHERE b = %(key)s OR c = %(key)s + 0", "postgresql", None, "key key"),
        (
            "SELECT 5 %% 2 FROM t WHERE c LIKE 'a%%' AND b = %(k)s",
            "mysql",
            "SELECT 5 % 2 FROM t WHERE c LIKE 'a%' AND b = ?",
            "k",
        ),
        ("SELECT '%(no)s', a FROM t WHERE b = ?", "postgresql", None, "1"),
        ("SELECT MAP {'a':b}, {'a':b}, {'a' :b} FROM t WHERE id = :id", "duckdb", None, "id"),
        ("SELECT {'a':b} AS s FROM t WHERE id = $1", "duckdb", None, "1"),
        ("SELECT [1,2,3]['1':2], a[1 :n], f(1):c FROM t WHERE id = ?", "duckdb", None, "1"),
        ('SELECT "a":b, $$x$$ :c FROM t WHERE id = :id', "postgresql", None, "id"),
        ("SELECT :a::text, CASE WHEN :b THEN :c END LIMIT :d", "postgresql", None, "a b c d"),
        ("SELECT a % s FROM t WHERE b = ?", "duckdb", None, "1"),
        ("SELECT a FROM t", "sqlite", "SELECT a FROM t", ""),
    ],
)
def test_placeholders_of_each_form_are_found(sql: str, engine: str, written: str | None, takes: str) -> None:
    found = placeholders(sql, engine)
    assert " ".join(found.takes) == takes
    assert found.sql.count("?") - found.sql.count("'?'") == len(found.takes)
    assert written is None or found.sql == written


@pytest.mark.parametrize(
    ("sql", "engine", "why"),
    [
        ("SELECT a FROM t WHERE b = ? AND c = $1", "postgresql", "several forms"),
        ("SELECT a FROM t WHERE b = ?1", "sqlite", "\\?1"),
        ("SELECT a -- what?\nFROM t WHERE b = ?", "sqlite", "no placeholder"),
        ("SELECT a FROM t WHERE b ? 'x' AND c = $1", "postgresql", "several forms"),
        ("SELECT `it's`, a FROM t WHERE b = ?", "mysql", "no placeholder"),
        ("SELECT a FROM t WHERE b ?| c AND d = :d", "postgresql", "several forms"),
    ],
)
def test_what_a_runner_would_not_find_again_is_refused(sql: str, engine: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as failure:
        placeholders(sql, engine)
    assert failure.value.hint


@pytest.mark.parametrize(
    ("sql", "engine", "refused"),
    [
        ("SELECT a FROM t WHERE b = $1", "postgresql", True),
        ("SELECT a FROM t WHERE b = %(key)s", "postgresql", True),
        ("SELECT a FROM t WHERE b = '%(key)s'", "postgresql", False),
        ("SELECT a FROM t WHERE b ? 'x'", "postgresql", False),
        ("SELECT a FROM t WHERE b = ?", "sqlite", True),
        ("SELECT a FROM t WHERE b = :name", "sqlite", True),
        ("SELECT a FROM t WHERE b = '$1'", "sqlite", False),
    ],
)
def test_placeholders_without_parameters_are_refused_where_the_server_would_not(
    sql: str, engine: str, refused: bool
) -> None:
    if refused:
        with pytest.raises(UsageError, match="no parameters are given"):
            keyed_by_options(sql, engine, ProbeOptions(""))
    else:
        assert keyed_by_options(sql, engine, ProbeOptions("")) is None


def test_each_type_is_read_and_made_as_wide_as_its_values() -> None:
    texts = (
        "smallint:-7", "bigint:9000000000", "numeric:12.50", "real:0.5", "boolean:true", "text:a:b", "binary:\\x00ff",
        "date:2026-01-31", "timestamptz:2026-01-31T12:00:00+00:00", "varchar:\\N",
    )  # fmt: skip
    given = rows_by_options(ProbeOptions("", params=texts))
    noon = datetime(2026, 1, 31, 12, tzinfo=UTC)
    decimal = Decimal("12.50")
    row = (-7, 9_000_000_000, decimal, 0.5, True, "a:b", b"\0\xff", date(2026, 1, 31), noon, None)
    assert given.rows == [row]
    assert [column.bits for column in given.columns[:2]] == [16, 64]
    assert (given.columns[2].precision, given.columns[2].scale) == (3, 1)
    assert [column.nullable for column in given.columns] == 9 * [False] + [True]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("42", "no type"),
        ("bigin:42", "unknown type 'bigin'"),
        ("integer:2147483648", "out of range"),
        ("integer:x", "'x' is not of type integer"),
        ("numeric:NaN", "not of type numeric"),
        ("timestamptz:2026-01-31T12:00:00", "not of type timestamptz"),
    ],
)
def test_a_wrong_parameter_is_refused(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        rows_by_options(ProbeOptions("", params=(text,)))


def csv(folder: Path, text: str) -> ProbeOptions:
    (folder / "p.csv").write_text(text, encoding="utf-8")
    return ProbeOptions("", params_file=folder / "p.csv")


def test_named_placeholders_take_the_columns_of_their_names_and_others_their_order(tmp_path: Path) -> None:
    given = rows_by_options(csv(tmp_path, 'low:int,"name:text"\n1,"a,b"\n2,\\N\n'))
    assert given.count == 2
    by_name = keyed("SELECT * FROM t WHERE n = :name AND a > :low", "sqlite", given)
    assert by_name.rows == [("a,b", 1), (None, 2)]
    by_order = keyed("SELECT * FROM t WHERE a > ? AND n = ?", "sqlite", given)
    assert by_order.rows == [(1, "a,b"), (2, None)]
    twice = keyed("SELECT * FROM t WHERE a > $1 AND n = $2 OR a = $1", "postgresql", given)
    assert [column.type for column in twice.columns] == ["integer", "text", "integer"]
    assert twice.rows[0] == (1, "a,b", 1)
    with pytest.raises(UsageError, match="takes 1 parameter, and 2 are given"):
        keyed("SELECT * FROM t WHERE a > ?", "sqlite", given)
    with pytest.raises(UsageError, match="takes 0 parameters, and 2") as failure:
        keyed("SELECT * FROM t WHERE a > @low", "postgresql", given)
    assert failure.value.hint == "placeholders are ?, $1, %s, %(name)s, :name"


@pytest.mark.parametrize(
    ("text", "why"),
    [("a:int\n", "no row"), ("a:int\n1,2\n", "row 2 has 2 values"), ("a\n1\n", "unknown type 'a'"), ("", "no row")],
)
def test_a_wrong_file_is_refused(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        rows_by_options(csv(tmp_path, text))


def test_a_query_is_described_with_its_parameters_written_into_it() -> None:
    texts = ("bigint:7", "text:it's \\", "binary:00ff", "boolean:f", "date:2026-01-31")
    given = rows_by_options(ProbeOptions("", params=texts))
    sql = "SELECT ?, ?, ?, ?, ?"
    query = keyed(sql, "sqlite", given)
    assert query.with_literals("sqlite", query.rows[0]) == "SELECT 7, 'it''s \\', X'00ff', FALSE, '2026-01-31'"
    assert "'it''s \\\\'" in query.with_literals("mysql", query.rows[0])
    assert "CAST(from_hex('00ff') AS BLOB)" in query.with_literals("duckdb", query.rows[0])
    assert query.with_literals("postgresql", query.rows[0]) == (
        "SELECT CAST(7 AS bigint), 'it''s \\', CAST('\\x00ff' AS bytea), CAST(FALSE AS boolean), "
        "CAST('2026-01-31' AS date)"
    )


def test_a_file_and_a_writing_query_take_no_parameters() -> None:
    given = ProbeOptions("", params=("int:1",))
    with pytest.raises(UsageError, match="read whole"):
        keyed_by_options("", "parquet", given)
    with pytest.raises(UsageError, match="begins with DELETE"):
        keyed_by_options("SELECT ?", "sqlite", ProbeOptions("", params_query="DELETE FROM t RETURNING a"))
    assert keyed_by_options("SELECT 1", "sqlite", ProbeOptions("")) is None


def test_only_the_likeliest_prepared_path_meets_every_plan_cache_mode() -> None:
    phase = Phase("query", "query", "SELECT ?")
    found = candidates(Wanted("postgresql", "server", phase, languages=("c",), drivers=("libpq",), keyed=True))
    modes = [each.path.get("plan_cache_mode") for each in found.paths if each.path.get("statement") == "prepared"]
    assert sorted(set(modes)) == ["auto", "force_custom_plan", "force_generic_plan"]
    forced = [each.path for each in found.paths if each.path.get("plan_cache_mode").startswith("force")]
    assert len(forced) == 2
    assert settings_of(forced[0]) == (("plan_cache_mode", forced[0].get("plan_cache_mode")),)
    assert {each.path.get("statement") for each in found.paths} == {"prepared", "bound", "text"}
    assert settings_of(found.paths[0].path) == ()
    assert not found.floors
    plain = candidates(Wanted("postgresql", "server", phase, languages=("c",), drivers=("libpq",)))
    assert {each.path.get("plan_cache_mode") for each in plain.paths} == {"none"}


def test_blocks_of_other_parameters_have_other_sums_and_count_once_a_path_confirmed_them() -> None:
    columns = (Column("a", "integer"), Column("b", "text"))
    row_sets = [[(1, "é")], [], [(10, "x"), (20, "y")]]
    same = KeyedRowConsistency(delivery=Delivery(row_sets, columns))
    assert same.expected_of([(0, 3)]) is None
    same.learn(7)
    assert same.expected_of([(0, 3)]) is None
    same.learn(sum(touch_row(row, columns, unit="bytes") for group in row_sets for row in group))
    assert same.expected_of([(0, 1)]) == {2, 3}  # characters, bytes
    assert same.expected_of([(1, 1)]) == {0}
    assert same.expected_of([(4, 2)]) == {32}
    same.changed = True
    assert same.expected_of([(0, 1)]) is None


def test_rows_that_a_runner_kept_are_read_again(tmp_path: Path) -> None:
    columns = (Column("a", "integer"), Column("b", "decimal", nullable=True))
    rows = [(1, Decimal("2.5")), (-3, None)]
    write_rows(tmp_path / "rows", rows, columns)
    data = (tmp_path / "rows").read_bytes()
    body = data[24 + 8 * len(rows) :]
    first = int.from_bytes(data[24:32], "little") - int.from_bytes(data[16:24], "little")
    kept = b"".join(len(one).to_bytes(4, "little") + one for one in (body[:first], body[first:]))
    (tmp_path / "kept").write_bytes(kept)
    assert digest(read_kept(tmp_path / "kept", columns), columns) == digest(rows, columns)
