"""Peewee: models and queries on a database that is named when it opens.

Shipped: related objects are loaded as they are met. Tuned: joins, no columns that nothing reads, a search whose pattern
is compared as it stands (Peewee's `startswith` ignores case, which no index knows), many rows by one INSERT, columns by
one UPDATE.
"""

from decimal import Decimal

import peewee
from peewee import (
    JOIN,
    DatabaseProxy,
    DateField,
    DateTimeField,
    DecimalField,
    ForeignKeyField,
    IntegerField,
    ManyToManyField,
    Model,
    PostgresqlDatabase,
    SqliteDatabase,
    TextField,
    fn,
)

from core.layer import LayerAdapter
from families.films.graph import cast_of, directors_of
from families.postgresql.connection import libpq_keywords

PAGE, LATEST = 20, 3
ANY = {"postgresql": "%", "sqlite": "*"}  # what follows a prefix: Peewee's LIKE is SQLite's GLOB
IMMEDIATE = {"postgresql": (), "sqlite": ("IMMEDIATE",)}  # a transaction that has SQLite's lock from its beginning
database = DatabaseProxy()


class Base(Model):
    class Meta:
        database = database


class Person(Base):
    name = TextField()
    born = IntegerField(null=True)

    class Meta:
        table_name = "people"


class User(Base):
    name = TextField()

    class Meta:
        table_name = "users"


DirectorThrough = peewee.DeferredThroughModel()


class Film(Base):
    title = TextField()
    released = DateField()
    budget = DecimalField(max_digits=12, decimal_places=2, null=True)
    people = ManyToManyField(Person, backref="films", through_model=DirectorThrough)

    class Meta:
        table_name = "films"


class Director(Base):
    film = ForeignKeyField(Film)
    person = ForeignKeyField(Person)
    position = IntegerField()

    class Meta:
        table_name = "directors"


DirectorThrough.set_model(Director)


class Actor(Base):
    film = ForeignKeyField(Film, backref="actors")
    person = ForeignKeyField(Person)
    position = IntegerField()
    role = TextField(null=True)

    class Meta:
        table_name = "actors"


class Review(Base):
    film = ForeignKeyField(Film, backref="opinions")
    author = ForeignKeyField(User, backref="opinions", column_name="user_id")
    stars = IntegerField()
    body = TextField()
    written = DateTimeField()

    class Meta:
        table_name = "reviews"


class FilmAdded(Base):
    title = TextField()
    released = DateField()
    budget = DecimalField(max_digits=12, decimal_places=2, null=True)

    class Meta:
        table_name = "films_added"


class DirectorAdded(Base):
    film = ForeignKeyField(FilmAdded)
    person = ForeignKeyField(Person)
    position = IntegerField()

    class Meta:
        table_name = "directors_added"


class ActorAdded(Base):
    film = ForeignKeyField(FilmAdded)
    person = ForeignKeyField(Person)
    position = IntegerField()
    role = TextField(null=True)

    class Meta:
        table_name = "actors_added"


class FilmChanged(Base):
    title = TextField()
    released = DateField()
    budget = DecimalField(max_digits=12, decimal_places=2, null=True)

    class Meta:
        table_name = "films_changed"


LATEST_FIRST = (Review.written.desc(), Review.id.desc())


def database_of(options):
    """The path's database, by Peewee's own class for its engine."""
    if options["engine"] == "sqlite":
        return SqliteDatabase(options["path"])
    keywords = libpq_keywords(options)
    return PostgresqlDatabase(keywords.pop("dbname"), prefer_psycopg3=True, **keywords)


def user_with_totals(key):
    """A user with the number and the sum of all reviews."""
    totals = fn.COUNT(Review.id).alias("reviews"), fn.COALESCE(fn.SUM(Review.stars), 0).alias("stars")
    joined = User.select(User, *totals).join(Review, JOIN.LEFT_OUTER)
    return joined.where(User.id == key).group_by(User.id, User.name).get()


