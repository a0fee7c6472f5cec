"""The chart of a history: sound, inside its frame, every run and every change in it, its texts apart."""

from __future__ import annotations

import itertools
import math
import re
from xml.etree import ElementTree

import pytest

from rowpath.site.contents import HEIGHT, history_chart
from rowpath.site.histories import Change, History, HistoryPoint

CHANGE = Change(3, 1.08, 1.06, 1.1, "pgjdbc 1 → 2", "8 % slower (6–10)")


def _history(versions: list[str], changes: tuple[Change, ...] = ()) -> History:
    points = tuple(
        HistoryPoint(
            f"run-{at}", f"2025-01-{at + 1:02d}", version, 0.1 * at, 0.1 * at - 0.02, 0.1 * at + 0.02, 0.01, {}
        )
        for at, version in enumerate(versions)
    )
    where = ("keyed", "read", "steady")
    return History("tour", where, "pgjdbc", "key", ("java", "pgjdbc"), "postgresql", "M1", "libpq", points, 0, changes)


def _texts(plot: ElementTree.Element) -> list[tuple[float, float, str]]:
    """Place and text of what stands below the axis."""
    return [
        (float(each.attrib["x"].rstrip("%")), float(each.attrib["y"]), each.text or "") for each in plot.iter("text")
    ]


@pytest.mark.parametrize("count", [2, 6, 100])
def test_every_run_is_a_point_with_its_interval_inside_the_frame(count: int) -> None:
    _scale, plot = ElementTree.fromstring(history_chart(_history(["1"] * count)))
    points = list(plot.iter("circle"))
    assert len(points) == count
    places = [float(each.attrib["cx"].rstrip("%")) for each in points]
    assert places == sorted(places)
    assert places[0] > 0
    assert places[-1] < 100
    heights = [float(each.attrib["cy"]) for each in points]
    assert heights == sorted(heights, reverse=True)  # slower is higher
    intervals = [each for each in plot.iter("line") if each.attrib["class"] == "interval"]
    assert len(intervals) == count
    assert all(0 <= float(each.attrib[end]) <= HEIGHT for each in intervals for end in ("y1", "y2"))


def test_a_change_is_marked_and_each_level_drawn() -> None:
    _scale, plot = ElementTree.fromstring(history_chart(_history(["1"] * 3 + ["2"] * 3, (CHANGE,))))
    kinds = [each.attrib["class"] for each in plot.iter("circle")]
    assert kinds == ["point"] * 3 + ["changed"] + ["point"] * 2
    levels = [each for each in plot.iter("line") if each.attrib["class"] == "level"]
    assert [each.attrib["y1"] == each.attrib["y2"] for each in levels] == [True, True]
    assert sum(each.attrib["class"] == "version" for each in plot.iter("line")) == 1
    assert {text for _x, _y, text in _texts(plot)} == {"1", "2", "2025-01-01", "2025-01-04", "2025-01-06"}


def test_names_of_many_versions_stand_apart() -> None:
    _scale, plot = ElementTree.fromstring(history_chart(_history([f"42.7.{at}" for at in range(60)])))
    names = sorted(x for x, y, _text in _texts(plot) if y == HEIGHT + 14)
    assert 2 < len(names) < 6
    assert all(after - before >= 15 for before, after in itertools.pairwise(names))


def test_a_version_from_outside_cannot_end_the_drawing() -> None:
    drawn = history_chart(_history(["<script>", "sqlite3 of Python, SQLite 3.40.1", "9" * 40]))
    assert "<script" not in drawn
    assert {"3.40.1", "9" * 13 + "…"} <= set(re.findall(r">([^<]+)</text>", drawn))


def test_the_axis_does_not_make_an_event_of_noise() -> None:
    flat = _history(["1"] * 4)
    low, high = math.log(0.999), math.log(1.001)
    points = tuple(HistoryPoint(each.run, each.date, "1", 0.0, low, high, 0.001, {}) for each in flat.points)
    _scale, plot = ElementTree.fromstring(history_chart(History(*_fields(flat, points))))
    drawn = [each for each in plot.iter("line") if each.attrib["class"] == "interval"]
    assert all(abs(float(each.attrib["y1"]) - float(each.attrib["y2"])) < 0.05 * HEIGHT for each in drawn)


def _fields(history: History, points: tuple[HistoryPoint, ...]) -> tuple[object, ...]:
    named = (history.experiment, history.where, history.name, history.path_key, history.driver, history.engine)
    return (*named, history.machine, history.reference, points)
