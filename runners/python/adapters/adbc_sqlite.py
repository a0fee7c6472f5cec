"""SQLite through ADBC: rows arrive as Arrow, and are taken so or made Python values of."""

from decimal import Decimal

import adbc_driver_sqlite
import pyarrow as pa
from adbc_driver_sqlite import dbapi

from families.adbc.adapter import AdbcAdapter
from families.sqlite.facts import engine_facts
from families.sqlite_arrow.texts import SqliteTexts


def as_parameter(value):
    """A value that the driver takes: it has no decimals, which are text in the database."""
    return format(value, "f") if isinstance(value, Decimal) else value


class Adapter(SqliteTexts, AdbcAdapter):
    def opened(self):
        connection = dbapi.connect(self.options["path"], autocommit=True)
        pragmas = ["busy_timeout=60000", "journal_mode=WAL", "synchronous=FULL"]
        if self.options.get("durability") == "none":
            pragmas = ["busy_timeout=60000", "synchronous=OFF"]
        for pragma in pragmas:
            self.first_query(f"PRAGMA {pragma}", connection)
        return connection

    def prepare(self, phase, parameters):
        return super().prepare(phase, parameters and [tuple(map(as_parameter, row)) for row in parameters])

    def stored(self, table):
        for index, field in enumerate(table.schema):
            if pa.types.is_decimal(field.type):  # the driver takes none in
                table = table.set_column(index, field.name, table.column(index).cast(pa.string()))
        return table

    def facts(self):
        return engine_facts(self.one, {"autocommit": "on"}) | {
            "driver_version": adbc_driver_sqlite.__version__,
            "libraries": {"arrow": self.connection.adbc_get_info()["driver_arrow_version"]},
        }
