"""SQLModel, as its tutorial begins: classes with fields and relationships, a Session for each operation.

The search is an expert's: rows of three columns, in autocommit.
"""

from datetime import date, datetime
from decimal import Decimal

from conversation import read_film, read_settings, read_titles, serve
from sqlalchemy import URL
from sqlmodel import Field, Relationship, Session, SQLModel, create_engine, select

settings, keys = read_settings()
where = {name: settings[name] for name in ("host", "port", "database")}
login = {"username": settings["user"], "password": settings["password"], "query": {"sslmode": "disable"}}
url = URL.create("postgresql+psycopg", **login, **where | {"port": int(where["port"])})
engine = create_engine(url, **({"isolation_level": "AUTOCOMMIT"} if settings["operation"] == "search" else {}))


class Director(SQLModel, table=True):
    __tablename__ = "directors"
    id: int = Field(primary_key=True)
    film_id: int = Field(foreign_key="films.id")
    person_id: int = Field(foreign_key="people.id")
    position: int


class Person(SQLModel, table=True):
    __tablename__ = "people"
    id: int = Field(primary_key=True)
    name: str
    born: int | None


class User(SQLModel, table=True):
    __tablename__ = "users"
    id: int = Field(primary_key=True)
    name: str


class Actor(SQLModel, table=True):
    __tablename__ = "actors"
    id: int = Field(primary_key=True)
    film_id: int = Field(foreign_key="films.id")
    person_id: int = Field(foreign_key="people.id")
    position: int
    role: str | None
    person: Person = Relationship()


class Review(SQLModel, table=True):
    __tablename__ = "reviews"
    id: int = Field(primary_key=True)
    film_id: int = Field(foreign_key="films.id")
    user_id: int = Field(foreign_key="users.id")
    stars: int
    body: str
    written: datetime
    author: User = Relationship()


class Film(SQLModel, table=True):
    __tablename__ = "films"
    id: int = Field(primary_key=True)
    title: str
    released: date
    budget: Decimal | None
    directors: list[Person] = Relationship(
        link_model=Director, sa_relationship_kwargs={"order_by": "Director.position", "viewonly": True}
    )
    cast: list[Actor] = Relationship(sa_relationship_kwargs={"order_by": "Actor.position"})
    reviews: list[Review] = Relationship(sa_relationship_kwargs={"order_by": "Review.written.desc(), Review.id.desc()"})


def film(key):
    with Session(engine) as session:
        return read_film(session.get(Film, key))


def search(title):
    page = select(Film.id, Film.title, Film.released).where(
        Film.title.startswith(title.rpartition(" ")[0] + " "), Film.title >= title
    )
    with Session(engine) as session:
        return read_titles(session.exec(page.order_by(Film.title).limit(20)).all())


serve(film if settings["operation"] == "film" else search, keys)
