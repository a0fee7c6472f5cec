"""`rowpath compare RUN --version BASE,HEAD`: two versions of a driver that one run measured in the same sets."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rowpath.analysis.comparison.compare import compare_versions
from rowpath.analysis.comparison.gate import judge, parse_gate
from rowpath.analysis.comparison.model import ComparedRow, Comparison
from rowpath.cli.main import main
from rowpath.errors import UsageError
from tests.unit.analysis.comparison.test_compare import SLOWER, row
from tests.unit.journal_factory import MadePath, Run, records, usual_paths, write

RATIO = 1.05
DRIFT = 0.05  # from set to set: it hides 5 % between two runs, not within a set
OLD = next(path for path in usual_paths() if path.name == SLOWER)


def build(version: str, slower: float = RATIO) -> MadePath:
    costs = {phase: slower * cost for phase, cost in OLD.cost_ns.items()}
    return replace(OLD, name="mine", coordinates=OLD.coordinates | {"version": version}, cost_ns=costs)


def made(directory: Path, *more: MadePath, sets: int = 10, groups: list[list[str]] | None = None) -> Path:
    others = [path for path in usual_paths() if path.name in ("null c", "sqlite c")]
    run = Run(paths=[*others, OLD, *more], sets=sets, drift=DRIFT, groups=groups or [])
    return write(directory, records(run))


@pytest.fixture(scope="module", name="run")
def run_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("versions") / "run", build("2"))


@pytest.fixture(scope="module", name="found")
def found_fixture(run: Path) -> Comparison:
    return compare_versions(run, ("1", "2"), ())


def steady(comparison: Comparison, metric: str = "time") -> ComparedRow:
    return row(comparison, comparison.rows[0].name, "scan.read", "steady", metric)


def test_a_drift_of_the_machine_hides_nothing_within_sets(found: Comparison) -> None:
    time = steady(found)
    assert found.paired and time.outcome == "slower"
    assert time.low is not None and time.high is not None and time.low <= RATIO <= time.high
    assert time.noise is not None and time.noise < DRIFT / 2
    assert time.base is not None and time.head is not None and time.ratio is not None
    assert steady(found, "client_cpu").outcome == "more"


def test_the_other_way_round_it_is_faster(run: Path) -> None:
    assert steady(compare_versions(run, ("2", "1"), ())).outcome == "faster"


def test_only_drivers_that_have_both_versions_are_compared(found: Comparison) -> None:
    assert {(each.base_path, each.head_path) for each in found.rows} == {(OLD.path_id, build("2").path_id)}
    assert found.only_base == found.only_head == ()


def test_the_version_is_what_differs(found: Comparison) -> None:
    assert {(each.name, each.base, each.head) for one in found.rows for each in one.differences} == {
        ("driver", "1", "2")
    }


@pytest.mark.parametrize(("gate", "failing"), [("slower=2%", True), ("slower=20%", False), ("faster=1%", False)])
def test_a_gate(found: Comparison, gate: str, failing: bool) -> None:
    assert bool(judge(found, parse_gate(gate)).failed) is failing


def test_the_same_speed_is_not_called_slower(tmp_path: Path) -> None:
    found = compare_versions(made(tmp_path / "run", build("2", 1.0)), ("1", "2"), ())
    assert not [each for each in found.rows if each.changed and each.metric == "time"]
    assert not judge(found, parse_gate("slower=2%")).failed


def test_a_file_is_known_by_its_whole_path_and_by_its_name(tmp_path: Path) -> None:
    run = made(tmp_path / "run", build("/build/mine.jar"))
    for version in ("/build/mine.jar", "mine.jar"):
        assert steady(compare_versions(run, ("1", version), ())).outcome == "slower"


def test_versions_that_met_in_no_set_are_compared_through_anchors(tmp_path: Path) -> None:
    groups = [["null c", "sqlite c", OLD.name], ["null c", "sqlite c", "mine"]]
    run = Run(
        paths=[*(path for path in usual_paths() if path.name in ("null c", "sqlite c")), OLD, build("2", 1.3)],
        sets=10,
        groups=groups,
        anchors=("null c", "sqlite c"),
    )
    found = compare_versions(write(tmp_path / "run", records(run)), ("1", "2"), ())
    time, cpu = steady(found), steady(found, "client_cpu")
    assert time.outcome == "slower" and time.low is not None and time.high is not None
    assert time.low <= 1.3 <= time.high
    assert cpu.ratio == pytest.approx(1.3, rel=0.1)


def test_few_sets_claim_nothing(tmp_path: Path) -> None:
    found = compare_versions(made(tmp_path / "run", build("2", 1.5), sets=3), ("1", "2"), ())
    assert not [each for each in found.rows if each.changed and not each.counted]
    assert steady(found).reason == "provisional: fewer than 6 sets"


def test_one_set_has_no_interval(tmp_path: Path) -> None:
    found = compare_versions(made(tmp_path / "run", build("2"), sets=1), ("1", "2"), ())
    assert steady(found).reason == "one set has no interval"
    assert steady(found).low is None


def test_a_wrong_build_is_not_comparable(tmp_path: Path) -> None:
    wrong = replace(build("2"), fault="wrong")
    run = made(tmp_path / "run", wrong)
    found = compare_versions(run, ("1", "2"), ())
    scans = {(each.outcome, each.reason.partition(" 6")[0]) for each in found.rows if each.workload == "scan"}
    assert scans == {("not comparable", "delivered rows")}


def test_versions_that_no_driver_has(run: Path) -> None:
    with pytest.raises(UsageError) as caught:
        compare_versions(run, ("1", "3"), ())
    assert caught.value.message == f"{run} has no driver with both versions 1 and 3"
    assert "psycopg 1, 2" in caught.value.hint


def test_the_command(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    export, page = tmp_path / "c.json", tmp_path / "c.html"
    words = ["compare", str(run), "--version", "1,2", "--fail-on", "slower=2%"]
    assert main([*words, "--export-json", str(export), "-o", str(page)]) == 1
    shown = capsys.readouterr().out
    assert "both versions in each set" in shown and "differs driver version 1 → 2" in shown
    assert "failed slower=2%: mine" in shown and f"compare {run} --version 1,2 --all" in " ".join(shown.split())
    assert json.loads(export.read_text(encoding="utf-8"))["paired"] is True
    assert "both versions in each set" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("more", "wording"),
    [
        ([], "compare needs a second run"),
        (["RUN", "--version", "1,2"], "compare takes either HEAD or --version"),
        (["--version", "1"], "invalid --version '1'"),
        (["--version", "1,"], "invalid --version '1,'"),
        (["--version", "1,2,3"], "invalid --version '1,2,3'"),
    ],
)
def test_words_that_do_not_fit(run: Path, more: list[str], wording: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(run), *(str(run) if word == "RUN" else word for word in more)]) == 2
    assert capsys.readouterr().err.startswith(f"error: {wording}")


def test_an_option_may_stand_between_base_and_head(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(run), "--all", str(run)]) == 0
    assert "base" in capsys.readouterr().out
