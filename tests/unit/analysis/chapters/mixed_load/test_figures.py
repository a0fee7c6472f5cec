"""Groups at work at once, from made journals: known numbers in, exact figures out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rowpath.analysis.analyse import analyse
from rowpath.analysis.chapters.mixed_load import CHAPTER, MixedLoadReport, report_of
from rowpath.analysis.chapters.mixed_load.groups import GroupFigures
from rowpath.analysis.chapters.mixed_load.rate_search import search_grid
from rowpath.analysis.model import Analysis, Result
from rowpath.model.histogram import highest_of, index_of
from tests.unit import groups_factory as groups
from tests.unit import journal_factory as factory
from tests.unit.groups_factory import S, of

Bend = Callable[[list[factory.Record]], object]
EMBEDDED, SERVER = (path.path_id for path in groups.usual_paths())


def analysed(tmp_path: Path, bend: Bend | None = None, **options: Any) -> Analysis:
    made = groups.records(**options)
    if bend is not None:
        bend(made)
    return analyse(factory.write(tmp_path, made))


def report(tmp_path: Path, bend: Bend | None = None, **options: Any) -> MixedLoadReport:
    found = report_of(analysed(tmp_path, bend, **options))
    assert found is not None
    return found


def figure(found: MixedLoadReport, name: str, stage: str, group: str) -> GroupFigures:
    (each,) = [each for each in found.figures if (each.name, each.stage, each.client_group) == (name, stage, group)]
    return each


def result(analysis: Analysis, name: str, metric: str, stage: str, group: str = "") -> Result:
    wanted = (name, metric, stage, group)
    (each,) = [each for each in analysis.results if (each.name, each.metric, each.stage, each.client_group) == wanted]
    return each


def test_a_run_without_groups_has_no_report_of_them(tmp_path: Path) -> None:
    analysis = analyse(factory.write(tmp_path, factory.records(factory.Run(sets=2))))
    assert CHAPTER.of(analysis) is None
    assert not any(each.client_group or each.stage for each in analysis.results)


def test_rates_are_geometric_means_over_sets(tmp_path: Path) -> None:
    found = report(tmp_path)
    readers = figure(found, "embedded", "together", "readers")
    assert readers.rate_per_s == pytest.approx(1_000)  # 1,000 × (1 · 1.25 · 0.8)²
    assert readers.low is not None
    assert readers.high is not None
    assert readers.low * readers.high == pytest.approx(1_000**2)  # symmetric in logarithms
    assert readers.sets == 6
    assert (readers.rows_per_operation, readers.failed, readers.touch_ok, readers.reached) == (1.0, 0, True, True)
    assert readers.client_cpu_ns == pytest.approx(20_000)
    assert readers.longest_stall_s == pytest.approx(0.04)
    assert readers.latency is None
    assert readers.requested_per_s is None


def test_histograms_of_all_sets_are_joined(tmp_path: Path) -> None:
    service = figure(report(tmp_path), "embedded", "together", "readers").service
    assert service.operations == sum(round(4_000 * speed) for speed in groups.SPEED)
    assert service.p50_ns == service.p99_ns == highest_of(index_of(1_000_000))
    assert service.most_ns == highest_of(index_of(40_000_000))
    assert service.mean_ns == pytest.approx(1_000_000 + 39_000_000 * 6 / service.operations, rel=0.005)


def test_a_backups_effect_is_taken_within_a_set_against_the_stage_without_one(tmp_path: Path) -> None:
    found = report(tmp_path)
    effects = {(each.name, each.client_group): each for each in found.effects}
    assert len(effects) == 4
    writers = effects["embedded", "writers"]
    assert (writers.stage, writers.against, writers.sets) == ("with a backup", "together", 6)
    assert writers.ratio == pytest.approx(0.32)
    assert writers.inside_per_s == pytest.approx(160)
    assert writers.outside_per_s == pytest.approx(500)
    assert writers.low == pytest.approx(0.32)  # the sets differ in speed, their ratios do not
    assert effects["server", "readers"].ratio == pytest.approx(1)


@pytest.mark.parametrize(
    "bend",
    [
        {
            "client_groups": [
                {"client_group": "readers", "phase": "library.read", "action": "", "clients": 2, "pacing": "closed"}
            ]
        },
        {"client_groups": []},
    ],
)
def test_a_stage_with_other_work_is_no_reference(tmp_path: Path, bend: dict[str, Any]) -> None:
    def other(made: list[factory.Record]) -> None:
        for stage in of(made, "stage", stage="together"):
            stage.update(bend)

    assert report(tmp_path, other).effects == ()


@pytest.mark.parametrize("killed", ["together", "with a backup"])
def test_a_killed_stage_tells_nothing_of_a_backups_effect(tmp_path: Path, killed: str) -> None:
    def kill(made: list[factory.Record]) -> None:
        for stage in of(made, "stage", stage=killed):
            at = {key: stage[key] for key in ("set", "path_id", "stage", "at_ns")}
            made.insert(made.index(stage) + 1, {"record": "kill", **at, "pids": [7], "recovery_ns": 2 * S})

    found = report(tmp_path, kill)
    assert found.effects == ()
    assert found.lines[0].kills == (0.0 if killed == "together" else 6.0,)


def test_backups_are_counted_with_their_time(tmp_path: Path) -> None:
    def bend(made: list[factory.Record]) -> None:
        records = of(made, "backup", path_id=EMBEDDED)
        records[0] |= {"restored": False, "reason": "another digest"}
        records[1] |= {"ok": False, "reason": "disk full", "restored": None}

    found = report(tmp_path, bend)
    embedded, server = found.backups
    assert (server.made, server.failed, server.restored) == (6, 0, 6)
    assert server.seconds == pytest.approx(3)
    assert server.kept_bytes == 1_000_000
    assert (embedded.made, embedded.failed, embedded.restored) == (5, 2, 4)
    assert embedded.reasons == ("another digest", "disk full")
    assert {each.sets for each in found.effects if each.name == "embedded"} == {5}


def test_embedded_and_server_stand_beside_each_other(tmp_path: Path) -> None:
    ratios = {(each.stage, each.client_group): each for each in report(tmp_path).ratios}
    assert ratios["together", "readers"].ratio == pytest.approx(0.5)
    assert ratios["together", "readers"].high == pytest.approx(0.5)
    assert ratios["together", "writers"].ratio == pytest.approx(1)
    assert {(each.server, each.embedded) for each in ratios.values()} == {("server", "embedded")}


def test_paths_of_another_durability_are_not_compared(tmp_path: Path) -> None:
    def bend(made: list[factory.Record]) -> None:
        of(made, "path", name="server")[0]["coordinates"]["durability"] = "none"

    assert report(tmp_path, bend).ratios == ()


def test_bytes_and_cpu_are_told_by_stage(tmp_path: Path) -> None:
    figures = {(each.name, each.stage): each for each in report(tmp_path).stages}
    together, backup = figures["server", "together"], figures["server", "with a backup"]
    assert together.traffic_bytes_per_s == pytest.approx(1_000 * groups.BYTES)
    assert together.bytes_per_operation == pytest.approx(groups.BYTES)
    assert together.traffic_in_backup_bytes_per_s is None
    assert backup.traffic_in_backup_bytes_per_s == pytest.approx((500 + 160) * groups.BYTES)
    assert together.client_cpu_ns == pytest.approx(10_000)
    assert together.server_cpu_ns == pytest.approx(10_000)
    assert together.seconds == pytest.approx(4)
    assert figures["embedded", "together"].traffic_bytes_per_s is None
    assert figures["embedded", "together"].server_cpu_ns is None


def test_an_open_loop_that_missed_its_rate_once_has_no_percentiles(tmp_path: Path) -> None:
    loop = {
        "pacing": "fixed", "requested_per_s": 900.0, "latency": {str(index_of(5_000)): 100},
        "lateness": {str(index_of(100)): 100},
    }  # fmt: skip

    def opened(made: list[factory.Record]) -> None:
        for record in of(made, "client-group", client_group="readers"):
            record.update(loop)

    def missed(made: list[factory.Record]) -> None:
        opened(made)
        of(made, "client-group", client_group="readers", stage="together", path_id=SERVER)[1] |= {
            "reached": False,
            "not_begun": 70,
        }

    reached = figure(report(tmp_path / "a", opened), "server", "together", "readers")
    assert reached.latency is not None
    assert (reached.latency.operations, reached.latency.p99_ns) == (600, highest_of(index_of(5_000)))
    analysis = analysed(tmp_path / "b", missed)
    withheld = figure(report_of(analysis), "server", "together", "readers")
    assert (withheld.reached, withheld.latency, withheld.lateness, withheld.not_begun) == (False, None, None, 70)
    assert withheld.service.operations > 0
    told = result(analysis, "server", "latency_p99", "together", "readers")
    assert (told.median, told.reason.partition(":")[0]) == (None, "rate not reached")
    assert result(analysis, "embedded", "latency_p99", "together", "readers").median == highest_of(index_of(5_000))


def test_of_one_set_no_difference_is_sure_and_it_says_why(tmp_path: Path) -> None:
    verdict = analyse(factory.write(tmp_path, groups.records(sets=1))).verdict
    assert "server vs embedded: only one set, so no confidence interval and no claim." in verdict


def test_the_rate_of_an_open_loop_is_compared_with_none(tmp_path: Path) -> None:
    def opened(made: list[factory.Record]) -> None:
        for record in of(made, "client-group", client_group="readers"):
            record.update({"pacing": "fixed", "requested_per_s": 900.0, "latency": {str(index_of(5_000)): 100}})

    analysis = analysed(tmp_path, opened)
    assert {each.client_group for each in report_of(analysis).ratios} == {"writers"}
    assert {each.client_group for each in report_of(analysis).effects} == {"writers"}
    readers = [each for each in analysis.results if each.client_group == "readers"]
    assert {each.metric for each in readers if each.metric.endswith("rate")} == {"paced_rate"}
    told = "At 900/s the p99 latency of readers (from scheduled start, slowest stages) was 5.02 µs on embedded"
    assert any(sentence.startswith(told) for sentence in analysis.verdict)


def _ended_early(made: list[factory.Record]) -> None:
    """The run was killed two seconds into its last stage."""
    last = max(index for index, each in enumerate(made) if each["record"] == "stage")
    assert made[last + 2]["record"] == "second"
    del made[last + 3 :]


def test_a_run_that_was_killed_keeps_its_seconds(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, _ended_early, sets=1)
    found = report_of(analysis)
    assert found is not None
    assert not [each for each in analysis.findings if each.text.startswith("nothing was measured")]
    cut = figure(found, "server", "with a backup", "readers")
    assert cut.cut
    assert cut.rate_per_s == pytest.approx(500)
    assert cut.service.p99_ns is None
    whole = figure(found, "server", "together", "readers")
    assert not whole.cut
    assert len(found.lines[-1].at_s) == 6


def test_a_cut_stage_counts_only_where_there_is_no_whole_one(tmp_path: Path) -> None:
    found = report(tmp_path, _ended_early, sets=2)
    kept = figure(found, "server", "with a backup", "writers")
    assert (kept.cut, kept.sets) == (False, 1)


def test_a_set_that_was_begun_anew_forgets_its_first_try(tmp_path: Path) -> None:
    def resumed(made: list[factory.Record]) -> None:
        _ended_early(made)
        begun = max(index for index, each in enumerate(made) if each["record"] == "set")
        again = groups.records(sets=1)
        first = next(i for i, each in enumerate(again) if each["record"] == "set" and each["batch"] == 1)
        made.append({"record": "resumed", "started": "now"})
        made.extend(again[first:])
        assert made[begun]["batch"] == 1

    found = report(tmp_path, resumed, sets=1)
    backup = figure(found, "server", "with a backup", "readers")
    assert (backup.cut, backup.sets) == (False, 1)
    assert [len(line.at_s) for line in found.lines] == [8, 8]
    assert [check.checks for check in found.checks] == [1, 1]


def test_failures_are_counted_by_kind_and_in_no_rate(tmp_path: Path) -> None:
    def bend(made: list[factory.Record]) -> None:
        for number, record in enumerate(
            of(made, "client-group", client_group="writers", stage="together", path_id=EMBEDDED)
        ):
            failure = {"kind": "sql", "code": "40001" if number else "40XL1", "text": "a lock", "count": 5}
            record |= {"failed": 5, "failures": [failure]}

    writers = figure(report(tmp_path, bend), "embedded", "together", "writers")
    assert writers.rate_per_s == pytest.approx(500)
    assert writers.failed == 30
    assert [(each.code, each.count) for each in writers.failures] == [("40001", 25), ("40XL1", 5)]


def test_a_wrong_touch_leaves_no_figures(tmp_path: Path) -> None:
    def bend(made: list[factory.Record]) -> None:
        of(made, "client-group", client_group="readers", path_id=SERVER)[3]["touch_ok"] = False

    analysis = analysed(tmp_path, bend)
    assert figure(report_of(analysis), "server", "with a backup", "readers").touch_ok is False
    told = result(analysis, "server", "group_rate", "together", "readers")
    assert (told.status, told.median) == ("wrong", None)
    assert result(analysis, "server", "group_rate", "together", "writers").status == "ok"


def test_time_lines_have_one_axis(tmp_path: Path) -> None:
    line = report(tmp_path, sets=1).lines[1]
    assert (line.name, line.set) == ("server", 0)
    assert line.at_s == (1, 2, 3, 4, 7, 8, 9, 10)
    assert line.stages == (("together", 0, 4), ("with a backup", 6, 10))
    assert line.backups == ((7, 10),)
    series = {(each.quantity, each.of): each for each in line.series}
    assert series["rate", "writers"].values == (500, 500, 500, 500, 500, 160, 160, 160)
    assert series["cpu", "server"].values[0] == pytest.approx(0.01)
    assert series["received", "connections"].values[0] == pytest.approx(400 * 1_000)
    assert series["written", "client"].unit == "bytes/s"
    assert all(len(each.values) == 8 for each in line.series)


def test_checks_moves_and_recoveries(tmp_path: Path) -> None:
    def bend(made: list[factory.Record]) -> None:
        at = {"set": 0, "path_id": SERVER, "stage": "with a backup"}
        first = next(index for index, each in enumerate(made) if each["record"] == "set" and each["batch"] == 1)
        kill = {"record": "kill", **at, "at_ns": 5, "pids": [3], "recovery_ns": S // 2}
        told = {"record": "acknowledged", **at, "when": "kill", "rows": 9, "writes": 70, "lost": 0, "doubled": 0}
        made[first + 1 : first + 1] = [kill, told | {"in_doubt": 2, "digest": "d", "ok": True}]
        move = {"source": "derby embedded", "target": "derby server", "bytes": 9, "ns": S, "digest": "a"}
        made.insert(first, {"record": "directory-copy", **move, "expected": "a", "ok": True})

    analysis = analysed(tmp_path, bend)
    checks = {(each.name, each.when): each for each in report_of(analysis).checks}
    assert (checks["embedded", "end"].writes, checks["embedded", "end"].in_doubt) == (3_480, 6)
    assert (checks["server", "kill"].writes, checks["server", "kill"].recovery_s) == (70, 0.5)
    assert checks["server", "kill"].durability == "full"
    (move,) = report_of(analysis).moves
    assert (move.ok, move.seconds, move.source) == (True, 1.0, "derby embedded")
    assert result(analysis, "server", "recovery_time", "with a backup").median == S // 2
    assert any("Of 70 acknowledged writes checked after the engine was killed" in each for each in analysis.verdict)


def with_rate_tries(tmp_path: Path, *tries: tuple[int, int, bool]) -> Analysis:
    """A run whose rate search tried these: rate, 99th percentile in ns, whether the rate was reached."""
    fixed = {"record": "rate-try", "set": 6, "path_id": SERVER, "client_group": "readers", "seconds": 3}
    fixed |= {"bound_ns": 1_000, "p50_ns": 1, "p999_ns": None}

    def bend(made: list[factory.Record]) -> None:
        for rate, p99, reached in tries:
            made.insert(-1, fixed | {"rate_per_s": rate, "p99_ns": p99, "reached": reached})

    return analysed(tmp_path, bend)


def test_a_rate_search_tells_the_highest_rate_that_held(tmp_path: Path) -> None:
    tries = (100, 500, True), (200, 1_500, True), (150, 900, True), (160, 900, False)
    analysis = with_rate_tries(tmp_path, *tries)
    (sweep,) = report_of(analysis).rate_searches
    assert (sweep.highest_per_s, sweep.bound_ns, len(sweep.tries)) == (150, 1_000, 4)
    highest = result(analysis, "server", "highest_rate", "", "readers")
    assert (highest.median, highest.workload, highest.phase) == (150, "library", "read")
    assert any(each.endswith("up to 150/s.") for each in analysis.verdict)


def test_a_rate_search_whose_tries_end_first_says_that_the_path_may_do_more(tmp_path: Path) -> None:
    analysis = with_rate_tries(tmp_path, (100, 900, True), (200, 900, True))
    (sweep,) = report_of(analysis).rate_searches
    assert any("up to 200/s, the highest rate tried" in each for each in analysis.verdict)
    assert search_grid(sweep).caption.endswith("200/s or more, no higher rate was tried")


def test_the_results_hold_every_figure(tmp_path: Path) -> None:
    analysis = analysed(tmp_path)
    rate = result(analysis, "embedded", "group_rate", "together", "writers")
    assert (rate.unit, rate.workload, rate.phase, rate.sets) == ("operations/s", "library", "write", 6)
    assert rate.median == pytest.approx(500)
    assert result(analysis, "embedded", "backup_effect", "with a backup", "writers").median == pytest.approx(0.32)
    assert result(analysis, "embedded", "backup_time", "with a backup", "backup").median == 3 * S
    assert result(analysis, "server", "traffic_each", "together").median == pytest.approx(groups.BYTES)


def test_the_verdict_says_what_the_backup_did_and_how_deployments_compare(tmp_path: Path) -> None:
    verdict = analysed(tmp_path).verdict
    assert any(
        each.startswith("During a backup of embedded:") and "writers go from 500/s to 160/s, 0.320×" in each
        for each in verdict
    )
    assert any("Throughput of server ÷ embedded:" in each and "0.500×" in each for each in verdict)
    assert any("12 backups were made, 12 of them restored and verified" in each for each in verdict)
    assert any("6,960 acknowledged writes" in each and "none was lost" in each for each in verdict)


def test_the_verdict_says_what_an_operation_takes_where_a_group_was_alone(tmp_path: Path) -> None:
    def bend(made: list[factory.Record]) -> None:
        for record in of(made, "client-group", client_group="writers", stage="together"):
            made.remove(record)
        for stage in of(made, "stage", stage="together"):
            stage["client_groups"] = [each for each in stage["client_groups"] if each["client_group"] == "readers"]
        for second in of(made, "second", stage="together"):
            del second["client_groups"]["writers"]

    told = [each for each in analysed(tmp_path, bend).verdict if each.startswith("On the connections of server")]
    assert told == ["On the connections of server: 1,000 B for each operation of readers (488 KiB/s)."]


def test_few_sets_are_provisional(tmp_path: Path) -> None:
    (finding,) = [each for each in analysed(tmp_path, sets=5).findings if each.id == "provisional"]
    assert finding.evidence == "embedded: 5; server: 5"
