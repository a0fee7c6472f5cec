"""SQLAlchemy's ORM: mapped classes, a Session for each operation.

Shipped: relationships are loaded when they are met. Tuned: `selectinload` of the columns that are read,
rows for a search, in autocommit. What writes: objects that a Session keeps, or statements.
"""

from datetime import date, datetime
from decimal import Decimal

from sqlalchemy import ForeignKey, String, func, insert, select, update
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
from families.films.graph import cast_of, directors_of
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


class DirectorAdded(Base):
    __tablename__ = "directors_added"
    id: Mapped[int] = mapped_column(primary_key=True)
    film_id: Mapped[int] = mapped_column(ForeignKey("films_added.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"))
    position: Mapped[int]


class ActorAdded(Base):
    __tablename__ = "actors_added"
    id: Mapped[int] = mapped_column(primary_key=True)
    film_id: Mapped[int] = mapped_column(ForeignKey("films_added.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"))
    position: Mapped[int]
    role: Mapped[str | None] = mapped_column(String(40))


class FilmAdded(Base):
    __tablename__ = "films_added"
    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str] = mapped_column(String(60))
    released: Mapped[date]
    budget: Mapped[Decimal | None] = mapped_column(exact(12, 2))
    directors: Mapped[list[DirectorAdded]] = relationship()
    cast: Mapped[list[ActorAdded]] = relationship()


class FilmChanged(Base):
    __tablename__ = "films_changed"
    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str] = mapped_column(String(60))
    released: Mapped[date]
    budget: Mapped[Decimal | None] = mapped_column(exact(12, 2))


EAGER = (
    selectinload(Film.directors).load_only(Person.name),
    selectinload(Film.cast).joinedload(Actor.person).load_only(Person.name),
    selectinload(Film.reviews).joinedload(Review.author),
)


WITH_NULLS = {"render_nulls": True}  # else rows without a value are an INSERT of their own
CHANGE = update(FilmChanged).execution_options(synchronize_session=False)
FILM_TITLES = (load_only(Review.stars, Review.written), joinedload(Review.film).load_only(Film.title))


def page(found, title):
    """A page of the films whose title begins alike, from this one on."""
    pattern = title.rpartition(" ")[0] + " %"
    return found.where(Film.title.like(pattern), Film.title >= title).order_by(Film.title).limit(PAGE)


def page_by_offset(found, prefix, skip):
    """A page of the films whose title begins so, some skipped."""
    return found.where(Film.title.like(prefix + "%")).order_by(Film.title).limit(PAGE).offset(skip)


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
        self.transactions = engine_of(self.options, immediate=True) if self.tuned else self.engine

    def film(self, key):
        with Session(self.engine) as session:
            yield session.get(Film, key)

    def tuned_film(self, key):
        with Session(self.engine) as session:
            yield session.get(Film, key, options=EAGER)

    def one(self, key):
        with Session(self.engine) as session:
            return [session.get(Film, key)]

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

    def page(self, prefix, skip):
        with Session(self.engine) as session:
            return session.scalars(page_by_offset(select(Film), prefix, skip)).all()

    def tuned_page(self, prefix, skip):
        with Session(self.engine) as session:
            return session.execute(page_by_offset(select(Film.id, Film.title, Film.released), prefix, skip)).all()

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
            key = session.scalars(insert(FilmAdded).returning(FilmAdded.id), film).one()
            directors = [{"film_id": key, "person_id": at, "position": place} for at, place in directors_of(person)]
            cast = [
                {"film_id": key, "person_id": at, "position": place, "role": role}
                for at, place, role in cast_of(person)
            ]
            # One statement for many rows is what an INSERT with RETURNING is sent as.
            session.execute(insert(DirectorAdded).returning(DirectorAdded.id), directors)
            session.execute(insert(ActorAdded).returning(ActorAdded.id), cast, execution_options=WITH_NULLS)
            session.commit()

    def change(self, key, title, budget):
        with Session(self.engine) as session:
            film = session.get(FilmChanged, key)
            film.title, film.budget = title, budget
            session.commit()

    def tuned_change(self, key, title, budget):
        with Session(self.engine) as session:
            session.execute(CHANGE.where(FilmChanged.id == key).values(title=title, budget=budget))
            session.commit()

    def read_modify_write(self, key, amount):
        with Session(self.engine) as session:
            film = session.get(FilmChanged, key, with_for_update=True)
            film.budget = (film.budget or Decimal(0)) + amount
            session.commit()

    def tuned_read_modify_write(self, key, amount):
        with Session(self.transactions) as session:
            locked = select(FilmChanged.budget).where(FilmChanged.id == key).with_for_update()
            budget = session.scalars(locked).one()
            session.execute(CHANGE.where(FilmChanged.id == key).values(budget=(budget or Decimal(0)) + amount))
            session.commit()

    def close(self):
        self.transactions.dispose()
        self.engine.dispose()
        super().close()
