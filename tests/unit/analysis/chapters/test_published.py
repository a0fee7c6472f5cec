"""What became of a published order."""

from __future__ import annotations

import pytest

from rowpath.analysis.claims import order_sentences
from rowpath.analysis.model import Published


def published(row: str, value: float, here: float | None, unit: str = "records/s") -> Published:
    return Published("on the server", row, value, unit, 1.0, f"path of {row}", here, 1.0)


@pytest.mark.parametrize(
    ("rows", "unit", "expected"),
    [
        ([("a", 9, 90.0), ("b", 5, 50.0), ("c", 1, 10.0)], "records/s", "a, is fastest here too"),
        ([("a", 9, 10.0), ("b", 5, 50.0), ("c", 1, 90.0)], "records/s", "fastest row is a, here it is c (path of c"),
        ([("a", 9, 10.0), ("b", 5, 50.0), ("c", 1, 90.0)], "s", "fastest row is c, here it is a (path of a"),
        (
            [("a", 9, 90.0), ("b", 5, None), ("c", 1, 10.0), ("d", 0.5, 20.0)],
            "records/s",
            "2 keep their order (66.7 %)",
        ),
    ],
)
def test_what_became_of_the_order(rows: list[tuple[str, float, float | None]], unit: str, expected: str) -> None:
    (sentence,) = order_sentences(tuple(published(*row, unit=unit) for row in rows))
    assert expected in sentence


def test_two_measured_rows_are_no_order() -> None:
    assert not list(order_sentences((published("a", 9, 1.0), published("b", 5, 2.0), published("c", 1, None))))
