"""Floating point that a text protocol rounds: a float32 to 6 significant digits, a float64 to 15.

These are the decimal digits that a type keeps for certain (FLT_DIG and DBL_DIG of C): servers that write no more of
them, such as MariaDB for FLOAT and PostgreSQL with `extra_float_digits = 0`, deliver other values as text than in
binary, by every driver.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable

DIGITS = {"float32": 6, "float64": 15}
_FLOAT = ord("F")

Values = list[float | None]


def floats_of(column: Iterable[bytes]) -> Values | None:
    """The encoded values of a column; None where one is of another kind."""
    values: Values = []
    for value in column:
        if value[0] not in (0, _FLOAT):
            return None
        values.append(struct.unpack("<d", value[1:])[0] if value[0] else None)
    return values


def has_no_more_digits(values: Values, kind: str) -> bool:
    """Whether each value of this type can have been read from as many digits as its type keeps for certain."""
    return all(value is None or _read(_text(value, kind), kind) == value or math.isnan(value) for value in values)


def same_when_rounded(finer: Values, coarser: Values, kind: str) -> bool:
    """Whether the values are the same in as many digits as their type keeps for certain."""
    pairs = zip(finer, coarser, strict=False)
    return len(finer) == len(coarser) and all(_text(fine, kind) == _text(coarse, kind) for fine, coarse in pairs)


def _text(value: float | None, kind: str) -> str:
    return "NULL" if value is None else f"{value:.{DIGITS[kind]}g}"


def _read(text: str, kind: str) -> float:
    try:
        return float(struct.unpack("<f", struct.pack("<f", float(text)))[0]) if kind == "float32" else float(text)
    except OverflowError:  # rounded up past the largest
        return float(text)
