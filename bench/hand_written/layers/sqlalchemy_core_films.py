"""SQLAlchemy Core, as its tutorial begins: tables, selects, a connection in a transaction for each operation.

The search is an expert's: in autocommit.
"""

from dataclasses import dataclass

from conversation import read_film, read_settings, read_titles, serve
from sqlalchemy import URL, MetaData, Table, bindparam, create_engine, select

settings, keys = read_settings()
where = {name: settings[name] for name in ("host", "port", "database")}
login = {"username": settings["user"], "password": settings["password"], "query": {"sslmode": "disable"}}
url = URL.create("postgresql+psycopg", **login, **where | {"port": int(where["port"])})
engine = create_engine(url, **({"isolation_level": "AUTOCOMMIT"} if settings["operation"] == "search" else {}))
metadata = MetaData()
people, users, films, directors, actors, reviews = (
    Table(name, metadata, autoload_with=engine)
    for name in ("people", "users", "films", "directors", "actors", "reviews")
)


@dataclass
class Person:
    id: int
    name: str


@dataclass
class Part:
    role: str
    person: Person


@dataclass
class Review:
    id: int
    stars: int
    body: str
    written: object
    author: Person


@dataclass
class Film:
    id: int
    title: str
    released: object
    budget: object
    directors: list
    cast: list
    reviews: list


FILM = select(films).where(films.c.id == bindparam("key"))
DIRECTORS = (
    select(people.c.id, people.c.name)
    .join(directors, directors.c.person_id == people.c.id)
    .where(directors.c.film_id == bindparam("key"))
    .order_by(directors.c.position)
)
CAST = (
    select(actors.c.role, people.c.id, people.c.name)
    .join(people, actors.c.person_id == people.c.id)
    .where(actors.c.film_id == bindparam("key"))
    .order_by(actors.c.position)
)
REVIEWS = (
    select(reviews, users.c.name)
    .join(users, reviews.c.user_id == users.c.id)
    .where(reviews.c.film_id == bindparam("key"))
    .order_by(reviews.c.written.desc(), reviews.c.id.desc())
)
PAGE = (
    select(films.c.id, films.c.title, films.c.released)
    .where(films.c.title.like(bindparam("pattern")), films.c.title >= bindparam("title"))
    .order_by(films.c.title)
    .limit(20)
)


def film(key):
    with engine.connect() as connection:

        def rows(statement):
            return connection.execute(statement, {"key": key})

        found = rows(FILM).one()
        whole = Film(
            found.id,
            found.title,
            found.released,
            found.budget,
            [Person(row.id, row.name) for row in rows(DIRECTORS)],
            [Part(row.role, Person(row.id, row.name)) for row in rows(CAST)],
            [Review(row.id, row.stars, row.body, row.written, Person(row.user_id, row.name)) for row in rows(REVIEWS)],
        )
        return read_film(whole)


def search(title):
    with engine.connect() as connection:
        pattern = title.rpartition(" ")[0] + " %"
        return read_titles(connection.execute(PAGE, {"pattern": pattern, "title": title}).all())


serve(film if settings["operation"] == "film" else search, keys)
