"""SQLAlchemy Core: tables and selects, rows by name, objects by hand.

Shipped: a connection of the pool for each operation, in its transaction. Tuned: autocommit, except for what writes
several rows; an INSERT of many rows.
"""

from dataclasses import dataclass
from decimal import Decimal
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
    insert,
    select,
    update,
)

from core.layer import LayerAdapter
from families.films.graph import cast_of, directors_of
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
films_added = films.to_metadata(metadata, name="films_added")
films_changed = films.to_metadata(metadata, name="films_changed")
directors_added = Table(
    "directors_added",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("film_id", ForeignKey("films_added.id")),
    Column("person_id", ForeignKey("people.id")),
    Column("position", Integer),
)
actors_added = Table(
    "actors_added",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("film_id", ForeignKey("films_added.id")),
    Column("person_id", ForeignKey("people.id")),
    Column("position", Integer),
    Column("role", String(40)),
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
PAGE_OF_FILMS = (
    select(films.c.id, films.c.title, films.c.released)
    .where(films.c.title.like(bindparam("pattern")))
    .order_by(films.c.title)
    .limit(PAGE)
    .offset(bindparam("skip"))
)
CHANGE = (
    update(films_changed)
    .where(films_changed.c.id == bindparam("key"))
    .values(title=bindparam("new_title"), budget=bindparam("new_budget"))
)
LOCKED_BUDGET = select(films_changed.c.budget).where(films_changed.c.id == bindparam("key")).with_for_update()
SET_BUDGET = update(films_changed).where(films_changed.c.id == bindparam("key")).values(budget=bindparam("new_budget"))


def graph(film, person):
    """The rows of directors and cast below a film."""
    directors = [{"film_id": film, "person_id": at, "position": place} for at, place in directors_of(person)]
    cast = [{"film_id": film, "person_id": at, "position": place, "role": role} for at, place, role in cast_of(person)]
    return directors, cast


class Adapter(LayerAdapter):
    version = staticmethod(version)

    def open(self):
        self.engine = engine_of(self.options, **({"isolation_level": "AUTOCOMMIT"} if self.tuned else {}))
        self.transactions = engine_of(self.options, immediate=True) if self.tuned else self.engine

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

    def one(self, key):
        with self.engine.connect() as connection:
            return connection.execute(FILM, {"key": key}).all()

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

    def page(self, prefix, skip):
        with self.engine.connect() as connection:
            return connection.execute(PAGE_OF_FILMS, {"pattern": prefix + "%", "skip": skip}).all()

    def _add(self, title, released, budget, person, insert_directors, insert_actors):
        with self.transactions.begin() as connection:
            film = {"title": title, "released": released, "budget": budget}
            key = connection.execute(insert(films_added), film).inserted_primary_key.id
            directors, cast = graph(key, person)
            connection.execute(insert_directors, directors)
            connection.execute(insert_actors, cast)

    def add(self, *graph):
        self._add(*graph, insert(directors_added), insert(actors_added))

    def tuned_add(self, *graph):
        # One statement for many rows is what an INSERT with RETURNING is sent as.
        with_keys = (insert(table).returning(table.c.id) for table in (directors_added, actors_added))
        self._add(*graph, *with_keys)

    def _change(self, connection, key, title, budget):
        connection.execute(CHANGE, {"key": key, "new_title": title, "new_budget": budget})

    def change(self, *row):
        with self.engine.begin() as connection:
            self._change(connection, *row)

    def tuned_change(self, *row):
        with self.engine.connect() as connection:
            self._change(connection, *row)

    def read_modify_write(self, key, amount):
        with self.transactions.begin() as connection:
            budget = connection.execute(LOCKED_BUDGET, {"key": key}).scalar_one()
            connection.execute(SET_BUDGET, {"key": key, "new_budget": (budget or Decimal(0)) + amount})

    def close(self):
        self.transactions.dispose()
        self.engine.dispose()
        super().close()
