"""What PostgreSQL reports of a query's columns: the statement is prepared and described, never executed.

Sources: PostgreSQL's manual, "Frontend/Backend Protocol" (RowDescription), and the catalogue pg_type.
"""

from typing import NamedTuple

from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus

from core.describe import array, decimal, described, opaque

TYPES = {
    "bool": ("boolean", {}),
    "int2": ("integer", {"bits": 16}),
    "int4": ("integer", {"bits": 32}),
    "int8": ("integer", {"bits": 64}),
    "float4": ("float32", {}),
    "float8": ("float64", {}),
    "text": ("text", {}),
    "name": ("text", {}),
    "char": ("text", {}),  # of one byte; not char(n), which is bpchar
    "unknown": ("text", {}),
    "json": ("json", {}),
    "jsonb": ("json", {}),
    "bytea": ("binary", {}),
    "date": ("date", {}),
    "time": ("time", {}),
    "timestamp": ("timestamp", {}),
    "timestamptz": ("timestamptz", {}),
    "interval": ("interval", {}),
    "timetz": ("timetz", {}),
    "uuid": ("uuid", {}),
    "oid": ("integer", {"bits": 64}),  # 32 without a sign
    "xid": ("integer", {"bits": 64}),
    "cid": ("integer", {"bits": 64}),
}
OF_LENGTH = {"bpchar": "char", "varchar": "varchar"}
BITS = ("bit", "varbit")
MODIFIER_HEADER = 4  # what a length or a precision is counted from in a type modifier
VECTORS = ("int2vector", "oidvector")  # whose texts are no arrays'
NO_ELEMENT = 0
OF_TYPES = """
SELECT t.oid, m.modifier, t.typname, n.nspname, t.typtype, format_type(t.oid, m.modifier),
  CASE WHEN t.typcategory = 'A' THEN t.typelem ELSE 0 END, t.typbasetype, t.typtypmod
FROM unnest(%s::oid[], %s::int[]) WITH ORDINALITY AS m (oid, modifier, position)
JOIN pg_catalog.pg_type t ON t.oid = m.oid JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
ORDER BY m.position
"""


class Type(NamedTuple):
    """A type of the catalogue; `spelt` is the type as SQL has it, `modifier` -1 where it has none."""

    oid: int
    modifier: int
    name: str
    schema: str
    variety: str
    spelt: str
    element: int
    base: int
    base_modifier: int


def columns(connection, sql):
    """The columns of `sql` through psycopg; domains come as what they are based on."""
    pgconn = connection.pgconn
    checked(pgconn.prepare(b"", sql.encode()))
    found = checked(pgconn.describe_prepared(b""))
    fields = range(found.nfields)
    names, modifiers = [found.fname(i).decode() for i in fields], [found.fmod(i) for i in fields]
    types = types_of(connection, [(found.ftype(i), modifier) for i, modifier in zip(fields, modifiers, strict=True)])
    return [column(connection, name, kind) for name, kind in zip(names, types, strict=True)]


def types_of(connection, wanted):
    """The `Type` of each pair of OID and modifier."""
    oids, modifiers = [oid for oid, _ in wanted], [modifier for _, modifier in wanted]
    return [Type(*row) for row in connection.execute(OF_TYPES, (oids, modifiers), prepare=False).fetchall()]


def checked(result):
    """The result; a server's error becomes the driver's own."""
    if result.status != ExecStatus.COMMAND_OK:
        raise error_from_result(result)
    return result


def column(connection, name, kind):
    """One column by its `Type`."""
    spelt = kind.spelt
    if kind.variety == "d":  # of an array's elements; a result's own columns are never domains
        [base] = types_of(connection, [(kind.base, kind.base_modifier)])
        return column(connection, name, base._replace(spelt=spelt))
    if kind.variety == "e":
        return described(name, "text", spelt)
    if kind.element != NO_ELEMENT and kind.name not in VECTORS:
        [element] = types_of(connection, [(kind.element, kind.modifier)])
        return array(name, spelt, column(connection, "", element))
    if kind.schema != "pg_catalog":
        return opaque(name, spelt)
    if kind.name in TYPES:
        codec_type, size = TYPES[kind.name]
        return described(name, codec_type, spelt, **size)
    if kind.name in BITS:
        return described(name, "bits", spelt, length=max(kind.modifier, 0))
    size = kind.modifier - MODIFIER_HEADER if kind.modifier >= MODIFIER_HEADER else 0
    if kind.name in OF_LENGTH:
        return described(name, OF_LENGTH[kind.name], spelt, length=size)
    if kind.name == "numeric":
        # 11 bits of scale, in two's complement, below 16 of precision
        return decimal(name, spelt, size >> 16 & 0xFFFF, ((size & 0x7FF) ^ 1024) - 1024)
    return opaque(name, spelt)
