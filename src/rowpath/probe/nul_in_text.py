"""Text that ends at a NUL: what a driver makes of it that takes a value for a C string."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_TEXT, _HEAD_BYTES = b"S", 5  # the tag, then four bytes of length


def column_of(rows: Iterable[Sequence[bytes]], number: int) -> list[bytes]:
    """A column of kept rows, each value as its tag and, of a text, its bytes."""
    values = (row[number] for row in rows)
    return [_TEXT + value[_HEAD_BYTES:] if value.startswith(_TEXT) else value for value in values]


def end_at_nul(shorter: Sequence[bytes], longer: Sequence[bytes]) -> bool:
    """Whether the shorter values are the longer ones up to the first NUL in each text."""
    cut = [value.partition(b"\0")[0] if value.startswith(_TEXT) else value for value in longer]
    return shorter != longer and cut == shorter
