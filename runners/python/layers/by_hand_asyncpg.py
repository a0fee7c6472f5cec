"""No layer: programs by hand on asyncpg.

`queries`: one statement for each list of objects. `lazy`: one for each object. `server`: one, which does the work.
"""

from decimal import Decimal

from core.layer import LayerAdapter, unknown_technique
from families.films.graph import DIRECTORS as DIRECTORS_ADDED
from families.films.graph import ROLES, cast_of, directors_of
from families.films.objects import Film, FilmOnly, FilmTitle, Opinion, Part, Person, Review, Title, User
from families.films.statements import (
    ADD_ACTOR,
    ADD_ACTORS,
    ADD_DIRECTOR,
    ADD_DIRECTORS,
    ADD_FILM,
    ADD_WHOLE,
    CAST,
    CHANGE,
    DIRECTORS,
    FILM,
    LOCKED_BUDGET,
    OPINIONS,
    PAGE_OF_FILMS,
    RAISE_BUDGET,
    REVIEWS,
    SEARCH,
    SET_BUDGET,
    TOTALS,
    of_rows,
    spelt,
)
from families.postgresql.connection import numbered

FILM_SQL, DIRECTORS_SQL, CAST_SQL, REVIEWS_SQL, TOTALS_SQL, OPINIONS_SQL, PAGE_SQL = map(
    numbered, spelt("?", FILM, DIRECTORS, CAST, REVIEWS, TOTALS, OPINIONS, PAGE_OF_FILMS)
)
SEARCH_SQL = numbered(SEARCH.format("?"))
ADD_FILM_SQL, ADD_DIRECTOR_SQL, ADD_ACTOR_SQL, ADD_WHOLE_SQL, CHANGE_SQL, BUDGET_SQL, SET_SQL, RAISE_SQL = map(
    numbered,
    spelt(
        "?",
        *(ADD_FILM, ADD_DIRECTOR, ADD_ACTOR, ADD_WHOLE, CHANGE),
        *(LOCKED_BUDGET["postgresql"], SET_BUDGET, RAISE_BUDGET["postgresql"]),
    ),
)
ADD_DIRECTORS_SQL = numbered(of_rows(ADD_DIRECTORS, "?", 3, DIRECTORS_ADDED))
ADD_ACTORS_SQL = numbered(of_rows(ADD_ACTORS, "?", 4, len(ROLES)))


class Adapter(LayerAdapter):
    def open(self):
        connection = self.driver.connection
        self.rows, self.execute, self.transaction_here = connection.fetch, connection.execute, connection.transaction

    def prepare(self, phase, parameters):
        technique = self.options["technique"]
        if phase.kind == "objects" and technique != "queries":
            other = getattr(self, f"{phase.access}_by_{technique}", None)
            if other is None:
                raise unknown_technique(technique)
            setattr(self, phase.access, other)
        return super().prepare(phase, parameters)

    async def film(self, key):
        rows = self.rows
        ((key, title, released, budget),) = await rows(FILM_SQL, key)
        return [
            Film(
                key,
                title,
                released,
                budget,
                [Person(at, name) for at, name in await rows(DIRECTORS_SQL, key)],
                [Part(role, Person(at, name)) for role, at, name in await rows(CAST_SQL, key)],
                [
                    Review(at, stars, body, written, Person(user, name))
                    for at, stars, body, written, user, name in await rows(REVIEWS_SQL, key)
                ],
            )
        ]

    async def one(self, key):
        ((key, title, released, budget),) = await self.rows(FILM_SQL, key)
        return [FilmOnly(key, title, released, budget)]

    async def user(self, key):
        ((key, name, reviews, stars),) = await self.rows(TOTALS_SQL, key)
        latest = [
            Opinion(at, given, written, FilmTitle(film, title))
            for at, given, written, film, title in await self.rows(OPINIONS_SQL, key)
        ]
        return [User(key, name, reviews, stars, latest)]

    async def search(self, title):
        found = await self.rows(SEARCH_SQL, title.rpartition(" ")[0] + " %", title)
        return [Title(at, name, released) for at, name, released in found]

    async def page(self, prefix, skip):
        found = await self.rows(PAGE_SQL, prefix + "%", skip)
        return [Title(at, name, released) for at, name, released in found]

    async def add(self, title, released, budget, person):
        async with self.transaction_here():
            ((key,),) = await self.rows(ADD_FILM_SQL, title, released, budget)
            directors = [value for row in directors_of(person) for value in (key, *row)]
            await self.execute(ADD_DIRECTORS_SQL, *directors)
            await self.execute(ADD_ACTORS_SQL, *[value for row in cast_of(person) for value in (key, *row)])

    async def add_by_lazy(self, title, released, budget, person):
        async with self.transaction_here():
            ((key,),) = await self.rows(ADD_FILM_SQL, title, released, budget)
            for row in directors_of(person):
                await self.execute(ADD_DIRECTOR_SQL, key, *row)
            for row in cast_of(person):
                await self.execute(ADD_ACTOR_SQL, key, *row)

    async def add_by_server(self, title, released, budget, person):
        directors = [at for at, _position in directors_of(person)]
        cast = [at for at, _position, _role in cast_of(person)]
        await self.execute(ADD_WHOLE_SQL, title, released, budget, directors, cast, ROLES)

    async def change(self, key, title, budget):
        await self.execute(CHANGE_SQL, title, budget, key)

    async def read_modify_write(self, key, amount):
        async with self.transaction_here():
            ((budget,),) = await self.rows(BUDGET_SQL, key)
            await self.execute(SET_SQL, (budget or Decimal(0)) + amount, key)

    async def read_modify_write_by_server(self, key, amount):
        await self.execute(RAISE_SQL, amount, key)

    def version(self):
        return {}
