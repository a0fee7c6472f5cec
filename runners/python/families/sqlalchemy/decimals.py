"""Decimals for SQLAlchemy: SQLite has no such type, so there they are kept as text and stay exact."""

from decimal import Decimal

from sqlalchemy import Numeric, String
from sqlalchemy.types import TypeDecorator


class DecimalText(TypeDecorator):
    """A decimal as the text of its digits."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value, dialect):
        return None if value is None else format(value, "f")

    def process_result_value(self, value, dialect):
        return None if value is None else Decimal(value)


def exact(precision, scale):
    """A column's type: the engine's own where it has one."""
    return Numeric(precision, scale).with_variant(DecimalText(), "sqlite")
