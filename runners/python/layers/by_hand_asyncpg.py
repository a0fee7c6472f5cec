"""No layer: programs by hand on asyncpg, one statement for each list of objects (`queries`)."""

from core.layer import LayerAdapter, unknown_technique
from families.postgresql.connection import numbered
from layers.by_hand import (
    CAST,
    DIRECTORS,
    FILM,
    OPINIONS,
    REVIEWS,
    SEARCH,
    TOTALS,
    Film,
    FilmTitle,
    Opinion,
    Part,
    Person,
    Review,
    Title,
    User,
)

FILM_SQL, DIRECTORS_SQL, CAST_SQL, REVIEWS_SQL, TOTALS_SQL, OPINIONS_SQL = (
    numbered(text.format("?")) for text in (FILM, DIRECTORS, CAST, REVIEWS, TOTALS, OPINIONS)
)
SEARCH_SQL = numbered(SEARCH.format("?"))


class Adapter(LayerAdapter):
    def open(self):
        self.rows = self.driver.connection.fetch

    def prepare(self, phase, parameters):
        if phase.kind == "objects" and self.options["technique"] != "queries":
            raise unknown_technique(self.options["technique"])
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

    def version(self):
        return {}
