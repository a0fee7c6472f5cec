"""The codec's bytes of whole rows, several times as fast: one function is generated per row shape, as for the touch.

The usual form of a value is encoded where it stands. Everything else goes through the codec, which also knows what is
wrong with it.
"""

import struct
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from core.codec import EPOCH, EPOCH_DAY, EPOCH_UTC, encode_value

pack_day = struct.Struct("<ci").pack
pack_float = struct.Struct("<d").pack
pack_moment = struct.Struct("<cqI").pack


def _decimal(value, column):
    text = str(value)
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    if text == "-0" or "E" in text or "N" in text or "I" in text:  # a notation that is not plain, or no number
        return encode_value(value, column)
    return _sized(b"N", text.encode())


def _sized(tag, payload):
    return tag + len(payload).to_bytes(4, "little") + payload


def _moment(tag, passed):
    return pack_moment(tag, passed.days * 86400 + passed.seconds, passed.microseconds * 1000)


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
TEXT = ("type({v}) is str", "_sized(b'S', {v}.encode())")

# By logical type: whether the value has its usual form, and its bytes then.
USUAL = {
    "integer": ("type({v}) is int and -{limit} <= {v} < {limit}", "_sized(b'N', b'%d' % {v})"),
    "decimal": ("type({v}) is Decimal", "_decimal({v}, {column})"),
    "float64": ("type({v}) is float and {v} == {v}", "b'F' + pack_float({v} or 0.0)"),
    "boolean": ("type({v}) is bool", "(TRUE if {v} else FALSE)"),
    "varchar": TEXT,
    "text": TEXT,
    "json": TEXT,
    "binary": ("type({v}) is bytes", "_sized(b'B', {v})"),
    "date": ("type({v}) is date", "pack_day(b'd', {v}.toordinal() - EPOCH_DAY)"),
    "timestamp": ("type({v}) is datetime and {v}.tzinfo is None", "_moment(b'T', {v} - EPOCH)"),
    "timestamptz": ("type({v}) is datetime and {v}.tzinfo is not None", "_moment(b'Z', {v} - EPOCH_UTC)"),
    "uuid": ("type({v}) is UUID", "b'U' + {v}.bytes"),
}


def row_encoder(columns):
    """A function of a row of these columns: the bytes of its values, one after the other.

    ValueError when a row has more or fewer values, or one that its column cannot have.
    """
    scope, parts = dict(SCOPE), []
    for number, column in enumerate(columns):
        names = {"v": f"v{number}", "column": f"column{number}", "limit": 1 << column.bits - 1}
        scope[names["column"]] = column
        source = "encode_value({v}, {column})"
        if column.type in USUAL:
            usual, made = USUAL[column.type]
            source = f"({made} if {usual} else {source})"
        if column.nullable:
            source = f"(NULL if {{v}} is None else {source})"
        parts.append(source.format(**names))
    unpacked = "".join(f"v{number}, " for number in range(len(columns)))
    exec(f"def encode(row):\n    ({unpacked}) = row\n    return b''.join([{', '.join(parts)}])", scope)
    return scope["encode"]
