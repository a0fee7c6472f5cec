"""What SQLAlchemy's layers have in common with a query that is not ours."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
    DateTime,
    Double,
    Interval,
    LargeBinary,
    MetaData,
    Numeric,
    Table,
    Text,
    Time,
    Uuid,
    text,
)
from sqlalchemy.types import NullType

from core.own_query import OwnQueryLayer
from families.sql.placeholders import split_placeholders
from families.sqlalchemy import engine

TYPES = {
    "integer": BigInteger,
    "decimal": Numeric,
    "float32": Double,
    "float64": Double,
    "boolean": Boolean,
    "char": Text,
    "varchar": Text,
    "text": Text,
    "binary": LargeBinary,
    "date": Date,
    "time": Time,
    "timestamp": DateTime,
    "timestamptz": lambda: DateTime(timezone=True),
    "interval": Interval,
    "uuid": Uuid,
}


class SqlAlchemyOwnQuery(OwnQueryLayer):
    """An engine in autocommit, whose pool keeps one connection."""

    version = staticmethod(engine.version)

    def open(self):
        how = {"isolation_level": "AUTOCOMMIT", "pool_size": 1, "max_overflow": 0}
        self.engine = engine.engine_of(self.options, **how)

    def beneath(self):
        with self.engine.connect() as connection:
            return connection.connection.driver_connection

    def close(self):
        self.engine.dispose()


def sql_column(attribute, column, key):
    """A column of the table, in the class under the attribute; without a type where values are taken as they come."""
    kind = TYPES.get(column.type, NullType)
    return Column(column.name, kind(), key=attribute, primary_key=key, nullable=column.nullable and not key)


def table_of(table):
    """The `Table` of a mapped table."""
    columns = [sql_column(attribute, column, table.is_key(column)) for attribute, column in table.each()]
    return Table(table.parts[-1], MetaData(), *columns, schema=table.schema)


def named_text(sql, bound):
    """`text()` of the SQL: its placeholders are `:p0`, `:p1`, …, every other colon stays what it is."""
    first, *rest = [part.replace(":", r"\:") for part in (split_placeholders(sql) if bound else [sql])]
    return text(first + "".join(f":p{number}{part}" for number, part in enumerate(rest)))


def named(row):
    """A row of parameters by the names that `named_text` gives them."""
    return {f"p{number}": value for number, value in enumerate(row)}
