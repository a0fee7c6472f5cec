"""What DuckDB reports of a query's columns: DESCRIBE, which executes nothing.

Source: DuckDB's documentation, "Data Types" and "DESCRIBE".
"""

import re

from core.describe import decimal, described, opaque

TYPES = {
    "BOOLEAN": ("boolean", {}),
    "TINYINT": ("integer", {"bits": 16}),
    "UTINYINT": ("integer", {"bits": 16}),
    "SMALLINT": ("integer", {"bits": 16}),
    "USMALLINT": ("integer", {"bits": 32}),
    "INTEGER": ("integer", {"bits": 32}),
    "UINTEGER": ("integer", {"bits": 64}),
    "BIGINT": ("integer", {"bits": 64}),
    "FLOAT": ("float32", {}),
    "DOUBLE": ("float64", {}),
    "VARCHAR": ("text", {}),
    "JSON": ("json", {}),
    "BLOB": ("binary", {}),
    "DATE": ("date", {}),
    "TIME": ("time", {}),
    "TIMESTAMP": ("timestamp", {}),
    "TIMESTAMP_S": ("timestamp", {}),
    "TIMESTAMP_MS": ("timestamp", {}),
    "TIMESTAMP WITH TIME ZONE": ("timestamptz", {}),
    "INTERVAL": ("interval", {}),
    "UUID": ("uuid", {}),
    "SMALLINT[]": ("array", {"bits": 16}),
    "INTEGER[]": ("array", {"bits": 32}),
    "BIGINT[]": ("array", {"bits": 64}),
    '"NULL"': ("text", {}),
}
WIDE = {"UBIGINT": 20, "HUGEINT": 39}  # integers beyond 64 bits, by their digits
DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")


def columns(connection, sql):
    """The columns of `sql` through a connection of the module duckdb."""
    return [column(name, kind) for name, kind, *_ in connection.execute(f"DESCRIBE {sql}").fetchall()]


def column(name, kind):
    """One column by its type as DuckDB spells it."""
    if kind in TYPES:
        codec_type, size = TYPES[kind]
        return described(name, codec_type, kind, **size)
    if kind in WIDE:
        return decimal(name, kind, WIDE[kind], 0)
    if found := DECIMAL.fullmatch(kind):
        return decimal(name, kind, int(found[1]), int(found[2]))
    if kind.startswith("ENUM("):
        return described(name, "text", kind if len(kind) < 100 else "ENUM")
    return opaque(name, kind)
