"""Rows to bytes and back, the digest, the touch sum, parameter files: CODEC version 1.

Natural Python values: int, Decimal, float, bool, str, bytes, date, time, datetime (aware for timestamptz), UUID,
an interval as (months, days, nanoseconds), an array as a list of integers, None; an infinite date or time is a float.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

import xxhash

from rowpath.errors import InternalError
from rowpath.model.workload import Column

MASK64 = (1 << 64) - 1
MAGIC = b"RPROWS1\n"
FLOAT_LIMIT = float(1 << 53)
NAN_BYTES = bytes.fromhex("46000000000000f87f")
EPOCH_DAY = date(1970, 1, 1).toordinal()
EPOCH = datetime(1970, 1, 1)
EPOCH_UTC = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)

# The unit in which a language counts a string's length: Python, Java, C.
LengthUnit = Literal["characters", "utf-16", "bytes"]


def _tagged(tag: bytes, payload: bytes) -> bytes:
    return tag + struct.pack("<I", len(payload)) + payload


def plain_decimal(value: int | Decimal) -> str:
    """Plain decimal notation: no exponent, no trailing zeros of the fraction, no negative zero."""
    text = format(value, "f") if isinstance(value, Decimal) else str(value)
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _number(value: Any, column: Column) -> bytes:
    return _tagged(b"N", plain_decimal(value).encode("ascii"))


def _float(value: Any, column: Column) -> bytes:
    value = float(value)
    if math.isnan(value):
        return NAN_BYTES
    if column.type == "float32":
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    return b"F" + struct.pack("<d", value + 0.0)  # adding zero turns -0 into +0


def _boolean(value: Any, column: Column) -> bytes:
    return b"L\x01" if value else b"L\x00"


def _char(value: Any, column: Column) -> bytes:
    return _tagged(b"S", value.rstrip(" ").encode())


def _string(value: Any, column: Column) -> bytes:
    return _tagged(b"S", value.encode())


def _binary(value: Any, column: Column) -> bytes:
    return _tagged(b"B", bytes(value))


def _infinite(value: float) -> bytes:
    return _tagged(b"X", b"inf" if value > 0 else b"-inf")


def _date(value: Any, column: Column) -> bytes:
    if isinstance(value, float):
        return _infinite(value)
    return b"d" + struct.pack("<i", value.toordinal() - EPOCH_DAY)


def _time(value: Any, column: Column) -> bytes:
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    return b"t" + struct.pack("<Q", seconds * 1_000_000_000 + value.microsecond * 1000)


def _instant(tag: bytes, since_epoch: timedelta) -> bytes:
    return tag + struct.pack("<qI", since_epoch // SECOND, since_epoch.microseconds * 1000)


def _timestamp(value: Any, column: Column) -> bytes:
    return _infinite(value) if isinstance(value, float) else _instant(b"T", value - EPOCH)


def _timestamptz(value: Any, column: Column) -> bytes:
    return _infinite(value) if isinstance(value, float) else _instant(b"Z", value - EPOCH_UTC)


def _interval(value: Any, column: Column) -> bytes:
    return b"I" + struct.pack("<iiq", *value)


def _uuid(value: Any, column: Column) -> bytes:
    return b"U" + bytes(value.bytes)


def _array(value: Any, column: Column) -> bytes:
    elements = [b"\x00" if element is None else _number(element, column) for element in value]
    return b"A" + struct.pack("<I", len(elements)) + b"".join(elements)


_ENCODERS: dict[str, Callable[[Any, Column], bytes]] = {
    "integer": _number,
    "decimal": _number,
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
}


def encode_value(value: Any, column: Column) -> bytes:
    """The codec's bytes of one natural value, chosen by the column's declared logical type."""
    return b"\x00" if value is None else _ENCODERS[column.type](value, column)


def encode_row(row: Sequence[Any], columns: Sequence[Column]) -> bytes:
    """The codec's bytes of a row: its values in column order. ValueError when the row is wider or narrower."""
    return b"".join([encode_value(value, column) for value, column in zip(row, columns, strict=True)])


def row_hash(row: bytes) -> int:
    """XXH64 with seed 0 of an encoded row."""
    return xxhash.xxh64_intdigest(row)


class Digest:
    """Fingerprint of a multiset of rows: their number and the sum of their hashes modulo 2^64."""

    def __init__(self, rows: int = 0, total: int = 0) -> None:
        self.rows = rows
        self.total = total

    def add(self, row: bytes) -> None:
        """Add one encoded row."""
        self.rows += 1
        self.total += xxhash.xxh64_intdigest(row)

    def text(self) -> str:
        """`rows:hex16`."""
        return f"{self.rows}:{self.total & MASK64:016x}"


