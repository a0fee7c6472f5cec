"""Peewee, as its quick start begins: models, related objects that are queried when they are met.

The search is an expert's: a pattern that is compared as it stands, named tuples of three columns.
"""

from conversation import read_film, read_settings, read_titles, serve
from peewee import (
    DateField,
    DateTimeField,
    DecimalField,
    DeferredThroughModel,
    ForeignKeyField,
    IntegerField,
    ManyToManyField,
    Model,
    PostgresqlDatabase,
    TextField,
)

settings, keys = read_settings()
login = {name: settings[name] for name in ("host", "port", "user", "password")}
database = PostgresqlDatabase(settings["database"], prefer_psycopg3=True, **login, sslmode="disable")


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


Through = DeferredThroughModel()


class Film(Base):
    title = TextField()
    released = DateField()
    budget = DecimalField(max_digits=12, decimal_places=2, null=True)
    people = ManyToManyField(Person, through_model=Through)

    class Meta:
        table_name = "films"


class Director(Base):
    film = ForeignKeyField(Film)
    person = ForeignKeyField(Person)
    position = IntegerField()

    class Meta:
        table_name = "directors"


Through.set_model(Director)


class Actor(Base):
    film = ForeignKeyField(Film, backref="actors")
    person = ForeignKeyField(Person)
    position = IntegerField()
    role = TextField(null=True)

    class Meta:
        table_name = "actors"


class Review(Base):
    film = ForeignKeyField(Film, backref="opinions")
    author = ForeignKeyField(User, column_name="user_id")
    stars = IntegerField()
    body = TextField()
    written = DateTimeField()

    class Meta:
        table_name = "reviews"


def film(key):
    found = Film.get_by_id(key)
    found.directors = found.people.order_by(Director.position)
    found.cast = found.actors.order_by(Actor.position)
    found.reviews = found.opinions.order_by(Review.written.desc(), Review.id.desc())
    return read_film(found)


def search(title):
    alike = Film.title % (title.rpartition(" ")[0] + " %")
    page = Film.select(Film.id, Film.title, Film.released).where(alike, Film.title >= title)
    return read_titles(page.order_by(Film.title).limit(20).namedtuples())


database.connect()
serve(film if settings["operation"] == "film" else search, keys)
