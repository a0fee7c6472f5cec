"""From a made-up journal to rankings, results and sentences."""

import dataclasses
import math
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.analysis.analyse import analyse
from rowpath.analysis.chapters import CHAPTERS
from rowpath.analysis.model import Analysis, Ranking, Result
from tests.unit import journal_factory as factory


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return analyse(factory.write(tmp_path_factory.mktemp("run"), factory.records(factory.Run())))


def made(tmp_path: Path, **options: Any) -> Analysis:
    return analyse(factory.write(tmp_path, factory.records(factory.Run(**options))))


def ranking(analysis: Analysis, workload: str, regime: str = "steady", comparison: str = "placement=same") -> Ranking:
    return next(
        each
        for each in analysis.rankings
        if (each.workload, each.regime, each.comparison) == (workload, regime, comparison)
    )


def result(analysis: Analysis, name: str, metric: str, workload: str = "keyed", regime: str = "steady") -> Result:
    return next(
        each
        for each in analysis.results
        if (each.name, each.metric, each.workload, each.regime) == (name, metric, workload, regime)
    )


def pair(**second: Any) -> list[factory.MadePath]:
    return [
        factory.path("a", "sqlite embedded c sqlite", {"keyed.read": 10_000}),
        factory.path("b", "sqlite embedded python sqlite3", {"keyed.read": 10_000}, **second),
    ]


def test_the_ranking_finds_the_true_order_and_ratios(usual: Analysis) -> None:
    rows = ranking(usual, "keyed").rows
    ranked = [row for row in rows if row.rank]
    assert [row.name for row in ranked[:3]] == ["sqlite c", "sqlite python", "derby embedded"]
    truths = {path.name: path.cost_ns.get("keyed.read", 0) / 5_700 for path in factory.usual_paths()}
    for row in ranked[1:]:
        assert row.ratio is not None
        assert row.ratio_low is not None
        assert row.ratio_high is not None
        assert row.ratio_low < row.ratio < row.ratio_high
        assert row.ratio == pytest.approx(truths[row.name], rel=0.1 if "derby" in row.name else 0.03)
    tied = {row.name for row in ranked if row.status == "tied"}
    assert tied == {"libpq unix", "libpq tcp"}
    assert len({row.rank for row in ranked if row.name in tied}) == 1


def test_what_is_wrong_or_failed_is_shown_and_never_ranked(usual: Analysis) -> None:
    below = {row.name: row for row in ranking(usual, "scan").rows if not row.rank}
    assert {name: row.status for name, row in below.items()} == {"psycopg cursor": "wrong", "derby server": "failed"}
    assert "digest 6070" in below["psycopg cursor"].reason
    assert "08001" in below["derby server"].reason
    assert all(row.cost_ns is None and row.rate_per_s is None for row in below.values())
    wrong = [each for each in usual.results if each.name == "psycopg cursor" and each.workload == "scan"]
    timed = [each for each in wrong if each.metric in ("time", "rate", "row_rate")]
    assert {each.status for each in wrong} == {"wrong"}
    assert [each.median for each in timed] == [None] * len(timed)
    assert not [each for each in usual.results if each.name == "derby server" and each.metric == "rate"]


def test_a_confounded_path_has_a_ranking_of_its_own(usual: Analysis) -> None:
    assert "sqlite java" not in [row.name for row in ranking(usual, "keyed").rows]
    own = ranking(usual, "keyed", comparison="placement=same, sqlite-jdbc carries its own SQLite 3.46.0")
    assert [row.name for row in own.rows] == ["sqlite java"]


def test_long_form(usual: Analysis) -> None:
    time = result(usual, "libpq tcp", "time")
    assert (time.unit, time.sets, time.blocks, time.status) == ("ns/operation", 6, 90, "tied")
    assert time.low is not None
    assert time.high is not None
    assert time.median is not None
    assert time.low < time.median < time.high
    assert time.median == pytest.approx(17_000, rel=0.05)
    assert time.min is not None
    assert time.min < time.low
    assert time.best_of_five is None
    rate = result(usual, "libpq tcp", "rate")
    assert rate.median == pytest.approx(1e9 / time.median, rel=0.001)
    assert rate.low == pytest.approx(1e9 / time.high, rel=0.001)
    rows = result(usual, "libpq tcp", "row_rate", "scan")
    assert rows.median == pytest.approx(factory.SCAN_ROWS * 1e9 / 5.2e6, rel=0.05)
    assert result(usual, "libpq tcp", "client_cpu").median == pytest.approx(17_000 * 0.3, rel=0.05)
    assert result(usual, "libpq tcp", "server_cpu").median == pytest.approx(17_000 * 0.7, rel=0.05)
    assert result(usual, "libpq tcp", "round_trips", regime="none").median == 1
    assert result(usual, "pgjdbc tcp", "round_trips", "scan", "none").median == 8
    assert result(usual, "libpq tcp", "lines_of_code", "none", "none").median == 69
    assert result(usual, "libpq tcp", "lines_of_code_closure", "none", "none").median == 609
    assert result(usual, "psycopg tcp", "client_peak_memory", regime="none").method == "VmHWM after clear_refs"
    assert result(usual, "libpq tcp", "server_cpu").method == "clock_gettime of the process"


