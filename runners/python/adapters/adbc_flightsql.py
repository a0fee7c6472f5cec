"""Flight SQL through ADBC: rows arrive as Arrow, and are taken so or made Python values of."""

from datetime import date, datetime, time
from decimal import Decimal

import adbc_driver_flightsql
from adbc_driver_flightsql import dbapi
from adbc_driver_manager import DatabaseOptions

from families.adbc.adapter import AdbcAdapter
from families.sqlite.facts import engine_facts
from families.sqlite_arrow.texts import SqliteTexts


def as_parameter(value):
    """A value that the server takes: it has none of the types that SQLite keeps as text, and no booleans."""
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, date | time):
        return value.isoformat()
    return int(value) if isinstance(value, bool) else value


class Adapter(SqliteTexts, AdbcAdapter):
    def opened(self):
        user, password = DatabaseOptions.USERNAME.value, DatabaseOptions.PASSWORD.value
        login = {user: self.options["user"], password: self.options.get("password", "")}
        return dbapi.connect(f"grpc+tcp://{self.options['host']}:{self.options['port']}", login, autocommit=True)

    def prepare(self, phase, parameters):
        return super().prepare(phase, parameters and [tuple(map(as_parameter, row)) for row in parameters])

    def run(self, statement):
        with self.connection.cursor() as cursor:
            cursor.executescript(statement)

    def facts(self):
        return engine_facts(self.one, {"autocommit": "on"}) | {
            "driver_version": adbc_driver_flightsql.__version__,
            "libraries": {"arrow": self.connection.adbc_get_info()["driver_arrow_version"]},
        }
