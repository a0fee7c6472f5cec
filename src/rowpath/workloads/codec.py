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
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

import xxhash

from rowpath.errors import InternalError
from rowpath.model.workload import Column

MASK64 = (1 << 64) - 1
MAGIC = b"RPROWS1\n"
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


def _number(value: int | Decimal) -> bytes:
    return _tagged(b"N", plain_decimal(value).encode("ascii"))


def _float(value: float) -> bytes:
    # Adding zero turns -0 into +0.
    return bytes.fromhex("46000000000000f87f") if math.isnan(value) else b"F" + struct.pack("<d", value + 0.0)


def _string(value: str) -> bytes:
    return _tagged(b"S", value.encode())


def _or_infinite(encode: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    """The encoder of a date or time that may be infinite: a float."""

    def encoded(value: Any) -> bytes:
        return _tagged(b"X", b"inf" if value > 0 else b"-inf") if isinstance(value, float) else encode(value)

    return encoded


def _time(value: time) -> bytes:
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    return b"t" + struct.pack("<Q", seconds * 1_000_000_000 + value.microsecond * 1000)


def _instant(tag: bytes, since_epoch: timedelta) -> bytes:
    return tag + struct.pack("<qI", since_epoch // SECOND, since_epoch.microseconds * 1000)


def _array(value: list[int | None]) -> bytes:
    elements = [b"\x00" if element is None else _number(element) for element in value]
    return b"A" + struct.pack("<I", len(elements)) + b"".join(elements)


_ENCODERS: dict[str, Callable[[Any], bytes]] = {
    "integer": _number,
    "decimal": _number,
    "float32": lambda value: _float(*struct.unpack("<f", struct.pack("<f", value))),
    "float64": lambda value: _float(float(value)),
    "boolean": lambda value: b"L\x01" if value else b"L\x00",
    "char": lambda value: _string(value.rstrip(" ")),
    "varchar": _string,
    "text": _string,
    "json": _string,
    "binary": lambda value: _tagged(b"B", bytes(value)),
    "date": _or_infinite(lambda value: b"d" + struct.pack("<i", value.toordinal() - EPOCH_DAY)),
    "time": _time,
    "timestamp": _or_infinite(lambda value: _instant(b"T", value - EPOCH)),
    "timestamptz": _or_infinite(lambda value: _instant(b"Z", value - EPOCH_UTC)),
    "interval": lambda value: b"I" + struct.pack("<iiq", *value),
    "uuid": lambda value: b"U" + bytes(value.bytes),
    "array": _array,
    "opaque": lambda _value: b"O",
}


def encode_value(value: Any, column: Column) -> bytes:
    """The codec's bytes of one natural value, chosen by the column's declared logical type."""
    return b"\x00" if value is None else _ENCODERS[column.type](value)


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
        self.total += row_hash(row)

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
    if kind in ("float32", "float64") and not abs(value) < float(1 << 53):
        return 3
    if kind in ("integer", "boolean", "decimal", "float32", "float64"):
        return int(value) & MASK64
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
    offsets = list(accumulate(map(len, encoded), initial=len(MAGIC) + 8 + 8 * (len(encoded) + 1)))
    with path.open("wb") as file:
        file.write(MAGIC + struct.pack(f"<Q{len(offsets)}Q", len(encoded), *offsets))
        file.writelines(encoded)
    return len(encoded)


def read_kept(path: Path, columns: Sequence[Column]) -> list[tuple[Any, ...]]:
    """The rows of a file that `verify` kept (runners/PROTOCOL.md)."""
    data, at, rows = path.read_bytes(), 0, []
    while at < len(data):
        row, at = _counted(data, at)
        rows.append(decode_row(row, columns))
    return rows


def _counted(data: bytes, at: int) -> tuple[bytes, int]:
    """The bytes behind their number, and where they end."""
    end = at + 4 + int.from_bytes(data[at : at + 4], "little")
    return data[at + 4 : end], end


# Values of one size, by tag: how they are packed, and the natural value.
_FIXED: dict[int, tuple[struct.Struct, Callable[..., Any]]] = {
    ord("F"): (struct.Struct("<d"), float),
    ord("L"): (struct.Struct("<?"), bool),
    ord("d"): (struct.Struct("<i"), lambda days: date.fromordinal(days + EPOCH_DAY)),
    ord("t"): (struct.Struct("<Q"), lambda ns: (EPOCH + timedelta(microseconds=ns // 1000)).time()),
    ord("T"): (struct.Struct("<qI"), lambda s, ns: EPOCH + timedelta(seconds=s, microseconds=ns // 1000)),
    ord("Z"): (struct.Struct("<qI"), lambda s, ns: EPOCH_UTC + timedelta(seconds=s, microseconds=ns // 1000)),
    ord("I"): (struct.Struct("<iiq"), lambda *parts: parts),
    ord("U"): (struct.Struct("<16s"), lambda data: UUID(bytes=data)),
}
_TEXTS: dict[int, Callable[[str], Any]] = {ord("N"): int, ord("S"): str, ord("X"): float}


def _decode_value(data: bytes, at: int, column: Column) -> tuple[Any, int]:
    tag = data[at]
    at += 1
    if tag == 0:
        return None, at
    if tag in _FIXED:
        packed, natural = _FIXED[tag]
        return natural(*packed.unpack_from(data, at)), at + packed.size
    if tag in b"NSBX":
        payload, end = _counted(data, at)
        if tag == ord("B"):
            return payload, end
        natural = Decimal if tag == ord("N") and column.type == "decimal" else _TEXTS[tag]
        return natural(payload.decode()), end
    if tag == ord("O"):  # its bytes hold no more than that it is there
        return "", at
    if tag == ord("A"):
        return _decode_values(data, at + 4, [column] * int.from_bytes(data[at : at + 4], "little"))
    raise InternalError(f"byte {tag:#04x} does not start a value of the codec")


def _decode_values(data: bytes, at: int, columns: Sequence[Column]) -> tuple[list[Any], int]:
    values = []
    for column in columns:
        value, at = _decode_value(data, at, column)
        values.append(value)
    return values, at


def decode_row(data: bytes, columns: Sequence[Column]) -> tuple[Any, ...]:
    """The natural values of an encoded row; InternalError when the bytes are no such row."""
    values, at = _decode_values(data, 0, columns)
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
