"""What ADBC's drivers have in common: cursors that keep their prepared statement, Arrow or rows, ingesting Arrow."""

from functools import partial

from adbc_driver_manager import dbapi

from core.adapter import Adapter
from core.operation import Operation
from families.arrow.batches import Arrow
from families.arrow.schema import arrow_schema, arrow_table
from families.columnar.sampler import ColumnarOperation


class AdbcAdapter(Adapter):
    """One ADBC driver: `opened()` opens a connection in autocommit, `spelt(sql)` gives the SQL its placeholders and
    `stored_name(name)` is what the engine made of a name that was not quoted.

    `columns_from_text` and `rows_from_text` give the converter of a declared column that arrives as text, else None;
    `reader` an operation's reader of one, else None.
    """

    errors = (dbapi.Error,)
    bulk_ways = ("arrow",)

    def opened(self):
        raise NotImplementedError

    def spelt(self, sql):
        return sql

    def stored_name(self, name):
        return name

    def stored(self, table):
        """An Arrow table as the driver can take it in."""
        return table

    def columns_from_text(self, column):
        return None

    def rows_from_text(self, column):
        return None

    def reader(self, column):
        return None

    def connect(self):
        self.connection = self.opened()
        self.cursors = []

    def cursor(self):
        """A cursor that is closed with the connection."""
        self.cursors.append(self.connection.cursor())
        return self.cursors[-1]

    def prepare(self, phase, parameters):
        columnar = self.options.get("fetch") == "columnar"
        if phase.kind == "connect":
            return Operation(partial(self.first_query, phase.sql), connect=self.opened, close=close)
        sql = self.spelt(phase.sql) if phase.parameter_columns else phase.sql  # a ? may be an operator
        take = None
        if phase.delivers:
            take = whole_table if columnar else dbapi.Cursor.fetchall
        # A cursor prepares a statement once, as long as its text stays the same: a fresh one prepares it again.
        if self.options.get("statement") == "prepared":
            cursor = self.cursor()

            def execute(row):
                cursor.execute(sql, row)
                return take(cursor) if take else None
        else:
            connection = self.connection

            def execute(row):
                with connection.cursor() as cursor:
                    cursor.execute(sql, row)
                    return take(cursor) if take else None

        arguments = parameters or [None]
        readers = [self.reader(column) for column in phase.columns]
        if columnar and phase.delivers:
            converters = [self.columns_from_text(column) for column in phase.columns]
            return ColumnarOperation(Arrow(phase.columns, converters, readers), execute, arguments)
        operation = Operation(execute, arguments, [self.rows_from_text(column) for column in phase.columns])
        operation.readers = readers
        return operation

    def first_query(self, sql, connection):
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()

    def bulk(self, phase, way):
        cursor, table = self.cursor(), phase.table
        schema = arrow_schema(phase.parameter_columns)
        for index, column in enumerate(phase.parameter_columns):  # ingesting quotes the names
            schema = schema.set(index, schema.field(index).with_name(self.stored_name(column.name)))
        stored = self.stored
        return Operation(lambda rows: cursor.adbc_ingest(table, stored(arrow_table(rows, schema)), mode="append"))

    def transaction(self, phase):
        if not phase.transaction:
            return None
        return tuple(partial(self.cursor().execute, statement) for statement in ("BEGIN", "COMMIT", "ROLLBACK"))

    def run(self, statement):
        with self.connection.cursor() as cursor:
            cursor.execute(statement)
            cursor.fetchall()  # a query has hardly begun when executing it returns

    def one(self, sql):
        """The value of the first row and column of a query."""
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchone()[0]

    def close(self):
        for cursor in self.cursors:
            cursor.close()
        self.connection.close()

    def code(self, error):
        return error.sqlstate or error.status_code.name


def whole_table(cursor):
    """The result as one Arrow table, as a list of batches."""
    return [cursor.fetch_arrow_table()]


def close(connection):
    """Close a connection that has no cursor open."""
    connection.close()
