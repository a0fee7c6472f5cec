"""Rows of the workload `library`: items that are looked up, and a ledger whose rows count what was written."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

ITEM_COLUMNS = ("id", "code", "title", "author", "added", "price", "note")
LEDGER_COLUMNS = ("id", "n", "note")

_SCATTER = 0x9E3779B97F4B  # odd, so that every code below 2⁴⁸ occurs once: the order of codes is not that of ids
_WORDS = (
    *("amber", "bridge", "cedar", "delta", "ember", "fjord", "garden", "harbour"),
    *("island", "jasmine", "kettle", "lantern", "meadow", "north", "orchard", "pebble"),
)
_FIRST = datetime(2001, 1, 1)


def item(bits: int, second: int, index: int) -> tuple[Any, ...]:
    """An item of about 230 bytes; `bits` and `second` are two independent draws for that index."""
    words = [_WORDS[bits >> shift & 15] for shift in range(0, 56, 4)]
    return (
        index + 1,
        f"{index * _SCATTER & (1 << 48) - 1:012x}",
        " ".join(words[:5]),
        f"{words[5]} {words[6]}",
        _FIRST + timedelta(seconds=index * 31 + second % 31),
        Decimal(second % 9_999_999 + 1).scaleb(-2),
        f"{' '.join(words[7:])} {second:016x} {bits:016x}",
    )


def ledger(bits: int, index: int) -> tuple[Any, ...]:
    """A row of the ledger at its start."""
    return index + 1, 0, f"{bits:016x}{index:016x}"


def makers(draw: Callable[[int, int], int]) -> dict[str, tuple[tuple[str, ...], Callable[[int, int], tuple[Any, ...]]]]:
    """The generators `items` and `ledger` over that source of numbers (seed, index)."""
    return {
        "items": (ITEM_COLUMNS, lambda seed, i: item(draw(seed, 2 * i), draw(seed, 2 * i + 1), i)),
        "ledger": (LEDGER_COLUMNS, lambda seed, i: ledger(draw(seed, i), i)),
    }
