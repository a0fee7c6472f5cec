"""What PostgreSQL reports of a query's columns: the statement is prepared and described, never executed.

Sources: PostgreSQL's manual, "Frontend/Backend Protocol" (RowDescription), and the catalogue pg_type.
"""

from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus

from core.describe import decimal, described, opaque

TYPES = {
    "bool": ("boolean", {}),
    "int2": ("integer", {"bits": 16}),
    "int4": ("integer", {"bits": 32}),
    "int8": ("integer", {"bits": 64}),
    "float4": ("float32", {}),
    "float8": ("float64", {}),
    "text": ("text", {}),
    "name": ("text", {}),
    "unknown": ("text", {}),
    "json": ("json", {}),
    "jsonb": ("json", {}),
    "bytea": ("binary", {}),
    "date": ("date", {}),
    "time": ("time", {}),
    "timestamp": ("timestamp", {}),
    "timestamptz": ("timestamptz", {}),
    "interval": ("interval", {}),
    "uuid": ("uuid", {}),
    "_int2": ("array", {"bits": 16}),
    "_int4": ("array", {"bits": 32}),
    "_int8": ("array", {"bits": 64}),
}
OF_LENGTH = {"bpchar": "char", "varchar": "varchar"}
MODIFIER_HEADER = 4  # what a length or a precision is counted from in a type modifier
OF_TYPES = """
SELECT t.typname, n.nspname, t.typtype, format_type(t.oid, m.modifier)
FROM unnest(%s::oid[], %s::int[]) WITH ORDINALITY AS m (oid, modifier, position)
JOIN pg_catalog.pg_type t ON t.oid = m.oid JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
ORDER BY m.position
"""


def columns(connection, sql):
    """The columns of `sql` through psycopg; domains come as what they are based on."""
    pgconn = connection.pgconn
    checked(pgconn.prepare(b"", sql.encode()))
    found = checked(pgconn.describe_prepared(b""))
    fields = range(found.nfields)
    names, modifiers = [found.fname(i).decode() for i in fields], [found.fmod(i) for i in fields]
    types = connection.execute(OF_TYPES, ([found.ftype(i) for i in fields], modifiers), prepare=False).fetchall()
    return [column(name, modifier, *kind) for name, modifier, kind in zip(names, modifiers, types, strict=True)]


def checked(result):
    """The result; a server's error becomes the driver's own."""
    if result.status != ExecStatus.COMMAND_OK:
        raise error_from_result(result)
    return result


def column(name, modifier, type_name, schema, variety, spelt):
    """One column by its type's name in the catalogue and its modifier (-1: none); `spelt` is the type as SQL has it."""
    if variety == "e":
        return described(name, "text", spelt)
    if schema != "pg_catalog":
        return opaque(name, spelt)
    if type_name in TYPES:
        kind, size = TYPES[type_name]
        return described(name, kind, spelt, **size)
    size = modifier - MODIFIER_HEADER if modifier >= MODIFIER_HEADER else 0
    if type_name in OF_LENGTH:
        return described(name, OF_LENGTH[type_name], spelt, length=size)
    if type_name == "numeric":
        # 11 bits of scale, in two's complement, below 16 of precision
        return decimal(name, spelt, size >> 16 & 0xFFFF, ((size & 0x7FF) ^ 1024) - 1024)
    return opaque(name, spelt)
