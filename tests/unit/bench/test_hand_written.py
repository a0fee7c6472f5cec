"""The bench `hand_written`: which paths stand beside a program by hand, and when their bars are met."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

import pytest
from bench import hand_written
from bench.hand_written_program import SOURCES
from bench.hand_written_rivals import OF_TOUR, RIVALS, Rival

from rowpath.analysis.statistics.intervals import Interval
from rowpath.errors import UsageError
from rowpath.runners.manifest import adapter_of

TOUR = Path(__file__).parents[3] / "experiments" / "tour.toml"
USUAL = {"statement": "prepared", "transport": "tcp"}
NEW = ("go", "rust", "node")


def between(low: float, high: float) -> Interval:
    return Interval((math.log(low) + math.log(high)) / 2, math.log(low), math.log(high), 0.01, 4, 5)


@pytest.mark.parametrize(
    ("low", "high", "met"),
    [(0.9, 0.96, False), (0.9, 0.97, True), (0.99, 1.01, True), (1.03, 1.2, True), (1.04, 1.2, False)],
)
def test_a_path_of_the_tour_must_reach_the_program_from_both_sides(low: float, high: float, met: bool) -> None:
    rival = Rival("c", "sqlite", "sqlite.c", bar=OF_TOUR)
    assert rival.bar_text == "interval reaches 0.97 to 1.03"
    assert rival.is_met(between(low, high)) == met


@pytest.mark.parametrize(("low", "high", "met"), [(0.1, 0.2, True), (1.05, 1.2, True), (1.06, 1.2, False)])
def test_another_path_may_be_faster(low: float, high: float, met: bool) -> None:
    rival = Rival("go", "pq", "go/databasesql.go")
    assert rival.bar_text == "interval reaches 1.05 or less"
    assert rival.is_met(between(low, high)) == met


def test_every_c_path_of_the_tour_stands_beside_a_program() -> None:
    paths: list[dict[str, Any]] = [each["select"] for each in tomllib.loads(TOUR.read_text())["paths"]]
    measured = [each for each in paths if each["language"] == "c" and each["engine"] != "null"]
    wanted = {(each.get("driver", "file"), *coordinates(each)) for each in measured}
    there = {(each.driver, *coordinates(each.coordinates)) for each in RIVALS if each.bar == OF_TOUR}
    assert there == wanted


def coordinates(given: dict[str, str]) -> tuple[str, ...]:
    return tuple(given.get(key, usual) for key, usual in USUAL.items())


def test_every_program_is_there_and_every_name_is_one_path() -> None:
    for rival in RIVALS:
        adapter_of(rival.language, rival.driver)
        assert (SOURCES / rival.source).is_file()
    names = [rival.name for rival in RIVALS]
    assert len(set(names)) == len(names)
    assert {rival.language for rival in RIVALS} >= set(NEW)


def test_an_unknown_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hand_written, "CHOSEN", ("c", "pgxx"))
    with pytest.raises(UsageError, match="unknown path by hand 'pgxx'"):
        next(hand_written.measure(None))  # type: ignore[arg-type]
