"""Tortoise ORM: asynchronous models above asyncpg.

Shipped: related objects are fetched as they are met, and the pool resets a connection after each statement. Tuned:
`select_related`, only the columns of a search, a pool that resets nothing, columns by one UPDATE.
"""

import sys
from decimal import Decimal
from types import ModuleType

import tortoise
from tortoise import fields
from tortoise.context import TortoiseContext
from tortoise.exceptions import BaseORMException
from tortoise.functions import Coalesce, Count, Sum
from tortoise.models import Model
from tortoise.transactions import in_transaction

from adapters.asyncpg import encryption
from core.layer import LayerAdapter
from families.films.graph import cast_of, directors_of
from families.postgresql.connection import address

PAGE, LATEST = 20, 3
LATEST_FIRST = ("-written", "-id")


class Person(Model):
    id = fields.IntField(primary_key=True)
    name = fields.CharField(60)
    born = fields.IntField(null=True)

    class Meta:
        table = "people"


class User(Model):
    id = fields.IntField(primary_key=True)
    name = fields.CharField(60)

    class Meta:
        table = "users"


class Film(Model):
    id = fields.IntField(primary_key=True)
    title = fields.CharField(60)
    released = fields.DateField()
    budget = fields.DecimalField(12, 2, null=True)

    class Meta:
        table = "films"


class Director(Model):
    id = fields.IntField(primary_key=True)
    film = fields.ForeignKeyField("films.Film", related_name="direction")
    person = fields.ForeignKeyField("films.Person", related_name="direction")
    position = fields.IntField()

    class Meta:
        table = "directors"


class Actor(Model):
    id = fields.IntField(primary_key=True)
    film = fields.ForeignKeyField("films.Film", related_name="actors")
    person = fields.ForeignKeyField("films.Person", related_name="parts")
    position = fields.IntField()
    role = fields.CharField(40, null=True)

    class Meta:
        table = "actors"


class Review(Model):
    id = fields.IntField(primary_key=True)
    film = fields.ForeignKeyField("films.Film", related_name="opinions")
    author = fields.ForeignKeyField("films.User", related_name="opinions", source_field="user_id")
    stars = fields.IntField()
    body = fields.CharField(400)
    written = fields.DatetimeField()

    class Meta:
        table = "reviews"


class FilmAdded(Model):
    id = fields.IntField(primary_key=True)
    title = fields.CharField(60)
    released = fields.DateField()
    budget = fields.DecimalField(12, 2, null=True)

    class Meta:
        table = "films_added"


class DirectorAdded(Model):
    id = fields.IntField(primary_key=True)
    film = fields.ForeignKeyField("films.FilmAdded", related_name="direction")
    person = fields.ForeignKeyField("films.Person", related_name="direction_added")
    position = fields.IntField()

    class Meta:
        table = "directors_added"


class ActorAdded(Model):
    id = fields.IntField(primary_key=True)
    film = fields.ForeignKeyField("films.FilmAdded", related_name="actors")
    person = fields.ForeignKeyField("films.Person", related_name="parts_added")
    position = fields.IntField()
    role = fields.CharField(40, null=True)

    class Meta:
        table = "actors_added"


class FilmChanged(Model):
    id = fields.IntField(primary_key=True)
    title = fields.CharField(60)
    released = fields.DateField()
    budget = fields.DecimalField(12, 2, null=True)

    class Meta:
        table = "films_changed"


MODELS = [Person, User, Film, Director, Actor, Review, FilmAdded, DirectorAdded, ActorAdded, FilmChanged]

# Tortoise imports its models by the name of a module, and this file has none.
sys.modules["films"] = ModuleType("films")
sys.modules["films"].__models__ = MODELS


async def no_reset(connection):
    """What a pool does to a connection that comes back, where nothing changes its state."""


def config(options, tuned):
    """Tortoise's configuration: one connection, one application."""
    credentials = {
        **address(options),
        "database": options["database"],
        **encryption(options),
        "minsize": 1,
        "maxsize": 1,
        **({"reset": no_reset} if tuned else {}),
    }
    return {
        "connections": {"default": {"engine": "tortoise.backends.asyncpg", "credentials": credentials}},
        "apps": {"films": {"models": ["films"]}},
        "use_tz": False,
    }


