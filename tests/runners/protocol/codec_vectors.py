"""The vectors that every runner shares, and their values as natural Python values."""

from __future__ import annotations

import json
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

VECTORS = json.loads((Path(__file__).parents[2] / "conformance" / "codec_vectors.json").read_text())

NO_DATE_OR_TIME = (  # what a reader of ISO 8601 must not take
    "date 2000-13-01",
    "date 2000-01-01 00:00:00",
    "date 2000-1-01",
    "date ",
    "time 25:00:00",
    "time 10:00",
    "time 10:00:00,5",
    "timestamp 2000-01-01",
    "timestamp 2000-01-01 00:00:0x",
)


def natural(value: Any, kind: str) -> Any:
    """A vector's JSON value as the natural Python value of its type."""
    if value is None or kind in ("boolean", "array", "char", "varchar", "text", "json", "opaque"):
        return value
    if kind in ("date", "timestamp", "timestamptz") and value in ("inf", "-inf"):
        return float(value)
    return {
        "integer": int,
        "decimal": Decimal,
        "float32": float,
        "float64": float,
        "binary": bytes.fromhex,
        "date": date.fromisoformat,
        "time": time.fromisoformat,
        "timestamp": datetime.fromisoformat,
        "timestamptz": datetime.fromisoformat,
        "interval": tuple,
        "uuid": UUID,
    }[kind](value)
