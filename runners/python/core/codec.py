"""Rows to bytes (digest) and bytes to rows (parameters), version 1; apart from the controller's on purpose.

The controller computes what must come out, this file what came out: sharing code would hide a mistake in it.
"""

import math
import struct
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from uuid import UUID

from core.adapter import Unsupported

EPOCH_DAY = 719163
EPOCH = datetime(1970, 1, 1)
EPOCH_UTC = datetime(1970, 1, 1, tzinfo=UTC)


class Column:
    """A column as the protocol describes it."""

    def __init__(self, spec):
        self.name = spec["name"]
        self.type = spec["type"]
        self.length = spec.get("length", 0)
        self.precision = spec.get("precision", 0)
        self.scale = spec.get("scale", 0)
        self.bits = spec.get("bits", 32)
        self.nullable = spec.get("nullable", False)


def _sized(tag, payload):
    return tag + len(payload).to_bytes(4, "little") + payload


def _expect(condition, value, column):
    if not condition:
        raise ValueError(f"column {column.name}: {value!r} ({type(value).__name__}) is no {column.type}")


def _integer(value, column):
    _expect(isinstance(value, (int, Decimal)) and value == int(value), value, column)
    value = int(value)
    _expect(-(1 << column.bits - 1) <= value < 1 << max(column.bits, 64), value, column)
    return _sized(b"N", b"%d" % value)


def _decimal(value, column):
    _expect(isinstance(value, (int, Decimal)), value, column)
    sign, digits, exponent = Decimal(value).as_tuple()
    if not isinstance(exponent, int):
        raise Unsupported(f"column {column.name}: {value} is no decimal number")
    text = "".join(map(str, digits))
    if exponent >= 0:
        whole, fraction = text + "0" * exponent, ""
    else:
        text = text.rjust(1 - exponent, "0")
        whole, fraction = text[:exponent], text[exponent:].rstrip("0")
    whole = whole.lstrip("0") or "0"
    plain = f"{whole}.{fraction}" if fraction else whole
    return _sized(b"N", (plain if not sign or plain == "0" else "-" + plain).encode())


def _float(value, column):
    _expect(isinstance(value, (float, int)), value, column)
    if math.isnan(value):
        return b"F\x00\x00\x00\x00\x00\x00\xf8\x7f"
    if column.type == "float32":
        (value,) = struct.unpack("f", struct.pack("f", value))
    return b"F" + struct.pack("<d", value or 0.0)


def _boolean(value, column):
    _expect(value in (0, 1), value, column)
    return b"L\x01" if value else b"L\x00"


def _char(value, column):
    _expect(isinstance(value, str), value, column)
    value = value.rstrip(" ")
    _expect(len(value) <= column.length or not column.length, value, column)
    return _sized(b"S", value.encode())


def _string(value, column):
    _expect(isinstance(value, str), value, column)
    return _sized(b"S", value.encode())


def _binary(value, column):
    _expect(isinstance(value, (bytes, bytearray, memoryview)), value, column)
    return _sized(b"B", bytes(value))


def _infinite(value):
    return _sized(b"X", b"inf" if value > 0 else b"-inf")


def _expect_moment(value, column):
    """Unsupported for the text that some drivers hand over where Python has no value: 0000-00-00, 44 BC."""
    if isinstance(value, str) and value[:1].isdigit():
        try:
            datetime.fromisoformat(value)
        except ValueError as error:
            raise Unsupported(f"column {column.name}: {value} is no {column.type} of Python's") from error


def _date(value, column):
    if isinstance(value, float):
        return _infinite(value)
    _expect_moment(value, column)
    _expect(isinstance(value, date) and not isinstance(value, datetime), value, column)
    return struct.pack("<ci", b"d", value.toordinal() - EPOCH_DAY)


def _time(value, column):
    _expect(isinstance(value, time), value, column)
    microseconds = ((value.hour * 60 + value.minute) * 60 + value.second) * 1000000 + value.microsecond
    return struct.pack("<cQ", b"t", microseconds * 1000)


def _since(tag, passed):
    return struct.pack("<cqI", tag, passed.days * 86400 + passed.seconds, passed.microseconds * 1000)


def _timestamp(value, column):
    if isinstance(value, float):
        return _infinite(value)
    _expect_moment(value, column)
    _expect(isinstance(value, datetime) and value.tzinfo is None, value, column)
    return _since(b"T", value - EPOCH)


