"""The search's own decisions, without a database: the budget, halving, candidates, what settings matter."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.analysis.model import RankedPath, Ranking
from rowpath.analysis.probe_results import TOO_BUSY, languages, probe_sentences, settings, with_ratios
from rowpath.analysis.statistics.intervals import Interval
from rowpath.cli.arguments_to_measure import LEAST_BUDGET_S
from rowpath.cli.options import duration_s
from rowpath.errors import UsageError
from rowpath.model.path import AccessPath
from rowpath.model.probe import LanguageBest, Probe, Snippet, TriedPath
from rowpath.model.progress import Silent
from rowpath.model.workload import Phase
from rowpath.probe import budget as budgets
from rowpath.probe.budget import Budget, Rest, affordable, blocks_of_round, plan_finals
from rowpath.probe.candidates import candidates
from rowpath.probe.command import asker, probe, query_of
from rowpath.probe.options import ProbeOptions
from rowpath.probe.row_consistency import RowConsistency
from rowpath.probe.row_diff import first_columns
from rowpath.probe.snippets import ABOUT, changed
from rowpath.probe.successive_halving import (
    Estimate,
    batches,
    best_of_each,
    contested,
    finalists,
    going_on,
    halved,
    needed,
    survivors,
)
from rowpath.probe.target import Target
from rowpath.probe.throttled_worker import work_of
from rowpath.probe.wording import in_words
from rowpath.runners.manifest import every_adapter
from rowpath.runners.protocol import DescribedColumn, SampleReply

PATH = AccessPath.of({"result": "whole"})
QUERY = Phase("query", "query", "SELECT 1")


def a_clock() -> tuple[list[float], Callable[[], float]]:
    now = [100.0]
    return now, lambda: now[0]


def test_a_budget_counts_down_and_never_below_nothing() -> None:
    now, clock = a_clock()
    budget = Budget(60.0, 0.5, clock)
    budget.begin()
    now[0] += 15
    assert (budget.spent_s, budget.left_s) == (15, 45)
    now[0] += 100
    assert budget.left_s == 0


def test_a_budget_begins_with_the_first_try_and_only_once() -> None:
    now, clock = a_clock()
    budget = Budget(60.0, 1.0, clock)
    now[0] += 500  # building, connecting, describing
    assert (budget.spent_s, budget.left_s) == (0, 60)
    budget.begin()
    now[0] += 10
    budget.begin()
    assert (budget.spent_s, budget.left_s) == (10, 50)


def test_a_rest_follows_each_block_and_other_things_are_done_in_it() -> None:
    now, clock = a_clock()
    slept: list[float] = []
    rest = Rest(Budget(60.0, 0.5), clock, slept.append)
    rest.wait()
    rest.after(PATH, now[0], 3.0, 1)
    now[0] += 2  # a process was started meanwhile
    rest.wait()
    rest.after(PATH, now[0], 0.0, 1)  # what did nothing does not shorten it
    rest.wait()
    now[0] += 5
    rest.wait()
    assert slept == [1.0, 1.0]
    unlimited = Rest(Budget(60.0), clock, slept.append)
    unlimited.after(PATH, now[0], 3.0, 1)
    unlimited.wait()
    assert len(slept) == 2


def test_the_search_leaves_time_for_the_full_sets_but_never_all_of_it() -> None:
    budget = Budget(120.0)
    assert budget.search_s(20) == 100
    assert budget.search_s(1000) == pytest.approx((1 - budgets.FULL_SETS_MOST) * 120)


def test_a_twentieth_of_the_budget_is_too_long_for_one_execution_and_half_of_the_time_is_rest() -> None:
    budget = Budget(60.0, 0.5)
    assert not budget.too_long(3.0)
    assert budget.too_long(3.01)
    assert budget.wall_s(PATH, 1.0) == 2.0


def test_a_rest_is_no_longer_than_the_server_takes_to_deliver_the_rows() -> None:
    budget = Budget(60.0, 0.5, delivery_s=0.02)
    assert budget.rest_s(PATH, 0.03, 2) == 0.03  # a client as fast as the server
    assert budget.rest_s(PATH, 0.34, 2) == 0.04
    assert budget.wall_s(PATH, 0.17) == pytest.approx(0.19)
    cursor = AccessPath.of({"result": "cursor:1000"})
    assert budget.rest_s(cursor, 0.34, 2) == 0.34  # more work than a drain
    assert Budget(60.0).rest_s(PATH, 0.34, 2) == 0  # a file's reader rests never


def test_what_fits_is_counted_in_order() -> None:
    assert affordable([1, 2, 3], 3.5) == 2
    assert affordable([1, 2, 3], 100) == 3
    assert affordable([50, 2], 1) == 1  # one at least
    assert blocks_of_round([0.5, 0.5], 10, 4, 32) == 10
    assert blocks_of_round([5, 5], 10, 4, 32) == 4
    assert blocks_of_round([0.001], 10, 4, 32) == 32


@pytest.mark.parametrize("left_s", [2.0, 20.0, 200.0])
@pytest.mark.parametrize("block_s", [0.01, 0.2, 1.0])
def test_the_last_stage_fits_into_what_is_left_or_gives_up_sets(left_s: float, block_s: float) -> None:
    plan = plan_finals([2 * block_s] * 6, [0.05] * 6, left_s, 0.0, 0.5, 2)
    assert 1 <= plan.sets <= budgets.FULL_SETS
    assert budgets.LEAST_BLOCKS <= plan.rounds <= budgets.MOST_BLOCKS
    busy_s = plan.sets * plan.finalists * (0.05 + block_s * (plan.rounds + 1) / 0.5)
    if plan.sets > 1:
        assert busy_s <= left_s * 1.5  # the first block of each counts as warming up
    if plan.finalists > 2:
        assert plan.sets == budgets.FULL_SETS  # candidates are given up before sets


def test_who_is_needed_gets_six_sets_beyond_the_budget_and_others_do_not() -> None:
    late = plan_finals([1.0] * 6, [0.5] * 6, 0.0, 100.0, 0.5, 4)
    assert (late.finalists, late.sets, late.rounds) == (4, budgets.FULL_SETS, budgets.LEAST_BLOCKS)
    much_later = plan_finals([10.0] * 6, [0.5] * 6, 0.0, 100.0, 0.5, 4)
    assert (much_later.finalists, much_later.rounds) == (4, budgets.LEAST_BLOCKS)
    assert much_later.sets < budgets.FULL_SETS


def test_six_cheap_candidates_all_get_six_sets() -> None:
    plan = plan_finals([0.02] * 6, [0.1] * 6, 40.0, 60.0, 0.5, 2)
    assert (plan.finalists, plan.sets) == (6, 6)
    assert plan.rounds == budgets.MOST_BLOCKS


def estimates(**ratios: tuple[float, float]) -> dict[str, Estimate]:
    """By name: ratio and the factor either way."""
    return {
        name: Estimate(math.log(ratio), math.log(ratio / doubt), math.log(ratio * doubt))
        for name, (ratio, doubt) in ratios.items()
    }


def test_the_better_half_goes_on_and_whoever_overlaps_the_cut_off() -> None:
    found = estimates(a=(1.0, 1.01), b=(1.2, 1.01), c=(1.21, 1.02), d=(2.0, 1.05), e=(2.2, 2.0))
    assert survivors(found, 2) == ["a", "b", "c", "e"]  # c and e may be as good as b, d surely is not
    assert survivors(found, 2, protected=["d"]) == ["a", "b", "c", "d", "e"]
    assert survivors(found, 5) == ["a", "b", "c", "d", "e"]


def test_halving_ends_at_a_few_of_each_language() -> None:
    assert [halved(count) for count in (100, 13, 7, 4, 3, 2)] == [50, 7, 4, 3, 3, 2]


def language(name: str) -> str:
    return name[0]


def test_each_language_goes_on_with_its_better_half_without_who_is_surely_behind() -> None:
    found = estimates(
        c1=(1.0, 1.01), c2=(1.5, 1.01), c3=(1.01, 1.05), p1=(5.0, 1.5), p2=(5.5, 1.5), p3=(6.0, 1.5), p4=(30.0, 1.1)
    )
    assert going_on(found, language, ["c1"]) == [
        "c1",
        "c3",
        "p1",
        "p2",
        "p3",
    ]  # c2 and p4 are behind their language's best
    assert going_on(found, language, ["c1", "p4"]) == ["c1", "c3", "p1", "p2", "p3", "p4"]


def test_a_challenger_is_contested_until_it_can_be_little_faster_and_only_in_its_language() -> None:
    apart = estimates(c1=(1.0, 1.01), c2=(1.5, 1.01), p1=(5.0, 1.01), p2=(7.0, 1.1))
    assert contested(apart, language, []) == []
    assert contested({}, language, []) == []
    assert not contested(estimates(c1=(1.0, 1.01), c2=(1.005, 1.01)), language, [])  # at most 1.5 % faster
    near = estimates(c1=(1.0, 1.02), c2=(1.005, 1.02))
    assert contested(near, language, []) == ["c1", "c2"]  # may be 3.5 % faster
    assert contested(apart | estimates(p3=(5.1, 1.1)), language, []) == ["p1", "p3"]
    assert not contested(estimates(c1=(1.0, 1.01), p1=(1.05, 1.1)), language, [])  # of two languages


def test_a_baseline_is_contested_until_it_is_slower_or_as_good() -> None:
    behind = estimates(c1=(1.0, 1.01), c2=(1.05, 1.01))
    equal = estimates(c1=(1.0, 1.01), c2=(1.005, 1.01))
    unknown = estimates(c1=(1.0, 1.01), c2=(1.05, 1.07))
    assert contested(behind, language, ["c2"]) == contested(equal, language, ["c2"]) == []
    assert contested(unknown, language, ["c2"]) == ["c1", "c2"]
    assert needed(behind, language, ["c2"]) == needed(unknown, language, ["c2"]) == ["c1", "c2"]
    assert needed(equal, language, ["c2"]) == ["c2"]  # nothing to gain from another
    assert needed(behind | estimates(p1=(3.0, 1.1), p2=(4.0, 1.1)), language, ["c1"]) == ["c1", "p1"]


def test_a_drift_of_the_machine_does_not_move_a_ratio_of_interleaved_blocks() -> None:
    shuffle = random.Random(5)
    drift = [1 + turn for turn in range(20)]  # the machine gets twenty times slower
    anchor = {turn: drift[turn] * shuffle.uniform(0.99, 1.01) for turn in range(20)}
    twice = {turn: 2 * drift[turn] * shuffle.uniform(0.99, 1.01) for turn in range(20)}
    found = Estimate.of_rounds(twice, anchor)
    assert found is not None
    assert found.ratio == pytest.approx(2.0, rel=0.02)
    low, high = found.ends
    assert low is not None and high is not None
    assert 1.95 < low <= found.ratio <= high < 2.05
    assert Estimate.of_rounds({1: 1.0}, {2: 1.0}) is None
    single = Estimate.of_rounds({1: 3.0}, {1: 1.0})
    assert single is not None and single.ratio == pytest.approx(3) and single.ends == (None, None)


def test_all_who_are_needed_are_finalists_and_others_where_there_is_room() -> None:
    ordered = ["c1", "c2", "c3", "c4", "p1", "c5", "c6", "j1"]
    assert best_of_each(ordered, language) == ["c1", "p1", "j1"]
    assert finalists(["c1", "p1", "j1"], ordered) == ["c1", "p1", "j1", "c2", "c3", "c4"]
    assert finalists(["c1", "p1", "j1"], ordered, 2) == ["c1", "p1", "j1"]


def test_sets_share_their_first_and_hold_no_more_connections_than_allowed() -> None:
    assert batches(list("abcdefg"), 4) == [list("abcd"), list("aefg")]
    assert batches(list("abc"), 2) == [list("ab"), list("ac")]
    assert batches(["a"], 4) == [["a"]]
    # Paths of one language are compared in one set where they fit.
    assert batches(["c1", "p1", "j1", "p2", "c2", "j2"], 3, language) == [
        ["c1", "c2", "p1"],
        ["c1", "p2", "j1"],
        ["c1", "j2"],
    ]


def test_candidates_are_ordered_from_the_drivers_defaults_outwards() -> None:
    found = candidates("sqlite", "embedded", QUERY, languages=("c", "python"))
    drivers = [planned.adapter.driver for planned in found.paths]
    assert set(drivers[:2]) <= {"sqlite", "libsqliteodbc", "sqlite3", "adbc-sqlite"}
    assert drivers[0] == "sqlite"
    first: dict[str, dict[str, str]] = {}
    farthest: dict[str, int] = {}
    for planned in found.paths:
        driver = planned.adapter.driver
        default = first.setdefault(driver, planned.path.as_dict())
        apart = sum(1 for key, value in planned.path.as_dict().items() if value != default[key])
        assert apart >= farthest.get(driver, 0) or planned.path.id in found.baselines, planned.name
        farthest[driver] = max(farthest.get(driver, 0), apart)
    # Breadth first: no driver has its third turn before all that have a second one had it.
    turns = [drivers[:place].count(driver) for place, driver in enumerate(drivers)]
    assert turns == sorted(turns)
    assert len({planned.path.id for planned in found.paths}) == len(found.paths)
    assert len({planned.name for planned in found.paths}) == len(found.paths)
    assert {planned.path.get("durability") for planned in found.paths} == {"none"}  # nothing is to be brought about


def test_a_server_that_is_not_ours_has_neither_version_nor_placement() -> None:
    found = candidates("postgresql", "server", QUERY, drivers=("libpq",), transport="tcp", tls="default")
    assert found.paths
    for planned in found.paths:
        said = [planned.path.get(key) for key in ("engine_version", "placement", "transport", "tls", "clients")]
        assert said == ["by-url", "none", "tcp", "default", "1"]
    assert {planned.path.fetch_form for planned in found.paths} >= {"row"}
    assert {"single-row", "whole"} <= {planned.path.get("result") for planned in found.paths}


def test_rows_blocks_and_columns_are_ranked_together() -> None:
    found = candidates("sqlite", "embedded", QUERY)
    assert {planned.comparison for planned in found.paths} == {""}


def test_every_language_has_its_usual_driver_as_it_ships_to_compare_with() -> None:
    found = candidates("postgresql", "server", QUERY, languages=("c", "python"))
    named = {planned.path.id: planned for planned in found.paths}
    usual = [named[path_id] for path_id, kind in found.baselines.items() if kind == "usual"]
    assert {in_words(planned) for planned in usual} == {"libpq as it ships", "psycopg2 as it ships"}
    for engine in ("postgresql", "sqlite", "mariadb", "mysql", "duckdb", "parquet", "file"):
        languages = [each.language for each in every_adapter() if engine in each.usual]
        assert languages and len(languages) == len(set(languages)), engine


def test_the_users_present_way_takes_part_whatever_else_is_chosen() -> None:
    mine = "psycopg2,result=cursor:500"
    found = candidates("postgresql", "server", QUERY, drivers=("libpq",), mine=mine)
    ((path_id, kind),) = found.baselines.items()
    (planned,) = [each for each in found.paths if each.path.id == path_id]
    assert kind == "yours"
    assert in_words(planned) == "psycopg2 with a server-side cursor of 500"
    assert {each.adapter.driver for each in found.paths} == {"libpq", "psycopg2"}
    assert found.paths.index(planned) < 3  # it is among the first tries


@pytest.mark.parametrize(
    ("mine", "message", "hint"),
    [
        ("psycopg4", "unknown driver 'psycopg4' in --mine", "did you mean"),
        ("psycopg2,fetsch=row", "unknown setting 'fetsch' of psycopg2", "did you mean 'fetch'?"),
        ("psycopg2,result=all", "unknown value 'all' of result", "whole, cursor:1000"),
        ("psycopg2,fetch=block:100,result=cursor:1000", "is not possible: a server cursor", "change one"),
        ("sqlite3", "unknown driver 'sqlite3'", "did you mean"),
        ("psycopg2,transport=unix", "unknown setting 'transport'", "one of"),
    ],
)
def test_a_way_of_the_users_that_is_none_is_refused_with_a_hint(mine: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as error:
        candidates("postgresql", "server", QUERY, mine=mine)
    assert message in error.value.message
    assert hint in error.value.hint


def test_paths_are_named_by_what_differs_from_how_their_driver_ships() -> None:
    found = candidates("postgresql", "server", QUERY, drivers=("psycopg",))
    words = {in_words(planned) for planned in found.paths}
    assert {"psycopg as it ships", "psycopg with binary values"} <= words
    assert "psycopg with a plain statement and blocks of 1,000 rows" in words


@pytest.mark.parametrize(("what", "value"), [("languages", "cobolt"), ("drivers", "libqp")])
def test_an_unknown_language_or_driver_is_refused_by_name(what: str, value: str) -> None:
    with pytest.raises(UsageError, match=value):
        candidates("sqlite", "embedded", QUERY, **{what: (value,)})  # type: ignore[arg-type]


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


def test_candidates_left_behind_are_held_against_the_fastest_through_their_anchors() -> None:
    def candidate(name: str, ratio: float | None, anchor: str) -> TriedPath:
        return msgspec.structs.replace(tried(name, ratio, "round 1"), anchor=anchor, low=ratio and ratio / 2)

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
    timed = [msgspec.structs.replace(each, execution_ns=100.0 * (each.ratio or 0), said=each.name) for each in paths]
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
        ((2.5, 1.02, 3), "fast: 100 ns, not certain to be less."),  # too few sets
    ],
)
def test_the_first_sentence_says_what_the_user_gains(known: tuple[float, float, int], words: str) -> None:
    best = found_in_python({"slow_fast": known})
    snippet = Snippet("python", "fast", "fastest-python.py", "", "", "9, 14–16")
    first = next(probe_sentences(Probe((), (best,), (), (), (), (), (snippet,)))).text
    assert first.startswith(f"You use slow: 200 ns. {words}")
    assert first.endswith("Change these lines: fastest-python.py: 9, 14–16.") == ("% less" in words)


def test_no_gain_is_named_where_the_machine_was_too_busy() -> None:
    best = found_in_python({"slow_fast": (2.5, 1.02, 6)})
    busy = tuple(msgspec.structs.replace(row, step=TOO_BUSY) if row.name == "fast" else row for row in best.rows)
    probe = Probe((), (msgspec.structs.replace(best, rows=busy),), (), (), (), (), ())
    assert [each.text for each in probe_sentences(probe)] == [
        "python: not known which is faster, because the machine was too busy."
    ]


def test_a_way_of_the_users_that_failed_is_said_first() -> None:
    failed = msgspec.structs.replace(
        tried("b", None, "try"), said="b as it ships", baseline="yours", status="failed", left="sql: no such function"
    )
    found = probe_sentences(Probe((tried("a", 1.0), failed), (), (), (), (), (), ()))
    assert next(found).text == "You use b as it ships: it has no figure here (sql: no such function)."


def test_the_lines_of_a_program_that_differ_are_named_without_its_comment() -> None:
    before = f"# {ABOUT} a\nimport x\n\nrows = x.all()\nend()\n"
    after = f"# {ABOUT} b\nimport x\n\nwith y:\n    rows = x.some()\nend()\nmore()\n"
    assert changed(before, after) == "4–5, 7"
    assert changed(after, after) == ""


def reply(operations: int, touch: int) -> SampleReply:
    return SampleReply(
        id=1, ns=1, operations=operations, failed=0, rows=1, values=1, touch=f"{touch & (1 << 64) - 1:016x}", first=0,
        lead_in_operations=0, window_ns=1, window_cpu_ns=1, cpu_ns=1, min_ns=1, max_ns=1,
    )  # fmt: skip


def test_every_block_must_deliver_what_the_executions_before_it_did() -> None:
    same = RowConsistency()
    assert same.fits(reply(3, 77))  # nothing is known yet
    same.learn(1000)
    same.learn(-5)  # another language's unit; negative sums wrap
    assert same.fits(reply(3, 3000)) and same.fits(reply(3, -15)) and not same.fits(reply(3, 3001))
    assert same.expected_of([(0, 2), (2, 1)]) == {3000, -15 & (1 << 64) - 1}
    same.changed = True
    assert same.fits(reply(3, 3001)) and same.expected_of([(0, 1)]) is None


@pytest.mark.parametrize(("text", "wanted"), [("60s", 60), ("2min", 120), ("90", 90), ("1.5m", 90), ("5000ms", 5)])
def test_a_budget_is_read_with_its_unit(text: str, wanted: float) -> None:
    assert duration_s("--budget", text, LEAST_BUDGET_S) == wanted


@pytest.mark.parametrize("text", ["", "s", "1s", "nan", "60 parsecs", "-5s", "infs"])
def test_a_budget_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--budget"):
        duration_s("--budget", text, LEAST_BUDGET_S)


def test_one_connection_is_too_few_for_taking_turns() -> None:
    with pytest.raises(UsageError, match="--connections 1"):
        probe(ProbeOptions("sqlite:///x", connections=1), Silent())


SERVER = Target("postgresql", "server", host="h", port=1, shown="postgresql://h:1/d")


def test_the_query_is_said_once(tmp_path: Path) -> None:
    file = tmp_path / "q.sql"
    file.write_text("SELECT 'ä'\n;\n", encoding="utf-8")
    assert query_of(ProbeOptions("", query="SELECT 1;"), SERVER) == "SELECT 1"
    assert query_of(ProbeOptions("", query_file=file), SERVER) == "SELECT 'ä'"
    assert query_of(ProbeOptions("", table="a.b"), SERVER) == "SELECT * FROM a.b"
    for wrong in (
        ProbeOptions(""),
        ProbeOptions("", query="SELECT 1", table="t"),
        ProbeOptions("", query_file=tmp_path / "gone"),
    ):
        with pytest.raises(UsageError):
            query_of(wrong, SERVER)
    whole = Target("parquet", "file", path=tmp_path / "x.parquet", shown="file:///x.parquet")
    assert query_of(ProbeOptions(""), whole) == ""
    with pytest.raises(UsageError, match="read whole"):
        query_of(ProbeOptions("", query="SELECT 1"), whole)


def test_nobody_agrees_where_there_is_no_terminal() -> None:
    assert asker(interactive=False)("copy 3 GB?") is False


def test_the_columns_that_differ_are_looked_for_by_name() -> None:
    columns = (DescribedColumn(name="a", type="integer"), DescribedColumn(name='b"c', type="text"))
    work = first_columns(work_of("SELECT 1, 2", columns), 2, "postgresql")
    assert work.sql == 'SELECT "a", "b""c" FROM (SELECT 1, 2) AS probed'
    assert first_columns(work_of("SELECT 1, 2", columns), 1, "mysql").sql == "SELECT `a` FROM (SELECT 1, 2) AS probed"
    assert [column.name for column in work.columns] == ["a", 'b"c']