def test_cold_includes_preparing_and_has_a_best_of_five(usual: Analysis) -> None:
    cold = result(usual, "sqlite c", "time", "scan", "cold")
    assert cold.median == pytest.approx(2 * 2.1e6 + 90_000, rel=0.03)
    assert cold.best_of_five is not None
    assert cold.min is not None
    assert cold.min <= cold.best_of_five <= (cold.median or 0)
    assert (cold.sets, cold.blocks) == (6, 6)


def test_a_moved_directory_says_the_same(tmp_path: Path) -> None:
    here = factory.write(tmp_path / "a b", factory.records(factory.Run(sets=3, rounds=5)))
    first = analyse(here)
    moved = shutil.move(here, tmp_path / "ü")
    second = analyse(Path(moved))
    assert (second.results, second.rankings, second.verdict) == (first.results, first.rankings, first.verdict)


def test_every_part_can_be_written_as_json(usual: Analysis) -> None:
    core = msgspec.structs.replace(usual, chapters={})
    assert msgspec.json.decode(msgspec.json.encode(core), type=Analysis) == core
    for chapter in filter(lambda chapter: chapter.figures, CHAPTERS.values()):
        figures = chapter.of(usual)
        assert msgspec.json.decode(msgspec.json.encode(figures), type=chapter.figures_type) == figures


def test_a_driver_that_wraps_a_message_is_grouped_with_those_that_do_not(tmp_path: Path) -> None:
    paths = [each for each in factory.usual_paths() if each.name.startswith(("sqlite", "derby embedded"))]
    paths[1:] = [dataclasses.replace(each, fault="failing") for each in paths[1:]]
    records = factory.records(factory.Run(paths=paths, sets=1, rounds=1))
    message = "IO Error: the file was written by version 69, and only 64 to 68 can be read"
    for record in records:
        if record["record"] == "failure":
            wrapped = record["path_id"] == paths[1].path_id
            record["text"] = f"could not connect to database: {message}" if wrapped else message
    (group,) = analyse(factory.write(tmp_path, records)).answer.not_ranked
    assert set(group.names) == {each.name for each in paths[1:]}
    assert group.reason == f"connect 08001: {message}"


def test_a_driver_that_refuses_in_every_setting_of_a_probe_is_named_with_its_reason(tmp_path: Path) -> None:
    records = factory.records(factory.Run(sets=1, rounds=1))
    refused = {"step": "try", "status": "unsupported", "left": "unsupported: it takes localhost for a socket"}
    for driver, execution_ns in (("refusing", None), ("serving", 5.0)):
        path = {"language": "python", "driver": driver}
        records.insert(-1, {"record": "probe", "tried": {"name": f"{driver} text", "path": path, **refused}})
        other = {"name": f"{driver} binary", "path": path, "step": "", "execution_ns": execution_ns}
        records.insert(-1, {"record": "probe", "tried": other})
    said = [each for each in analyse(factory.write(tmp_path, records)).answer.not_ranked if "text" in each.names[0]]
    assert [(each.names, each.reason) for each in said] == [(("refusing text",), "it takes localhost for a socket")]


def test_the_verdict_has_an_interval_for_every_ratio(usual: Analysis) -> None:
    text = " ".join(usual.verdict)
    assert "sqlite c is fastest" in text
    assert " the time of sqlite c, engine included" in text
    assert "ping-pong same unix" in text
    assert "server CPU" in text
    assert ("wrong", ("psycopg cursor",)) in [(one.status, one.names) for one in usual.answer.not_ranked]
    for sentence in usual.verdict:
        assert sentence.count("×") == sentence.count("× (")


def test_three_sets_are_provisional_and_claim_nothing(tmp_path: Path) -> None:
    analysis = made(tmp_path, sets=3)
    rows = ranking(analysis, "keyed").rows
    assert all(row.provisional for row in rows if row.rank)
    assert not any(row.differs for each in analysis.rankings for row in each.rows)
    assert "provisional" in {finding.id for finding in analysis.findings}
    assert any(sentence.startswith("Provisional") for sentence in analysis.verdict)
    assert not any("difference shown" in sentence for sentence in analysis.verdict)


