"""Django: a cursor's rows of a query, objects of a model of a table that is not its own."""

from types import ModuleType

import django
from django.apps import AppConfig, apps
from django.conf import settings
from django.db import Error, connection, connections, models

from core.own_query import OwnQueryLayer
from families.postgresql.connection import libpq_keywords
from families.sql.placeholders import formatted
from families.sqlite.uri import uri_of


class Own(AppConfig):
    path = "own"  # of a folder that nothing looks into


if not settings.configured:  # a process may take one path after another
    settings.configure(INSTALLED_APPS=[Own("own", ModuleType("own"))], USE_TZ=True, TIME_ZONE="UTC")
    django.setup()

FIELDS = {
    "integer": models.BigIntegerField,
    "float32": models.FloatField,
    "float64": models.FloatField,
    "boolean": models.BooleanField,
    "binary": models.BinaryField,
    "date": models.DateField,
    "time": models.TimeField,
    "timestamp": models.DateTimeField,
    "timestamptz": models.DateTimeField,
    "interval": models.DurationField,
    "uuid": models.UUIDField,
}


def database(options):
    """The entry of `DATABASES`."""
    if options["engine"] == "sqlite":
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": uri_of(options), "OPTIONS": {"uri": True}}
    keywords = libpq_keywords(options)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": keywords.pop("dbname"),
        "OPTIONS": keywords | {"server_side_binding": True, "prepare_threshold": 5},
        "CONN_MAX_AGE": None,
    }


class Adapter(OwnQueryLayer):
    errors = (Error,)

    def open(self):
        settings.DATABASES = {"default": database(self.options)}
        # It keeps the settings of the path before, which may have gone another way.
        connections.settings = connections.configure_settings(None)
        connection.ensure_connection()

    def beneath(self):
        return connection.connection

    def statement(self, phase):
        return formatted(phase.sql) if phase.parameter_columns else phase.sql

    def raw(self, sql):
        def rows(parameters):
            with connection.cursor() as cursor:
                cursor.execute(sql, parameters or None)
                return cursor.fetchall()

        return rows

    def mapped(self, table):
        return model_of(table).objects.all

    def version(self):
        return {"django": django.get_version()}

    def close(self):
        connection.close()
        del connections["default"]


def model_of(table):
    """The model of a mapped table; several columns of a key are a composite one."""
    apps.all_models["own"].clear()  # of a model that was made before
    meta = type("Meta", (), {"app_label": "own", "managed": False, "db_table": table.name})
    members = {"__module__": "own", "Meta": meta}
    single = len(table.key) == 1
    for attribute, column in table.each():
        key = {"primary_key": True} if single and table.is_key(column) else {}
        members[attribute] = field_of(column, db_column=column.name, null=column.nullable and not key, **key)
    if not single:
        of_key = {column.name: attribute for attribute, column in table.each() if table.is_key(column)}
        members["pk"] = models.CompositePrimaryKey(*(of_key[name] for name in table.key))
    return type("Row", (models.Model,), members)


def field_of(column, **how):
    """The field of a column; one that takes values as they come where Django has none of its type."""
    if column.type == "decimal":
        return models.DecimalField(max_digits=column.precision or 1000, decimal_places=column.scale, **how)
    return FIELDS.get(column.type, models.TextField)(**how)
