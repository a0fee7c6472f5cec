"""Curves as drawings: where points lie, numbers that tell curves apart, intervals that would flatten all else."""

from __future__ import annotations

import itertools
import re

from rowpath import text as fmt
from rowpath.drawing.line_chart import MOST_CURVES, NUMBERS_APART, Axis, Chart, Curve, Point, draw, named, valued


def _chart(*curves: Curve, across: Axis | None = None, lines: tuple[Curve, ...] = ()) -> str:
    axis = across or named("across", ("a", "b"))
    return str(draw(Chart("label", "up", axis, curves, fmt.duration, "A point is a median.", lines)))


def _heights(drawn: str) -> list[float]:
    return [float(each) for each in re.findall(r'<circle cx="[\d.]+%" cy="([\d.]+)%"', drawn)]


def test_equal_factors_are_equal_distances_on_both_axes() -> None:
    across = valued("clients", (1, 4, 16), fmt.count)
    drawn = _chart(Curve("one", (Point(1, 10), Point(4, 100), Point(16, 1000))), across=across)
    assert re.findall(r'<circle cx="([\d.]+)%"', drawn) == ["0", "50", "100"]
    first, second, third = _heights(drawn)
    assert first > second > third
    assert abs((first - second) - (second - third)) < 0.05


def test_the_list_and_the_ends_number_the_curves_from_above() -> None:
    drawn = _chart(Curve("low", (Point(0, 5), Point(1, 10))), Curve("high", (Point(0, 1), Point(1, 100))))
    assert re.findall(r"</svg>(\d: \w+)</li>", drawn) == ["1: high", "2: low"]
    assert re.findall(r'dx="9" y="[\d.]+%" dy="4">(\d)<', drawn) == ["1", "2"]


def test_numbers_of_curves_that_end_together_do_not_touch() -> None:
    drawn = _chart(*(Curve(f"curve {at}", (Point(0, 1), Point(1, 100 + at))) for at in range(6)))
    places = [float(each) for each in re.findall(r'dx="9" y="([\d.-]+)%"', drawn)]
    assert len(places) == 6
    assert all(after - before >= NUMBERS_APART - 0.11 for before, after in itertools.pairwise(places))


def test_an_interval_far_beyond_the_values_does_not_flatten_them() -> None:
    wide = _chart(Curve("one", (Point(0, 10, 1e-6, 1e9), Point(1, 100))))
    bare = _chart(Curve("one", (Point(0, 10), Point(1, 100))))
    assert _heights(wide) == _heights(bare)
    assert 'y1="100%" y2="0%"' in wide


def test_of_many_curves_the_longest_are_drawn_and_the_others_counted() -> None:
    short = [Curve(f"short-{at}", (Point(0, 1),)) for at in range(MOST_CURVES)]
    long = [Curve(f"long-{at}", (Point(0, 1), Point(1, 2 + at))) for at in range(MOST_CURVES - 1)]
    drawn = _chart(*short, *long)
    names = re.findall(r"</svg>\d+: ([\w-]+)</li>", drawn)
    assert sorted(names) == sorted(["short-0", *(curve.name for curve in long)])
    assert f"<li>{len(short) - 1} more in the table</li>" in drawn


def test_what_was_not_measured_is_drawn_under_the_curves_and_named() -> None:
    ideal = Curve("ideal <1>", (Point(0, 1), Point(1, 2)))
    drawn = _chart(Curve("one", (Point(0, 1), Point(1, 1.5))), lines=(ideal,))
    assert drawn.index("unmeasured") < drawn.index('<path class="c-line-1"')
    assert "ideal &lt;1&gt;" in drawn


def test_names_are_text() -> None:
    drawn = _chart(Curve("<script>", (Point(0, 1), Point(1, 2))))
    assert "<script>" not in drawn
    assert drawn.count("&lt;script&gt;") == 3


def test_the_caption_says_what_a_point_a_line_and_the_axes_are() -> None:
    with_interval = _chart(Curve("one", (Point(0, 10, 9, 11), Point(1, 20))))
    assert "A point is a median. The line through it is its 95 % interval. The vertical axis is logarithmic." in (
        with_interval
    )
    without = _chart(Curve("one", (Point(1, 10), Point(4, 20))), across=valued("clients", (1, 4), fmt.count))
    assert "A point is a median. Both axes are logarithmic." in without
