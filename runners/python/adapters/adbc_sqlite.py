"""SQLite through ADBC: rows arrive as Arrow, and are taken so or made Python values of."""

import adbc_driver_sqlite
import pyarrow as pa
from adbc_driver_sqlite import dbapi
from rowpath_runner.adapter import FROM_TEXT
from rowpath_runner.adbc import AdbcAdapter
from rowpath_runner.columnar_arrow import from_text

# SQLite has no such types: the values are kept, and arrive, as text.
KEPT_AS_TEXT = ("decimal", "date", "time", "timestamp")
SYNCHRONOUS = ("OFF", "NORMAL", "FULL", "EXTRA")


class Adapter(AdbcAdapter):
    def opened(self):
        connection = dbapi.connect(self.options["path"], autocommit=True)
        pragmas = ["busy_timeout=60000", "journal_mode=WAL", "synchronous=FULL"]
        if self.options.get("durability") == "none":
            pragmas = ["busy_timeout=60000", "synchronous=OFF"]
        for pragma in pragmas:
            self.first_query(f"PRAGMA {pragma}", connection)
        return connection

    def columns_from_text(self, column):
        return from_text(column) if column.type in KEPT_AS_TEXT else None

    def rows_from_text(self, column):
        return FROM_TEXT[column.type] if column.type in KEPT_AS_TEXT else None

    def stored(self, table):
        for index, field in enumerate(table.schema):
            if pa.types.is_decimal(field.type):  # the driver takes none in
                table = table.set_column(index, field.name, table.column(index).cast(pa.string()))
        return table

    def facts(self):
        def pragma(name):
            return self.one(f"PRAGMA {name}")[0]

        return {
            "driver_version": adbc_driver_sqlite.__version__,
            "engine_version": self.one("SELECT sqlite_version()")[0],
            "build": self.one("SELECT sqlite_source_id()")[0],
            "libraries": {"arrow": self.connection.adbc_get_info()["driver_arrow_version"]},
            "settings": {
                "autocommit": "on",
                "journal_mode": pragma("journal_mode"),
                "synchronous": SYNCHRONOUS[pragma("synchronous")],
                "cache_size": pragma("cache_size"),
                "threads": pragma("threads"),
            },
        }
