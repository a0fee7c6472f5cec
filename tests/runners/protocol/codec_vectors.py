"""The vectors that every runner shares, and their values as natural Python values."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from rowpath.model.workload import ColumnSpec
from rowpath.workloads import codec

VECTORS = json.loads((Path(__file__).parents[2] / "conformance" / "codec_vectors.json").read_text())

# What the readers of usual ISO 8601 inside a loop leave to the codec, and the bytes of it; None: it is foreign.
UNUSUAL_TEXTS: dict[str, str | None] = {
    "date 2000-13-01": "59d00700000d010000000000000000",
    "date 2000-02-30": "59d0070000021e0000000000000000",
    "date 2000-01-01 00:00:00": "64cd2a0000",
    "date 2000-1-01": None,
    "date ": None,
    "time 25:00:00": "7400a007c2da510000",
    "time 10:00": "74004036e7bd200000",
    "time 10:00:00,5": None,
    "timestamp 2000-01-01": "5480436d380000000000000000",
    "timestamp 2000-01-01 00:00:0x": None,
    "timestamp 2000-01-01 00:00:00.1234567891": None,
}


def bytes_of_unusual(line: str) -> str:
    """The codec's bytes of one of these texts, in hexadecimal."""
    text = line.partition(" ")[2].encode()
    return UNUSUAL_TEXTS[line] or (b"?" + len(text).to_bytes(4, "little") + text).hex()


def natural(value: Any, column: ColumnSpec) -> Any:
    """A vector's JSON value as the natural Python value of its column; text where Python has none: 0044-03-15 BC."""
    kind = column.type
    if value is None:
        return None
    if isinstance(value, dict):
        return _spelt(value, column)
    if kind in ("array", "struct", "map", "rows"):
        return _nested(value, column)
    if kind in ("boolean", "char", "varchar", "text", "json", "bits", "any", "opaque"):
        return value
    if value in ("inf", "-inf") and kind in ("date", "timestamp", "timestamptz", "interval"):
        return float(value)
    try:
        return NATURAL[kind](value)
    except ValueError:
        return value


def _spelt(value: dict[str, Any], column: ColumnSpec) -> Any:
    """What JSON has no form for: bytes in a text, an array's lower bound, a value of a column of any type."""
    ((form, inner),) = value.items() if "lower" not in value else (("lower", value["lower"]),)
    if form == "lower":
        return codec.Bounded(inner, _nested(value["elements"], column))
    return SPELT[form](inner)


def _nested(value: list[Any], column: ColumnSpec) -> Any:
    if column.type == "array":
        element = codec.element_of(column)
        deeper = element.type not in codec.NESTED
        return [natural(one, column if deeper and isinstance(one, list | dict) else element) for one in value]
    if column.type == "struct":
        return [natural(one, each) for one, each in zip(value, column.fields, strict=True)]
    pairs = [[natural(one, each) for one, each in zip(row, column.fields, strict=True)] for row in value]
    return dict(pairs) if column.type == "map" else pairs


def _exactly(convert: Any) -> Any:
    """Only where nothing is lost: Python has no nanoseconds."""

    def converted(text: str) -> Any:
        if len(text.partition(".")[2].partition("+")[0]) > MICROSECONDS:
            raise ValueError(text)
        return convert(text)

    return converted


MICROSECONDS = 6  # digits
SPELT: dict[str, Callable[[Any], Any]] = {"hex": bytes.fromhex, "integer": int, "float": float}
NATURAL: dict[str, Callable[[Any], Any]] = {
    "integer": int,
    "decimal": Decimal,
    "float32": float,
    "float64": float,
    "binary": bytes.fromhex,
    "date": date.fromisoformat,
    "time": _exactly(time.fromisoformat),
    "timetz": str,
    "timestamp": _exactly(datetime.fromisoformat),
    "timestamptz": _exactly(datetime.fromisoformat),
    "interval": tuple,
    "uuid": UUID,
}
