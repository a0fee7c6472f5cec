"""What a probe says of its candidates: settings, languages, sentences."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest

from rowpath.analysis.chapters.probe import (
    TOO_BUSY,
    languages,
    latest,
    probe_sentences,
    settings,
    was_cut_off,
    with_ratios,
)
from rowpath.analysis.model import RankedPath, Ranking
from rowpath.analysis.statistics.intervals import Interval
from rowpath.model.probe import LanguageBest, Probe, Snippet, TriedPath


def tried(name: str, ratio: float | None, step: str = "full sets", **path: str) -> TriedPath:
    base = {"engine": "e", "language": "c", "driver": "d", "fetch": "row", "format": "text"}
    return TriedPath(name, base | path, step, ratio=ratio)


def test_a_setting_matters_as_much_as_two_paths_differ_that_differ_in_nothing_else() -> None:
    found = settings(
        [
            tried("a", 1.0),
            tried("b", 3.0, format="binary"),
            tried("c", 4.0, fetch="block:10", step="try"),
            tried("d", 100.0, fetch="block:10", format="binary", driver="other"),  # nothing to hold it against
            tried("e", None, format="other"),
        ]
    )
    assert [(each.coordinate, each.better, each.worse, each.ratio, each.step) for each in found] == [
        ("fetch", "row", "block:10", 4.0, "try"),
        ("format", "text", "binary", 3.0, "full sets"),
    ]


def test_tries_of_a_probe_that_was_cut_off_are_held_against_the_quickest() -> None:
    def candidate(name: str, execution_ns: float | None, status: str = "ok", **more: Any) -> TriedPath:
        return msgspec.structs.replace(tried(name, None, "try"), execution_ns=execution_ns, status=status, **more)

    cut_off = [candidate("a", 30.0), candidate("b", 10.0), candidate("x", 1.0, "wrong"), candidate("f", None, "failed")]
    found = {each.name: (each.ratio, each.compared_with) for each in latest(cut_off)}
    assert found == {"a": (3.0, "b"), "b": (1.0, "b"), "x": (None, ""), "f": (None, "")}
    last = [candidate("a", 30.0, ratio=2.0), candidate("b", 10.0, ratio=1.0), candidate("x", 1.0, "wrong")]
    assert [(each.name, each.ratio) for each in latest([*cut_off, *last])] == [
        ("a", 2.0),
        ("b", 1.0),
        ("x", None),
        ("f", None),
    ]


def test_a_probe_was_cut_off_when_none_has_its_last_word() -> None:
    tries = [tried("a", None, "try"), tried("b", None, "try")]
    assert was_cut_off(tries, "interrupted")
    assert was_cut_off(tries, "")
    assert not was_cut_off([*tries, *tries], "interrupted")
    assert not was_cut_off(tries, "complete")
    assert not was_cut_off([], "interrupted")


def test_candidates_left_behind_are_held_against_the_fastest_through_what_they_were_compared_with() -> None:
    def candidate(name: str, ratio: float | None, compared_with: str) -> TriedPath:
        return msgspec.structs.replace(
            tried(name, ratio, "round 1"), compared_with=compared_with, low=ratio and ratio / 2
        )

    row = RankedPath("b", "b", 1, 0, 20.0, 1.0, None, None, None, None, False, "ok")
    other = msgspec.structs.replace(row, name="x", path_id="x", cost_ns=10.0)
    rankings = [Ranking("probe", "query", "steady", form, (one,)) for form, one in (("rows", row), ("columns", other))]
    found = {
        each.name: each
        for each in with_ratios(
            [
                candidate("b", 1.0, "b"),
                candidate("x", 9.0, "b"),
                candidate("c", 3.0, "b"),
                candidate("d", 5.0, "c"),
                candidate("e", None, ""),
                candidate("f", 7.0, "unknown"),
            ],
            rankings,
        )
    }
    assert {name: each.ratio for name, each in found.items()} == {"b": 2, "x": 1, "c": 6, "d": 30, "e": None, "f": 7}
    assert [found[name].step for name in "bxc"] == ["full sets", "full sets", "round 1"]
    assert found["d"].low == 15 and found["b"].low is None
    assert list(found) == ["x", "b", "c", "f", "d", "e"]


class Intervals:
    """Evidence in which the ratio of two paths is known as well as it is given: by the names of both."""

    def __init__(self, **known: tuple[float, float, int]) -> None:
        self.known = known  # `a_b`: ratio of a to b, the factor either way, sets

    def named_interval(self, name: str, other: str) -> Interval | None:
        if f"{name}_{other}" not in self.known:
            return None
        ratio, doubt, sets = self.known[f"{name}_{other}"]
        middle, half = math.log(ratio), math.log(doubt)
        return Interval(middle, middle - half, middle + half, half / 2, sets - 1, sets)


def found_in_python(known: dict[str, tuple[float, float, int]], *more: TriedPath) -> LanguageBest:
    paths = (
        tried("fast", 1.0, driver="a", language="python"),
        tried("slow", 2.0, driver="b", language="python"),
        *more,
        tried("again", 3.0, "try", driver="b", language="python"),  # the driver has a faster one
        tried("other", 2.5, "try", driver="c", language="python"),
        msgspec.structs.replace(tried("wrong", 0.5, "try", driver="d", language="python"), status="wrong"),
    )
    timed = [
        msgspec.structs.replace(each, execution_ns=100.0 * (each.ratio or 0), description=each.name) for each in paths
    ]
    timed[1] = msgspec.structs.replace(timed[1], baseline="yours")
    evidence: Any = Intervals(**known)
    (best,) = languages(timed, [], evidence)
    return best


def test_a_language_has_each_driver_and_form_once_the_best_of_the_full_sets_first() -> None:
    columns = tried("columns", 1.5, "round 1", driver="b", language="python", fetch="columnar")
    best = found_in_python({"slow_fast": (2.1, 1.05, 6)}, columns)
    assert [row.name for row in best.rows] == ["fast", "columns", "slow", "other"]
    assert [row.form for row in best.rows] == ["row", "columnar", "row", "row"]
    assert best.rows[1].ratio == pytest.approx(1.5) and best.rows[1].low is None
    assert best.rows[2].ratio == pytest.approx(2.1) and best.rows[2].low == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ((2.5, 1.02, 6), "fast: 100 ns, 60 % less (59–61)."),
        ((1.03, 1.02, 6), "fast: 100 ns, not certain to be less."),  # tied
        ((2.5, 1.02, 3), "fast: 100 ns, 3 of 6 sets: no claim yet."),
    ],
)
def test_the_first_sentence_says_what_the_user_gains(known: tuple[float, float, int], words: str) -> None:
    best = found_in_python({"slow_fast": known})
    snippet = Snippet("python", "fast", "fastest-python.py", "", "", "9, 14–16")
    first = next(probe_sentences(Probe((), (best,), (), (), (), (snippet,)))).text
    assert first.startswith(f"You use slow: 200 ns. {words}")
    assert first.endswith("Change these lines: fastest-python.py: 9, 14–16.") == ("% less" in words)


def test_no_gain_is_named_where_the_machine_was_too_busy() -> None:
    best = found_in_python({"slow_fast": (2.5, 1.02, 6)})
    busy = tuple(msgspec.structs.replace(row, step=TOO_BUSY) if row.name == "fast" else row for row in best.rows)
    probe = Probe((), (msgspec.structs.replace(best, rows=busy),), (), (), (), ())
    assert [each.text for each in probe_sentences(probe)] == [
        "python: the machine was too busy to show which path is faster."
    ]


def test_a_way_of_the_users_that_failed_is_said_first() -> None:
    failed = msgspec.structs.replace(
        tried("b", None, "try"),
        description="b as it ships",
        baseline="yours",
        status="failed",
        left="sql: no such function",
    )
    found = probe_sentences(Probe((tried("a", 1.0), failed), (), (), (), (), ()))
    assert next(found).text == "You use b as it ships, which has no figure here (sql: no such function)."
