"""Django's ORM without a project: its settings and one application are made here, the tables are not its own.

Shipped: related objects are loaded as they are met. Tuned: `prefetch_related` and `select_related`, no columns that
nothing reads, statements that the server binds and prepares, many rows by one INSERT, columns by one UPDATE.
"""

from decimal import Decimal
from types import ModuleType

import django
from django.apps import AppConfig
from django.conf import settings
from django.db import Error, connection, models, transaction
from django.db.models import Count, Prefetch, Sum
from django.db.models.functions import Coalesce

from core.layer import LayerAdapter
from families.films.graph import cast_of, directors_of
from families.postgresql.connection import libpq_keywords

PAGE, LATEST = 20, 3


class Films(AppConfig):
    path = "films"  # of a folder that nothing looks into


settings.configure(INSTALLED_APPS=[Films("films", ModuleType("films"))], USE_TZ=False, TIME_ZONE="UTC")
django.setup()


class ExactDecimal(models.DecimalField):
    """A decimal, from an engine without that type as text: Django's own field makes it of floating point there."""

    def get_internal_type(self):
        return "CharField"  # whose values no engine's part of Django converts

    def from_db_value(self, value, expression, connection):
        return Decimal(value) if isinstance(value, str) else value


class Unmanaged:
    app_label = "films"
    managed = False


class Person(models.Model):
    name = models.CharField(max_length=60)
    born = models.IntegerField(null=True)

    class Meta(Unmanaged):
        db_table = "people"


class User(models.Model):
    name = models.CharField(max_length=60)

    class Meta(Unmanaged):
        db_table = "users"


class Film(models.Model):
    title = models.CharField(max_length=60)
    released = models.DateField()
    budget = ExactDecimal(max_digits=12, decimal_places=2, null=True)
    people = models.ManyToManyField(Person, through="Director")

    class Meta(Unmanaged):
        db_table = "films"


class Director(models.Model):
    film = models.ForeignKey(Film, models.CASCADE)
    person = models.ForeignKey(Person, models.CASCADE)
    position = models.IntegerField()

    class Meta(Unmanaged):
        db_table = "directors"


class Actor(models.Model):
    film = models.ForeignKey(Film, models.CASCADE)
    person = models.ForeignKey(Person, models.CASCADE)
    position = models.IntegerField()
    role = models.CharField(max_length=40, null=True)

    class Meta(Unmanaged):
        db_table = "actors"


class Review(models.Model):
    film = models.ForeignKey(Film, models.CASCADE)
    author = models.ForeignKey(User, models.CASCADE, db_column="user_id")
    stars = models.IntegerField()
    body = models.CharField(max_length=400)
    written = models.DateTimeField()

    class Meta(Unmanaged):
        db_table = "reviews"


class FilmAdded(models.Model):
    title = models.CharField(max_length=60)
    released = models.DateField()
    budget = ExactDecimal(max_digits=12, decimal_places=2, null=True)

    class Meta(Unmanaged):
        db_table = "films_added"


class DirectorAdded(models.Model):
    film = models.ForeignKey(FilmAdded, models.CASCADE)
    person = models.ForeignKey(Person, models.CASCADE)
    position = models.IntegerField()

    class Meta(Unmanaged):
        db_table = "directors_added"


class ActorAdded(models.Model):
    film = models.ForeignKey(FilmAdded, models.CASCADE)
    person = models.ForeignKey(Person, models.CASCADE)
    position = models.IntegerField()
    role = models.CharField(max_length=40, null=True)

    class Meta(Unmanaged):
        db_table = "actors_added"


class FilmChanged(models.Model):
    title = models.CharField(max_length=60)
    released = models.DateField()
    budget = ExactDecimal(max_digits=12, decimal_places=2, null=True)

    class Meta(Unmanaged):
        db_table = "films_changed"


def database(options, tuned):
    """The entry of `DATABASES`; `tuned`: with statements that the server binds and prepares."""
    if options["engine"] == "sqlite":
        immediate = {"OPTIONS": {"transaction_mode": "IMMEDIATE"}} if tuned else {}
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": options["path"], **immediate}
    keywords = libpq_keywords(options)
    prepared = {"server_side_binding": True, "prepare_threshold": 5} if tuned else {}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": keywords.pop("dbname"),
        "OPTIONS": keywords | prepared,
        "CONN_MAX_AGE": None,
    }


