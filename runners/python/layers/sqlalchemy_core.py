"""SQLAlchemy Core: tables and selects, rows by name, objects by hand.

Shipped: a connection of the pool for each operation, in its transaction. Tuned: autocommit.
"""

from dataclasses import dataclass
from types import SimpleNamespace

from sqlalchemy import (
    Column,
    Date,
    DateTime,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Table,
    bindparam,
    func,
    select,
)

from core.layer import LayerAdapter
from families.sqlalchemy.decimals import exact
from families.sqlalchemy.engine import engine_of, version

PAGE, LATEST = 20, 3
metadata = MetaData()
people = Table("people", metadata, Column("id", Integer, primary_key=True), Column("name", String(60)))
users = Table("users", metadata, Column("id", Integer, primary_key=True), Column("name", String(60)))
films = Table(
    "films",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("title", String(60)),
    Column("released", Date),
    Column("budget", exact(12, 2)),
)
directors = Table(
    "directors",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("film_id", ForeignKey("films.id")),
    Column("person_id", ForeignKey("people.id")),
    Column("position", Integer),
)
actors = Table(
    "actors",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("film_id", ForeignKey("films.id")),
    Column("person_id", ForeignKey("people.id")),
    Column("position", Integer),
    Column("role", String(40)),
)
reviews = Table(
    "reviews",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("film_id", ForeignKey("films.id")),
    Column("user_id", ForeignKey("users.id")),
    Column("stars", Integer),
    Column("body", String(400)),
    Column("written", DateTime),
)


@dataclass(slots=True)
class Named:
    id: int
    name: str


FILM = select(films).where(films.c.id == bindparam("key"))
DIRECTORS = (
    select(people.c.id, people.c.name)
    .join(directors)
    .where(directors.c.film_id == bindparam("key"))
    .order_by(directors.c.position)
)
CAST = (
    select(actors.c.role, people.c.id, people.c.name)
    .join(people)
    .where(actors.c.film_id == bindparam("key"))
    .order_by(actors.c.position)
)
REVIEWS = (
    select(reviews.c.id, reviews.c.stars, reviews.c.body, reviews.c.written, users.c.id.label("user_id"), users.c.name)
    .join(users)
    .where(reviews.c.film_id == bindparam("key"))
    .order_by(reviews.c.written.desc(), reviews.c.id.desc())
)
TOTALS = (
    select(
        users.c.id,
        users.c.name,
        func.count(reviews.c.id).label("reviews"),
        func.coalesce(func.sum(reviews.c.stars), 0).label("stars"),
    )
    .outerjoin(reviews)
    .where(users.c.id == bindparam("key"))
    .group_by(users.c.id, users.c.name)
)
LATEST_REVIEWS = (
    select(reviews.c.id, reviews.c.stars, reviews.c.written, films.c.id.label("film_id"), films.c.title)
    .join(films)
    .where(reviews.c.user_id == bindparam("key"))
    .order_by(reviews.c.written.desc(), reviews.c.id.desc())
    .limit(LATEST)
)
SEARCH = (
    select(films.c.id, films.c.title, films.c.released)
    .where(films.c.title.like(bindparam("pattern")), films.c.title >= bindparam("title"))
    .order_by(films.c.title)
    .limit(PAGE)
)


class Adapter(LayerAdapter):
    version = staticmethod(version)

    def open(self):
        self.engine = engine_of(self.options, **({"isolation_level": "AUTOCOMMIT"} if self.tuned else {}))

    def film(self, key):
        with self.engine.connect() as connection:
            film = connection.execute(FILM, {"key": key}).one()
            cast = connection.execute(CAST, {"key": key})
            return [
                SimpleNamespace(
                    **film._mapping,
                    directors=connection.execute(DIRECTORS, {"key": key}).all(),
                    cast=[SimpleNamespace(role=row.role, person=Named(row.id, row.name)) for row in cast],
                    reviews=[
                        SimpleNamespace(
                            id=row.id,
                            stars=row.stars,
                            body=row.body,
                            written=row.written,
                            author=Named(row.user_id, row.name),
                        )
                        for row in connection.execute(REVIEWS, {"key": key})
                    ],
                )
            ]

    def user(self, key):
        with self.engine.connect() as connection:
            user = connection.execute(TOTALS, {"key": key}).one()
            latest = [
                SimpleNamespace(
                    id=row.id,
                    stars=row.stars,
                    written=row.written,
                    film=SimpleNamespace(id=row.film_id, title=row.title),
                )
                for row in connection.execute(LATEST_REVIEWS, {"key": key})
            ]
            return [SimpleNamespace(**user._mapping, latest=latest)]

    def search(self, title):
        with self.engine.connect() as connection:
            pattern = title.rpartition(" ")[0] + " %"
            return connection.execute(SEARCH, {"pattern": pattern, "title": title}).all()

    def close(self):
        self.engine.dispose()
        super().close()
