"""Tortoise ORM: `execute_query` of a query, objects of a model; a pool that resets nothing."""

import sys
from types import ModuleType

import tortoise
from tortoise import fields
from tortoise.apps import Apps
from tortoise.context import TortoiseContext
from tortoise.exceptions import BaseORMException
from tortoise.models import Model

from adapters.asyncpg import encryption
from core.adapter import Unsupported
from core.own_query import OwnQueryLayer
from families.postgresql.connection import address, numbered, plain

FIELDS = {
    "integer": fields.BigIntField,
    "float32": fields.FloatField,
    "float64": fields.FloatField,
    "boolean": fields.BooleanField,
    "char": fields.TextField,
    "varchar": fields.TextField,
    "text": fields.TextField,
    "binary": fields.BinaryField,
    "date": fields.DateField,
    "timestamp": fields.DatetimeField,
    "timestamptz": fields.DatetimeField,
    "uuid": fields.UUIDField,
}


class Nothing(Model):
    """Tortoise does not begin without a model."""

    id = fields.IntField(primary_key=True)


# Tortoise imports its models by the name of a module, and this file has none.
sys.modules["own"] = ModuleType("own")
sys.modules["own"].__models__ = [Nothing]


class AsItComes(fields.Field):
    """A column whose values stay what the driver makes of them."""

    SQL_TYPE = "TEXT"

    def to_python_value(self, value):
        return value


async def no_reset(connection):
    """What a pool does to a connection that comes back, where nothing changes its state."""


class Adapter(OwnQueryLayer):
    errors = (BaseORMException,)

    def open(self):
        self.context = TortoiseContext()
        self.context.__enter__()  # the tasks of the event loop inherit it
        self.driver.wait(self.context.init(self.config()))

    def config(self):
        """Tortoise's configuration: one connection, one application."""
        credentials = {
            **address(self.options),
            "database": self.options["database"],
            **encryption(self.options),
            "server_settings": {} if plain(self.options) else {"TimeZone": "UTC"},
            "minsize": 1,
            "maxsize": 1,
            "reset": no_reset,
        }
        connection = {"engine": "tortoise.backends.asyncpg", "credentials": credentials}
        return {"connections": {"default": connection}, "apps": {"own": {"models": ["own"]}}, "use_tz": True}

    def beneath(self):
        self.driver.wait(self.context.db().execute_query("SELECT 1"))  # connects
        (holder,) = self.context.db()._pool._holders
        return holder._con

    def statement(self, phase):
        return numbered(phase.sql) if phase.parameter_columns else phase.sql

    def raw(self, sql):
        execute = self.context.db().execute_query

        async def rows(parameters):
            _count, found = await execute(sql, list(parameters))
            return found

        return rows

    def mapped(self, table):
        if len(table.key) > 1:
            raise Unsupported("Tortoise has no primary key of several columns")
        model = model_of(table)
        sys.modules["own"].__models__ = [model]
        # On the connection that is there: another one would not have what the session has set.
        Apps({"own": {"models": ["own"], "default_connection": "default"}}, self.context.connections)
        return model.all

    def version(self):
        return {"tortoise-orm": tortoise.__version__}

    def close(self):
        self.driver.wait(self.context.close_connections())
        self.context.__exit__(None, None, None)
        self.driver.event_loop.close()


def model_of(table):
    """The model of a mapped table."""
    meta = {"table": table.parts[-1], **({"schema": table.schema} if table.schema else {})}
    members = {"__module__": "own", "Meta": type("Meta", (), meta)}
    for attribute, column in table.each():
        key = table.is_key(column)
        how = {"source_field": column.name, "primary_key": key, "null": column.nullable and not key}
        members[attribute] = field_of(column, how)
    return type("Row", (Model,), members)


def field_of(column, how):
    """The field of a column; one that takes values as they come where Tortoise has none of its type."""
    if how["primary_key"] and column.type not in ("integer", "uuid"):
        return fields.CharField(max_length=column.length or 1 << 20, **how)
    if column.type == "decimal" and column.precision:
        return fields.DecimalField(column.precision, column.scale, **how)
    kind = FIELDS.get(column.type, AsItComes)
    return kind(**how, **({"generated": False} if how["primary_key"] and column.type == "integer" else {}))
