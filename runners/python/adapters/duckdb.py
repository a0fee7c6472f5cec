"""DuckDB in this process, through its own Python module: rows or Arrow."""

from datetime import date, datetime, time
from uuid import UUID

import duckdb

from core.adapter import Unsupported
from core.iso import interval
from core.operation import Operation
from families.arrow.batches import Arrow
from families.arrow.schema import arrow_schema, arrow_table
from families.columnar.sampler import ColumnarOperation
from families.duckdb import describe
from families.sql.adapter import SqlAdapter
from families.sql.blocks import block_size, in_blocks
from families.sql.literals import with_literals

QUOTE = '"'
SETTINGS = ("threads", "async_threads", "fsync_mode", "TimeZone", "memory_limit", "checkpoint_threshold")


# As a Python value an interval loses its months, and an instant needs a package more: they are fetched as text.
FETCHED_AS_TEXT = {"interval": interval, "timestamptz": datetime.fromisoformat}
NO_TEXT = ("binary", "any")  # which text cannot stand for


def text_type(column):
    """The type that a column is cast to so that what is in it is fetched as text."""
    if column.type == "array":
        return f"{text_type(column.fields[0])}[]"
    if column.type == "map":
        return f"MAP({', '.join(map(text_type, column.fields))})"
    if column.type == "struct":
        members = [f'"{field.name.replace(QUOTE, QUOTE * 2)}" {text_type(field)}' for field in column.fields]
        return f"STRUCT({', '.join(members)})"
    return "VARCHAR"


def leaves(column):
    """The columns without fields in a column, itself where it has none."""
    return [leaf for field in column.fields for leaf in leaves(field)] or [column]


def fetched_as_text(column):
    """Whether a column is fetched as text, or what is in it."""
    found = leaves(column)
    named = all(field.name for field in column.fields) or column.type != "struct"
    return named and any(c.type in FETCHED_AS_TEXT for c in found) and not any(c.type in NO_TEXT for c in found)


def bits(value):
    """Bits as text, from what Arrow has of them: the first byte is how many of the second are filled in."""
    if isinstance(value, list):
        return list(map(bits, value))
    if not isinstance(value, bytes):
        return value
    return f"{int.from_bytes(value[1:], 'big'):0{8 * (len(value) - 1)}b}"[value[0] :]


def literal(value):
    """A value as it stands inside SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"from_hex('{value.hex()}')"
    if isinstance(value, (date, time, UUID)):
        return f"'{value}'"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


class Adapter(SqlAdapter):
    errors = (duckdb.Error,)
    bulk_ways = ("arrow", "appender", "executemany")

    def connect(self):
        self.connection = self.opened()

    @property
    def place(self):
        """Where the database is."""
        return self.options["path"]

    @property
    def read_only(self):
        """A file that one process writes no other may open."""
        several = self.options.get("clients", "1") != "1" and self.options.get("concurrency") == "processes"
        return several or self.options.get("read_only") == "yes"

    def opened(self):
        options = self.options
        config = {"threads": int(options.get("threads", 1))}
        if options.get("durability") == "none":
            config["fsync_mode"] = "NONE"  # unknown to DuckDB 1.5
        if options.get("storage", "latest") != "latest":
            config["storage_compatibility_version"] = options["storage"]  # of a file that is not there yet
        if self.read_only:
            config["access_mode"] = "READ_ONLY"
        connection = duckdb.connect(self.place, config=config)
        connection.execute("SET TimeZone = 'UTC'")
        return connection

    def statements(self, phase, parameters):
        """The operations: SQL and its parameters."""
        if self.options.get("statement") == "text" and parameters:
            return [(with_literals(phase.sql, row, literal), None) for row in parameters]
        return [(phase.sql, row) for row in parameters or [None]]

    def prepare(self, phase, parameters):
        connection, sql, arguments = self.connection, phase.sql, self.statements(phase, parameters)
        if phase.kind == "connect":
            close = duckdb.DuckDBPyConnection.close
            return Operation(lambda opened: opened.execute(sql).fetchall(), connect=self.opened, close=close)
        if not phase.columns and self.read_only:
            raise Unsupported("a file that several processes have open can only be read")
        if not phase.columns:
            return Operation(lambda argument: connection.execute(*argument), arguments)
        fetch = self.options.get("fetch", "row")
        if fetch == "columnar":
            readers = [bits if leaves(column)[0].type == "bits" else None for column in phase.columns]
            return ColumnarOperation(Arrow(phase.columns, readers=readers), self.batches(), arguments)
        if any(map(fetched_as_text, phase.columns)):
            names = [f"c{number}" for number in range(len(phase.columns))]  # the query's own may occur twice
            taken = ", ".join(
                f"CAST({name} AS {text_type(c)})" if fetched_as_text(c) else name
                for name, c in zip(names, phase.columns, strict=True)
            )
            arguments = [(f"SELECT {taken} FROM ({text}\n) AS q ({', '.join(names)})", row) for text, row in arguments]
        converters = [FETCHED_AS_TEXT.get(c.type) for c in phase.columns]
        if fetch == "row":
            return Operation(lambda argument: connection.execute(*argument).fetchall(), arguments, converters)
        execute = in_blocks(lambda argument: connection.execute(*argument), block_size(self.options))
        return Operation(execute, arguments, converters)

    def batches(self):
        """A function from (SQL, parameters) to the result's Arrow table, or its record batches as they are made."""
        connection = self.connection
        result, _, size = self.options.get("result", "whole").partition(":")
        if result == "chunked":
            return lambda argument: connection.sql(argument[0], params=argument[1]).to_arrow_reader(int(size))
        return lambda argument: [connection.sql(argument[0], params=argument[1]).to_arrow_table()]

    def bulk(self, phase, way):
        connection, table = self.connection, phase.table
        names = [column.name for column in phase.parameter_columns]
        schema = arrow_schema(phase.parameter_columns)

        def through_arrow(rows):
            connection.register("arriving", arrow_table(rows, schema))
            connection.execute(f"INSERT INTO {table} ({', '.join(names)}) SELECT * FROM arriving")
            connection.unregister("arriving")

        def through_appender(rows):
            appender = connection.appender(table, columns=names)
            appender.append_rows(rows)
            appender.flush()

        def one_by_one(rows):
            connection.begin()
            try:
                connection.executemany(phase.sql, rows)
            except duckdb.Error:
                connection.rollback()
                raise
            connection.commit()

        return Operation({"arrow": through_arrow, "appender": through_appender, "executemany": one_by_one}[way])

    def cancel(self):
        self.connection.interrupt()

    def describe(self, sql):
        return describe.columns(self.connection, sql)

    def run(self, statement):
        self.connection.execute(statement)

    def facts(self):
        execute = self.connection.execute
        known = dict(execute("SELECT name, value FROM duckdb_settings()").fetchall())
        version, source = execute("SELECT library_version, source_id FROM pragma_version()").fetchone()
        return {
            "driver_version": duckdb.__version__,
            "engine_version": version.removeprefix("v"),
            "build": f"{source} {execute('PRAGMA platform').fetchone()[0]}",
            "settings": {"autocommit": "on"} | {name: known[name] for name in SETTINGS if name in known},
        }

    def close(self):
        self.connection.close()
