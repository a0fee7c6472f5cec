"""The vectors that every runner shares, and their values as natural Python values."""

from __future__ import annotations

import json
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

VECTORS = json.loads((Path(__file__).parents[1] / "conformance" / "codec_vectors.json").read_text())


def natural(value: Any, kind: str) -> Any:
    """A vector's JSON value as the natural Python value of its type."""
    if value is None or kind in ("boolean", "array", "char", "varchar", "text", "json"):
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
