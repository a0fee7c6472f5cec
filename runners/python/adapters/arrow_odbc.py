"""PostgreSQL, MariaDB, MySQL and SQLite through arrow-odbc: blocks of an ODBC driver's rows as Arrow batches."""

import importlib.metadata
import os
import re

import arrow_odbc

from core.adapter import Unsupported
from core.operation import Operation
from families.arrow.batches import Arrow, arrow_rows, from_text
from families.columnar.sampler import ColumnarOperation
from families.odbc.connection import connection_string
from families.odbc.facts import facts_of
from families.odbc.values import KEPT_AS_TEXT, LITERALS, check, converters_of
from families.sql.adapter import SqlAdapter
from families.sql.literals import with_literals

STATE = re.compile(r"State: (\w{5})")


class Adapter(SqlAdapter):
    errors = (arrow_odbc.Error,)

    def connect(self):
        self.engine = self.options["engine"]
        self.connection = arrow_odbc.connect(connection_string(self.options))
        self.size = int(self.options.get("result", "chunked:65535").partition(":")[2])

    def batches(self, sql):
        return self.connection.read_arrow_batches(sql, batch_size=self.size, fetch_concurrently=False)

    def prepare(self, phase, parameters):
        check(self.engine, phase.columns)
        for column in phase.columns:
            if column.type in ("interval", "array") or (column.type == "decimal" and not column.precision):
                raise Unsupported(f"column {column.name}: ODBC describes no such {column.type} to arrow-odbc")
        queries = [phase.sql]
        if parameters is not None:
            queries = [with_literals(phase.sql, row, LITERALS[self.engine]) for row in parameters]
        if self.options.get("fetch", "columnar") == "columnar":
            of_text = [from_text(c) if self.as_text(c) else None for c in phase.columns]
            return ColumnarOperation(Arrow(phase.columns, of_text), self.batches, queries)
        converters = converters_of(self.engine, phase.columns)

        def rows(sql):
            for batch in self.batches(sql):
                yield from arrow_rows(batch)

        return Operation(rows, queries, converters)

    def as_text(self, column):
        return self.engine == "sqlite" and column.type in KEPT_AS_TEXT

    def rows(self, sql):
        """All rows of a statement; none of one that has no result."""
        return [row for batch in self.batches(sql) or () for row in arrow_rows(batch)]

    def run(self, statement):
        self.rows(statement)

    def facts(self):
        settings = {"autocommit": "on", "fetch_concurrently": "off"}
        found = facts_of(self.engine, self.rows, settings)
        libraries = {"odbc driver": os.environ["ROWPATH_ODBC_DRIVER"]}
        return found | {"driver_version": importlib.metadata.version("arrow-odbc"), "libraries": libraries}

    def close(self):
        self.connection = None  # that is how it is closed

    def code(self, error):
        found = STATE.search(str(error))
        return found[1] if found else type(error).__name__
