"""Natural values of what arrives as text."""

from datetime import date, datetime, time
from decimal import Decimal
from uuid import UUID


def _boolean(text):
    return text == "t"


def _binary(text):
    return bytes.fromhex(text[2:])


def _array(text):
    return [None if element == "NULL" else int(element) for element in text[1:-1].split(",") if element]


def interval(text):
    """An interval in ISO 8601 as (months, days, nanoseconds)."""
    days, _, clock = text[1:].partition("T")
    amounts = {"Y": 0, "M": 0, "W": 0, "D": 0, "h": 0, "m": 0, "s": 0}
    for part, units in ((days, "YMWD"), (clock, "HMS")):
        number = ""
        for character in part:
            if character in units:
                amounts[character if units == "YMWD" else character.lower()] = Decimal(number)
                number = ""
            else:
                number += character
    seconds = amounts["h"] * 3600 + amounts["m"] * 60 + amounts["s"]
    return (int(amounts["Y"] * 12 + amounts["M"]), int(amounts["W"] * 7 + amounts["D"]), int(seconds * 1_000_000_000))


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
    "array": _array,
}
