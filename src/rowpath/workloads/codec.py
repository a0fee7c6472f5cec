"""Rows to bytes and back, the digest, the touch sum, parameter files: CODEC version 2.

Natural Python values: int, Decimal, float, bool, str, bytes, date, time, datetime (aware for timestamptz), UUID,
an interval as (months, days, nanoseconds), an array or structure as a list, a map as a dict, bits as text, None; an
infinite date or time is a float. What Python's dates and times have no room for is text: 0044-03-15 BC, 25:30:00.
"""

from __future__ import annotations

import contextlib
import math
import re
import struct
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal, NamedTuple
from uuid import UUID

import msgspec
import xxhash

from rowpath.errors import InternalError
from rowpath.model.workload import Column, ColumnSpec
from rowpath.workloads.kept_rows import EPOCH_DAY, counted, shown_at

MASK64 = (1 << 64) - 1
MAGIC = b"RPROWS1\n"
EPOCH = datetime(1970, 1, 1)
EPOCH_UTC = datetime(1970, 1, 1, tzinfo=UTC)
DAY_US = 86_400_000_000

# The unit in which a language counts a string's length: Python, Java, C.
LengthUnit = Literal["characters", "utf-16", "bytes"]


def _tagged(tag: bytes, payload: bytes) -> bytes:
    return tag + struct.pack("<I", len(payload)) + payload


def plain_decimal(value: int | Decimal) -> str:
    """Plain decimal notation: no exponent, no trailing zeros of the fraction, no negative zero; else nan, inf, -inf."""
    text = format(value, "f") if isinstance(value, Decimal) else str(value)
    if isinstance(value, Decimal) and not value.is_finite():
        return "nan" if value.is_nan() else text.lower().removesuffix("inity")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _number(value: int | Decimal) -> bytes:
    return _tagged(b"N", plain_decimal(value).encode("ascii"))


def _float(value: float) -> bytes:
    # Adding zero turns -0 into +0.
    return bytes.fromhex("46000000000000f87f") if math.isnan(value) else b"F" + struct.pack("<d", value + 0.0)


def _string(value: str | bytes) -> bytes:
    if isinstance(value, bytes):  # no UTF-8
        return _tagged(b"S", value)
    return _tagged(b"S", value.encode("utf-8", "surrogatepass"))


def _days(year: int, month: int, day: int) -> int | None:
    """Days since 1970-01-01, proleptic Gregorian, the year 0 being 1 BC; None where no calendar has the day."""
    try:
        date(2000 + year % 400, month, day)
    except ValueError:
        return None
    return date(2000 + year % 400, month, day).toordinal() - EPOCH_DAY + (year - 2000 - year % 400) // 400 * 146097


class Moment(NamedTuple):
    """A date, a time of it and its distance from UTC, each as written: 0000-00-00 and 25:30:00 too."""

    year: int
    month: int
    day: int
    time_ns: int
    offset_s: int

    @classmethod
    def of(cls, value: str | date | time) -> Moment:
        """Of ISO 8601, with ` BC` behind it, or of Python's own. Errors: InternalError."""
        found = _MOMENT.fullmatch(str(value))
        if found is None:
            raise InternalError(f"{value!r} is no date and no time")
        year, month, day, sign, hour, minute, second, fraction, offset, bc = found.groups()
        seconds = (int(hour or 0) * 60 + int(minute or 0)) * 60 + int(second or 0)
        time_ns = seconds * 1_000_000_000 + int((fraction or "").ljust(9, "0"))
        offset_s = 0
        if offset:
            parts = [*map(int, offset[1:].split(":")), 0, 0]
            offset_s = (-1 if offset[0] == "-" else 1) * ((parts[0] * 60 + parts[1]) * 60 + parts[2])
        years = 1 - int(year) if bc else int(year or 1970)
        return cls(years, int(month or 1), int(day or 1), -time_ns if sign else time_ns, offset_s)


_MOMENT = re.compile(
    r"(?:(-?\d{4,})-(\d\d)-(\d\d))?[ T]?(?:(-?)(\d{2,}):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?"
    r"([+-]\d\d(?::\d\d){0,2})?( BC)?"
)


