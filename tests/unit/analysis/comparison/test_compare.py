"""`rowpath compare`: pairs, differences, outcomes, gates and exports, from made-up journals."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from rich.console import Console

from rowpath.analysis.comparison.compare import compare
from rowpath.analysis.comparison.gate import judge, parse_gate, settled, two_builds
from rowpath.analysis.comparison.model import ComparedRow, Comparison, Confirmed
from rowpath.cli.main import main
from rowpath.errors import UsageError
from rowpath.report import comparison as report
from rowpath.report import comparison_page, markdown
from rowpath.report.comparison import ComparisonOutcome, hidden, verdict
from tests.unit.journal_factory import MadePath, Record, Run, records, usual_paths, write

SCHEMA = Path(__file__).parents[4] / "schemas" / "comparison.schema.json"
SLOWER = "psycopg tcp"


def made(directory: Path, seed: int, slower: float = 1.0, version: str = "1", **more: Any) -> Path:
    """A run; one path takes `slower` times as long, with that version of its driver."""

    def bent(path: MadePath) -> MadePath:
        if path.name != SLOWER:
            return path
        costs = {phase: cost * slower for phase, cost in path.cost_ns.items()}
        return replace(path, cost_ns=costs, coordinates=path.coordinates | {"version": version})

    run = Run(paths=[bent(path) for path in usual_paths()], seed=seed, **({"drift": 0.003} | more))
    return write(directory, records(run))


def bend(directory: Path, change: Any) -> Path:
    """Change each record of a journal."""
    file = directory / "samples.jsonl"
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        change(line)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return directory


def environment(**values: Any) -> Any:
    def change(record: Record) -> None:
        if record["record"] == "run":
            record["environment"] |= values

    return change


def coordinate(name: str, key: str, value: str) -> Any:
    """Another value of a coordinate of one path, with the id that follows from it."""

    def change(record: Record) -> None:
        if f"driver={name}," in record.get("path_id", ""):
            old = next(word for word in record["path_id"].split(",") if word.startswith(f"{key}="))
            record["path_id"] = record["path_id"].replace(old, f"{key}={value}")
        if record["record"] == "path" and record["coordinates"]["driver"] == name:
            record["coordinates"][key] = value

    return change


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("base") / "run", 1)


@pytest.fixture(scope="module")
def slower(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("slower") / "run", 2, 1.25, "2")


@pytest.fixture(scope="module")
def found(base: Path, slower: Path) -> Comparison:
    return compare([base], [slower], ())


def row(comparison: Comparison, name: str, place: str, regime: str, metric: str = "time") -> ComparedRow:
    found = [
        each
        for each in comparison.rows
        if (each.name, f"{each.workload}.{each.phase}", each.regime, each.metric) == (name, place, regime, metric)
    ]
    assert len(found) == 1, found
    return found[0]


def test_the_slower_path_is_found_with_its_ratio_and_nothing_else(found: Comparison) -> None:
    changed = [each for each in found.rows if each.changed and each.metric == "time"]
    assert {each.name for each in changed} == {SLOWER} and {each.outcome for each in changed} == {"slower"}
    steady = row(found, SLOWER, "scan.read", "steady")
    assert steady.low is not None and steady.high is not None and steady.low <= 1.25 <= steady.high
    assert steady.factor is not None and steady.factor > 1
    assert [each.name for each in steady.differences] == ["driver"]
    assert found.rows[0].changed and found.rows[0].metric == "time"


def test_its_client_cpu_grew_too(found: Comparison) -> None:
    assert row(found, SLOWER, "scan.read", "steady", "client_cpu").outcome == "more"


def test_faster_is_the_other_way_round(base: Path, slower: Path) -> None:
    turned = compare([slower], [base], ())
    assert row(turned, SLOWER, "scan.read", "steady").outcome == "faster"


def test_wrong_and_failed_paths_are_not_comparable(found: Comparison) -> None:
    wrong = row(found, "psycopg cursor", "scan.read", "steady")
    assert wrong.outcome == "not comparable" and wrong.reason.startswith("both: wrong: digest")


def test_a_common_shift_is_named_and_claims_nothing(base: Path, tmp_path: Path) -> None:
    paths = [replace(p, cost_ns={k: 1.15 * v for k, v in p.cost_ns.items()}) for p in usual_paths()]
    shifted = write(tmp_path / "run", records(Run(paths=paths, seed=3, drift=0.003)))
    comparison = compare([base], [shifted], ())
    assert not [each for each in comparison.rows if each.changed and each.metric == "time"]
    finding = next(each for each in comparison.findings if each.id == "machine-changed" and "steady" in each.text)
    assert "slower" in finding.text and "null c 1.1" in finding.evidence


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("machine", environment(cpus=8)),
        ("machine", environment(memory_kib="99000000")),
        ("durability", coordinate("psycopg", "durability", "full")),
        ("placement", coordinate("psycopg", "placement", "split")),
    ],
)
def test_what_is_refused_unless_named(base: Path, tmp_path: Path, name: str, change: Any) -> None:
    bend(write_copy(base, tmp_path / "base"), environment(memory_kib="24000000"))
    head = bend(write_copy(base, tmp_path / "head"), environment(memory_kib="24000000"))
    bend(head, change)
    sides = [tmp_path / "base"], [head]
    if name == "machine":
        with pytest.raises(UsageError, match="cannot compare") as raised:
            compare(*sides, ())
        assert "--despite machine" in raised.value.hint
    else:
        refused = row(compare(*sides, ()), SLOWER, "keyed.read", "steady")
        assert refused.outcome == "not comparable" and refused.reason.startswith(name)
    allowed = row(compare(*sides, (name,)), SLOWER, "keyed.read", "steady")
    assert allowed.outcome == "no difference shown" and [each.name for each in allowed.differences] == [name]


def write_copy(source: Path, target: Path) -> Path:
    target.mkdir()
    (target / "samples.jsonl").write_bytes((source / "samples.jsonl").read_bytes())
    return target


def test_one_difference_is_the_question_and_two_are_refused(base: Path, slower: Path, tmp_path: Path) -> None:
    head = bend(write_copy(slower, tmp_path / "head"), environment(kernel="6.9.0"))
    comparison = compare([base], [head], ())
    assert row(comparison, "sqlite c", "keyed.read", "steady").outcome == "no difference shown"
    both = row(comparison, SLOWER, "scan.read", "steady")
    assert both.outcome == "not comparable" and both.reason.startswith("2 things differ: system")
    assert row(compare([base], [head], ("system",)), SLOWER, "scan.read", "steady").outcome in (
        "slower",
        "no difference shown",
    )


def test_several_runs_a_side(base: Path, slower: Path, tmp_path: Path) -> None:
    more = made(tmp_path / "a", 5), made(tmp_path / "b", 6, 1.25, "2")
    comparison = compare([base, more[0]], [slower, more[1]], ())
    steady = row(comparison, SLOWER, "scan.read", "steady")
    assert steady.outcome == "slower" and (steady.base_sets, steady.head_sets) == (12, 12)


def test_runs_of_one_side_on_two_machines_are_an_error(base: Path, slower: Path, tmp_path: Path) -> None:
    other = bend(write_copy(base, tmp_path / "other"), environment(cpus=64))
    with pytest.raises(UsageError, match="the runs of base differ: machine"):
        compare([base, other], [slower], ())


def test_a_few_paths_and_one_run_a_side_claim_nothing(tmp_path: Path) -> None:
    few = [each for each in usual_paths() if each.name in (SLOWER, "sqlite c")]
    slow = [replace(p, cost_ns={k: 2 * v for k, v in p.cost_ns.items()}) if p.name == SLOWER else p for p in few]
    one = write(tmp_path / "one", records(Run(paths=few, seed=1)))
    two = write(tmp_path / "two", records(Run(paths=slow, seed=2)))
    comparison = compare([one], [two], ())
    assert row(comparison, SLOWER, "scan.read", "steady").reason == "the noise between runs is unknown"
    assert [each.id for each in comparison.findings] == ["noise-between-runs-unknown"]


def test_counts_are_exact(base: Path, tmp_path: Path) -> None:
    def more_trips(record: Record) -> None:
        if record["record"] == "counted" and "psycopg" in record["path_id"] and record["phase"] == "read":
            record["round_trips"] *= 2

    head = bend(write_copy(base, tmp_path / "head"), more_trips)
    trips = row(compare([base], [head], ()), SLOWER, "keyed.read", "none", "round_trips")
    assert trips.outcome == "more" and trips.ratio == 2 and trips.counted and trips.low is None


# Gates


@pytest.mark.parametrize(
    ("gate", "failing"), [("slower=5%", True), ("slower=5", True), ("slower=60%", False), ("faster=5%", False)]
)
def test_a_gate_fails_when_the_interval_lies_beyond(found: Comparison, gate: str, failing: bool) -> None:
    judged = judge(found, parse_gate(gate))
    assert bool(judged.failed) is failing
    assert {found.rows[position].name for position in judged.failed} <= {SLOWER}


def test_a_gate_on_a_metric(found: Comparison) -> None:
    judged = judge(found, parse_gate("client_cpu=5%"))
    assert judged.failed and {found.rows[position].metric for position in judged.failed} == {"client_cpu"}


@pytest.mark.parametrize("text", ["slower", "slower=x", "rate=5%", "=5%", "slower=-5%"])
def test_an_invalid_gate(text: str) -> None:
    with pytest.raises(UsageError, match="invalid --fail-on"):
        parse_gate(text)


def test_what_was_measured_again_decides(found: Comparison) -> None:
    failed = [found.rows[position] for position in judge(found, parse_gate("slower=5%")).failed]
    refuted = [
        Confirmed(each.name, each.workload, each.phase, each.regime, "no difference shown", 1.0, 0.99, 1.01, 10)
        for each in failed
    ]
    assert not judge(found, parse_gate("slower=5%"), refuted).failed
    undecidable = [replace_outcome(each) for each in refuted]
    assert len(judge(found, parse_gate("slower=5%"), undecidable).failed) == len(failed)


def test_what_measuring_again_refutes_is_no_change(found: Comparison) -> None:
    changed = [each for each in found.rows if each.metric == "time" and each.changed]
    refuted = [Confirmed(*each.where, "no difference shown", 1.0, 0.99, 1.01, 10) for each in changed]
    outcome = ComparisonOutcome(settled(found, refuted), confirmed=tuple(refuted))
    assert "is slower" in verdict(ComparisonOutcome(found)) and " is slower" not in verdict(outcome)
    assert verdict(outcome).endswith("Measured again in the same sets: no difference shown.")
    assert f"{len(changed)} not confirmed by measuring again" in hidden(outcome.comparison, 0)
    assert settled(found, [Confirmed(*each.where, each.outcome) for each in changed]) == found
    assert settled(found, [replace_outcome(each) for each in refuted]) == found


def replace_outcome(each: Confirmed) -> Confirmed:
    return Confirmed(each.name, each.workload, each.phase, each.regime, "not possible", reason="the same build")


def test_the_command_ends_with_1_and_names_the_path(
    base: Path, slower: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(base), str(slower), "--fail-on", "slower=5%"]) == 1
    assert f"failed slower=5%: {SLOWER}" in capsys.readouterr().out
    assert main(["compare", str(base), str(slower), "--fail-on", "faster=5%"]) == 0
    assert main(["compare", str(base), str(slower)]) == 0


def test_no_run_directory(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(base), str(tmp_path)]) == 2
    assert "is not a run directory" in capsys.readouterr().err


# What is shown


def test_json_fits_its_schema(found: Comparison) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert schema == report.schema()
    text = io.StringIO()
    report.write_json(ComparisonOutcome(found, (judge(found, parse_gate("slower=5%")),)), text)
    jsonschema.validate(json.loads(text.getvalue()), schema)


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_the_terminal_takes_40_lines_and_its_width(found: Comparison, width: int) -> None:
    console = Console(file=io.StringIO(), width=width, record=True, highlight=False, markup=False)
    report.render(ComparisonOutcome(found, (judge(found, parse_gate("slower=5%")),)), console, False, "rowpath …")
    lines = console.export_text().splitlines()
    assert len(lines) <= (40 if width >= 100 else 60)
    assert all(len(line) <= width for line in lines)
    assert any("slower in head" in line for line in lines)
    assert any("without a shown difference" in line for line in lines) or width < 100


def test_markdown_has_verdict_table_what_was_refused_and_threshold_and_nothing_else(found: Comparison) -> None:
    text = io.StringIO()
    markdown.write_comparison(ComparisonOutcome(found, (judge(found, parse_gate("slower=5%")),)), text)
    parts = text.getvalue().strip().split("\n\n")
    assert len(parts) == 4
    assert parts[0].startswith("**Of ") and "slower in head" in parts[0]
    rows = parts[1].splitlines()
    assert rows[0].startswith("| where | path | metric |") and len({line.count("|") for line in rows}) == 1
    assert all(SLOWER in line for line in rows[2:] if "slower" in line)
    assert all(re.match(r"- \d+ not comparable: ", line) for line in parts[2].splitlines())
    assert parts[3].startswith("failed slower=5%: psycopg tcp")


def test_the_page_shows_every_time_and_loads_nothing(found: Comparison) -> None:
    html = comparison_page.page(ComparisonOutcome(found, (judge(found, parse_gate("slower=5%")),)))
    timed = [each for each in found.rows if each.metric == "time" and each.low is not None]
    assert html.count("<svg") == len(timed)
    assert html.count('<tr class="slower"><th scope="row">psycopg tcp</th><td class="axis">') == sum(
        each.outcome == "slower" for each in timed
    )
    assert "<script" not in html and "http://" not in html and "https://" not in html
    for each in found.rows:
        assert each.name in html


def test_the_page_marks_a_slower_path_right_of_one(found: Comparison) -> None:
    html = comparison_page.page(ComparisonOutcome(found))
    one = float(re.findall(r'class="one" x1="([\d.]+)"', html)[0])
    slower = re.findall(r'<tr class="slower">.*?class="interval" x1="([\d.]+)".*?x2="([\d.]+)"', html, re.DOTALL)
    assert slower and all(float(low) > one for low, _high in slower)


def test_the_command_writes_every_export(base: Path, slower: Path, tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in ("c.json", "c.md", "c.html")]
    words = ["--export-json", files[0], "--export-markdown", files[1], "-o", files[2]]
    assert main(["compare", str(base), str(slower), *words]) == 0
    assert all(Path(file).stat().st_size > 100 for file in files)


def test_a_refused_comparison_leaves_an_export_as_it_was(base: Path, tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    file.write_text("kept", encoding="utf-8")
    assert main(["compare", str(base), str(tmp_path / "none"), "--export-json", str(file)]) == 2
    other = bend(write_copy(base, tmp_path / "other"), _of_another_machine)
    assert main(["compare", str(base), str(other), "--export-json", str(file)]) == 2
    assert file.read_text(encoding="utf-8") == "kept"


def _of_another_machine(record: Record) -> None:
    if record["record"] == "run":
        record["environment"] = dict(record["environment"]) | {"processor": "another"}


def test_few_sets_claim_nothing_and_promise_nothing(found: Comparison) -> None:
    few = tuple(msgspec.structs.replace(each, base_sets=3, outcome="no difference shown") for each in found.rows)
    said = verdict(ComparisonOutcome(msgspec.structs.replace(found, rows=few)))
    assert said == "Nothing is claimed: a claim needs 6 sets a side."


def test_a_file_that_was_built_again_is_another_driver(base: Path, tmp_path: Path) -> None:
    def digest(text: str) -> Any:
        def change(record: Record) -> None:
            if record["record"] == "path" and record["coordinates"]["driver"] == "psycopg":
                record["driver_digest"] = text

        return change

    one, two = (bend(write_copy(base, tmp_path / text), digest(text * 64)) for text in "ab")
    found = row(compare([one], [two], ()), SLOWER, "keyed.read", "steady")
    assert [(each.name, each.base) for each in found.differences] == [("driver", "build " + 12 * "a")]
    assert not two_builds(found)  # only the later one is still there


def test_too_few_sets_to_confirm(base: Path, slower: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(base), str(slower), "--confirm", "-r", "3"]) == 2
    assert "error: invalid -r 3: a claim needs 6 sets" in capsys.readouterr().err
