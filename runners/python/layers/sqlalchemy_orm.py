"""SQLAlchemy's ORM: mapped classes, a Session for each operation.

Shipped: relationships are loaded when they are met. Tuned: `selectinload` of the columns that are read,
rows for a search, in autocommit.
"""

from datetime import date, datetime
from decimal import Decimal

from sqlalchemy import ForeignKey, String, func, select
from sqlalchemy.orm import (
    DeclarativeBase,
    Mapped,
    Session,
    joinedload,
    load_only,
    mapped_column,
    relationship,
    selectinload,
)

from core.layer import LayerAdapter
from families.sqlalchemy.decimals import exact
from families.sqlalchemy.engine import engine_of, version

PAGE, LATEST = 20, 3


class Base(DeclarativeBase):
    pass


class Person(Base):
    __tablename__ = "people"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(60))
    born: Mapped[int | None]


class User(Base):
    __tablename__ = "users"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(60))


class Director(Base):
    __tablename__ = "directors"
    id: Mapped[int] = mapped_column(primary_key=True)
    film_id: Mapped[int] = mapped_column(ForeignKey("films.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"))
    position: Mapped[int]


class Actor(Base):
    __tablename__ = "actors"
    id: Mapped[int] = mapped_column(primary_key=True)
    film_id: Mapped[int] = mapped_column(ForeignKey("films.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"))
    position: Mapped[int]
    role: Mapped[str | None] = mapped_column(String(40))
    person: Mapped[Person] = relationship()


class Review(Base):
    __tablename__ = "reviews"
    id: Mapped[int] = mapped_column(primary_key=True)
    film_id: Mapped[int] = mapped_column(ForeignKey("films.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    stars: Mapped[int]
    body: Mapped[str] = mapped_column(String(400))
    written: Mapped[datetime]
    author: Mapped[User] = relationship()
    film: Mapped["Film"] = relationship(back_populates="reviews")


class Film(Base):
    __tablename__ = "films"
    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str] = mapped_column(String(60))
    released: Mapped[date]
    budget: Mapped[Decimal | None] = mapped_column(exact(12, 2))
    directors: Mapped[list[Person]] = relationship(secondary="directors", order_by="Director.position", viewonly=True)
    cast: Mapped[list[Actor]] = relationship(order_by="Actor.position")
    reviews: Mapped[list[Review]] = relationship(
        order_by="Review.written.desc(), Review.id.desc()", back_populates="film"
    )


EAGER = (
    selectinload(Film.directors).load_only(Person.name),
    selectinload(Film.cast).joinedload(Actor.person).load_only(Person.name),
    selectinload(Film.reviews).joinedload(Review.author),
)


FILM_TITLES = (load_only(Review.stars, Review.written), joinedload(Review.film).load_only(Film.title))


def page(found, title):
    """A page of the films whose title begins alike, from this one on."""
    pattern = title.rpartition(" ")[0] + " %"
    return found.where(Film.title.like(pattern), Film.title >= title).order_by(Film.title).limit(PAGE)


class UserWithReviews:
    """A user beside what is counted, and the latest reviews."""

    __slots__ = ("id", "latest", "name", "reviews", "stars")

    def __init__(self, user, reviews, stars, latest):
        self.id, self.name = user.id, user.name
        self.reviews, self.stars, self.latest = reviews, stars, latest


class Adapter(LayerAdapter):
    version = staticmethod(version)

    def open(self):
        self.engine = engine_of(self.options, **({"isolation_level": "AUTOCOMMIT"} if self.tuned else {}))

    def film(self, key):
        with Session(self.engine) as session:
            yield session.get(Film, key)

    def tuned_film(self, key):
        with Session(self.engine) as session:
            yield session.get(Film, key, options=EAGER)

    def _user(self, key, *options):
        with Session(self.engine) as session:
            counted = (
                select(User, func.count(Review.id), func.coalesce(func.sum(Review.stars), 0))
                .outerjoin(Review)
                .where(User.id == key)
                .group_by(User.id)
            )
            user, reviews, stars = session.execute(counted).one()
            latest = (
                select(Review)
                .where(Review.user_id == key)
                .order_by(Review.written.desc(), Review.id.desc())
                .limit(LATEST)
                .options(*options)
            )
            yield UserWithReviews(user, reviews, stars, session.scalars(latest).all())

    def user(self, key):
        return self._user(key)

    def tuned_user(self, key):
        return self._user(key, *FILM_TITLES)

    def search(self, title):
        with Session(self.engine) as session:
            return session.scalars(page(select(Film), title)).all()

    def tuned_search(self, title):
        with Session(self.engine) as session:
            return session.execute(page(select(Film.id, Film.title, Film.released), title)).all()

    def close(self):
        self.engine.dispose()
        super().close()
