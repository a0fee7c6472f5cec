"""SQLite through Python's own module sqlite3."""

import sqlite3
from datetime import date, datetime, time
from decimal import Decimal
from functools import partial
from urllib.parse import quote
from uuid import UUID

from core.adapter import Unsupported
from core.operation import Operation
from families.sql.adapter import SqlAdapter
from families.sql.blocks import block_size, in_blocks
from families.sql.literals import with_literals
from families.sqlite.facts import engine_facts
from families.sqlite.literals import literal
from families.sqlite3 import describe
from families.text.values import FROM_TEXT

# SQLite has no such types: the values are kept, and arrive, as text.
KEPT_AS_TEXT = ("decimal", "date", "time", "timestamp", "timestamptz", "uuid")

for natural, as_text in ((Decimal, lambda v: format(v, "f")), (UUID, str), (time, str), (date, str)):
    sqlite3.register_adapter(natural, as_text)
sqlite3.register_adapter(datetime, lambda value: value.isoformat(" "))


class Adapter(SqlAdapter):
    errors = (sqlite3.Error, sqlite3.Warning)
    bulk_ways = ("executemany",)

    def connect(self):
        self.connection = self.opened()

    def opened(self):
        # The module keeps statements by their text: with none kept, each execution prepares again.
        kept = 128 if self.options.get("statement") == "prepared" else 0
        self.shipped = self.options.get("profile") == "shipped"
        level = "" if self.shipped else None  # shipped: the module begins a transaction before a write
        mode = "ro" if self.options.get("read_only") == "yes" else "rwc"
        place = f"file:{quote(self.options['path'])}?mode={mode}"
        connection = sqlite3.connect(place, isolation_level=level, cached_statements=kept, uri=True)
        connection.execute("PRAGMA busy_timeout=60000")
        if self.options.get("durability") == "none":
            connection.execute("PRAGMA synchronous=OFF")
        else:
            connection.execute("PRAGMA journal_mode=WAL").fetchall()
            connection.execute("PRAGMA synchronous=FULL")
        return connection

    def prepare(self, phase, parameters):
        connection, sql = self.connection, phase.sql
        execute = connection.cursor().execute
        converters = [FROM_TEXT[c.type] if c.type in KEPT_AS_TEXT else None for c in phase.columns]
        if phase.kind == "connect":
            close = sqlite3.Connection.close
            return Operation(lambda opened: opened.execute(sql), None, converters, connect=self.opened, close=close)
        if parameters is None:
            work = Operation(lambda _: execute(sql), converters=converters)
        elif self.options.get("statement") == "text":
            work = Operation(execute, [with_literals(sql, row, literal) for row in parameters], converters)
        else:
            work = Operation(partial(execute, sql), parameters, converters)
        size = block_size(self.options)
        if size and phase.delivers:
            work.execute = in_blocks(work.execute, size)
        return work

    def transaction(self, phase):
        if self.shipped:
            return int, self.connection.commit, self.connection.rollback
        return super().transaction(phase)

    def bulk(self, phase, way):
        connection = self.connection

        def executemany(rows):
            with connection:  # ends the transaction, either way
                if not self.shipped:
                    connection.execute("BEGIN")
                connection.executemany(phase.sql, rows)

        return Operation(executemany)

    def cancel(self):
        self.connection.interrupt()

    def set_timeout(self, milliseconds):
        raise Unsupported("SQLite has no statement timeout; busy_timeout only limits the wait for a lock")

    def describe(self, sql):
        return describe.columns(self.options["path"], sql)

    def run(self, statement):
        self.connection.execute(statement).fetchall()
        if self.shipped:
            self.connection.commit()

    def facts(self):
        def one(sql):
            return self.connection.execute(sql).fetchone()[0]

        options = [row[0] for row in self.connection.execute("PRAGMA compile_options")]
        return engine_facts(one, {"autocommit": "on" if self.connection.isolation_level is None else "off"}) | {
            "driver_version": f"sqlite3 of Python, SQLite {sqlite3.sqlite_version}",
            "libraries": {"compiler": next((o for o in options if o.startswith("COMPILER=")), "")},
        }

    def close(self):
        self.connection.close()

    def code(self, error):
        return getattr(error, "sqlite_errorname", type(error).__name__)
