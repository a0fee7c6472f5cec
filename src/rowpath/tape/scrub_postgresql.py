"""PostgreSQL's rows and messages as noise, by the types of the columns."""

from __future__ import annotations

import struct
from collections.abc import Callable

from rowpath.tape.refusal import Refused
from rowpath.tape.scrub import Scrub

WHOLLY = b"DWqH"  # fields of an error that show values: detail, context, query, hint
TEXTS = (18, 19, 25, 705, 1042, 1043)
MOMENTS = {1082: "!i", 1083: "!q", 1114: "!q", 1184: "!q"}
INTEGERS = {20: "!q", 21: "!h", 23: "!i", 26: "!I"}
FLOATS = {700: "!f", 701: "!d"}
BOOL, BYTEA, NUMERIC, INTERVAL, JSON, JSONB, UUID = 16, 17, 1700, 1186, 114, 3802, 2950


def scrubbed_row(scrub: Scrub, raw: bytes, columns: list[tuple[int, int]]) -> bytes:
    """A DataRow message with noise for its values. Errors: Refused for a type that has none."""
    found, at = [raw[:7]], 7
    for kind, form in columns:
        (size,) = struct.unpack_from("!i", raw, at)
        value = raw[at + 4 : at + 4 + max(0, size)]
        noise = value if size <= 0 else _binary(scrub, value, kind) if form else _text(scrub, value, kind)
        found += [raw[at : at + 4], noise]
        at += 4 + len(value)
    return b"".join(found)


def scrubbed_fields(scrub: Scrub, raw: bytes) -> bytes:
    """An error or a notice: its details as noise, and what its sentence quotes."""
    found = []
    for one in raw[5:].split(b"\0"):
        if one[:1] in WHOLLY and one:
            found.append(one[:1] + scrub.text(b" " + one[1:])[1:])
        else:
            found.append(one[:1] + scrub.quoted(one[1:]) if one[:1] == b"M" else one)
    return raw[:5] + b"\0".join(found)


def _text(scrub: Scrub, value: bytes, kind: int) -> bytes:
    by_kind: dict[int, Callable[[bytes], bytes]] = {
        BOOL: lambda one: scrub.dice(one).choice((b"t", b"f")),
        BYTEA: scrub.hexadecimal,
        UUID: scrub.hexadecimal,
        JSON: scrub.json,
        JSONB: scrub.json,
        **dict.fromkeys(MOMENTS, scrub.moment),
        **dict.fromkeys((*INTEGERS, *FLOATS, NUMERIC, INTERVAL), scrub.number),
    }
    return by_kind.get(kind, scrub.text)(value)


def _binary(scrub: Scrub, value: bytes, kind: int) -> bytes:
    if kind in TEXTS:
        return scrub.text(value)
    if kind in (JSON, JSONB):
        begin = kind == JSONB
        return value[:begin] + scrub.json(value[begin:])
    if kind in INTEGERS or kind in MOMENTS:
        return scrub.integer(value, {**INTEGERS, **MOMENTS}[kind])
    if kind in FLOATS:
        return scrub.floating(value, FLOATS[kind])
    if kind in (BYTEA, UUID):
        return scrub.raw(value)
    if kind == BOOL:
        return bytes((scrub.dice(value).randint(0, 1),))
    if kind == NUMERIC:
        dice, digits = scrub.dice(value), struct.unpack_from(f"!{(len(value) - 8) // 2}H", value, 8)
        noise = [dice.randint(min(1, digit), digit) for digit in digits]
        return value[:8] + struct.pack(f"!{len(noise)}H", *noise)
    if kind == INTERVAL:
        return b"".join(scrub.integer(value[a:b], form) for a, b, form in ((0, 8, "!q"), (8, 12, "!i"), (12, 16, "!i")))
    raise Refused(f"values of type {kind} in binary form: --scrub has no noise for them")