async def fetched(rows, related):
    """The objects of a query, the related one of each fetched by itself."""
    objects = await rows
    for one in objects:
        await one.fetch_related(related)
    return objects


def user_with_totals(key):
    """A user with the number and the sum of all reviews."""
    return User.get(id=key).annotate(reviews=Count("opinions"), stars=Coalesce(Sum("opinions__stars"), 0))


def page(title):
    """A page of the films whose title begins alike, from this one on."""
    prefix = title.rpartition(" ")[0] + " "
    return Film.filter(title__startswith=prefix, title__gte=title).order_by("title").limit(PAGE)


class Adapter(LayerAdapter):
    errors = (BaseORMException,)

    def open(self):
        self.context = TortoiseContext()
        self.context.__enter__()  # the tasks of the event loop inherit it
        self.driver.wait(self.context.init(config(self.options, self.tuned)))
        self.driver.wait(User.first())  # so that no operation connects

    async def film(self, key):
        film = await Film.get(id=key)
        film.directors = [row.person for row in await fetched(film.direction.all().order_by("position"), "person")]
        film.cast = await fetched(film.actors.all().order_by("position"), "person")
        film.reviews = await fetched(film.opinions.all().order_by(*LATEST_FIRST), "author")
        return [film]

    async def tuned_film(self, key):
        film = await Film.get(id=key)
        directors = Director.filter(film_id=key).order_by("position").select_related("person")
        film.directors = [row.person for row in await directors]
        film.cast = await Actor.filter(film_id=key).order_by("position").select_related("person")
        film.reviews = await Review.filter(film_id=key).order_by(*LATEST_FIRST).select_related("author")
        return [film]

    async def one(self, key):
        return [await Film.get(id=key)]

    async def user(self, key):
        user = await user_with_totals(key)
        user.latest = await fetched(user.opinions.all().order_by(*LATEST_FIRST).limit(LATEST), "film")
        return [user]

    async def tuned_user(self, key):
        user = await user_with_totals(key)
        latest = Review.filter(author_id=key).order_by(*LATEST_FIRST).limit(LATEST)
        user.latest = await latest.select_related("film")
        return [user]

    async def search(self, title):
        return await page(title)

    async def tuned_search(self, title):
        return await page(title).only("id", "title", "released")

    async def page(self, prefix, skip):
        return await Film.filter(title__startswith=prefix).order_by("title").offset(skip).limit(PAGE)

    async def tuned_page(self, prefix, skip):
        found = Film.filter(title__startswith=prefix).order_by("title").offset(skip).limit(PAGE)
        return await found.only("id", "title", "released")

    async def add(self, title, released, budget, person):
        async with in_transaction():
            film = await FilmAdded.create(title=title, released=released, budget=budget)
            for at, place in directors_of(person):
                await DirectorAdded.create(film=film, person_id=at, position=place)
            for at, place, role in cast_of(person):
                await ActorAdded.create(film=film, person_id=at, position=place, role=role)

    async def tuned_add(self, title, released, budget, person):
        async with in_transaction():
            film = await FilmAdded.create(title=title, released=released, budget=budget)
            await DirectorAdded.bulk_create(
                [DirectorAdded(film=film, person_id=at, position=place) for at, place in directors_of(person)]
            )
            await ActorAdded.bulk_create(
                [ActorAdded(film=film, person_id=at, position=place, role=role) for at, place, role in cast_of(person)]
            )

    async def change(self, key, title, budget):
        film = await FilmChanged.get(id=key)
        film.title, film.budget = title, budget
        await film.save()

    async def tuned_change(self, key, title, budget):
        await FilmChanged.filter(id=key).update(title=title, budget=budget)

    async def read_modify_write(self, key, amount):
        async with in_transaction():
            film = await FilmChanged.select_for_update().get(id=key)
            film.budget = (film.budget or Decimal(0)) + amount
            await film.save()

    async def tuned_read_modify_write(self, key, amount):
        async with in_transaction():
            film = await FilmChanged.select_for_update().only("id", "budget").get(id=key)
            film.budget = (film.budget or Decimal(0)) + amount
            await film.save(update_fields=["budget"])

    def version(self):
        return {"tortoise-orm": tortoise.__version__}

    def close(self):
        self.driver.wait(self.context.close_connections())
        self.context.__exit__(None, None, None)
        super().close()
