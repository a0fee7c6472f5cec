"""Values from PostgreSQL's binary form.

Source: PostgreSQL's source code, the `_send` functions of its types (numeric.c, timestamp.c, date.c, varbit.c,
arrayfuncs.c, jsonb.c).
"""

import struct
from decimal import Decimal
from uuid import UUID

from core.iso import Bounded, Days, Nanoseconds

NUMERIC = {0x0000: "", 0x4000: "-"}  # signs; the others stand for a value
SPECIAL = {0xC000: "NaN", 0xD000: "Infinity", 0xF000: "-Infinity"}
JSONB_VERSION = b"\x01"
DIGITS = 4  # decimal ones in each of a numeric's
INTEGERS = {2: "!h", 4: "!i", 8: "!q"}
UNSIGNED = INTEGERS | {4: "!I"}  # what has 32 bits without a sign is declared as of 64
FLOATS = {4: "!f", 8: "!d"}
EPOCH_DAYS = 10957  # 2000-01-01
DAY_US = 86_400_000_000
INFINITE_DAYS = {(1 << 31) - 1: float("inf"), -(1 << 31): float("-inf")}
INFINITE_US = {(1 << 63) - 1: float("inf"), -(1 << 63): float("-inf")}


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


def bits(data):
    """The bits as text."""
    (count,) = struct.unpack_from("!i", data)
    return f"{int.from_bytes(data[4:], 'big'):0{8 * (len(data) - 4)}b}"[:count] if count else ""


def date(data):
    """Days; a float where it is infinite."""
    (days,) = struct.unpack("!i", data)
    return INFINITE_DAYS.get(days) or Days(days + EPOCH_DAYS)


def time(data):
    """Nanoseconds since midnight."""
    return Nanoseconds(struct.unpack("!q", data)[0] * 1000)


def timetz(data):
    """The text of a time and its distance from UTC."""
    microseconds, west_s = struct.unpack("!qi", data)
    seconds, below = divmod(microseconds, 1_000_000)
    sign, offset_s = "-" if west_s > 0 else "+", abs(west_s)
    return f"{_clock(seconds)}.{below:06}{sign}{_clock(offset_s)}"


def _clock(seconds):
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def timestamp(data):
    """Nanoseconds since 1970; a float where it is infinite."""
    (microseconds,) = struct.unpack("!q", data)
    return INFINITE_US.get(microseconds) or Nanoseconds((microseconds + EPOCH_DAYS * DAY_US) * 1000)


ONE = b"\0\0\0\1"  # dimension, and lower bound


def integers(data, forms=INTEGERS):
    """An array of integers."""
    if data[:4] != ONE or data[16:20] != ONE:
        return array(data, lambda element: struct.unpack(forms[len(element)], element)[0])
    found, at = [], 20
    while at < len(data):
        (size,) = struct.unpack_from("!i", data, at)
        at += 4
        found.append(None if size < 0 else struct.unpack_from(forms[size], data, at)[0])
        at += max(size, 0)
    return found


def wide_integers(data):
    """An array of integers declared as of 64 bits."""
    return integers(data, UNSIGNED)


def array(data, decode):
    """An array of any dimensions; `decode` makes an element of its bytes."""
    (dimensions,) = struct.unpack_from("!i", data)
    sizes = [struct.unpack_from("!ii", data, 12 + 8 * dimension) for dimension in range(dimensions)]
    found, at = [], 12 + 8 * dimensions
    while at < len(data):
        (size,) = struct.unpack_from("!i", data, at)
        at += 4
        found.append(None if size < 0 else decode(data[at : at + size]))
        at += max(size, 0)
    for count, lower in reversed(sizes):
        inner = [found[first : first + count] for first in range(0, len(found), count)]
        found = [Bounded(lower, one) for one in inner] if lower != 1 else inner
    return found[0] if sizes else []


def integer_of(column):
    """How an integer of the declared bits is read."""
    forms = UNSIGNED if column.bits > 32 else INTEGERS
    return lambda data: struct.unpack(forms[len(data)], data)[0]


DECODERS = {
    "decimal": decimal,
    **dict.fromkeys(("float32", "float64"), lambda data: struct.unpack(FLOATS[len(data)], data)[0]),
    "boolean": lambda data: data == b"\x01",
    "json": json,
    "bits": bits,
    "date": date,
    "time": time,
    "timetz": timetz,
    **dict.fromkeys(("timestamp", "timestamptz"), timestamp),
    "interval": interval,
    "uuid": lambda data: UUID(bytes=data),
    "binary": bytes,
}


def decoder(column):
    """A function that makes the natural value of a declared column of its bytes; text stays bytes."""
    if column.type == "integer":
        return integer_of(column)
    if column.type == "array":
        decode = decoder(column.fields[0])
        return lambda data: array(data, decode)
    return DECODERS.get(column.type, bytes)


# What drivers hand over as it is on the wire, for they do not know the type.
UNKNOWN = ("integer", "bits", "timetz", "array")


def reader(column):
    """A function that makes the natural value of what a driver hands over as bytes, or as a text of them."""
    if column.type not in UNKNOWN:
        return None
    decode = decoder(column)
    inner = reader(column.fields[0]) if column.type == "array" else None

    def read(value):
        if isinstance(value, list):
            return [read(one) if isinstance(one, list) else inner(one) for one in value] if inner else value
        if isinstance(value, str) and "\0" in value:
            value = value.encode()
        return decode(value) if isinstance(value, bytes) else value

    return read