def _timestamptz(value, column):
    if isinstance(value, float):
        return _infinite(value)
    if value in (datetime.min, datetime.max):
        raise Unsupported(f"column {column.name}: the driver delivers {value}, of no time zone, for an infinite moment")
    _expect(isinstance(value, datetime) and value.tzinfo is not None, value, column)
    return _since(b"Z", value - EPOCH_UTC)


def _interval(value, column):
    _expect(isinstance(value, (tuple, list)) and len(value) == 3, value, column)
    return struct.pack("<ciiq", b"I", *value)


def _uuid(value, column):
    _expect(isinstance(value, UUID), value, column)
    return b"U" + value.bytes


def _array(value, column):
    _expect(isinstance(value, (list, tuple)), value, column)
    if any(isinstance(element, (list, tuple)) for element in value):
        raise Unsupported(f"column {column.name}: an array of more than one dimension")
    elements = [b"\x00" if element is None else _integer(element, column) for element in value]
    return b"A" + len(elements).to_bytes(4, "little") + b"".join(elements)


def _opaque(_value, _column):
    return b"O"


ENCODERS = {
    "integer": _integer,
    "decimal": _decimal,
    "float32": _float,
    "float64": _float,
    "boolean": _boolean,
    "char": _char,
    "varchar": _string,
    "text": _string,
    "json": _string,
    "binary": _binary,
    "date": _date,
    "time": _time,
    "timestamp": _timestamp,
    "timestamptz": _timestamptz,
    "interval": _interval,
    "uuid": _uuid,
    "array": _array,
    "opaque": _opaque,
}


def encode_value(value, column):
    """The bytes of one value by its declared type; ValueError when it is of another, or NULL where none may be."""
    if value is None:
        _expect(column.nullable, value, column)
        return b"\x00"
    return ENCODERS[column.type](value, column)


def _value(data, at, column):
    tag = data[at : at + 1]
    at += 1
    if tag == b"\x00":
        return None, at
    if tag in (b"N", b"S", b"B", b"X"):
        start = at + 4
        end = start + int.from_bytes(data[at:start], "little")
        payload = data[start:end]
        if tag == b"B":
            return payload, end
        if tag == b"N":
            return (Decimal if column.type == "decimal" else int)(payload.decode()), end
        return payload.decode() if tag == b"S" else float(payload), end
    if tag == b"F":
        return struct.unpack_from("<d", data, at)[0], at + 8
    if tag == b"L":
        return data[at] == 1, at + 1
    if tag == b"d":
        return date.fromordinal(struct.unpack_from("<i", data, at)[0] + EPOCH_DAY), at + 4
    if tag == b"t":
        (nanoseconds,) = struct.unpack_from("<Q", data, at)
        return (EPOCH + timedelta(microseconds=nanoseconds // 1000)).time(), at + 8
    if tag in (b"T", b"Z"):
        seconds, nanoseconds = struct.unpack_from("<qI", data, at)
        passed = timedelta(seconds=seconds, microseconds=nanoseconds // 1000)
        return (EPOCH if tag == b"T" else EPOCH_UTC) + passed, at + 12
    if tag == b"I":
        return struct.unpack_from("<iiq", data, at), at + 16
    if tag == b"U":
        return UUID(bytes=bytes(data[at : at + 16])), at + 16
    if tag == b"A":
        elements = []
        count = int.from_bytes(data[at : at + 4], "little")
        at += 4
        for _ in range(count):
            element, at = _value(data, at, column)
            elements.append(element)
        return elements, at
    if tag == b"O":  # its bytes hold no more than that it is there
        return "", at
    raise ValueError(f"byte {tag!r} begins no value")


def decode_row(data, columns):
    """The natural values of an encoded row."""
    at = 0
    values = []
    for column in columns:
        value, at = _value(data, at, column)
        values.append(value)
    return tuple(values)


def read_parameters(path, first, count, columns):
    """Rows [first, first + count) of a parameter file as a list of tuples of natural values."""
    with Path(path).open("rb") as file:
        head = file.read(16)
        if head[:8] != b"RPROWS1\n":
            raise ValueError(f"{path} is not a parameter file")
        rows = int.from_bytes(head[8:], "little")
        if not 0 <= first <= first + count <= rows:
            raise ValueError(f"{path} has {rows} rows, not [{first}, {first + count})")
        file.seek(16 + 8 * first)
        offsets = struct.unpack(f"<{count + 1}Q", file.read(8 * (count + 1)))
        file.seek(offsets[0])
        data = file.read(offsets[-1] - offsets[0])
    base = offsets[0]
    return [decode_row(data[start - base : end - base], columns) for start, end in pairwise(offsets)]
