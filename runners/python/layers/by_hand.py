"""No layer: programs by hand on a bare driver, each with the technique that the path names.

`queries`: one statement for each list of objects. `server`: one statement, in which the server makes JSON of what is
nested. `lazy`: one statement for each object, as it is met.
"""

import json
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from core.layer import LayerAdapter, unknown_technique

PAGE, LATEST = 20, 3


@dataclass(slots=True)
class Person:
    id: int
    name: str


@dataclass(slots=True)
class Part:
    role: str | None
    person: Person


@dataclass(slots=True)
class Review:
    id: int
    stars: int
    body: str
    written: datetime
    author: Person


@dataclass(slots=True)
class Film:
    id: int
    title: str
    released: date
    budget: Decimal | None
    directors: list
    cast: list
    reviews: list


@dataclass(slots=True)
class Title:
    id: int
    title: str
    released: date


@dataclass(slots=True)
class FilmTitle:
    id: int
    title: str


@dataclass(slots=True)
class Opinion:
    id: int
    stars: int
    written: datetime
    film: FilmTitle


@dataclass(slots=True)
class User:
    id: int
    name: str
    reviews: int
    stars: int
    latest: list


def same(value):
    return value


def decimal(text):
    return None if text is None else Decimal(text)


# By engine: its placeholder, its functions that make JSON, and what makes a date, time and decimal of what arrives.
MARKS = {"postgresql": "%s", "sqlite": "?"}
JSON_LIST = {"postgresql": "coalesce(json_agg(one), '[]')", "sqlite": "json_group_array(json(one))"}
JSON_OBJECT = {"postgresql": "json_build_array", "sqlite": "json_array"}
VALUES = {"postgresql": (same, same, same), "sqlite": (date.fromisoformat, datetime.fromisoformat, decimal)}

FILM = "SELECT id, title, released, budget FROM films WHERE id = {}"
DIRECTORS = (
    "SELECT p.id, p.name FROM directors d JOIN people p ON p.id = d.person_id WHERE d.film_id = {} ORDER BY d.position"
)
CAST = (
    "SELECT a.role, p.id, p.name FROM actors a JOIN people p ON p.id = a.person_id WHERE a.film_id = {} "
    "ORDER BY a.position"
)
REVIEWS = (
    "SELECT r.id, r.stars, r.body, r.written, u.id, u.name FROM reviews r JOIN users u ON u.id = r.user_id "
    "WHERE r.film_id = {} ORDER BY r.written DESC, r.id DESC"
)
DIRECTOR_KEYS = "SELECT person_id FROM directors WHERE film_id = {} ORDER BY position"
ACTOR_KEYS = "SELECT role, person_id FROM actors WHERE film_id = {} ORDER BY position"
REVIEW_KEYS = "SELECT id, stars, body, written, user_id FROM reviews WHERE film_id = {} ORDER BY written DESC, id DESC"
PERSON = "SELECT id, name FROM people WHERE id = {}"
AUTHOR = "SELECT id, name FROM users WHERE id = {}"
WHOLE_FILM = (
    "SELECT f.id, f.title, f.released, f.budget, "
    "(SELECT {list} FROM (SELECT {object}(p.id, p.name) AS one FROM directors d JOIN people p ON p.id = d.person_id "
    "WHERE d.film_id = f.id ORDER BY d.position) AS x), "
    "(SELECT {list} FROM (SELECT {object}(a.role, p.id, p.name) AS one FROM actors a JOIN people p "
    "ON p.id = a.person_id WHERE a.film_id = f.id ORDER BY a.position) AS x), "
    "(SELECT {list} FROM (SELECT {object}(r.id, r.stars, r.body, r.written, u.id, u.name) AS one FROM reviews r "
    "JOIN users u ON u.id = r.user_id WHERE r.film_id = f.id ORDER BY r.written DESC, r.id DESC) AS x) "
    "FROM films f WHERE f.id = {mark}"
)
TOTALS = (
    "SELECT u.id, u.name, count(r.id), coalesce(sum(r.stars), 0) FROM users u LEFT JOIN reviews r ON r.user_id = u.id "
    "WHERE u.id = {} GROUP BY u.id, u.name"
)
OPINIONS = (
    "SELECT r.id, r.stars, r.written, f.id, f.title FROM reviews r JOIN films f ON f.id = r.film_id "
    "WHERE r.user_id = {} ORDER BY r.written DESC, r.id DESC LIMIT " + str(LATEST)
)
OPINION_KEYS = (
    "SELECT id, stars, written, film_id FROM reviews WHERE user_id = {} ORDER BY written DESC, id DESC LIMIT "
    + str(LATEST)
)
FILM_TITLE = "SELECT id, title FROM films WHERE id = {}"
WHOLE_USER = (
    "SELECT u.id, u.name, (SELECT count(*) FROM reviews r WHERE r.user_id = u.id), "
    "(SELECT coalesce(sum(r.stars), 0) FROM reviews r WHERE r.user_id = u.id), "
    "(SELECT {list} FROM (SELECT {object}(r.id, r.stars, r.written, f.id, f.title) AS one FROM reviews r "
    "JOIN films f ON f.id = r.film_id WHERE r.user_id = u.id ORDER BY r.written DESC, r.id DESC LIMIT "
    + str(LATEST)
    + ") AS x) FROM users u WHERE u.id = {mark}"
)
SEARCH = "SELECT id, title, released FROM films WHERE title LIKE {0} AND title >= {0} ORDER BY title LIMIT " + str(PAGE)


