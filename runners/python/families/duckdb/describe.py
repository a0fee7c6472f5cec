"""What DuckDB reports of a query's columns: DESCRIBE, which executes nothing.

Source: DuckDB's documentation, "Data Types" and "DESCRIBE".
"""

import re

from core.describe import array, decimal, described, nested, opaque

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
    "UBIGINT": ("integer", {"bits": 128}),
    "HUGEINT": ("integer", {"bits": 128}),
    "UHUGEINT": ("integer", {"bits": 128}),
    "BIGNUM": ("decimal", {}),
    "BIT": ("bits", {}),
    "TIME_NS": ("time", {}),
    "TIMESTAMP_NS": ("timestamp", {}),
    "TIME WITH TIME ZONE": ("timetz", {}),
    '"NULL"': ("text", {}),
}
NESTED = re.compile(r"(STRUCT|TUPLE|MAP|UNION)\((.*)\)", re.DOTALL)
WORDS = re.compile(r"""("(?:[^"]|"")*"|'(?:[^']|'')*'|[^"'(),\[\]]+|.)""", re.DOTALL)
DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")


def columns(connection, sql):
    """The columns of `sql` through a connection of the module duckdb."""
    return [column(name, kind) for name, kind, *_ in connection.execute(f"DESCRIBE {sql}").fetchall()]


def column(name, kind):
    """One column by its type as DuckDB spells it."""
    if kind in TYPES:
        codec_type, size = TYPES[kind]
        return described(name, codec_type, kind, **size)
    if found := DECIMAL.fullmatch(kind):
        return decimal(name, kind, int(found[1]), int(found[2]))
    if kind.startswith("ENUM("):
        return described(name, "text", kind if len(kind) < 100 else "ENUM")
    if kind.endswith("]"):  # `[]` of a list, `[3]` of an array
        return array(name, kind, column("", kind[: kind.rindex("[")]))
    if found := NESTED.fullmatch(kind):
        form, inner = found[1], arguments(found[2])
        if form == "UNION":
            return described(name, "any", kind)
        if form == "MAP":
            return nested(name, "map", kind, [column(*pair) for pair in zip(("key", "value"), inner, strict=True)])
        members = [("", one) for one in inner] if form == "TUPLE" else list(map(member, inner))
        return nested(name, "struct", kind, [column(*pair) for pair in members])
    return opaque(name, kind)


def arguments(text):
    """The parts between commas that stand outside of quotes and brackets."""
    parts, depth = [""], 0
    for word in WORDS.findall(text):
        depth += (word in "([") - (word in ")]")
        if word == "," and not depth:
            parts.append("")
        else:
            parts[-1] += word
    return [part.strip() for part in parts]


def member(text):
    """(name, type) of a structure's member."""
    if not text.startswith('"'):
        return tuple(text.split(" ", 1))
    quoted = WORDS.match(text)[0]
    return quoted[1:-1].replace('""', '"'), text[len(quoted) :].lstrip()
