"""SQLModel: classes that are both SQLAlchemy's and Pydantic's, a Session for each operation.

Shipped: relationships are loaded when they are met. Tuned: `selectinload` and `joinedload`, rows of only the columns
that a search shows, in autocommit.
"""

from datetime import date, datetime
from decimal import Decimal

import sqlmodel
from sqlalchemy.orm import joinedload, load_only, selectinload
from sqlmodel import Field, Relationship, Session, SQLModel, func, select

from core.layer import LayerAdapter
from families.sqlalchemy import engine
from families.sqlalchemy.decimals import exact

PAGE, LATEST = 20, 3


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
    film: "Film" = Relationship(back_populates="reviews")


def ordered(by, **more):
    """What a relationship is given: the order of its children."""
    return {"order_by": by, **more}


class Film(SQLModel, table=True):
    __tablename__ = "films"
    id: int = Field(primary_key=True)
    title: str
    released: date
    budget: Decimal | None = Field(sa_type=exact(12, 2))
    directors: list[Person] = Relationship(
        link_model=Director, sa_relationship_kwargs=ordered("Director.position", viewonly=True)
    )
    cast: list[Actor] = Relationship(sa_relationship_kwargs=ordered("Actor.position"))
    reviews: list[Review] = Relationship(
        back_populates="film", sa_relationship_kwargs=ordered("Review.written.desc(), Review.id.desc()")
    )


class UserWithReviews(SQLModel):
    """What no table holds: a user with totals and the latest reviews."""

    id: int
    name: str
    reviews: int
    stars: int
    latest: list[Review]


WHOLE_FILM = (
    selectinload(Film.directors).load_only(Person.name),
    selectinload(Film.cast).joinedload(Actor.person).load_only(Person.name),
    selectinload(Film.reviews).joinedload(Review.author),
)
FILM_TITLES = (
    load_only(Review.stars, Review.written),
    joinedload(Review.film).load_only(Film.title),
)


def with_totals(key):
    """A user with the number and the sum of all reviews."""
    counted = select(User, func.count(Review.id), func.coalesce(func.sum(Review.stars), 0))
    return counted.join(Review, isouter=True).where(User.id == key).group_by(User.id)


def latest(key):
    """A user's latest reviews."""
    return select(Review).where(Review.user_id == key).order_by(Review.written.desc(), Review.id.desc()).limit(LATEST)


def page(found, title):
    """A page of the films whose title begins alike, from this one on."""
    alike = Film.title.startswith(title.rpartition(" ")[0] + " ")
    return found.where(alike, Film.title >= title).order_by(Film.title).limit(PAGE)


class Adapter(LayerAdapter):
    def open(self):
        self.engine = engine.engine_of(self.options, **({"isolation_level": "AUTOCOMMIT"} if self.tuned else {}))

    def film(self, key):
        with Session(self.engine) as session:
            yield session.get(Film, key)

    def tuned_film(self, key):
        with Session(self.engine) as session:
            yield session.get(Film, key, options=WHOLE_FILM)

    def _user(self, key, *options):
        with Session(self.engine) as session:
            user, reviews, stars = session.exec(with_totals(key)).one()
            opinions = session.exec(latest(key).options(*options)).all()
            yield UserWithReviews.model_construct(
                id=user.id, name=user.name, reviews=reviews, stars=stars, latest=opinions
            )

    def user(self, key):
        return self._user(key)

    def tuned_user(self, key):
        return self._user(key, *FILM_TITLES)

    def search(self, title):
        with Session(self.engine) as session:
            return session.exec(page(select(Film), title)).all()

    def tuned_search(self, title):
        with Session(self.engine) as session:
            return session.exec(page(select(Film.id, Film.title, Film.released), title)).all()

    def version(self):
        return {"sqlmodel": sqlmodel.__version__, **engine.version()}

    def close(self):
        self.engine.dispose()
        super().close()
