"""Peewee: `execute_sql` of a query, objects of a model."""

import peewee
from peewee import PostgresqlDatabase, SqliteDatabase

from core.own_query import OwnQueryLayer
from families.postgresql.connection import libpq_keywords
from families.sql.placeholders import formatted
from families.sqlite.uri import uri_of

FIELDS = {
    "integer": peewee.BigIntegerField,
    "decimal": peewee.DecimalField,
    "float32": peewee.FloatField,
    "float64": peewee.DoubleField,
    "boolean": peewee.BooleanField,
    "char": peewee.TextField,
    "varchar": peewee.TextField,
    "text": peewee.TextField,
    "date": peewee.DateField,
    "time": peewee.TimeField,
    "timestamp": peewee.DateTimeField,
    "timestamptz": peewee.DateTimeField,
    "uuid": peewee.UUIDField,
}


def database_of(options):
    """The path's database, by Peewee's own class for its engine."""
    if options["engine"] == "sqlite":
        return SqliteDatabase(uri_of(options), uri=True)
    keywords = libpq_keywords(options)
    return PostgresqlDatabase(keywords.pop("dbname"), prefer_psycopg3=True, **keywords)


class Adapter(OwnQueryLayer):
    errors = (peewee.PeeweeException,)

    def open(self):
        self.database = database_of(self.options)
        self.database.connect()

    def beneath(self):
        return self.database.connection()

    def statement(self, phase):
        if self.options["engine"] == "sqlite":
            return phase.sql
        return formatted(phase.sql) if phase.parameter_columns else phase.sql.replace("%", "%%")

    def raw(self, sql):
        execute = self.database.execute_sql
        return lambda parameters: execute(sql, parameters or None).fetchall()

    def mapped(self, table):
        model = model_of(table, self.database)
        return lambda: list(model.select())

    def version(self):
        return {"peewee": peewee.__version__}

    def close(self):
        self.database.close()


def model_of(table, database):
    """The model of a mapped table; several columns of a key are a composite one."""
    meta = {"database": database, "table_name": table.parts[-1], "schema": table.schema}
    single, members = len(table.key) == 1, {}
    for attribute, column in table.each():
        kind = FIELDS.get(column.type, peewee.BareField)
        key = single and table.is_key(column)
        members[attribute] = kind(column_name=column.name, null=column.nullable and not key, primary_key=key)
    if not single:
        of_key = {column.name: attribute for attribute, column in table.each() if table.is_key(column)}
        meta["primary_key"] = peewee.CompositeKey(*(of_key[name] for name in table.key))
    return type("Row", (peewee.Model,), members | {"Meta": type("Meta", (), meta)})
