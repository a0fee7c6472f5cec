"""Drawings without a script: where values lie, how bars are split, what is said of them."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from rowpath.drawing.scale import TICKS, Block, LogAxis, axis, bar, blocks, grid_lines


def _parsed(drawing: str) -> ElementTree.Element:
    return ElementTree.fromstring(drawing)


def test_equal_factors_are_equal_distances_and_every_bar_can_be_seen() -> None:
    scale = LogAxis.over([10.0, 100.0, 1000.0])
    assert scale.at(100) - scale.at(10) == pytest.approx(scale.at(1000) - scale.at(100), abs=0.02)
    assert 5 < scale.at(10) < scale.at(1000) <= 100


@pytest.mark.parametrize(("least", "most"), [(5.0, 5.0), (100, 101), (3, 11), (7, 900), (1, 3e5), (20, 9e8)])
def test_ticks_are_few_round_and_on_the_axis(least: float, most: float) -> None:
    scale = LogAxis.over([least, most])
    ticks = scale.ticks()
    assert 1 <= len(ticks) <= TICKS
    assert ticks == sorted(ticks)
    assert all(scale.low <= tick <= scale.high for tick in ticks)
    assert all(f"{tick:.0e}".startswith(("1", "2", "3", "5")) or most / least < 4 for tick in ticks)


def test_what_is_beyond_the_axis_lies_on_its_end() -> None:
    scale = LogAxis(10.0, 100.0)
    assert (scale.at(0), scale.at(1), scale.at(1e9)) == (0, 0, 100)


def test_the_parts_of_a_bar_follow_each_other_and_are_its_whole_length() -> None:
    drawn = _parsed(bar(60.0, [("client", 0.25), ("server", 0.5), ("waiting", 0.25)], (55.0, 66.0)))
    parts = [(each.get("class"), each.get("x"), each.get("width")) for each in drawn.iter("rect")]
    assert parts == [("client", None, "15.0%"), ("server", "15.0%", "30.0%"), ("waiting", "45.0%", "15.0%")]
    whisker = [(each.get("x1"), each.get("x2")) for each in drawn.iter("line")]
    assert whisker == [("55.0%", "66.0%")]


def test_a_part_of_nothing_and_an_unknown_interval_are_not_drawn() -> None:
    drawn = _parsed(bar(60.0, [("client", 1.0), ("waiting", 0.0)], None))
    assert [each.tag for each in drawn] == ["rect"]


def test_lines_stand_where_the_texts_of_the_axis_do() -> None:
    assert [each.get("x") for each in _parsed(axis([(10, "5 µs"), (20.5, "10 µs")]))] == ["10%", "20.5%"]
    lines = _parsed(grid_lines([10, 20.5], 3.25))
    assert [(each.get("x1"), each.get("class")) for each in lines] == [
        ("10%", None),
        ("20.5%", None),
        ("3.25%", "floor"),
    ]


def test_blocks_stand_in_their_order_with_a_line_between_sets_and_the_dearest_on_top() -> None:
    found = [Block(0, 100.0, False), Block(0, 200.0, True), Block(1, 50.0, False), Block(1, 100.0, False)]
    paths = {each.get("class"): each.get("d") for each in _parsed(blocks(found))}
    assert paths == {"border": "M500 0v100", "block": "M125 50h0M625 100h0M875 50h0", "disturbed": "M375 0h0"}
    assert {each.get("class") for each in _parsed(blocks(found, borders=False))} == {"block", "disturbed"}


def test_blocks_that_all_cost_the_same_are_drawn() -> None:
    drawn = _parsed(blocks([Block(0, 100.0, False)] * 2))
    assert [each.get("d") for each in drawn] == ["M250 100h0M750 100h0"]
