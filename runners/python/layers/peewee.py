"""Peewee: models and queries on a database that is named when it opens.

Shipped: related objects are loaded as they are met. Tuned: joins, no columns that nothing reads, a search whose pattern
is compared as it stands (Peewee's `startswith` ignores case, which no index knows).
"""

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
from families.postgresql.connection import libpq_keywords

PAGE, LATEST = 20, 3
ANY = {"postgresql": "%", "sqlite": "*"}  # what follows a prefix: Peewee's LIKE is SQLite's GLOB
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
        alike = Film.title % (title.rpartition(" ")[0] + " " + ANY[self.options["engine"]])
        found = Film.select(Film.id, Film.title, Film.released).where(alike, Film.title >= title)
        return found.order_by(Film.title).limit(PAGE).namedtuples()

    def version(self):
        return {"peewee": peewee.__version__}

    def close(self):
        database.close()
        super().close()
