"""Django's ORM in one file: models, related objects that are queried when they are met.

The search is an expert's: named tuples of three columns, statements that the server binds and prepares.
"""

import django
from conversation import read_film, read_settings, read_titles, serve
from django.conf import settings as django_settings
from django.db import models

settings, keys = read_settings()
prepared = {"server_side_binding": True, "prepare_threshold": 5} if settings["operation"] == "search" else {}
django_settings.configure(
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": settings["database"],
            "USER": settings["user"],
            "PASSWORD": settings["password"],
            "HOST": settings["host"],
            "PORT": settings["port"],
            "OPTIONS": {"sslmode": "disable", **prepared},
            "CONN_MAX_AGE": None,
        }
    },
    INSTALLED_APPS=["__main__"],
    USE_TZ=False,
    TIME_ZONE="UTC",
)
django.setup()


class Person(models.Model):
    name = models.CharField(max_length=60)
    born = models.IntegerField(null=True)

    class Meta:
        db_table = "people"


class User(models.Model):
    name = models.CharField(max_length=60)

    class Meta:
        db_table = "users"


class Film(models.Model):
    title = models.CharField(max_length=60)
    released = models.DateField()
    budget = models.DecimalField(max_digits=12, decimal_places=2, null=True)
    people = models.ManyToManyField(Person, through="Director")

    class Meta:
        db_table = "films"


class Director(models.Model):
    film = models.ForeignKey(Film, models.CASCADE)
    person = models.ForeignKey(Person, models.CASCADE)
    position = models.IntegerField()

    class Meta:
        db_table = "directors"


class Actor(models.Model):
    film = models.ForeignKey(Film, models.CASCADE)
    person = models.ForeignKey(Person, models.CASCADE)
    position = models.IntegerField()
    role = models.CharField(max_length=40, null=True)

    class Meta:
        db_table = "actors"


class Review(models.Model):
    film = models.ForeignKey(Film, models.CASCADE)
    author = models.ForeignKey(User, models.CASCADE, db_column="user_id")
    stars = models.IntegerField()
    body = models.CharField(max_length=400)
    written = models.DateTimeField()

    class Meta:
        db_table = "reviews"


def film(key):
    found = Film.objects.get(pk=key)
    found.directors = found.people.order_by("director__position")
    found.cast = found.actor_set.order_by("position")
    found.reviews = found.review_set.order_by("-written", "-id")
    return read_film(found)


def search(title):
    page = Film.objects.filter(title__startswith=title.rpartition(" ")[0] + " ", title__gte=title).order_by("title")
    return read_titles(page.values_list("id", "title", "released", named=True)[:20])


serve(film if settings["operation"] == "film" else search, keys)
