"""Bytes to rows: the natural values of parameter files (docs/codec.md)."""

import struct
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from uuid import UUID

from core.codec import EPOCH, EPOCH_UTC
from core.iso import EPOCH_DAY


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