def films_from(title):
    """A page of the films whose title begins alike, from this one on."""
    prefix = title.rpartition(" ")[0] + " "
    return Film.objects.filter(title__startswith=prefix, title__gte=title).order_by("title")


def users():
    """Users with the number and the sum of their reviews."""
    return User.objects.annotate(reviews=Count("review"), stars=Coalesce(Sum("review__stars"), 0))


def latest(user):
    """The user's reviews, the latest first."""
    return user.review_set.order_by("-written", "-id")


DIRECTORS = Person.objects.only("name").order_by("director__position")
CAST = Actor.objects.select_related("person").only("film", "role", "person__name").order_by("position")
REVIEWS = Review.objects.select_related("author").order_by("-written", "-id")
WHOLE_FILMS = Film.objects.prefetch_related(
    Prefetch("people", DIRECTORS, "directors"),
    Prefetch("actor_set", CAST, "cast"),
    Prefetch("review_set", REVIEWS, "reviews"),
)


class Adapter(LayerAdapter):
    errors = (Error,)

    def open(self):
        settings.DATABASES = {"default": database(self.options, self.tuned)}
        connection.ensure_connection()

    def film(self, key):
        film = Film.objects.get(pk=key)
        film.directors = film.people.order_by("director__position")
        film.cast = film.actor_set.order_by("position")
        film.reviews = film.review_set.order_by("-written", "-id")
        return [film]

    def tuned_film(self, key):
        return [WHOLE_FILMS.get(pk=key)]

    def one(self, key):
        return [Film.objects.get(pk=key)]

    def user(self, key):
        user = users().get(pk=key)
        user.latest = latest(user)[:LATEST]
        return [user]

    def tuned_user(self, key):
        user = users().get(pk=key)
        # With `author`, which Django compares with the user: it would load it for each review.
        user.latest = latest(user).select_related("film").only("author", "stars", "written", "film__title")[:LATEST]
        return [user]

    def search(self, title):
        return films_from(title)[:PAGE]

    def tuned_search(self, title):
        return films_from(title).values_list("id", "title", "released", named=True)[:PAGE]

    def page(self, prefix, skip):
        return Film.objects.filter(title__startswith=prefix).order_by("title")[skip : skip + PAGE]

    def tuned_page(self, prefix, skip):
        return self.page(prefix, skip).values_list("id", "title", "released", named=True)

    def add(self, title, released, budget, person):
        with transaction.atomic():
            film = FilmAdded.objects.create(title=title, released=released, budget=budget)
            for at, place in directors_of(person):
                DirectorAdded.objects.create(film=film, person_id=at, position=place)
            for at, place, role in cast_of(person):
                ActorAdded.objects.create(film=film, person_id=at, position=place, role=role)

    def tuned_add(self, title, released, budget, person):
        with transaction.atomic():
            film = FilmAdded.objects.create(title=title, released=released, budget=budget)
            DirectorAdded.objects.bulk_create(
                DirectorAdded(film=film, person_id=at, position=place) for at, place in directors_of(person)
            )
            ActorAdded.objects.bulk_create(
                ActorAdded(film=film, person_id=at, position=place, role=role) for at, place, role in cast_of(person)
            )

    def change(self, key, title, budget):
        film = FilmChanged.objects.get(pk=key)
        film.title, film.budget = title, budget
        film.save()

    def tuned_change(self, key, title, budget):
        FilmChanged.objects.filter(pk=key).update(title=title, budget=budget)

    def read_modify_write(self, key, amount):
        with transaction.atomic():
            film = FilmChanged.objects.select_for_update().get(pk=key)
            film.budget = (film.budget or Decimal(0)) + amount
            film.save()

    def tuned_read_modify_write(self, key, amount):
        with transaction.atomic():
            film = FilmChanged.objects.select_for_update().only("budget").get(pk=key)
            film.budget = (film.budget or Decimal(0)) + amount
            film.save(update_fields=["budget"])

    def version(self):
        return {"django": django.get_version()}

    def close(self):
        connection.close()
        super().close()
