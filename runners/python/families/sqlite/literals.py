"""Values that stand inside SQLite's SQL."""

from families.sql import literals


def literal(value):
    """A value as it stands inside SQLite's SQL."""
    if isinstance(value, bool):
        return str(int(value))
    return f"X'{value.hex()}'" if isinstance(value, bytes) else literals.literal(value)
