"""Tortoise ORM, as its documentation begins: models, related objects that are fetched when they are met.

The search is an expert's: only the columns that are read, a pool that resets no connection.
"""

from conversation import read_film, read_settings, read_titles, serve_tasks
from tortoise import Tortoise, fields, run_async
from tortoise.models import Model

settings, keys = read_settings()


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


async def film(key):
    found = await Film.get(id=key)
    directors = await found.direction.all().order_by("position")
    for row in directors:
        await row.fetch_related("person")
    found.directors = [row.person for row in directors]
    found.cast = await found.actors.all().order_by("position")
    for part in found.cast:
        await part.fetch_related("person")
    found.reviews = await found.opinions.all().order_by("-written", "-id")
    for review in found.reviews:
        await review.fetch_related("author")
    return read_film(found)


async def search(title):
    page = Film.filter(title__startswith=title.rpartition(" ")[0] + " ", title__gte=title)
    return read_titles(await page.order_by("title").limit(20).only("id", "title", "released"))


async def no_reset(connection):
    """What the pool does to a connection that comes back."""


async def main():
    credentials = {name: settings[name] for name in ("host", "port", "user", "password", "database")}
    credentials |= {"minsize": 1, "maxsize": 1, "ssl": False}
    credentials |= {"reset": no_reset} if settings["operation"] == "search" else {}
    await Tortoise.init(
        {
            "connections": {"default": {"engine": "tortoise.backends.asyncpg", "credentials": credentials}},
            "apps": {"films": {"models": ["__main__"]}},
            "use_tz": False,
        }
    )
    await serve_tasks(film if settings["operation"] == "film" else search, keys)


run_async(main())