class Adapter(LayerAdapter):
    errors = (peewee.PeeweeException,)

    def open(self):
        self.engine = self.options["engine"]
        if database.obj is None:
            database.initialize(database_of(self.options))
        database.connect()

    def film(self, key):
        film = Film.get_by_id(key)
        film.directors = film.people.order_by(Director.position)
        film.cast = film.actors.order_by(Actor.position)
        film.reviews = film.opinions.order_by(*LATEST_FIRST)
        return [film]

    def tuned_film(self, key):
        film = Film.get_by_id(key)
        named = Person.select(Person.id, Person.name).join(Director)
        film.directors = named.where(Director.film == key).order_by(Director.position)
        parts = Actor.select(Actor.role, Person.id, Person.name).join(Person)
        film.cast = parts.where(Actor.film == key).order_by(Actor.position)
        reviews = Review.select(Review.id, Review.stars, Review.body, Review.written, User.id, User.name).join(User)
        film.reviews = reviews.where(Review.film == key).order_by(*LATEST_FIRST)
        return [film]

    def one(self, key):
        return [Film.get_by_id(key)]

    def user(self, key):
        user = user_with_totals(key)
        user.latest = user.opinions.order_by(*LATEST_FIRST).limit(LATEST)
        return [user]

    def tuned_user(self, key):
        user = user_with_totals(key)
        latest = Review.select(Review.id, Review.stars, Review.written, Film.id, Film.title).join(Film)
        user.latest = latest.where(Review.author == key).order_by(*LATEST_FIRST).limit(LATEST)
        return [user]

    def search(self, title):
        alike = Film.title.startswith(title.rpartition(" ")[0] + " ")
        return Film.select().where(alike, Film.title >= title).order_by(Film.title).limit(PAGE)

    def tuned_search(self, title):
        alike = Film.title % (title.rpartition(" ")[0] + " " + ANY[self.engine])
        found = Film.select(Film.id, Film.title, Film.released).where(alike, Film.title >= title)
        return found.order_by(Film.title).limit(PAGE).namedtuples()

    def page(self, prefix, skip):
        return Film.select().where(Film.title.startswith(prefix)).order_by(Film.title).limit(PAGE).offset(skip)

    def tuned_page(self, prefix, skip):
        found = Film.select(Film.id, Film.title, Film.released).where(Film.title % (prefix + ANY[self.engine]))
        return found.order_by(Film.title).limit(PAGE).offset(skip).namedtuples()

    def add(self, title, released, budget, person):
        with database.atomic():
            film = FilmAdded.create(title=title, released=released, budget=budget)
            for at, place in directors_of(person):
                DirectorAdded.create(film=film, person=at, position=place)
            for at, place, role in cast_of(person):
                ActorAdded.create(film=film, person=at, position=place, role=role)

    def tuned_add(self, title, released, budget, person):
        with database.atomic(*IMMEDIATE[self.engine]):
            film = FilmAdded.insert(title=title, released=released, budget=budget).execute()
            directors = [(film, *row) for row in directors_of(person)]
            DirectorAdded.insert_many(
                directors, [DirectorAdded.film, DirectorAdded.person, DirectorAdded.position]
            ).execute()
            cast = [(film, *row) for row in cast_of(person)]
            ActorAdded.insert_many(
                cast, [ActorAdded.film, ActorAdded.person, ActorAdded.position, ActorAdded.role]
            ).execute()

    def change(self, key, title, budget):
        film = FilmChanged.get_by_id(key)
        film.title, film.budget = title, budget
        film.save()

    def tuned_change(self, key, title, budget):
        FilmChanged.update(title=title, budget=budget).where(FilmChanged.id == key).execute()

    def _locked(self, query):
        """The one film, which no one else may write until the transaction ends."""
        return (query.for_update() if self.engine == "postgresql" else query).get()

    def read_modify_write(self, key, amount):
        with database.atomic(*IMMEDIATE[self.engine]):
            film = self._locked(FilmChanged.select().where(FilmChanged.id == key))
            film.budget = (film.budget or Decimal(0)) + amount
            film.save()

    def tuned_read_modify_write(self, key, amount):
        with database.atomic(*IMMEDIATE[self.engine]):
            film = self._locked(FilmChanged.select(FilmChanged.id, FilmChanged.budget).where(FilmChanged.id == key))
            film.budget = (film.budget or Decimal(0)) + amount
            film.save(only=[FilmChanged.budget])

    def version(self):
        return {"peewee": peewee.__version__}

    def close(self):
        database.close()
        super().close()
