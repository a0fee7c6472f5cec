"""The workload `films`: people, films, users and reviews made by index, and what each operation on them delivers.

The proportions are those of imdbench: of one film four people, four users and twenty reviews. A table knows the size of
the others by its own: `per_film`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from rowpath.model.grouping import grouped
from rowpath.model.workload import Table

Row = tuple[Any, ...]
Draw = Callable[[int, int], int]
LATEST = 3  # of a user's reviews
PAGE = 20
DIRECTORS, ACTORS, REVIEWS, PEOPLE = 2, 8, 20, 4  # of one film
_STEP = 1_000_003  # a prime: neighbours in one table are no neighbours in another
_FIRST_RELEASE, _FIRST_REVIEW = date(1950, 1, 1), datetime(2015, 3, 1)
_ADJECTIVES = ("amber", "bitter", "crimson", "distant", "electric", "fearless", "golden", "hidden")
_NOUNS = ("avenue", "bridge", "circus", "desert", "engine", "forest", "garden", "harbour", "island", "journey")
_GIVEN = ("Ada", "Bo", "Chloé", "Dov", "Eve", "Faisal", "Grete", "Håkon", "Ines", "Jun", "Kofi", "Lena", "Mara", "Nils")
_FAMILY = ("Abel", "Berg", "Costa", "Dufour", "Eriksen", "Fischer", "García", "Hansen", "Ito", "Jansen", "Kumar")
_ROLES = ("lead", "the neighbour", "the clerk", "a stranger", "the doctor", "a child", "the pilot")


def _count(rows: int, per_film: int) -> int:
    """How many films there are, by the number of rows of a table that has `per_film` of each."""
    return max(1, rows // per_film)


def _person(bits: int, index: int, _rows: int) -> Row:
    born = None if bits >> 61 == 0 else 1930 + (bits >> 40) % 75
    return index + 1, f"{_GIVEN[bits % 14]} {_FAMILY[(bits >> 8) % 11]} {index + 1}", born


def _film(bits: int, index: int, _rows: int) -> Row:
    title = f"{_ADJECTIVES[bits & 7]} {_NOUNS[(bits >> 8) % 10]} {index + 1}"
    budget = None if bits >> 61 == 0 else Decimal((bits >> 20) % 900_000_000).scaleb(-2)
    return index + 1, title, _FIRST_RELEASE + timedelta(days=(bits >> 12) % 27_000), budget


def _user(bits: int, index: int, _rows: int) -> Row:
    return index + 1, f"{_GIVEN[bits % 14].lower()}{index + 1}"


def _director(_bits: int, index: int, rows: int) -> Row:
    films = _count(rows, DIRECTORS)
    film, position = index // DIRECTORS % films, index % DIRECTORS
    return index + 1, film + 1, _person_of(film, position, films), position


def _actor(bits: int, index: int, rows: int) -> Row:
    films = _count(rows, ACTORS)
    film, position = index // ACTORS % films, index % ACTORS
    role = None if bits >> 61 == 0 else _ROLES[(bits >> 8) % 7]
    return index + 1, film + 1, _person_of(film, DIRECTORS + position, films), position, role


def _person_of(film: int, place: int, films: int) -> int:
    return (film * PEOPLE + place * _STEP) % (films * PEOPLE) + 1


def _review(bits: int, index: int, rows: int) -> Row:
    films = _count(rows, REVIEWS)
    body = f"{_ADJECTIVES[bits >> 3 & 7]} {_NOUNS[(bits >> 8) % 10]}, {bits:016x} " * (1 + (bits >> 57 & 7))
    written = _FIRST_REVIEW + timedelta(seconds=index * 97, microseconds=(bits >> 16) % 1_000_000)
    film, user = index // REVIEWS % films, index * _STEP % (films * PEOPLE)
    return index + 1, film + 1, user + 1, 1 + bits % 5, body.rstrip(), written


def _page(bits: int, index: int, rows: int) -> Row:
    """What a page is asked for with: a prefix, and how many films are skipped; fewer than begin so."""
    return f"{_words(_film(bits, index, rows)[1])} ", _skip(index)


def _skip(index: int) -> int:
    return index // 100


def _changed(bits: int, index: int, rows: int) -> Row:
    key, title, released, _budget = _film(bits, index, rows)
    budget = None if bits >> 58 & 7 == 0 else Decimal((bits >> 24) % 900_000_000).scaleb(-2)
    return key, f"{title}, restored", released, budget


def _raised(bits: int, index: int, rows: int) -> Row:
    """A film with the amount by which its budget was raised; none counts as 0."""
    *film, budget = _film(bits, index, rows)
    amount = Decimal((bits >> 30) % 100_000 + 1).scaleb(-2)
    return *film, (budget or 0) + amount, amount


def _director_added(_bits: int, index: int, _rows: int) -> Row:
    film, position = divmod(index, DIRECTORS)
    return index + 1, film + 1, film + 1 + position, position


def _actor_added(_bits: int, index: int, _rows: int) -> Row:
    film, position = divmod(index, ACTORS)
    role = f"part {position + 1}" if position < ACTORS - 1 else None
    return index + 1, film + 1, film + 1 + DIRECTORS + position, position, role


_MAKERS: dict[str, tuple[tuple[str, ...], Callable[[int, int, int], Row]]] = {
    "films.people": (("id", "name", "born"), _person),
    "films.films": (("id", "title", "released", "budget"), _film),
    "films.users": (("id", "name"), _user),
    "films.directors": (("id", "film_id", "person_id", "position"), _director),
    "films.actors": (("id", "film_id", "person_id", "position", "role"), _actor),
    "films.reviews": (("id", "film_id", "user_id", "stars", "body", "written"), _review),
    "films.pages": (("prefix", "skip"), _page),
    "films.changed": (("id", "title", "released", "budget"), _changed),
    "films.raised": (("id", "title", "released", "budget", "amount"), _raised),
    "films.directors-added": (("id", "film_id", "person_id", "position"), _director_added),
    "films.actors-added": (("id", "film_id", "person_id", "position", "role"), _actor_added),
}
ROWS_OF_A_GRAPH = {"films.directors-added": DIRECTORS, "films.actors-added": ACTORS}  # by one operation
COLUMNS = {name: columns for name, (columns, _make) in _MAKERS.items()}


def row_maker(table: Table, draw: Draw) -> Callable[[int], Row]:
    """A function from an index to that row of one of the tables."""
    make, seed, rows = _MAKERS[table.generator][1], table.seed, table.rows
    return lambda index: make(draw(seed, index), index, rows)


class Films:
    """What operations deliver: nested rows as tuples in lists, by the tables' rows."""

    def __init__(self, tables: Mapping[str, Table], draw: Draw) -> None:
        self._made = {name: list(map(row_maker(table, draw), range(table.rows))) for name, table in tables.items()}
        self._grouped: dict[tuple[str, int], dict[int, list[Row]]] = {}

    def _by(self, table: str, key: int, column: int = 0) -> list[Row]:
        if (table, column) not in self._grouped:
            self._grouped[table, column] = grouped(self._made[table], lambda row: int(row[column]))
        return self._grouped[table, column].get(key, [])

    @functools.cached_property
    def _alike(self) -> dict[str, list[Row]]:
        """The films by the words with which their titles begin, in the order of titles."""
        return grouped(sorted(self._made["films"], key=lambda row: row[1]), lambda row: _words(row[1]))

    def film(self, key: int) -> list[Row]:
        """A film with directors, cast, and reviews with their authors, the latest first."""
        (film,) = self._by("films", key)
        directors = sorted(self._by("directors", key, 1), key=lambda row: row[3])
        actors = sorted(self._by("actors", key, 1), key=lambda row: row[3])
        reviews = sorted(self._by("reviews", key, 1), key=lambda row: (row[5], row[0]), reverse=True)
        return [
            (
                *film,
                [self._person(person) for _id, _film, person, _position in directors],
                [(role, self._person(person)) for _id, _film, person, _position, role in actors],
                [
                    (at, stars, body, written, self._by("users", user)[0])
                    for at, _film, user, stars, body, written in reviews
                ],
            )
        ]

    def one(self, key: int) -> list[Row]:
        """A film's own columns."""
        return self._by("films", key)

    def _person(self, key: int) -> Row:
        return self._by("people", key)[0][:2]

    def user(self, key: int) -> list[Row]:
        """A user with the number and sum of all reviews, and the latest of them with their films."""
        (user,) = self._by("users", key)
        reviews = sorted(self._by("reviews", key, 2), key=lambda row: (row[5], row[0]), reverse=True)
        latest = [
            (at, stars, written, self._by("films", film)[0][:2])
            for at, film, _user, stars, _body, written in reviews[:LATEST]
        ]
        return [(*user, len(reviews), sum(row[3] for row in reviews), latest)]

    def search(self, key: int) -> list[Row]:
        """A page of the films whose title begins as that film's does, in the order of titles, from that film on."""
        (film,) = self._by("films", key)
        alike = self._alike[_words(film[1])]
        first = alike.index(film)
        return [row[:3] for row in alike[first : first + PAGE]]

    def page(self, key: int) -> list[Row]:
        """A page of the films whose title begins as that film's does, in the order of titles, some skipped."""
        (film,) = self._by("films", key)
        skip = _skip(key - 1)
        return [row[:3] for row in self._alike[_words(film[1])][skip : skip + PAGE]]


def _words(title: str) -> str:
    return title.rpartition(" ")[0]
