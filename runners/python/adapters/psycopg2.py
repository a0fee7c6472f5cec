"""PostgreSQL through psycopg2: values become part of the SQL in the client, results arrive as text."""

from contextlib import nullcontext
from io import StringIO

import psycopg2
from psycopg2 import extensions, extras

from core.operation import Operation
from families.libpq.adapter import LibpqAdapter, begun, column_names, copy_command
from families.postgresql.connection import libpq_keywords
from families.sql.blocks import block_size, in_blocks
from families.sql.placeholders import formatted
from families.sql.rows import reads
from families.text.values import interval

INTERVAL_OID, INTERVALS_OID = 1186, 1187
# (months, days, nanoseconds): psycopg2's own timedelta has no months.
INTERVAL = extensions.new_type((INTERVAL_OID,), "INTERVAL", lambda text, _: None if text is None else interval(text))
INTERVALS = extensions.new_array_type((INTERVALS_OID,), "INTERVAL[]", INTERVAL)
ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


CURSORS = {
    "dict": extras.DictCursor,
    "real-dict": extras.RealDictCursor,
    "namedtuple": extras.NamedTupleCursor,
}


def copy_field(value):
    """A value as COPY's text format has it."""
    if value is None:
        return "\\N"
    if isinstance(value, str):
        return value.translate(ESCAPES)
    if isinstance(value, bytes):
        return f"\\\\x{value.hex()}"
    if isinstance(value, list):
        return "{" + ",".join("NULL" if element is None else str(element) for element in value) + "}"
    return str(value)


class Adapter(LibpqAdapter):
    errors = (psycopg2.Error,)
    bulk_ways = ("copy", "multi-row", "executemany")

    def log_in(self):
        connection = psycopg2.connect(**libpq_keywords(self.options))
        connection.autocommit = not self.shipped
        extras.register_uuid(conn_or_curs=connection)
        extras.register_default_json(connection, loads=str)
        extras.register_default_jsonb(connection, loads=str)
        extensions.register_type(INTERVAL, connection)
        extensions.register_type(INTERVALS, connection)
        return connection

    def prepare(self, phase, parameters):
        operation = self.operation(phase, parameters)
        operation.reads = reads(self.options, phase)
        return operation

    def operation(self, phase, parameters):
        query = formatted(phase.sql) if parameters is not None else phase.sql
        if phase.kind == "connect":
            return Operation(
                lambda opened: self.executed(opened.cursor(), query), connect=self.log_in, close=self.hang_up
            )
        result, _, size = self.options.get("result", "whole").partition(":")
        if result == "cursor" and phase.delivers:
            return Operation(self.through_cursor(query, int(size)), parameters)
        cursor = self.connection.cursor(**self.row_class)
        execute = cursor.execute
        if not phase.delivers:
            return Operation(lambda row: execute(query, row or None), parameters)

        def rows(row):
            execute(query, row or None)  # with none at all a % is no placeholder
            return cursor

        size = block_size(self.options)
        return Operation(in_blocks(rows, size) if size else rows, parameters)

    @property
    def row_class(self):
        """What `cursor()` takes so that rows are of the class that `rows` names."""
        form = self.options.get("rows", "none")
        return {"cursor_factory": CURSORS[form]} if form in CURSORS else {}

    def through_cursor(self, query, size):
        """One transaction per operation, its rows `size` a round trip through a cursor in the server."""
        connection = self.connection

        def rows(row):
            connection.autocommit = False  # the driver refuses such a cursor with it
            try:
                with connection, connection.cursor("rows", **self.row_class) as cursor:
                    cursor.itersize = size
                    cursor.execute(query, row or None)
                    yield
                    yield from cursor
            finally:
                connection.autocommit = not self.shipped

        return begun(rows)  # BEGIN and DECLARE

    def bulk(self, phase, way):
        connection = self.connection
        if way == "executemany":
            return self.executemany(phase, lambda: connection)
        cursor = connection.cursor()
        if way == "multi-row":
            query = f"INSERT INTO {phase.table} ({column_names(phase)}) VALUES %s"

            def multi_row(rows):
                with connection:
                    extras.execute_values(cursor, query, rows)

            return Operation(multi_row)
        command = copy_command(phase)

        def copy_in(rows):
            text = "".join(["\t".join(map(copy_field, row)) + "\n" for row in rows])
            with connection if self.shipped else nullcontext():  # a COPY by itself is a transaction
                cursor.copy_expert(command, StringIO(text))

        return Operation(copy_in)

    @staticmethod
    def executed(cursor, query):
        cursor.execute(query)
        return cursor

    @staticmethod
    def hang_up(connection):
        connection.close()

    def run(self, statement):
        with self.connection.cursor() as cursor:
            cursor.execute(statement)
        if self.shipped:
            self.connection.commit()

    def cancel(self):
        self.connection.cancel()

    def facts(self):
        connection = self.connection
        return self.facts_of_server(connection.info.ssl_in_use, {"client_encoding": connection.encoding}) | {
            "driver_version": psycopg2.__version__.split()[0],
            "libraries": {"libpq": str(extensions.libpq_version())},
        }

    def code(self, error):
        return error.pgcode or type(error).__name__
