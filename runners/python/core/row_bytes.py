"""The codec's bytes of a row's values, several times as fast: a function is generated per row shape, as for the touch.

The usual form of a value is encoded where it stands. Everything else goes through the codec.
"""

import struct
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from core.codec import EPOCH, EPOCH_UTC, encode_value
from core.iso import EPOCH_DAY

pack_day = struct.Struct("<ci").pack
pack_float = struct.Struct("<d").pack
pack_moment = struct.Struct("<cqI").pack
USUAL_UNITS_NS = (1, 1000)  # Python's own datetime has nothing finer: nothing is cut


def _decimal(value, column, met):
    text = str(value)
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    if text == "-0" or "E" in text or "N" in text or "I" in text:  # a notation that is not plain, or no number
        return encode_value(value, column, met)
    return _sized(b"N", text.encode())


def _sized(tag, payload):
    return tag + len(payload).to_bytes(4, "little") + payload


def _moment(tag, passed, met):
    nanoseconds = passed.microseconds * 1000
    met.nanoseconds(nanoseconds)
    return pack_moment(tag, passed.days * 86400 + passed.seconds, nanoseconds)


SCOPE = {each.__name__: each for each in (_decimal, _sized, _moment, encode_value, date, datetime, Decimal, UUID)}
SCOPE |= {
    "EPOCH": EPOCH,
    "EPOCH_UTC": EPOCH_UTC,
    "NULL": b"\x00",
    "TRUE": b"L\x01",
    "FALSE": b"L\x00",
    "EPOCH_DAY": EPOCH_DAY,
    "pack_day": pack_day,
    "pack_float": pack_float,
}
TEXT = ("type({v}) is str", "_sized(b'S', {v}.encode('utf-8', 'surrogatepass'))")
LIMIT = 1 << 128

# By logical type: whether the value has its usual form, and its bytes then.
USUAL = {
    "integer": (f"type({{v}}) is int and -{LIMIT} < {{v}} < {LIMIT}", "_sized(b'N', b'%d' % {v})"),
    "decimal": ("type({v}) is Decimal", "_decimal({v}, {column}, {met})"),
    "float64": ("type({v}) is float and {v} == {v}", "b'F' + pack_float({v} or 0.0)"),
    "boolean": ("type({v}) is bool", "(TRUE if {v} else FALSE)"),
    "varchar": TEXT,
    "text": TEXT,
    "json": TEXT,
    "binary": ("type({v}) is bytes", "_sized(b'B', {v})"),
    "date": ("type({v}) is date", "pack_day(b'd', {v}.toordinal() - EPOCH_DAY)"),
    "timestamp": ("type({v}) is datetime and {v}.tzinfo is None", "_moment(b'T', {v} - EPOCH, {met})"),
    "timestamptz": ("type({v}) is datetime and {v}.tzinfo is not None", "_moment(b'Z', {v} - EPOCH_UTC, {met})"),
    "uuid": ("type({v}) is UUID", "b'U' + {v}.bytes"),
}


def row_encoder(columns, met):
    """A function of a row of these columns: the bytes of each of its values; `met` has a `Met` of each column.

    ValueError when a row has more or fewer values.
    """
    scope, parts = dict(SCOPE), []
    for number, column in enumerate(columns):
        names = {"v": f"v{number}", "column": f"column{number}", "met": f"met{number}"}
        scope |= {names["column"]: column, names["met"]: met[number]}
        source = "encode_value({v}, {column}, {met})"
        if column.type in USUAL and column.unit_ns in USUAL_UNITS_NS:
            usual, made = USUAL[column.type]
            source = f"({made} if {usual} else {source})"
        if column.nullable:
            source = f"(NULL if {{v}} is None else {source})"
        parts.append(source.format(**names))
    unpacked = "".join(f"v{number}, " for number in range(len(columns))) or "()"
    exec(f"def encode(row):\n    {unpacked} = row\n    return [{', '.join(parts)}]", scope)
    return scope["encode"]
