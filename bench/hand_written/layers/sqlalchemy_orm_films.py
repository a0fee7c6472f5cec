"""SQLAlchemy's ORM, as its quick start begins: mapped classes, relationships that load when they are met.

The search is an expert's: rows of three columns, in autocommit.
"""

from datetime import date, datetime
from decimal import Decimal

from conversation import read_film, read_settings, read_titles, serve
from sqlalchemy import URL, ForeignKey, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

settings, keys = read_settings()
where = {name: settings[name] for name in ("host", "port", "database")}
login = {"username": settings["user"], "password": settings["password"], "query": {"sslmode": "disable"}}
url = URL.create("postgresql+psycopg", **login, **where | {"port": int(where["port"])})
engine = create_engine(url, **({"isolation_level": "AUTOCOMMIT"} if settings["operation"] == "search" else {}))


class Base(DeclarativeBase):
    id: Mapped[int] = mapped_column(primary_key=True)


class Person(Base):
    __tablename__ = "people"
    name: Mapped[str]
    born: Mapped[int | None]


class User(Base):
    __tablename__ = "users"
    name: Mapped[str]


class Director(Base):
    __tablename__ = "directors"
    film_id: Mapped[int] = mapped_column(ForeignKey("films.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"))
    position: Mapped[int]


class Actor(Base):
    __tablename__ = "actors"
    film_id: Mapped[int] = mapped_column(ForeignKey("films.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"))
    position: Mapped[int]
    role: Mapped[str | None]
    person: Mapped[Person] = relationship()


class Review(Base):
    __tablename__ = "reviews"
    film_id: Mapped[int] = mapped_column(ForeignKey("films.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    stars: Mapped[int]
    body: Mapped[str]
    written: Mapped[datetime]
    author: Mapped[User] = relationship()


class Film(Base):
    __tablename__ = "films"
    title: Mapped[str]
    released: Mapped[date]
    budget: Mapped[Decimal | None]
    directors: Mapped[list[Person]] = relationship(secondary="directors", order_by="Director.position", viewonly=True)
    cast: Mapped[list[Actor]] = relationship(order_by="Actor.position")
    reviews: Mapped[list[Review]] = relationship(order_by="Review.written.desc(), Review.id.desc()")


def film(key):
    with Session(engine) as session:
        return read_film(session.get(Film, key))


def search(title):
    page = select(Film.id, Film.title, Film.released).where(
        Film.title.like(title.rpartition(" ")[0] + " %"), Film.title >= title
    )
    with Session(engine) as session:
        return read_titles(session.execute(page.order_by(Film.title).limit(20)).all())


serve(film if settings["operation"] == "film" else search, keys)
