"""PostgreSQL through ADBC: rows arrive as Arrow, and are taken so or made Python values of."""

from decimal import Decimal
from urllib.parse import quote, urlencode

import adbc_driver_postgresql
from adbc_driver_postgresql import dbapi

from families.adbc.adapter import AdbcAdapter
from families.arrow.batches import from_text
from families.postgresql.binary import reader
from families.postgresql.connection import libpq_keywords, numbered
from families.postgresql.facts import TLS, server_facts


class Adapter(AdbcAdapter):
    def opened(self):
        return dbapi.connect(self.uri(), autocommit=True)

    def uri(self):
        """The connection as one URI, the password in it."""
        keywords = {key: value for key, value in libpq_keywords(self.options).items() if value is not None}
        return f"postgresql://?{urlencode(keywords, quote_via=quote)}"

    def spelt(self, sql):
        return numbered(sql)

    def stored_name(self, name):
        return name.lower()

    def columns_from_text(self, column):
        return from_text(column) if column.type == "decimal" else None  # numeric has no end, so it comes as text

    def rows_from_text(self, column):
        return Decimal if column.type == "decimal" else None

    def reader(self, column):
        return reader(column)

    def server_pid(self):
        return self.one("SELECT pg_backend_pid()")

    def cancel(self):
        self.connection.adbc_cancel()

    def set_timeout(self, milliseconds):
        self.run(f"SET statement_timeout = {milliseconds}")

    def facts(self):
        return server_facts(self.one, {"autocommit": "on", "tls": self.one(TLS)}) | {
            "driver_version": adbc_driver_postgresql.__version__,
            "libraries": {"arrow": self.connection.adbc_get_info()["driver_arrow_version"]},
        }
