"""The search's own decisions, without a database: the budget, halving, candidates, what settings matter."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from rowpath.analysis.model import RankedPath, Ranking
from rowpath.analysis.probe_results import settings, with_ratios
from rowpath.cli.arguments import budget_s
from rowpath.errors import UsageError
from rowpath.model.probe import TriedPath
from rowpath.model.progress import Silent
from rowpath.model.workload import Phase
from rowpath.probe import budget as budgets
from rowpath.probe.budget import Budget, affordable, blocks_of_round, plan_finals
from rowpath.probe.candidates import candidates
from rowpath.probe.command import asker, probe, query_of
from rowpath.probe.options import ProbeOptions
from rowpath.probe.row_consistency import RowConsistency
from rowpath.probe.row_diff import first_columns
from rowpath.probe.successive_halving import Estimate, batches, best_of_each, finalists, halved, survivors
from rowpath.probe.target import Target
from rowpath.probe.throttled_worker import work_of
from rowpath.runners.protocol import DescribedColumn, SampleReply

QUERY = Phase("query", "query", "SELECT 1")


def a_clock() -> tuple[list[float], Callable[[], float]]:
    now = [100.0]
    return now, lambda: now[0]


def test_a_budget_counts_down_and_never_below_nothing() -> None:
    now, clock = a_clock()
    budget = Budget(60.0, 0.5, clock)
    now[0] += 15
    assert (budget.spent_s, budget.left_s, budget.left_until(0.5)) == (15, 45, 15)
    now[0] += 100
    assert (budget.left_s, budget.left_until(0.9)) == (0, 0)


def test_a_twentieth_of_the_budget_is_too_long_for_one_execution_and_half_of_the_time_is_rest() -> None:
    budget = Budget(60.0, 0.5)
    assert not budget.too_long(3.0)
    assert budget.too_long(3.01)
    assert budget.wall_s(1.0) == 2.0


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
    plan = plan_finals([block_s] * 6, [0.05] * 6, left_s, 0.5)
    assert 1 <= plan.sets <= budgets.FULL_SETS
    assert budgets.LEAST_BLOCKS <= plan.rounds <= budgets.MOST_BLOCKS
    busy_s = plan.sets * plan.finalists * (0.05 + block_s * (plan.rounds + 1) / 0.5)
    if plan.sets > 1:
        assert busy_s <= left_s * 1.5  # the first block of each counts as warming up
    if plan.finalists > budgets.LEAST_FINALISTS:
        assert plan.sets == budgets.FULL_SETS  # candidates are given up before sets


def test_six_cheap_candidates_all_get_six_sets() -> None:
    plan = plan_finals([0.01] * 6, [0.1] * 6, 40.0, 0.5)
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


def test_halving_ends_at_the_number_of_finalists() -> None:
    assert [halved(count) for count in (100, 13, 7, 6, 2)] == [50, 7, 6, 6, 2]


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


def test_the_best_of_every_language_and_form_are_finalists_after_the_two_best() -> None:
    ordered = ["c1", "c2", "c3", "c4", "p1", "c5", "c6", "j1"]
    kinds = [lambda name: str(name)[0]]
    assert best_of_each(ordered, kinds) == ["c1", "p1", "j1"]
    assert finalists(ordered, kinds) == ["c1", "c2", "p1", "j1", "c3", "c4"]


def test_sets_share_their_first_and_hold_no_more_connections_than_allowed() -> None:
    assert batches(list("abcdefg"), 4) == [list("abcd"), list("aefg")]
    assert batches(list("abc"), 2) == [list("ab"), list("ac")]
    assert batches(["a"], 4) == [["a"]]


def test_candidates_are_ordered_from_the_drivers_defaults_outwards() -> None:
    found = candidates("sqlite", "embedded", QUERY, languages=("c", "python"))
    drivers = [planned.adapter.driver for planned in found.paths]
    assert set(drivers[:2]) <= {"sqlite", "libsqliteodbc", "sqlite3", "adbc-sqlite"}
    assert drivers[0] == "sqlite"
    first: dict[str, dict[str, str]] = {}
    farthest = 0
    for planned in found.paths:
        default = first.setdefault(planned.adapter.driver, planned.path.as_dict())
        apart = sum(1 for key, value in planned.path.as_dict().items() if value != default[key])
        assert apart >= farthest, planned.name
        farthest = max(farthest, apart)
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


def test_rows_blocks_and_columns_are_compared_each_by_itself() -> None:
    found = candidates("sqlite", "embedded", QUERY)
    for planned in found.paths:
        assert planned.comparison == f"fetch={planned.path.fetch_form}"


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
    assert budget_s(text) == wanted


@pytest.mark.parametrize("text", ["", "s", "1s", "nan", "60 parsecs", "-5s", "infs"])
def test_a_budget_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--budget"):
        budget_s(text)


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
