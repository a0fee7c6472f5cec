"""PostgreSQL, MariaDB, MySQL and SQLite through arrow-odbc: blocks of an ODBC driver's rows as Arrow batches."""

import importlib.metadata
import os
import re
from functools import partial

import arrow_odbc
import pyarrow as pa
import pyarrow.compute as pc

from core.operation import Operation
from families.arrow.batches import Arrow, arrow_rows, from_text
from families.columnar.sampler import ColumnarOperation, natural_uuid
from families.mysql.adapter import compression
from families.odbc.connection import connection_string
from families.odbc.facts import facts_of
from families.odbc.values import KEPT_AS_TEXT, LITERALS, converters_of
from families.sql.adapter import SqlAdapter
from families.sql.literals import with_literals

LEAST_BYTES = 8192  # of a buffer for a value whose greatest length is not declared
UTF8_BYTES = 4  # the most of a character
STATE = re.compile(r"State: (\w{5})")


class Adapter(SqlAdapter):
    errors = (arrow_odbc.Error,)

    def connect(self):
        self.engine = self.options["engine"]
        self.connection = arrow_odbc.connect(connection_string(self.options))
        self.size = int(self.options.get("result", "chunked:65535").partition(":")[2])

    def batches(self, sql, **bounds):
        return self.connection.read_arrow_batches(sql, batch_size=self.size, fetch_concurrently=False, **bounds)

    def prepare(self, phase, parameters):
        columnar = self.options.get("fetch", "columnar") == "columnar"
        batches = partial(self.batches, **bounds(phase.columns), map_schema=exact(phase.columns))
        queries = [phase.sql]
        if parameters is not None:
            queries = [with_literals(phase.sql, row, LITERALS[self.engine]) for row in parameters]
        if columnar:
            converters = [self.converter(column) for column in phase.columns]
            return ColumnarOperation(Arrow(phase.columns, converters), batches, queries)
        converters = [
            natural_uuid if column.type == "uuid" else convert
            for column, convert in zip(phase.columns, converters_of(self.engine, phase.columns), strict=True)
        ]

        def rows(sql):
            for batch in batches(sql):
                yield from arrow_rows(batch)

        return Operation(rows, queries, converters)

    def converter(self, column):
        """A function from an array as it arrives to one of the column's own type, or None."""
        if column.type == "timestamptz":
            return partial(pc.assume_timezone, timezone="UTC")  # the session's
        return from_text(column) if self.engine == "sqlite" and column.type in KEPT_AS_TEXT else None

    def rows(self, sql):
        """All rows of a statement; none of one that has no result."""
        return [row for batch in self.batches(sql) or () for row in arrow_rows(batch)]

    def run(self, statement):
        self.rows(statement)

    def facts(self):
        settings = {"autocommit": "on", "fetch_concurrently": "off"}
        found = facts_of(self.engine, self.rows, settings | compression(self.options, self.rows))
        libraries = {"odbc driver": os.environ["ROWPATH_ODBC_DRIVER"]}
        return found | {"driver_version": importlib.metadata.version("arrow-odbc"), "libraries": libraries}

    def close(self):
        self.connection = None  # that is how it is closed

    def code(self, error):
        found = STATE.search(str(error))
        return found[1] if found else type(error).__name__


def bounds(columns):
    """How long the longest values may be, in bytes."""
    texts = [UTF8_BYTES * column.length for column in columns if column.type in ("char", "varchar", "text", "json")]
    binary = [column.length or LEAST_BYTES for column in columns if column.type == "binary"]
    return {"max_text_size": max(LEAST_BYTES, *texts, 0), "max_binary_size": max(binary, default=LEAST_BYTES)}


def exact(columns):
    """A function that makes the driver's floating point of 64 bits so, which it describes as of 32 bits."""

    def mapped(schema):
        for index, column in enumerate(columns):
            if column.type == "float64":
                schema = schema.set(index, schema.field(index).with_type(pa.float64()))
        return schema

    return mapped
