"""What operations on films deliver, against the same tables in SQLite."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from rowpath.model.workload import Table
from rowpath.workloads import codec, generators
from rowpath.workloads.expected import Expected
from rowpath.workloads.films import LATEST, PAGE, Films
from rowpath.workloads.workload_file import at_scale, load_workload

SCALES = (0.002, 0.00301, 0.0049)  # such that not every film has the same number of reviews


@pytest.fixture(scope="module", params=SCALES)
def films(request: pytest.FixtureRequest) -> Iterator[tuple[Films, sqlite3.Connection, dict[str, Table]]]:
    tables = at_scale(load_workload("films"), request.param).tables
    connection = sqlite3.connect(":memory:")
    for name, table in tables.items():
        connection.execute(f"CREATE TABLE {name} ({', '.join(column.name for column in table.columns)})")
        rows = [[str(v) if not isinstance(v, int | None) else v for v in row] for row in generators.rows(table)]
        connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(table.columns))})", rows)
    yield Films(tables, generators.draw), connection, tables
    connection.close()


def kept(value: Any) -> Any:
    """As SQLite takes it."""
    return value if isinstance(value, int | None) else str(value)


def same(value: Any) -> Any:
    return value


def decimal(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


NATURAL: dict[str, Callable[[Any], Any]] = {"date": date.fromisoformat, "decimal": decimal}


def add(execute: Any, title: str, released: str, budget: str | None, person: int) -> None:
    row = title, released, budget
    film = execute("INSERT INTO films_added (title, released, budget) VALUES (?, ?, ?) RETURNING id", row).fetchone()[0]
    for at in range(2):
        row = film, person + at, at
        execute("INSERT INTO directors_added (film_id, person_id, position) VALUES (?, ?, ?)", row)
    for at in range(8):
        row = film, person + 2 + at, at, f"part {at + 1}" if at < 7 else None
        execute("INSERT INTO actors_added (film_id, person_id, position, role) VALUES (?, ?, ?, ?)", row)


def change(execute: Any, key: int, title: str, budget: str | None) -> None:
    execute("UPDATE films_changed SET title = ?, budget = ? WHERE id = ?", (title, budget, key))


def read_modify_write(execute: Any, key: int, amount: str) -> None:
    (budget,) = execute("SELECT budget FROM films_changed WHERE id = ?", (key,)).fetchone()
    execute("UPDATE films_changed SET budget = ? WHERE id = ?", (str(Decimal(budget or 0) + Decimal(amount)), key))


WRITTEN = {"add": add, "change": change, "read-modify-write": read_modify_write}


def spelt(value: Any) -> Any:
    """As it stands in that database."""
    if isinstance(value, list | tuple):
        return [spelt(each) for each in value]
    return value if isinstance(value, int | None) else str(value)


def test_every_row_refers_to_rows_that_are_there(films: Any) -> None:
    _truth, connection, tables = films
    for table, column, other in (
        ("directors", "film_id", "films"),
        ("directors", "person_id", "people"),
        ("actors", "film_id", "films"),
        ("actors", "person_id", "people"),
        ("reviews", "film_id", "films"),
        ("reviews", "user_id", "users"),
    ):
        lost = f"SELECT count(*) FROM {table} WHERE {column} NOT IN (SELECT id FROM {other})"
        assert connection.execute(lost).fetchone() == (0,), table
        alone = f"SELECT count(*) FROM {other} WHERE id NOT IN (SELECT {column} FROM {table})"
        if (table, other) in (("reviews", "films"), ("directors", "films")):
            assert connection.execute(alone).fetchone()[0] <= 1, table
    assert len({row[1] for row in generators.rows(tables["films"])}) == tables["films"].rows


def test_a_film_has_its_directors_its_cast_and_its_reviews(films: Any) -> None:
    truth, connection, tables = films
    for key in (1, 2, tables["films"].rows):
        ((*film, directors, cast, reviews),) = truth.film(key)
        assert spelt(film) == list(connection.execute("SELECT * FROM films WHERE id = ?", (key,)).fetchone())
        people = (
            "SELECT {} p.id, p.name FROM {} t JOIN people p ON p.id = t.person_id WHERE film_id = ? ORDER BY position"
        )
        assert spelt(directors) == [*map(list, connection.execute(people.format("", "directors"), (key,)))]
        found = connection.execute(people.format("role,", "actors"), (key,))
        assert spelt(cast) == [[role, [*person]] for role, *person in found]
        found = connection.execute(
            "SELECT r.id, stars, body, written, u.id, u.name FROM reviews r JOIN users u ON u.id = user_id "
            "WHERE film_id = ? ORDER BY written DESC, r.id DESC",
            (key,),
        )
        assert spelt(reviews) == [[*review, [*author]] for *review, at, name in found for author in [(at, name)]]


def test_a_user_has_counted_and_latest_reviews(films: Any) -> None:
    truth, connection, tables = films
    for key in (1, 3, tables["users"].rows):
        ((at, name, count, stars, latest),) = truth.user(key)
        assert (at, name) == connection.execute("SELECT * FROM users WHERE id = ?", (key,)).fetchone()
        counted = "SELECT count(*), coalesce(sum(stars), 0) FROM reviews WHERE user_id = ?"
        assert (count, stars) == connection.execute(counted, (key,)).fetchone()
        found = connection.execute(
            "SELECT r.id, stars, written, f.id, title FROM reviews r JOIN films f ON f.id = film_id "
            f"WHERE user_id = ? ORDER BY written DESC, r.id DESC LIMIT {LATEST}",
            (key,),
        )
        assert spelt(latest) == [[*review, [at, title]] for *review, at, title in found]


def test_a_page_begins_with_its_film(films: Any) -> None:
    truth, connection, _tables = films
    for key in (1, 5):
        page = truth.search(key)
        (title,) = connection.execute("SELECT title FROM films WHERE id = ?", (key,)).fetchone()
        found = connection.execute(
            "SELECT id, title, released FROM films WHERE title LIKE ? AND title >= ? ORDER BY title LIMIT ?",
            (title.rpartition(" ")[0] + " %", title, PAGE),
        )
        assert spelt(page) == [*map(list, found)] and page[0][0] == key


def test_a_film_by_itself_is_its_row(films: Any) -> None:
    truth, connection, _tables = films
    assert spelt(truth.one(3)) == [[*connection.execute("SELECT * FROM films WHERE id = 3").fetchone()]]


def test_a_page_by_offset_skips_films_that_begin_alike(films: Any) -> None:
    truth, connection, tables = films
    sizes = set()
    parameters = generators.row_maker(load_workload("films").tables["pages"])
    for key in (1, tables["films"].rows // 2, tables["films"].rows):
        prefix, skip = parameters(key - 1)
        found = connection.execute(
            "SELECT id, title, released FROM films WHERE title LIKE ? ORDER BY title LIMIT ? OFFSET ?",
            (f"{prefix}%", PAGE, skip),
        )
        assert spelt(truth.page(key)) == [*map(list, found)]
        sizes.add(len(truth.page(key)))
    assert sizes != {0}


OPERATIONS = 30  # of a writing phase
ROWS = {"films_added": 1, "directors_added": 2, "actors_added": 8}  # of one operation


@pytest.mark.parametrize("name", ["add", "change", "read-modify-write"])
def test_tables_after_writes_are_what_sql_makes_of_them(name: str) -> None:
    workload = at_scale(load_workload("films"), SCALES[0])
    phase, database = workload.phase(name), sqlite3.connect(":memory:")
    tables = (phase.after, *phase.also_after)
    for table in tables:
        names = ", ".join(column.name for column in workload.tables[table].columns[1:])
        database.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, {names})")
    if name != "add":
        for row in generators.rows(workload.tables["films"]):
            database.execute("INSERT INTO films_changed VALUES (?, ?, ?, ?)", [kept(value) for value in row])
    _columns, parameters = generators.parameter_rows(workload, phase)
    for row in itertools.islice(parameters, OPERATIONS):
        WRITTEN[name](database.execute, *map(kept, row))
    for table in tables:
        columns = workload.tables[table].columns
        rows = [
            tuple(NATURAL.get(column.type, same)(value) for column, value in zip(columns, row, strict=True))
            for row in database.execute(f"SELECT * FROM {table}")
        ]
        assert len(rows) == (ROWS[table] * OPERATIONS if table in ROWS else workload.tables["films"].rows)
        assert codec.digest(rows, columns) == Expected(workload).after_digest(phase, OPERATIONS, table), table
    database.close()


def test_what_is_expected_of_the_phases() -> None:
    workload = at_scale(load_workload("films"), 0.002)
    expected = Expected(workload)
    assert expected.rows("film", 0, 10) == 10
    assert expected.verify_digest("film", 0, 2, 10) != expected.verify_digest("film", 1, 2, 10)
