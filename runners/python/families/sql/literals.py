"""Values that stand inside the SQL (statement=text)."""

from datetime import datetime
from decimal import Decimal

from families.sql.placeholders import split_placeholders


def literal(value):
    """A value as it stands inside SQL, for engines that keep to the standard and know `\\x` of bytes."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, bytes):
        return f"'\\x{value.hex()}'"
    if isinstance(value, datetime):
        value = value.isoformat(" ")
    text = format(value, "f") if isinstance(value, Decimal) else str(value)
    return "'" + text.replace("'", "''") + "'"


def with_literals(sql, row, literal):
    """The SQL with its `?` placeholders replaced by `literal(value)` of each value of the row."""
    first, *rest = split_placeholders(sql)
    return first + "".join([literal(value) + part for value, part in zip(row, rest, strict=True)])
