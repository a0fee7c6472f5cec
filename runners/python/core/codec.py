"""Rows to bytes, version 2; apart from the controller's on purpose.

The controller computes what must come out, this file what came out: sharing code would hide a mistake in it.
"""

import math
import struct
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from uuid import UUID

from core import iso
from core.iso import INFINITE, SECOND_NS, Days, Nanoseconds, instant

EPOCH = datetime(1970, 1, 1)
EPOCH_UTC = datetime(1970, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
BYTES = (bytes, bytearray, memoryview)
FOREIGN_BYTES = 100  # of a foreign value's own text
REASON_CHARACTERS = 300
EXACT = 1 << 53  # up to here floating point holds every integer
NESTED = ("array", "struct", "map", "rows")


class Column:
    """A column as the protocol describes it; its fields' units and bounds are its own."""

    def __init__(self, spec):
        self.name = spec.get("name", "")
        self.type = spec["type"]
        self.length = spec.get("length", 0)
        self.precision = spec.get("precision", 0)
        self.scale = spec.get("scale", 0)
        self.bits = spec.get("bits", 32)
        self.nullable = spec.get("nullable", False)
        self.unit_ns = spec.get("unit_ns", 1)
        self.rounded = spec.get("rounded", False)
        self.bounds = spec.get("bounds", True)
        own = {"unit_ns": self.unit_ns, "rounded": self.rounded, "bounds": self.bounds}
        self.fields = [Column(field | own) for field in spec.get("fields", ())]
        if self.type == "array" and not self.fields:
            self.fields = [Column({"type": "integer", "bits": self.bits, "nullable": True} | own)]


class Met:
    """What was met in a column's values, beside their bytes."""

    def __init__(self):
        self.times = self.bounds = False
        self.divisor_ns = SECOND_NS
        self.foreign = 0
        self.reason = ""

    def nanoseconds(self, count):
        """Of a time, before they are cut."""
        self.times = True
        while count % self.divisor_ns:
            self.divisor_ns //= 1000

    def fields(self):
        """The protocol's fields of a column; what has its default is absent."""
        found = {"finest_ns": self.divisor_ns} if self.times else {}
        if self.bounds:
            found["bounds"] = True
        return found | ({"foreign": self.foreign, "reason": self.reason} if self.foreign else {})


def _sized(tag, payload):
    return tag + len(payload).to_bytes(4, "little") + payload


class Misfit(ValueError):
    """A value that is none of its column's type, and spells none."""

    def __init__(self, value, column):
        super().__init__(f"{value!r:.100} ({type(value).__name__}) is no {column.type}")


def _read(value):
    """What may be text: text that came as bytes is text."""
    return bytes(value).decode() if isinstance(value, BYTES) else value


def plain(number):
    """Plain decimal notation of an integer or Decimal; `nan`, `inf`, `-inf`."""
    sign, digits, exponent = Decimal(number).as_tuple()
    if not isinstance(exponent, int):
        return "nan" if exponent in "nN" else "-inf" if sign else "inf"
    text = "".join(map(str, digits))
    if exponent >= 0:
        whole, fraction = text + "0" * exponent, ""
    else:
        text = text.rjust(1 - exponent, "0")
        whole, fraction = text[:exponent], text[exponent:].rstrip("0")
    whole = whole.lstrip("0") or "0"
    shown = f"{whole}.{fraction}" if fraction else whole
    return shown if not sign or shown == "0" else "-" + shown


def number_of(value, column):
    """The integer or Decimal that a value is or spells. Errors: ValueError, ArithmeticError."""
    value = _read(value)
    if isinstance(value, (int, Decimal)):
        return value
    if isinstance(value, float):
        return Decimal(repr(float(value)))  # its shortest text
    if isinstance(value, str):
        return Decimal(value)
    if hasattr(value, "__index__"):  # an integer of a library's own
        return int(value)
    raise Misfit(value, column)


def _number(value, column, _met):
    return _sized(b"N", plain(number_of(value, column)).encode())


def float_of(value, column):
    """The float that a value is or spells. Errors: ValueError, OverflowError."""
    value = _read(value)
    if isinstance(value, (float, int, str, Decimal)) or hasattr(value, "__float__"):
        return float(value)
    raise Misfit(value, column)


def _float(value, column, _met):
    value = float_of(value, column)
    if math.isnan(value):
        return b"F\x00\x00\x00\x00\x00\x00\xf8\x7f"
    if column.type == "float32":
        try:
            (value,) = struct.unpack("f", struct.pack("f", value))
        except OverflowError:
            value = math.copysign(math.inf, value)
    return b"F" + struct.pack("<d", value or 0.0)


TRUTHS = {"t": 1, "true": 1, "1": 1, "f": 0, "false": 0, "0": 0, "\x01": 1, "\x00": 0}


def _boolean(value, column, _met):
    value = _read(value)
    if isinstance(value, str):
        value = TRUTHS[value.lower()]
    if value not in (0, 1):
        raise Misfit(value, column)
    return b"L\x01" if value else b"L\x00"


def _text(value, column):
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, BYTES):
        return bytes(value)
    if isinstance(value, (int, float, Decimal, date, time, UUID)):
        return str(value).encode()
    raise Misfit(value, column)


