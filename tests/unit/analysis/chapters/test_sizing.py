"""The sentence that a sizing begins with, in each of its forms."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from rowpath.analysis.chapters.sizing import UNKNOWN, Sizing, headline, sentences
from rowpath.analysis.size_choice import SizeChoice, SizeFigures
from rowpath.model.sizing import SizingStop
from tests.golden.sizing_fixture import question, sizing

MS = 1e6


def of(*sizes: tuple[int, float, bool, bool], rate_per_s: float = 2000, **chosen: Any) -> str:
    """`sizes`: each with its p99 in ms, whether it keeps up and is surely longer than the best."""
    figures = tuple(
        SizeFigures(size, 4, 100.0 * size, kept, p99 * MS / 2, p99 * MS, None, None, behind)
        for size, p99, kept, behind in sizes
    )
    asked = msgspec.structs.replace(question(), rate_per_s=rate_per_s)
    return headline(Sizing(asked, SizeChoice(figures, **chosen)))


def test_the_example_of_the_documents() -> None:
    expected = "9 connections, not 50: 99th percentile 4.10 ms instead of 11.0 ms at 2,000 a second; below 6 it breaks"
    assert headline(sizing()) == expected


@pytest.mark.parametrize(
    ("words", "sizes", "how"),
    [
        (
            "4 connections suffice: 99th percentile 5.00 ms at 2,000 a second; 8, with 5.10 ms, are not surely better",
            [(4, 5, True, False), (8, 5.1, True, False)],
            {"best": 4, "found": 4},
        ),
        (
            "1 connection suffices: 99th percentile 5.00 ms with 50 callers; 8, with 5.10 ms, are not surely better",
            [(1, 5, True, False), (8, 5.1, True, False)],
            {"best": 1, "found": 1, "rate_per_s": 0},
        ),
        (
            "8 connections, the most that was tried: 99th percentile 5.00 ms with 50 callers",
            [(4, 9, True, True), (8, 5, True, False)],
            {"best": 8, "found": 8, "rate_per_s": 0},
        ),
        (
            "4 connections, not 8: 99th percentile 5.00 ms at 2,000 a second; with 8 it breaks; with 1 it breaks",
            [(1, 90, False, True), (4, 5, True, False), (8, 80, False, True)],
            {"best": 4, "found": 4, "broken": 1},
        ),
        (
            "No number keeps up with 2,000 a second: 800 a second was reached with 8 connections",
            [(4, 9, False, False), (8, 5, False, False)],
            {"broken": 8},
        ),
        (f"{UNKNOWN[:1].upper()}{UNKNOWN[1:]}", [(4, 9, True, False)], {}),
    ],
)
def test_each_form(words: str, sizes: list[tuple[int, float, bool, bool]], how: dict[str, Any]) -> None:
    assert of(*sizes, **how) == words


def test_a_sizing_that_stopped_says_so_first_and_why() -> None:
    stopped = msgspec.structs.replace(sizing(), stopped=SizingStop(16, 200_000, 420_000))
    assert headline(stopped).startswith("Stopped with 16 connections; so far: 9 connections, not 50: ")
    assert "It stopped because an empty query took 420 µs instead of 200 µs." in [
        one.text for one in sentences(stopped)
    ]


def test_another_driver_than_the_users_is_named_with_the_reason() -> None:
    asked = msgspec.structs.replace(
        question(), path="libpq as it ships", title="C", yours=False,
        instead="pgx as it ships: the runner of Go has no shared dispatch",
    )  # fmt: skip
    texts = [one.text for one in sentences(msgspec.structs.replace(sizing(), question=asked))]
    assert texts[0] == (
        "Measured with libpq as it ships (C), not with pgx as it ships: the runner of Go has no shared dispatch."
    )
