"""COPY through psycopg 3, text or binary."""

from families.libpq.adapter import begun, copy_command
from families.postgresql.connection import numbered

# PostgreSQL's types for binary COPY, which must declare them; character types and JSON have the same bytes as text.
TYPES = {
    "decimal": "numeric",
    "float32": "float4",
    "float64": "float8",
    "boolean": "bool",
    "binary": "bytea",
    "date": "date",
    "time": "time",
    "timestamp": "timestamp",
    "timestamptz": "timestamptz",
    "uuid": "uuid",
    "array": "int4[]",
}
INTEGERS = {16: "int2", 32: "int4", 64: "int8"}


def type_name(column):
    return INTEGERS[column.bits] if column.type == "integer" else TYPES.get(column.type, "text")


def result_types(connection, sql):
    """The OIDs of a query's columns; it is prepared and not executed."""
    connection.pgconn.prepare(b"", sql.encode())
    described = connection.pgconn.describe_prepared(b"")
    return [described.ftype(index) for index in range(described.nfields)]


def rows_out(connection, phase, binary):
    """A function that gives the rows of COPY (query) TO STDOUT, parsed by psycopg as the types that the query has."""
    cursor = connection.cursor()
    form = "binary" if binary else "text"
    types = result_types(connection, numbered(phase.sql) if phase.parameter_columns else phase.sql)

    def rows(query):
        with cursor.copy(f"COPY ({query}\n) TO STDOUT (FORMAT {form})") as copy:
            copy.set_types(types)
            yield
            yield from copy.rows()

    return begun(rows)


def types_in(phase, binary):
    """The types that a binary COPY declares of what it stores; None: it is text."""
    return [type_name(column) for column in phase.parameter_columns] if binary else None


def rows_in(connection, phase, binary, transaction):
    """A function that stores rows by COPY FROM STDIN, inside `transaction()`."""
    cursor = connection.cursor()
    types = types_in(phase, binary)
    command = copy_command(phase, "binary" if types else "text")

    def copy_in(rows):
        with transaction(), cursor.copy(command) as copy:
            if types:
                copy.set_types(types)
            for row in rows:
                copy.write_row(row)

    return copy_in