def digest(rows: Iterable[Sequence[Any]], columns: Sequence[Column]) -> str:
    """`rows:hex16` of rows of natural values."""
    result = Digest()
    for row in rows:
        result.add(encode_row(row, columns))
    return result.text()


def _length(text: str, unit: LengthUnit) -> int:
    if unit == "characters":
        return len(text)
    return len(text.encode("utf-16-le")) // 2 if unit == "utf-16" else len(text.encode())


def touch_value(value: Any, column: Column, padded: bool = False, unit: LengthUnit = "characters") -> int:
    """What one value adds to the touch sum (modulo 2^64); `padded`: a CHAR comes with its trailing blanks."""
    if value is None:
        return 1
    kind = column.type
    if kind in ("integer", "boolean", "decimal"):
        return int(value) & MASK64
    if kind in ("float32", "float64"):
        return int(value) & MASK64 if abs(value) < FLOAT_LIMIT else 3
    if kind == "char":
        return _length(value.ljust(column.length) if padded else value.rstrip(" "), unit)
    if kind in ("varchar", "text", "json"):
        return _length(value, unit)
    if kind == "binary":
        return len(value)
    if isinstance(value, float):
        return 5
    if kind == "date":
        return int(value.day)
    return int(value.second) if kind in ("time", "timestamp", "timestamptz") else 5


def touch_row(
    row: Sequence[Any], columns: Sequence[Column], padded: bool = False, unit: LengthUnit = "characters"
) -> int:
    """What one row adds to the touch sum, modulo 2^64."""
    return sum([touch_value(value, column, padded, unit) for value, column in zip(row, columns, strict=True)]) & MASK64


def write_rows(path: Path, rows: Iterable[Sequence[Any]], columns: Sequence[Column]) -> int:
    """Write a parameter file (runners/PROTOCOL.md); returns its number of rows."""
    encoded = [encode_row(row, columns) for row in rows]
    offset = len(MAGIC) + 8 + 8 * (len(encoded) + 1)
    offsets = [offset]
    for row in encoded:
        offset += len(row)
        offsets.append(offset)
    with path.open("wb") as file:
        file.write(MAGIC + struct.pack(f"<Q{len(offsets)}Q", len(encoded), *offsets))
        file.writelines(encoded)
    return len(encoded)


def _decode_text(tag: int, text: str, column: Column) -> Any:
    if tag == ord("N"):
        return Decimal(text) if column.type == "decimal" else int(text)
    return float(text) if tag == ord("X") else text


def _decode_value(data: bytes, at: int, column: Column) -> tuple[Any, int]:
    tag = data[at]
    at += 1
    if tag == 0:
        return None, at
    if tag in b"NSBX":
        end = at + 4 + int.from_bytes(data[at : at + 4], "little")
        payload = data[at + 4 : end]
        return payload if tag == ord("B") else _decode_text(tag, payload.decode(), column), end
    if tag == ord("F"):
        return struct.unpack_from("<d", data, at)[0], at + 8
    if tag == ord("L"):
        return data[at] == 1, at + 1
    if tag == ord("d"):
        return date.fromordinal(struct.unpack_from("<i", data, at)[0] + EPOCH_DAY), at + 4
    if tag == ord("t"):
        microseconds = struct.unpack_from("<Q", data, at)[0] // 1000
        seconds, microsecond = divmod(microseconds, 1_000_000)
        return time(seconds // 3600, seconds // 60 % 60, seconds % 60, microsecond), at + 8
    if tag in b"TZ":
        seconds, nanoseconds = struct.unpack_from("<qI", data, at)
        since = timedelta(seconds=seconds, microseconds=nanoseconds // 1000)
        return (EPOCH if tag == ord("T") else EPOCH_UTC) + since, at + 12
    if tag == ord("I"):
        return struct.unpack_from("<iiq", data, at), at + 16
    if tag == ord("U"):
        return UUID(bytes=data[at : at + 16]), at + 16
    if tag == ord("A"):
        count = int.from_bytes(data[at : at + 4], "little")
        at += 4
        elements = []
        for _ in range(count):
            element, at = _decode_value(data, at, column)
            elements.append(element)
        return elements, at
    raise InternalError(f"byte {tag:#04x} does not start a value of the codec")


def decode_row(data: bytes, columns: Sequence[Column]) -> tuple[Any, ...]:
    """The natural values of an encoded row; InternalError when the bytes are no such row."""
    at = 0
    values = []
    for column in columns:
        value, at = _decode_value(data, at, column)
        values.append(value)
    if at != len(data):
        raise InternalError(f"a row of {len(data)} bytes has values of {at} bytes")
    return tuple(values)


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
