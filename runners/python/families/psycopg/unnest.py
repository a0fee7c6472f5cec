"""INSERT … SELECT * FROM unnest(…) through psycopg 3: a list for each column, whatever the number of rows."""

from core.adapter import Unsupported
from families.libpq.adapter import column_names
from families.postgresql.connection import numbered


def rows_in(connection, phase, prepare, transaction):
    """A function that stores rows by one statement, prepared or not, inside `transaction()`."""
    cursor = connection.cursor()
    arrays = ", ".join(f"%s::{name}[]" for name in element_types(connection, phase))
    command = f"INSERT INTO {phase.table} ({column_names(phase)}) SELECT * FROM unnest({arrays})"

    def insert(rows):
        with transaction():
            cursor.execute(command, [list(column) for column in zip(*rows, strict=True)], prepare=prepare)

    return insert


def element_types(connection, phase):
    """The names of the types of the INSERT's parameters, as the server knows them; it is prepared, not executed."""
    connection.pgconn.prepare(b"", numbered(phase.sql).encode())
    described = connection.pgconn.describe_prepared(b"")
    for index, column in enumerate(phase.parameter_columns):
        known = connection.adapters.types.get(described.param_type(index))
        if known is None or column.type == "array":  # unnest takes arrays of arrays apart
            raise Unsupported(f"column {column.name}: bulk=unnest has no array of it")
        yield known.name