def _char(value, column, _met):
    return _sized(b"S", _text(value, column).rstrip(b" "))


def _string(value, column, _met):
    return _sized(b"S", _text(value, column))


def _binary(value, column, _met):
    if isinstance(value, str):
        value = bytes.fromhex(value[2:]) if value.startswith("\\x") else value.encode("utf-8", "surrogatepass")
    if not isinstance(value, BYTES):
        raise Misfit(value, column)
    return _sized(b"B", bytes(value))


def _bits(value, column, _met):
    length = column.length
    if hasattr(value, "as_string"):  # a class of a driver's own
        value = value.as_string().replace(" ", "")
    if isinstance(value, BYTES):  # the last bits are the value's
        length = length or 8 * len(value)
        value = int.from_bytes(value, "big")
    if isinstance(value, int):
        value = f"{value & (1 << length) - 1 if length else value:0{length}b}"
    if not isinstance(value, str) or value.strip("01"):
        raise Misfit(value, column)
    size = -(-len(value) // 8)
    data = int(value.ljust(8 * size, "0"), 2).to_bytes(size, "big") if size else b""
    return b"b" + len(value).to_bytes(4, "little") + data


def _infinite(value):
    """The bytes of an infinite date, time or interval; None of all else."""
    if isinstance(value, str):
        value = INFINITE.get(value.lower())
    if isinstance(value, (float, Decimal)) and math.isinf(value):
        return _sized(b"X", b"inf" if value > 0 else b"-inf")
    return None


def _cut(nanoseconds, column, met):
    met.nanoseconds(nanoseconds)
    unit = column.unit_ns
    return (nanoseconds + (unit // 2 if column.rounded else 0)) // unit * unit


def _no_day(day, time_ns):
    return struct.pack("<ciBBq", b"Y", *day, time_ns)


def _date(value, column, met):
    value = _read(value)
    if bound := _infinite(value):
        return bound
    if isinstance(value, Days):
        return struct.pack("<ci", b"d", value)
    if isinstance(value, str):
        found = iso.moment(value)
        if not found.day or found.time_ns:
            raise Misfit(value, column)
        days = found.days()
        return _no_day(found.day, 0) if days is None else struct.pack("<ci", b"d", days)
    if isinstance(value, (date, Nanoseconds)):
        days, time_ns = divmod(value if isinstance(value, Nanoseconds) else instant(value), 86400 * SECOND_NS)
        # A moment keeps its time, as a moment.
        return _timestamp(value, column, met) if time_ns else struct.pack("<ci", b"d", days)
    raise Misfit(value, column)


def time_of(value, column):
    """(nanoseconds since midnight, seconds east of UTC) of a time or duration. Errors: ValueError."""
    value = _read(value)
    if isinstance(value, Nanoseconds):
        return int(value), 0
    if isinstance(value, timedelta):
        below_ns = getattr(value, "nanoseconds", 0)  # a subclass may have them too
        return (value.days * 86400 + value.seconds) * SECOND_NS + value.microseconds * 1000 + below_ns, 0
    if isinstance(value, time):
        zone = value.utcoffset()
        seconds = (value.hour * 60 + value.minute) * 60 + value.second
        offset_s = zone.days * 86400 + zone.seconds if zone is not None else 0
        return seconds * SECOND_NS + value.microsecond * 1000, offset_s
    if isinstance(value, str):
        found = iso.moment(value)
        if found.day is None:
            return found.time_ns, found.offset_s
    raise Misfit(value, column)


def _time(value, column, met):
    return struct.pack("<cq", b"t", _cut(time_of(value, column)[0], column, met))


def _timetz(value, column, met):
    nanoseconds, offset_s = time_of(value, column)
    return struct.pack("<cqi", b"y", _cut(nanoseconds, column, met), offset_s)


def _timestamp(value, column, met):
    value = _read(value)
    if bound := _infinite(value):
        return bound
    if isinstance(value, Nanoseconds):
        passed_ns = value
    elif isinstance(value, Days):
        passed_ns = value * 86400 * SECOND_NS
    elif isinstance(value, date):
        passed_ns = instant(value)
    elif isinstance(value, str):
        found = iso.moment(value)
        if not found.day:
            raise Misfit(value, column)
        days, time_ns = found.days(), found.time_ns or 0
        if days is None:
            return _no_day(found.day, _cut(time_ns, column, met))
        passed_ns = (days * 86400 - found.offset_s) * SECOND_NS + time_ns
    else:
        raise Misfit(value, column)
    tag = b"Z" if column.type == "timestamptz" else b"T"
    return struct.pack("<cqI", tag, *divmod(_cut(passed_ns, column, met), SECOND_NS))


I64 = 1 << 63
# What an infinite interval has in an engine's binary form; its nanoseconds are beyond 64 bits.
EXTREMES = {((1 << 31) - 1, (1 << 31) - 1): math.inf, (-(1 << 31), -(1 << 31)): -math.inf}


def _interval(value, column, met):
    value = _read(value)
    if bound := _infinite(value):
        return bound
    if isinstance(value, str):
        value = iso.interval(value)
    elif isinstance(value, timedelta):
        days = value // DAY
        value = 0, days, time_of(value, column)[0] - days * 86400 * SECOND_NS
    if not isinstance(value, (tuple, list)):
        raise Misfit(value, column)
    months, days, nanoseconds = value
    if abs(nanoseconds) >= I64 and (months, days) in EXTREMES:
        return _infinite(EXTREMES[months, days])
    return struct.pack("<ciiq", b"I", months, days, _cut(nanoseconds, column, met))


def _uuid(value, column, _met):
    if isinstance(value, BYTES):
        value = UUID(bytes=bytes(value)) if len(value) == 16 else UUID(bytes(value).decode())
    if isinstance(value, str):
        value = UUID(value)
    if not isinstance(value, UUID):
        raise Misfit(value, column)
    return b"U" + value.bytes


def _counted(tag, values):
    return tag + len(values).to_bytes(4, "little") + b"".join(values)


def _listed(value, column):
    """A sequence as a list, one of a library's own too."""
    if isinstance(value, (list, tuple)):
        return value
    if hasattr(value, "tolist"):
        return value.tolist()
    raise Misfit(value, column)


def _array(value, column, met):
    value = _read(value)
    value = _listed(iso.array(value) if isinstance(value, str) else value, column)
    element, bound = column.fields[0], b""
    if getattr(value, "lower", 1) != 1:
        met.bounds = True
        if column.bounds:
            bound = b"a" + struct.pack("<i", value.lower)
    inner = [column if _is_dimension(one, element) else element for one in value]
    return bound + _counted(b"A", [encode_value(one, each, met) for one, each in zip(value, inner, strict=True)])


def _is_dimension(one, element):
    """Whether an element is an array of a further dimension, which is no other type; an interval may be a list."""
    if not isinstance(one, list) or element.type in NESTED:
        return False
    return element.type != "interval" or not all(isinstance(part, int) for part in one) or not one


def _members(value, column):
    """A structure's values in the order of its fields."""
    values = value.values() if isinstance(value, dict) else _listed(value, column)
    if len(values) != len(column.fields):
        raise Misfit(value, column)
    return values


def _fields(value, column, met):
    return [encode_value(one, field, met) for one, field in zip(_members(value, column), column.fields, strict=True)]


def _struct(value, column, met):
    return _counted(b"K", _fields(value, column, met))


def _map(value, column, met):
    if isinstance(value, dict) and column.fields[0].type in NESTED:  # two lists, for keys that Python cannot hash
        value = list(zip(value["key"], value["value"], strict=True)) if value else []
    entries = value.items() if isinstance(value, dict) else _listed(value, column)
    return _counted(b"M", sorted(b"".join(_fields(entry, column, met)) for entry in entries))


def _rows(value, column, met):
    return _counted(b"R", [b"".join(_fields(row, column, met)) for row in _listed(value, column)])


def _any(value, column, met):
    """By the value's own kind; a float without a fraction is a number."""
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
        value = int(value)
    if isinstance(value, (list, tuple)):
        return _counted(b"A", [encode_value(one, column, met) for one in value])
    if isinstance(value, dict):
        return _counted(b"K", [encode_value(one, column, met) for one in value.values()])
    for kinds, encode, name in KINDS:
        if isinstance(value, kinds):
            return encode(value, as_type(column, name), met)
    raise Misfit(value, column)


def as_type(column, name):
    """The column as if it was declared of another type."""
    own = {"unit_ns": column.unit_ns, "rounded": column.rounded, "bounds": column.bounds}
    return Column({"name": column.name, "type": name} | own)


# In this order: some are subclasses of later ones.
KINDS = (
    (bool, _boolean, "boolean"),
    (Nanoseconds, _timestamp, "timestamp"),
    (Days, _date, "date"),
    ((int, Decimal), _number, "decimal"),
    (float, _float, "float64"),
    (str, _string, "text"),
    (BYTES, _binary, "binary"),
    (datetime, lambda v, c, met: _timestamp(v, as_type(c, "timestamptz") if v.tzinfo else c, met), "timestamp"),
    (date, _date, "date"),
    (time, lambda v, c, met: (_timetz if v.tzinfo else _time)(v, c, met), "time"),
    (timedelta, _interval, "interval"),
    (UUID, _uuid, "uuid"),
)

ENCODERS = {
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
    "bits": _bits,
    "date": _date,
    "time": _time,
    "timetz": _timetz,
    "timestamp": _timestamp,
    "timestamptz": _timestamp,
    "interval": _interval,
    "uuid": _uuid,
    "array": _array,
    "struct": _struct,
    "map": _map,
    "rows": _rows,
    "any": _any,
    "opaque": lambda _value, _column, _met: b"O",
}


def encode_value(value, column, met):
    """The bytes of one value by its declared type; whatever has none is foreign, and is counted in `met`."""
    if value is None:
        return b"\x00"
    try:
        return ENCODERS[column.type](value, column, met)
    except Exception as error:
        if isinstance(value, bytes):  # what the driver hands over in the place of another type
            return _sized(b"B", value)
        return _foreign(value, column, error, met)


def _foreign(value, column, error, met):
    met.foreign += 1
    try:
        text, reason = str(value), str(error if isinstance(error, Misfit) else f"{Misfit(value, column)}: {error}")
    except Exception:  # a class of a driver's own
        text = type(value).__name__
        reason = f"a {text} is no {column.type}"
    if isinstance(value, (set, frozenset)):
        reason = "no common form: the driver makes a set of the text"
    if not met.reason:
        met.reason = "".join(c if c.isprintable() else " " for c in reason)[:REASON_CHARACTERS]
    cut = text[:FOREIGN_BYTES].encode("utf-8", "backslashreplace")[:FOREIGN_BYTES]
    return _sized(b"?", cut.decode("utf-8", "ignore").encode())
