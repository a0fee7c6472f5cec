"""SQLModel: classes that are both SQLAlchemy's and Pydantic's, a Session for each operation.

Shipped: relationships are loaded when they are met. Tuned: `selectinload` and `joinedload`, rows of only the columns
that a search shows, in autocommit. What writes: objects that a Session keeps, or SQLAlchemy's statements.
"""

from datetime import date, datetime
from decimal import Decimal

import sqlmodel
from sqlalchemy import insert, update
from sqlalchemy.orm import joinedload, load_only, selectinload
from sqlmodel import Field, Relationship, Session, SQLModel, func, select

from core.layer import LayerAdapter
from families.films.graph import cast_of, directors_of
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


class DirectorAdded(SQLModel, table=True):
    __tablename__ = "directors_added"
    id: int | None = Field(default=None, primary_key=True)
    film_id: int | None = Field(default=None, foreign_key="films_added.id")
    person_id: int = Field(foreign_key="people.id")
    position: int


class ActorAdded(SQLModel, table=True):
    __tablename__ = "actors_added"
    id: int | None = Field(default=None, primary_key=True)
    film_id: int | None = Field(default=None, foreign_key="films_added.id")
    person_id: int = Field(foreign_key="people.id")
    position: int
    role: str | None


class FilmAdded(SQLModel, table=True):
    __tablename__ = "films_added"
    id: int | None = Field(default=None, primary_key=True)
    title: str
    released: date
    budget: Decimal | None = Field(sa_type=exact(12, 2))
    directors: list[DirectorAdded] = Relationship()
    cast: list[ActorAdded] = Relationship()


class FilmChanged(SQLModel, table=True):
    __tablename__ = "films_changed"
    id: int = Field(primary_key=True)
    title: str
    released: date
    budget: Decimal | None = Field(sa_type=exact(12, 2))


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
WITH_NULLS = {"render_nulls": True}  # else rows without a value are an INSERT of their own
CHANGE = update(FilmChanged).execution_options(synchronize_session=False)
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


def page_by_offset(found, prefix, skip):
    """A page of the films whose title begins so, some skipped."""
    return found.where(Film.title.startswith(prefix)).order_by(Film.title).limit(PAGE).offset(skip)


class Adapter(LayerAdapter):
    def open(self):
        self.engine = engine.engine_of(self.options, **({"isolation_level": "AUTOCOMMIT"} if self.tuned else {}))
        self.transactions = engine.engine_of(self.options, immediate=True) if self.tuned else self.engine

    def film(self, key):
        with Session(self.engine) as session:
            yield session.get(Film, key)

    def tuned_film(self, key):
        with Session(self.engine) as session:
            yield session.get(Film, key, options=WHOLE_FILM)

    def one(self, key):
        with Session(self.engine) as session:
            return [session.get(Film, key)]

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

    def page(self, prefix, skip):
        with Session(self.engine) as session:
            return session.exec(page_by_offset(select(Film), prefix, skip)).all()

    def tuned_page(self, prefix, skip):
        with Session(self.engine) as session:
            return session.exec(page_by_offset(select(Film.id, Film.title, Film.released), prefix, skip)).all()

    def add(self, title, released, budget, person):
        with Session(self.engine) as session:
            film = FilmAdded(title=title, released=released, budget=budget)
            film.directors = [DirectorAdded(person_id=at, position=place) for at, place in directors_of(person)]
            film.cast = [ActorAdded(person_id=at, position=place, role=role) for at, place, role in cast_of(person)]
            session.add(film)
            session.commit()

    def tuned_add(self, title, released, budget, person):
        with Session(self.transactions) as session:
            film = {"title": title, "released": released, "budget": budget}
            key = session.exec(insert(FilmAdded).returning(FilmAdded.id), params=film).scalar_one()
            directors = [{"film_id": key, "person_id": at, "position": place} for at, place in directors_of(person)]
            cast = [
                {"film_id": key, "person_id": at, "position": place, "role": role}
                for at, place, role in cast_of(person)
            ]
            # One statement for many rows is what an INSERT with RETURNING is sent as.
            session.exec(insert(DirectorAdded).returning(DirectorAdded.id), params=directors)
            session.exec(insert(ActorAdded).returning(ActorAdded.id), params=cast, execution_options=WITH_NULLS)
            session.commit()

    def change(self, key, title, budget):
        with Session(self.engine) as session:
            film = session.get(FilmChanged, key)
            film.title, film.budget = title, budget
            session.add(film)
            session.commit()

    def tuned_change(self, key, title, budget):
        with Session(self.engine) as session:
            session.exec(CHANGE.where(FilmChanged.id == key).values(title=title, budget=budget))
            session.commit()

    def read_modify_write(self, key, amount):
        with Session(self.engine) as session:
            film = session.exec(select(FilmChanged).where(FilmChanged.id == key).with_for_update()).one()
            film.budget = (film.budget or Decimal(0)) + amount
            session.add(film)
            session.commit()

    def tuned_read_modify_write(self, key, amount):
        with Session(self.transactions) as session:
            locked = select(FilmChanged.budget).where(FilmChanged.id == key).with_for_update()
            budget = session.exec(locked).one()
            session.exec(CHANGE.where(FilmChanged.id == key).values(budget=(budget or Decimal(0)) + amount))
            session.commit()

    def version(self):
        return {"sqlmodel": sqlmodel.__version__, **engine.version()}

    def close(self):
        self.transactions.dispose()
        self.engine.dispose()
        super().close()
