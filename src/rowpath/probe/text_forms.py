"""Values of several types in one column, as drivers hand them over that know one type of it only: as text."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence

from rowpath.workloads.kept_rows import shown

_TEXT, _FLOAT, _HEAD_BYTES = ord("S"), ord("F"), 5
_WHOLE = re.compile(r"(-?\d+)\.0")


def same_as_text(ours: Sequence[bytes], theirs: Sequence[bytes]) -> bool:
    """Whether each encoded value is the same, or of another type with the same text: 0 and '0', a day and midnight."""
    if len(ours) != len(theirs):
        return False
    pairs = ((one, other) for one, other in zip(ours, theirs, strict=True) if one != other)
    return all(
        one[0] != other[0] and 0 not in (one[0], other[0]) and _text(one) == _text(other) for one, other in pairs
    )


def _text(value: bytes) -> str | None:
    if not value[0]:  # NULL is no text
        return None
    if value[0] == _TEXT:
        text = value[_HEAD_BYTES:].decode(errors="backslashreplace")
        text = _WHOLE.sub(r"\1", text) if _WHOLE.fullmatch(text) else text
    else:
        text = f"{struct.unpack('<d', value[1:])[0]:.15g}" if value[0] == _FLOAT else shown(value)
    return text.removesuffix(" 00:00:00")