def test_one_set_has_no_intervals(tmp_path: Path) -> None:
    analysis = made(tmp_path, sets=1, rounds=4)
    rows = [row for row in ranking(analysis, "keyed").rows if row.rank]
    assert {row.rank for row in rows} == {1}
    assert all(row.ratio_low is None for row in rows[1:])


def test_a_run_killed_early_is_shown_as_far_as_it_came(tmp_path: Path) -> None:
    records = factory.records(factory.Run(sets=2))
    for kept in (1, 5, 18, 25, 60, 200, len(records) // 2):
        analysis = analyse(factory.write(tmp_path / str(kept), records[:kept]))
        assert any("was interrupted" in sentence for sentence in analysis.verdict)


def test_an_unfinished_set_leaves_the_ratios_alone(tmp_path: Path) -> None:
    records = factory.records(factory.Run(sets=7))
    in_scan = [
        i
        for i, r in enumerate(records)
        if r["record"] == "sample" and (r["set"], r["workload"], r["regime"], r["round"]) == (6, "scan", "steady", 3)
    ]
    last = in_scan[0]
    cut = analyse(factory.write(tmp_path, [*records[: last + 4], {"record": "end", "outcome": "interrupted"}]))
    assert result(cut, "file c", "time", "scan").sets == 7
    row = next(row for row in ranking(cut, "scan").rows if row.name == "sqlite c")
    assert row.ratio == pytest.approx(2.1e6 / 1.6e6, rel=0.03)
    assert result(cut, "sqlite c", "time", "keyed").sets == 6


def test_groups_of_sets_are_joined_through_their_anchors(tmp_path: Path) -> None:
    paths = factory.usual_paths()
    anchors = ("null c", "sqlite c")
    groups = [[*anchors, "sqlite python", "libpq unix"], [*anchors, "libpq tcp", "psycopg tcp"]]
    kept = [path for path in paths if path.name in {*groups[0], *groups[1]}]
    analysis = made(tmp_path, paths=kept, groups=groups, anchors=anchors, drift=0.3)
    # The machine's speed differs by 30 % from set to set: only joined ratios can be right.
    rows = {row.name: row for row in ranking(analysis, "keyed").rows}
    assert rows["psycopg tcp"].ratio == pytest.approx(61_000 / 5_700, rel=0.03)
    assert not rows["psycopg tcp"].through_anchor, "sqlite c, the fastest, is the anchor itself"
    without = [path for path in kept if path.name != "sqlite c"]
    slow = [factory.path("slow c", "sqlite embedded c slow", {"keyed.read": 90_000, "scan.read": 9e7})]
    groups = [["null c", "slow c", *groups[0][2:]], ["null c", "slow c", *groups[1][2:]]]
    joined = made(tmp_path / "2", paths=without + slow, groups=groups, anchors=("null c", "slow c"), drift=0.3)
    rows = {row.name: row for row in ranking(joined, "keyed").rows}
    assert rows["psycopg tcp"].through_anchor
    assert not rows["libpq unix"].through_anchor
    assert rows["psycopg tcp"].ratio == pytest.approx(61_000 / 8_900, rel=0.03)
    assert any("anchors" in note for note in ranking(joined, "keyed").notes)


def test_a_few_sets_that_paths_share_do_not_replace_many_through_anchors(tmp_path: Path) -> None:
    costs = {"keyed.read": 90_000, "scan.read": 9e7}
    named = {each.name: each for each in factory.usual_paths()}
    paths = [named[each] for each in ("null c", "libpq unix", "psycopg tcp")]
    paths.insert(1, factory.path("slow c", "sqlite embedded c slow", costs))
    anchors = ("null c", "slow c")
    groups = [[*anchors, "libpq unix"], [*anchors, "psycopg tcp"], [each.name for each in paths]]
    kept, dropped = [], False  # of the third group, in which all meet, only one set: as wide intervals ask for
    for record in factory.records(factory.Run(paths=paths, groups=groups, anchors=anchors, drift=0.3)):
        if record["record"] == "set":
            dropped = record["batch"] == 2 and record["set"] > 0
        if not dropped or record["record"] == "end":
            kept.append(record)
    rows = {row.name: row for row in ranking(analyse(factory.write(tmp_path, kept)), "keyed").rows}
    assert rows["psycopg tcp"].through_anchor
    assert not rows["psycopg tcp"].provisional


def test_disturbed_blocks_are_left_out_where_others_suffice(tmp_path: Path) -> None:
    calm, noisy = (made(tmp_path / str(share), paths=pair(), disturbed_share=share) for share in (0.0, 0.4))
    for analysis in (calm, noisy):
        assert ranking(analysis, "keyed").rows[1].ratio == pytest.approx(1, abs=0.015)
    disturbed = noisy.diagnostics["disturbed"]
    assert disturbed["disturbed"] == disturbed["repeated"] > 0
    assert "disturbed-blocks" in {finding.id for finding in noisy.findings}
    assert noisy.diagnostics["unfiltered"]


def _disturbed(sets: int) -> list[factory.Record]:
    """Two paths, `a` and `b`; in so many of six sets gcc ran beside every steady keyed block of b."""
    records = factory.records(factory.Run(paths=pair(), disturbed_share=0))
    for record in records:
        b = record["record"] == "sample" and record["path_id"].count("sqlite3")
        if b and record["regime"] == "steady" and record["workload"] == "keyed" and record["set"] < sets:
            record["disturbed"] = "30% of the window went to gcc"
            record["core_users"] = [{"kind": "program", "name": "gcc", "ns": int(0.3 * record["window_ns"])}]
    return records


def test_half_of_the_sets_quiet_is_enough_to_rank(tmp_path: Path) -> None:
    analysis = analyse(factory.write(tmp_path, _disturbed(3)))
    row = next(r for r in ranking(analysis, "keyed").rows if r.name == "b")
    assert (row.status, row.rank) == ("disturbed", 1)
    assert "3 of 6 sets" in row.reason
    assert analysis.refusal == ""


def test_fewer_than_half_of_the_sets_quiet_refuses_the_answer(tmp_path: Path) -> None:
    analysis = analyse(factory.write(tmp_path, _disturbed(4)))
    row = next(r for r in ranking(analysis, "keyed").rows if r.name == "b")
    assert (row.status, row.rank, row.ratio_low, row.cost_ns) == ("disturbed", 0, None, None)
    assert row.reason == "the machine was too busy: 2 of 6 sets were quiet enough"
    assert analysis.refusal.startswith("The machine was too busy to measure b in keyed.read: gcc ")
    assert "rowpath run tour" in analysis.refusal
    spoken = [sentence for sentence in analysis.verdict if not sentence.startswith("Not ranked")]
    assert not any(" b " in f"{sentence} " and "keyed" in sentence for sentence in spoken)
    figures = [each for each in analysis.results if (each.name, each.workload, each.regime) == ("b", "keyed", "steady")]
    timed = [each for each in figures if each.metric in ("time", "rate")]
    assert [(each.median, each.low, each.status) for each in timed] == [(None, None, "disturbed")]


def test_cells_at_or_below_their_floor_are_not_ranked(tmp_path: Path) -> None:
    floors = factory.usual_paths()[:2]
    near = factory.path("near", "postgresql server c libpq transport=unix", {"keyed.read": 3_300})
    below = factory.path("below", "postgresql server c cached transport=unix", {"keyed.read": 1_000})
    above = factory.path("above", "postgresql server c other transport=unix", {"keyed.read": 9_000})
    analysis = made(tmp_path, paths=[*floors, near, below, above])
    reasons = {row.name: row.reason for row in ranking(analysis, "keyed").rows if not row.rank}
    assert reasons["near"].startswith("inside the floor's noise")
    assert reasons["below"].startswith("faster than its floor")
    assert [row.name for row in ranking(analysis, "keyed").rows if row.rank] == ["above"]
    assert [finding.paths for finding in analysis.findings if finding.id == "rate-beats-floor"] == [("below",)]


def test_intervals_are_wider_when_sets_were_added_for_width(tmp_path: Path) -> None:
    widths = []
    for position, measure in enumerate(({"sets": 6, "max_sets": 6}, {"sets": 6, "max_sets": 14})):
        analysis = made(tmp_path / str(position), paths=pair(), experiment={"measure": measure})
        row = ranking(analysis, "keyed").rows[1]
        assert row.ratio_low is not None
        assert row.ratio_high is not None
        widths.append(math.log(row.ratio_high / row.ratio_low))
        assert analysis.diagnostics["intervals"]["confidence"] == (0.975 if position else 0.95)
    assert widths[1] > 1.2 * widths[0]


def test_a_write_phase_has_one_sample_per_set(tmp_path: Path) -> None:
    records = [
        record | ({"round": None} if record["record"] == "sample" else {})
        for record in factory.records(factory.Run(paths=pair(), regimes=("cold",), disturbed_share=0))
        if not (record["record"] == "sample" and record["regime"] == "steady")
    ]
    row = ranking(analyse(factory.write(tmp_path, records)), "keyed", "cold").rows[1]
    assert row.ratio_low is not None
    assert not row.provisional
