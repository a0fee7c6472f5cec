"""Values as ODBC's drivers take and deliver them."""

from datetime import UTC, date, datetime, time
from decimal import Decimal
from uuid import UUID

from core import iso
from core.adapter import Unsupported
from families.mysql import values as mysql
from families.sql import literals
from families.sqlite import literals as sqlite
from families.text.values import FROM_TEXT

LITERALS = {"postgresql": literals.literal, "mariadb": mysql.literal, "mysql": mysql.literal, "sqlite": sqlite.literal}


# SQLite has no such types: the values are kept, and arrive, as text.
KEPT_AS_TEXT = ("decimal", "date", "time", "timestamp")


def _in_utc(moment):
    return moment.replace(tzinfo=UTC)


NATURAL = {
    "postgresql": {
        "timestamptz": _in_utc,
        "interval": FROM_TEXT["interval"],
        "array": FROM_TEXT["array"],
    },
    "mariadb": {"timestamptz": _in_utc, "uuid": UUID},
    "mysql": {"timestamptz": _in_utc, "uuid": UUID, "json": mysql.as_text},
    "sqlite": {kind: FROM_TEXT[kind] for kind in KEPT_AS_TEXT},
}


def converters_of(engine, columns):
    """For each column how what arrives as another type becomes its own, or None."""
    return [
        iso.array if column.type == "array" and column.fields[0].type != "integer" else NATURAL[engine].get(column.type)
        for column in columns
    ]


def taken(engine, row, in_array=False):
    """A row of parameters as the engine's driver takes it, its digits kept."""
    return tuple(map(_bound if engine == "postgresql" and not in_array else _text_of, row))


def _bound(value):
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)  # the session's time zone is UTC
    return str(value) if isinstance(value, (time, UUID)) else value  # a TIME of ODBC has whole seconds


def _text_of(value):
    if isinstance(value, datetime):
        # A TIMESTAMP bound has whole seconds over MariaDB's driver, in psqlodbc's arrays too; milliseconds in SQLite's.
        return value.replace(tzinfo=None).isoformat(" ")
    if isinstance(value, Decimal):
        return format(value, "f")
    return str(value) if isinstance(value, (date, time, UUID)) else value


def check(engine, columns):
    """Unsupported for what a driver would change."""
    for column in columns:
        if engine == "sqlite" and column.type in ("float32", "float64"):
            raise Unsupported("libsqliteodbc hands floating point over by way of text of 15 digits: two are lost")