def _cut(nanoseconds: int, column: ColumnSpec) -> int:
    unit = column.unit_ns
    return (nanoseconds + (unit // 2 if column.rounded else 0)) // unit * unit


def _or_infinite(encode: Callable[[Any, ColumnSpec], bytes]) -> Callable[[Any, ColumnSpec], bytes]:
    """The encoder of a date, time or interval that may be infinite: a float."""

    def encoded(value: Any, column: ColumnSpec) -> bytes:
        return _tagged(b"X", b"inf" if value > 0 else b"-inf") if isinstance(value, float) else encode(value, column)

    return encoded


def _date(value: date | str, _column: ColumnSpec) -> bytes:
    moment = Moment.of(value)
    days = _days(*moment[:3])
    return _no_day(moment, 0) if days is None else b"d" + struct.pack("<i", days)


def _no_day(moment: Moment, time_ns: int) -> bytes:
    return b"Y" + struct.pack("<iBBq", *moment[:3], time_ns)


def _timestamp(tag: bytes) -> Callable[[Any, ColumnSpec], bytes]:
    def encoded(value: datetime | str, column: ColumnSpec) -> bytes:
        moment = Moment.of(value)
        days = _days(*moment[:3])
        if days is None:
            return _no_day(moment, _cut(moment.time_ns, column))
        passed_ns = (days * 86400 - moment.offset_s) * 1_000_000_000 + moment.time_ns
        return tag + struct.pack("<qI", *divmod(_cut(passed_ns, column), 1_000_000_000))

    return encoded


def _timetz(value: time | str, column: ColumnSpec) -> bytes:
    moment = Moment.of(value)
    return b"y" + struct.pack("<qi", _cut(moment.time_ns, column), moment.offset_s)


def _interval(value: tuple[int, int, int], column: ColumnSpec) -> bytes:
    months, days, nanoseconds = value
    return b"I" + struct.pack("<iiq", months, days, _cut(nanoseconds, column))


def _bits(value: str, _column: ColumnSpec) -> bytes:
    padded = value.ljust(-(-len(value) // 8) * 8, "0")
    return b"b" + struct.pack("<I", len(value)) + int(padded or "0", 2).to_bytes(len(padded) // 8, "big")


class Bounded(list[Any]):
    """An array with a lower bound that is not 1."""

    def __init__(self, lower: int, elements: Iterable[Any]) -> None:
        super().__init__(elements)
        self.lower = lower


def _values(tag: bytes, values: Sequence[Any], columns: Iterable[ColumnSpec]) -> bytes:
    encoded = [encode_value(value, column) for value, column in zip(values, columns, strict=False)]
    return tag + struct.pack("<I", len(encoded)) + b"".join(encoded)


def element_of(column: ColumnSpec) -> ColumnSpec:
    """What an array's elements are declared as: without `fields`, integers of its bits."""
    element = column.fields[0] if column.fields else Column(name="", type="integer", bits=column.bits, nullable=True)
    return msgspec.structs.replace(element, unit_ns=column.unit_ns, rounded=column.rounded, bounds=column.bounds)


def _array(value: list[Any], column: ColumnSpec) -> bytes:
    element = element_of(column)
    # A further dimension is no other type: an element that is itself an array.
    inner = (column if isinstance(one, list) and element.type not in NESTED else element for one in value)
    bound = b"a" + struct.pack("<i", value.lower) if column.bounds and isinstance(value, Bounded) else b""
    return bound + _values(b"A", value, inner)


def _inherited(column: ColumnSpec) -> list[ColumnSpec]:
    cut = {"unit_ns": column.unit_ns, "rounded": column.rounded, "bounds": column.bounds}
    return [msgspec.structs.replace(each, **cut) for each in column.fields]


def _map(value: dict[Any, Any], column: ColumnSpec) -> bytes:
    fields = _inherited(column)
    entries = sorted(b"".join(map(encode_value, entry, fields)) for entry in value.items())
    return b"M" + struct.pack("<I", len(entries)) + b"".join(entries)


def _rows(value: list[list[Any]], column: ColumnSpec) -> bytes:
    fields = _inherited(column)
    return b"R" + struct.pack("<I", len(value)) + b"".join(encode_row(row, fields) for row in value)


def _any(value: Any, _column: ColumnSpec) -> bytes:
    """By the value's own kind; a float without a fraction is a number."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53:
        value = int(value)
    if isinstance(value, int | Decimal):
        return _number(value)
    if isinstance(value, float):
        return _float(value)
    return _tagged(b"B", value) if isinstance(value, bytes) else _string(value)


NESTED = ("array", "struct", "map", "rows")


def _simple(encode: Callable[[Any], bytes]) -> Callable[[Any, ColumnSpec], bytes]:
    return lambda value, _column: encode(value)


_ENCODERS: dict[str, Callable[[Any, ColumnSpec], bytes]] = {
    "integer": _simple(_number),
    "decimal": _simple(_number),
    "float32": _simple(lambda value: _float(*struct.unpack("<f", struct.pack("<f", value)))),
    "float64": _simple(lambda value: _float(float(value))),
    "boolean": _simple(lambda value: b"L\x01" if value else b"L\x00"),
    "char": _simple(lambda value: _string(value.rstrip(b" " if isinstance(value, bytes) else " "))),
    "varchar": _simple(_string),
    "text": _simple(_string),
    "json": _simple(_string),
    "binary": _simple(lambda value: _tagged(b"B", bytes(value))),
    "bits": _bits,
    "date": _or_infinite(_date),
    "time": lambda value, column: b"t" + struct.pack("<q", _cut(Moment.of(value).time_ns, column)),
    "timetz": _timetz,
    "timestamp": _or_infinite(_timestamp(b"T")),
    "timestamptz": _or_infinite(_timestamp(b"Z")),
    "interval": _or_infinite(_interval),
    "uuid": _simple(lambda value: b"U" + bytes(value.bytes)),
    "array": _array,
    "struct": lambda value, column: _values(b"K", value, _inherited(column)),
    "map": _map,
    "rows": _rows,
    "any": _any,
    "opaque": _simple(lambda _value: b"O"),
}


def encode_value(value: Any, column: ColumnSpec) -> bytes:
    """The codec's bytes of one natural value, chosen by the column's declared logical type."""
    return b"\x00" if value is None else _ENCODERS[column.type](value, column)


def encode_row(row: Sequence[Any], columns: Sequence[ColumnSpec]) -> bytes:
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
    try:
        return _touch(value, column, padded, unit)
    except (TypeError, ValueError, ArithmeticError, AttributeError, InternalError):
        return 5  # a value of another kind


def _touch(value: Any, column: Column, padded: bool, unit: LengthUnit) -> int:
    kind = column.type
    if kind in ("float32", "float64") and not abs(value) < float(1 << 53):
        return 3
    if kind == "decimal" and not Decimal(value).is_finite():
        return 3
    if kind in ("integer", "boolean", "decimal", "float32", "float64"):
        return int(value) & MASK64
    if isinstance(value, bytes) and kind not in ("binary", "any"):  # no UTF-8
        return len(value)
    if kind == "char":
        return _length(value.ljust(column.length) if padded else value.rstrip(" "), unit)
    if kind in ("varchar", "text", "json"):
        return _length(value, unit)
    if kind == "binary":
        return len(value)
    if kind not in ("date", "time", "timetz", "timestamp", "timestamptz") or isinstance(value, float):
        return 5
    moment = Moment.of(value)
    return moment.day if kind == "date" else abs(moment.time_ns) // 1_000_000_000 % 60


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
        row, at = counted(data, at)
        rows.append(decode_row(row, columns))
    return rows


def _time_of_day(microseconds: int) -> time:
    if not 0 <= microseconds < DAY_US:
        raise ValueError
    return (EPOCH + timedelta(microseconds=microseconds)).time()


# Values of one size, by tag: how they are packed, and the natural value.
_FIXED: dict[int, tuple[struct.Struct, Callable[..., Any]]] = {
    ord("F"): (struct.Struct("<d"), float),
    ord("L"): (struct.Struct("<?"), bool),
    ord("d"): (struct.Struct("<i"), lambda days: date.fromordinal(days + EPOCH_DAY)),
    ord("t"): (struct.Struct("<q"), lambda ns: _time_of_day(ns // 1000)),
    ord("T"): (struct.Struct("<qI"), lambda s, ns: EPOCH + timedelta(seconds=s, microseconds=ns // 1000)),
    ord("Z"): (struct.Struct("<qI"), lambda s, ns: EPOCH_UTC + timedelta(seconds=s, microseconds=ns // 1000)),
    ord("I"): (struct.Struct("<iiq"), lambda *parts: parts),
    ord("U"): (struct.Struct("<16s"), lambda data: UUID(bytes=data)),
}


def _number_of(text: str, column: ColumnSpec) -> int | Decimal:
    return int(text) if column.type != "decimal" and text.lstrip("-").isdigit() else Decimal(text)


def _text_of(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def _decode_value(data: bytes, at: int, column: ColumnSpec) -> tuple[Any, int]:
    """The natural value and where it ends; what Python has no room for is text."""
    tag, begin = data[at], at
    at += 1
    if tag == 0:
        return None, at
    if tag in _FIXED:
        packed, natural = _FIXED[tag]
        with contextlib.suppress(ValueError, OverflowError):
            return natural(*packed.unpack_from(data, at)), at + packed.size
    elif tag in b"NSBX":
        payload, end = counted(data, at)
        if tag == ord("N"):
            return _number_of(payload.decode(), column), end
        return payload if tag == ord("B") else _text_of(payload) if tag == ord("S") else float(payload), end
    elif tag == ord("O"):  # its bytes hold no more than that it is there
        return "", at
    elif tag == ord("A"):
        element = element_of(column)
        return _decode_values(data, at + 4, [element] * int.from_bytes(data[at : at + 4], "little"))
    return shown_at(data, begin)


def _decode_values(data: bytes, at: int, columns: Sequence[ColumnSpec]) -> tuple[list[Any], int]:
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
