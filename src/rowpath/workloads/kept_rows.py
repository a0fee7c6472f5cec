"""Rows that `verify` kept, as a person reads them: to show in what two paths differ."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from uuid import UUID

from rowpath.errors import InternalError

EPOCH_DAY = date(1970, 1, 1).toordinal()


def counted(data: bytes, at: int) -> tuple[bytes, int]:
    """The bytes behind their number, and where they end."""
    end = at + 4 + int.from_bytes(data[at : at + 4], "little")
    return data[at + 4 : end], end


def kept_values(path: Path) -> Iterator[list[bytes]]:
    """The rows of a file that `verify` kept, each as the bytes of its values."""
    data, at = path.read_bytes(), 0
    while at < len(data):
        row, at = counted(data, at)
        values: list[bytes] = []
        begin = 0
        while begin < len(row):
            end = shown_at(row, begin)[1]
            values.append(row[begin:end])
            begin = end
        yield values


def shown(value: bytes) -> str:
    """The bytes of a value as a person reads them: NULL, 1.5, 'text', 0044-03-15 BC."""
    return shown_at(value, 0)[0]


def _date_text(days: int) -> str:
    era, day = divmod(days + EPOCH_DAY - 1, 146097)  # of 400 years, the first from the year 1
    in_era = date.fromordinal(day + 1)
    year = in_era.year + 400 * era
    return f"{year if year > 0 else 1 - year:04}-{in_era:%m-%d}{'' if year > 0 else ' BC'}"


def _time_text(nanoseconds: int) -> str:
    seconds, rest = divmod(abs(nanoseconds), 1_000_000_000)
    fraction = f".{rest:09}".rstrip("0") if rest else ""
    return f"{'-' * (nanoseconds < 0)}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"


def _zone_text(seconds: int) -> str:
    text = _time_text(abs(seconds) * 1_000_000_000)
    return f"{'-' if seconds < 0 else '+'}{text.removesuffix(':00')}"


def _beside(nanoseconds: int) -> str:
    return f" {_time_text(nanoseconds)}" if nanoseconds else ""


def _instant_text(seconds: int, nanoseconds: int, zone: str = "") -> str:
    days, second = divmod(seconds, 86400)
    text, _, era = _date_text(days).partition(" ")
    return f"{text} {_time_text(second * 1_000_000_000 + nanoseconds)}{zone}{era and ' BC'}"


# Values of one size, by tag: how they are packed, and what a person reads.
_SHOWN: dict[int, tuple[struct.Struct, Callable[..., str]]] = {
    ord("F"): (struct.Struct("<d"), repr),
    ord("L"): (struct.Struct("<?"), lambda truth: "true" if truth else "false"),
    ord("d"): (struct.Struct("<i"), _date_text),
    ord("t"): (struct.Struct("<q"), _time_text),
    ord("y"): (struct.Struct("<qi"), lambda ns, offset: f"{_time_text(ns)}{_zone_text(offset)}"),
    ord("T"): (struct.Struct("<qI"), _instant_text),
    ord("Z"): (struct.Struct("<qI"), lambda s, ns: _instant_text(s, ns, "+00:00")),
    ord("Y"): (struct.Struct("<iBBq"), lambda y, m, d, ns: f"{y:04}-{m:02}-{d:02}{_beside(ns)}"),
    ord("I"): (struct.Struct("<iiq"), lambda m, d, ns: f"{m} months {d} days {_time_text(ns)}"),
    ord("U"): (struct.Struct("<16s"), lambda data: str(UUID(bytes=data))),
}


def shown_at(data: bytes, at: int) -> tuple[str, int]:
    """The value that begins there as a person reads it, and where it ends. Errors: InternalError."""
    tag = data[at]
    at += 1
    if tag in _SHOWN:
        packed, natural = _SHOWN[tag]
        return natural(*packed.unpack_from(data, at)), at + packed.size
    if tag in b"\x00O":
        return ("NULL", "a value")[tag > 0], at
    if tag in b"NSBX?":
        payload, end = counted(data, at)
        if tag == ord("B"):
            return f"x'{payload.hex()}'", end
        text = payload.decode(errors="backslashreplace")
        quoted = repr(text) if text.encode() == payload else f"'{text}'"  # the escaped bytes stay as they are
        return quoted if tag == ord("S") else text, end
    count = int.from_bytes(data[at : at + 4], "little", signed=tag == ord("a"))
    at += 4
    if tag == ord("a"):
        text, at = shown_at(data, at)
        return f"[{count}:]{text}", at
    if tag == ord("b"):
        size = -(-count // 8)
        bits = f"{int.from_bytes(data[at : at + size], 'big'):0{8 * size}b}"[:count] if size else ""
        return f"b'{bits}'", at + size
    if tag not in b"AKM":
        raise InternalError(f"byte {tag:#04x} does not start a value of the codec")
    parts = []
    for _ in range(count * (2 if tag == ord("M") else 1)):
        text, at = shown_at(data, at)
        parts.append(text)
    around = {ord("A"): "[]", ord("K"): "()", ord("M"): "{}"}[tag]
    return f"{around[0]}{', '.join(parts)}{around[1]}", at
