"""Values from PostgreSQL's binary form.

Source: PostgreSQL's source code, the `_send` functions of its types (numeric.c, timestamp.c, arrayfuncs.c, jsonb.c).
"""

import struct
from decimal import Decimal

NUMERIC = {0x0000: "", 0x4000: "-"}  # signs; the others stand for a value
SPECIAL = {0xC000: "NaN", 0xD000: "Infinity", 0xF000: "-Infinity"}
JSONB_VERSION = b"\x01"
DIGITS = 4  # decimal ones in each of a numeric's
INTEGERS = {2: "!h", 4: "!i", 8: "!q"}


def text(data):
    """A text of any type of them."""
    return data.decode()


def json(data):
    """The text of a json or jsonb."""
    return data.removeprefix(JSONB_VERSION).decode()


def interval(data):
    """(months, days, nanoseconds)."""
    microseconds, days, months = struct.unpack("!qii", data)
    return months, days, microseconds * 1000


def decimal(data):
    """A numeric, exact."""
    count, weight, sign, _scale = struct.unpack_from("!HhHH", data)
    if sign in SPECIAL:
        return Decimal(SPECIAL[sign])
    digits = "".join([f"{digit:04}" for digit in struct.unpack_from(f"!{count}H", data, 8)]) or "0"
    return Decimal(f"{NUMERIC[sign]}{digits}E{DIGITS * (weight - count + 1)}")


def integers(data):
    """An array of one dimension of integers."""
    dimensions = struct.unpack_from("!i", data)[0]
    if dimensions > 1:
        raise ValueError("an array of more than one dimension")
    found, at = [], 12 + 8 * dimensions
    while at < len(data):
        (size,) = struct.unpack_from("!i", data, at)
        at += 4
        found.append(None if size < 0 else struct.unpack_from(INTEGERS[size], data, at)[0])
        at += max(size, 0)
    return found
