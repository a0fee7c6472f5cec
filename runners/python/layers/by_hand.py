"""No layer: programs by hand on a bare driver, each with the technique that the path names.

`queries`: one statement for each list of objects. `server`: one statement; the server makes JSON of what is nested, or
does the work. `lazy`: one statement for each object, as it is met. `join`: one statement of joins, whose product is
folded here.
"""

import json
from datetime import date, datetime
from decimal import Decimal

from core.layer import LayerAdapter, unknown_technique
from families.films.by_hand import Writes
from families.films.objects import Film, FilmOnly, FilmTitle, Opinion, Part, Person, Review, Title, User
from families.films.statements import (
    ACTOR_KEYS,
    AUTHOR,
    CAST,
    DIRECTOR_KEYS,
    DIRECTORS,
    FILM,
    FILM_BY_JOIN,
    FILM_TITLE,
    JSON_LIST,
    JSON_OBJECT,
    MARKS,
    OPINION_KEYS,
    OPINIONS,
    PAGE_OF_FILMS,
    PERSON,
    REVIEW_KEYS,
    REVIEWS,
    SEARCH,
    TOTALS,
    USER_BY_JOIN,
    WHOLE_FILM,
    WHOLE_USER,
    spelt,
)


def same(value):
    return value


def decimal(text):
    return None if text is None else Decimal(text)


# By engine: what makes a date, time and decimal of what arrives.
VALUES = {"postgresql": (same, same, same), "sqlite": (date.fromisoformat, datetime.fromisoformat, decimal)}


class Adapter(Writes, LayerAdapter):
    def open(self):
        self.engine = self.options["engine"]
        self.date, self.moment, self.decimal = VALUES[self.engine]
        cursor = self.driver.connection.cursor()

        def rows(sql, *arguments):
            cursor.execute(sql, arguments)
            return cursor.fetchall()

        self.rows = rows
        super().open()

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
        return spelt(MARKS[self.engine], *texts)

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

    def film_by_join(self):
        rows, dated, moment, decimal = self.rows, self.date, self.moment, self.decimal
        (joined,) = self.spelt(FILM_BY_JOIN)

        def deliver(key):
            directors, cast, reviews = {}, {}, {}
            found = rows(joined, key)
            for row in found:
                if row[4] not in directors:
                    directors[row[4]] = Person(row[5], row[6])
                if row[7] not in cast:
                    cast[row[7]] = Part(row[8], Person(row[9], row[10]))
                if row[11] not in reviews and row[11] is not None:
                    reviews[row[11]] = Review(*row[11:14], moment(row[14]), Person(row[15], row[16]))
            for none in (directors, cast):
                none.pop(None, None)
            key, title, released, budget = found[0][:4]
            lists = (list(each.values()) for each in (directors, cast, reviews))
            return [Film(key, title, dated(released), decimal(budget), *lists)]

        return deliver

    def one_by_queries(self):
        rows, dated, decimal = self.rows, self.date, self.decimal
        (film,) = self.spelt(FILM)

        def deliver(key):
            ((key, title, released, budget),) = rows(film, key)
            return [FilmOnly(key, title, dated(released), decimal(budget))]

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

    def user_by_join(self):
        rows, moment = self.rows, self.moment
        (joined,) = self.spelt(USER_BY_JOIN)

        def deliver(key):
            found = rows(joined, key)
            latest = [
                Opinion(at, given, moment(written), FilmTitle(film, title))
                for _key, _name, _reviews, _stars, at, given, written, film, title in found
                if at is not None
            ]
            return [User(*found[0][:4], latest)]

        return deliver

    def search_by_queries(self):
        rows, dated = self.rows, self.date
        mark = MARKS[self.engine]
        search = SEARCH.format(mark)

        def deliver(title):
            found = rows(search, title.rpartition(" ")[0] + " %", title)
            return [Title(at, name, dated(released)) for at, name, released in found]

        return deliver

    def page_by_queries(self):
        rows, dated = self.rows, self.date
        (page,) = self.spelt(PAGE_OF_FILMS)

        def deliver(prefix, skip):
            return [Title(at, name, dated(released)) for at, name, released in rows(page, prefix + "%", skip)]

        return deliver
