"""Rows and errors of MySQL's family as noise, by the types of the columns."""

from __future__ import annotations

import struct

from rowpath.tape.refusal import Refused
from rowpath.tape.scrub import Scrub

INTEGERS = {1: "<b", 2: "<h", 13: "<h", 3: "<i", 9: "<i", 8: "<q"}
FLOATS = {4: "<f", 5: "<d"}
NUMBERS = (*INTEGERS, *FLOATS, 0, 246)
MOMENTS, TIME, JSON, BIT, GEOMETRY, NULL = (7, 10, 12), 11, 245, 16, 255, 6
BINARY_SET = 63
LONGEST_BYTES = 1 << 24


def scrubbed_row(scrub: Scrub, payload: bytes, columns: list[tuple[int, int]], binary: bool) -> bytes:
    """A row with noise for its values. Errors: Refused."""
    if not columns or len(payload) >= LONGEST_BYTES - 1:
        raise Refused("rows of 16 MB or of unknown types: --scrub has no noise for them")
    return _binary_row(scrub, payload, columns) if binary else _text_row(scrub, payload, columns)


def scrubbed_error(scrub: Scrub, raw: bytes) -> bytes:
    """An error packet: what its sentence quotes as noise."""
    return raw[:13] + scrub.quoted(raw[13:])


def _length(payload: bytes, at: int) -> tuple[int, int]:
    size = {0xFC: 2, 0xFD: 3, 0xFE: 8}.get(payload[at], 0)
    return (int.from_bytes(payload[at + 1 : at + 1 + size], "little"), at + 1 + size) if size else (payload[at], at + 1)


def _text_row(scrub: Scrub, payload: bytes, columns: list[tuple[int, int]]) -> bytes:
    found, at = [], 0
    for kind, charset in columns:
        if payload[at] == 0xFB:
            found.append(payload[at : at + 1])
            at += 1
            continue
        size, begin = _length(payload, at)
        found += [payload[at:begin], _value(scrub, payload[begin : begin + size], kind, charset)]
        at = begin + size
    return b"".join(found)


def _value(scrub: Scrub, value: bytes, kind: int, charset: int) -> bytes:
    """A value that is a text or a length-encoded one."""
    if kind == GEOMETRY:
        raise Refused("values of type GEOMETRY: --scrub has no noise for them")
    if kind in NUMBERS:
        return scrub.number(value)
    if kind in MOMENTS or kind == TIME:
        return scrub.moment(value)
    if kind == JSON:
        return scrub.json(value)
    return scrub.raw(value) if kind == BIT or charset == BINARY_SET else scrub.text(value)


def _binary_row(scrub: Scrub, payload: bytes, columns: list[tuple[int, int]]) -> bytes:
    at = 1 + (len(columns) + 9) // 8
    found = [payload[:at]]
    for position, (kind, charset) in enumerate(columns):
        if payload[1 + (position + 2) // 8] >> (position + 2) % 8 & 1 or kind == NULL:
            continue
        if kind in INTEGERS or kind in FLOATS:
            form = (INTEGERS | FLOATS)[kind]
            value = payload[at : at + struct.calcsize(form)]
            found.append(scrub.integer(value, form) if kind in INTEGERS else scrub.floating(value, form))
            at += len(value)
            continue
        size, begin = _length(payload, at)
        value = payload[begin : begin + size]
        moment = kind in MOMENTS or kind == TIME
        found += [payload[at:begin], _moment(scrub, value, kind) if moment else _value(scrub, value, kind, charset)]
        at = begin + size
    return b"".join(found)


def _moment(scrub: Scrub, value: bytes, kind: int) -> bytes:
    """The binary form of a date or time, as long as before."""
    dice = scrub.dice(value)
    clock = bytes((dice.randint(0, 23), dice.randint(0, 59), dice.randint(0, 59)))
    micro = struct.pack("<I", dice.randint(0, 999_999))
    date = struct.pack("<HBB", dice.randint(1970, 2037), dice.randint(1, 12), dice.randint(1, 28))
    whole = b"\0" + struct.pack("<I", 0) + clock + micro if kind == TIME else date + clock + micro
    return whole[: len(value)]
