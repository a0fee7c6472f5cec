"""How many bytes values take at the least, whoever encodes them."""

from __future__ import annotations

from datetime import date, time
from decimal import Decimal
from typing import Any
from uuid import UUID


def payload_of(value: Any) -> int:
    """A lower bound on the bytes that a value takes in any encoding, binary or text."""
    if value is None:
        return 0
    if isinstance(value, bool):
        return 1
    if isinstance(value, int):
        return min(len(str(value)), 2)
    if isinstance(value, str):
        return len(value.rstrip(" ").encode())
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, Decimal):
        return len(value.as_tuple().digits) // 2 if value else 1
    if isinstance(value, float):
        return min(len(repr(value)) - 2, 4)
    if isinstance(value, UUID):
        return 16
    if isinstance(value, list):
        return sum(payload_of(element) for element in value)
    return 4 if isinstance(value, date | time) else 0
