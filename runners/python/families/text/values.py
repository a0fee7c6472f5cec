"""Natural values of what arrives as text."""

from datetime import date, datetime, time
from decimal import Decimal
from uuid import UUID

from core import iso
from core.iso import interval


def _boolean(text):
    return text == "t"


def _binary(text):
    return bytes.fromhex(text[2:])


def _integers(text):
    try:
        return [None if element == "NULL" else int(element) for element in text[1:-1].split(",") if element]
    except ValueError:  # of other elements, of more dimensions, with bounds
        return iso.array(text)


# The natural converter of each logical type that arrives as text; strings need none.
FROM_TEXT = {
    "integer": int,
    "decimal": Decimal,
    "float32": float,
    "float64": float,
    "boolean": _boolean,
    "binary": _binary,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "timestamp": datetime.fromisoformat,
    "timestamptz": datetime.fromisoformat,
    "interval": interval,
    "uuid": UUID,
    "array": _integers,
}
