"""Text that ends at a NUL: what a driver makes of it that takes a value for a C string."""

from __future__ import annotations

from collections.abc import Sequence

_TEXT, _HEAD_BYTES = b"S", 5  # the tag, then four bytes of length


def end_at_nul(shorter: Sequence[bytes], longer: Sequence[bytes]) -> bool:
    """Whether the shorter encoded values are the longer ones up to the first NUL in each text."""
    return shorter != longer and [_up_to_nul(value) for value in longer] == [*map(_whole, shorter)]


def _whole(value: bytes) -> bytes:
    return _TEXT + value[_HEAD_BYTES:] if value.startswith(_TEXT) else value


def _up_to_nul(value: bytes) -> bytes:
    return _whole(value).partition(b"\0")[0] if value.startswith(_TEXT) else value