class Adapter(LayerAdapter):
    def open(self):
        self.engine = self.options["engine"]
        self.date, self.moment, self.decimal = VALUES[self.engine]
        cursor = self.driver.connection.cursor()

        def rows(sql, *arguments):
            cursor.execute(sql, arguments)
            return cursor.fetchall()

        self.rows = rows

    def version(self):
        return {}

    def prepare(self, phase, parameters):
        technique = self.options["technique"]
        make = getattr(self, f"{phase.access}_by_{technique}", None)
        if phase.kind == "objects":
            if make is None:
                raise unknown_technique(technique)
            setattr(self, phase.access, make())
        return super().prepare(phase, parameters)

    def spelt(self, *texts):
        """The statements with the engine's placeholders."""
        mark = MARKS[self.engine]
        return [text.format(mark) for text in texts]

    def with_json(self, text):
        """The statement with the engine's placeholder and functions that make JSON."""
        return text.format(mark=MARKS[self.engine], list=JSON_LIST[self.engine], object=JSON_OBJECT[self.engine])

    def film_by_queries(self):
        rows, dated, moment, decimal = self.rows, self.date, self.moment, self.decimal
        film, directors, cast, reviews = self.spelt(FILM, DIRECTORS, CAST, REVIEWS)

        def deliver(key):
            ((key, title, released, budget),) = rows(film, key)
            return [
                Film(
                    key,
                    title,
                    dated(released),
                    decimal(budget),
                    [Person(at, name) for at, name in rows(directors, key)],
                    [Part(role, Person(at, name)) for role, at, name in rows(cast, key)],
                    [
                        Review(at, stars, body, moment(written), Person(user, name))
                        for at, stars, body, written, user, name in rows(reviews, key)
                    ],
                )
            ]

        return deliver

    def film_by_lazy(self):
        rows, dated, moment, decimal = self.rows, self.date, self.moment, self.decimal
        film, directors, cast, reviews = self.spelt(FILM, DIRECTOR_KEYS, ACTOR_KEYS, REVIEW_KEYS)
        person, author = self.spelt(PERSON, AUTHOR)

        def one(sql, key):
            ((at, name),) = rows(sql, key)
            return Person(at, name)

        def deliver(key):
            ((key, title, released, budget),) = rows(film, key)
            return [
                Film(
                    key,
                    title,
                    dated(released),
                    decimal(budget),
                    [one(person, at) for (at,) in rows(directors, key)],
                    [Part(role, one(person, at)) for role, at in rows(cast, key)],
                    [
                        Review(at, stars, body, moment(written), one(author, user))
                        for at, stars, body, written, user in rows(reviews, key)
                    ],
                )
            ]

        return deliver

    def film_by_server(self):
        rows, dated, decimal = self.rows, self.date, self.decimal
        loads, moment = json.loads, datetime.fromisoformat
        whole = self.with_json(WHOLE_FILM)

        def deliver(key):
            ((key, title, released, budget, directors, cast, reviews),) = rows(whole, key)
            return [
                Film(
                    key,
                    title,
                    dated(released),
                    decimal(budget),
                    [Person(at, name) for at, name in loads(directors)],
                    [Part(role, Person(at, name)) for role, at, name in loads(cast)],
                    [
                        Review(at, stars, body, moment(written), Person(user, name))
                        for at, stars, body, written, user, name in loads(reviews)
                    ],
                )
            ]

        return deliver

    def user_by_queries(self):
        rows, moment = self.rows, self.moment
        totals, opinions = self.spelt(TOTALS, OPINIONS)

        def deliver(key):
            ((key, name, reviews, stars),) = rows(totals, key)
            latest = [
                Opinion(at, given, moment(written), FilmTitle(film, title))
                for at, given, written, film, title in rows(opinions, key)
            ]
            return [User(key, name, reviews, stars, latest)]

        return deliver

    def user_by_lazy(self):
        rows, moment = self.rows, self.moment
        totals, opinions, film_title = self.spelt(TOTALS, OPINION_KEYS, FILM_TITLE)

        def deliver(key):
            ((key, name, reviews, stars),) = rows(totals, key)
            latest = []
            for at, given, written, film in rows(opinions, key):
                ((_at, title),) = rows(film_title, film)
                latest.append(Opinion(at, given, moment(written), FilmTitle(film, title)))
            return [User(key, name, reviews, stars, latest)]

        return deliver

    def user_by_server(self):
        rows, loads, moment = self.rows, json.loads, datetime.fromisoformat
        whole = self.with_json(WHOLE_USER)

        def deliver(key):
            ((key, name, reviews, stars, latest),) = rows(whole, key)
            latest = [
                Opinion(at, given, moment(written), FilmTitle(film, title))
                for at, given, written, film, title in loads(latest)
            ]
            return [User(key, name, reviews, stars, latest)]

        return deliver

    def search_by_queries(self):
        rows, dated = self.rows, self.date
        mark = MARKS[self.engine]
        search = SEARCH.format(mark)

        def deliver(title):
            found = rows(search, title.rpartition(" ")[0] + " %", title)
            return [Title(at, name, dated(released)) for at, name, released in found]

        return deliver
