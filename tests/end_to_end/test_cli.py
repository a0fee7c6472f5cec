"""The command line: every exit code, the form of its errors, its options in any order, its exports."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import shlex
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

import jsonschema  # type: ignore[import-untyped]
import pytest
from pyarrow import parquet

from rowpath.engines import ENGINES
from rowpath.planning.experiment_file import load_experiment
from rowpath.runners.manifest import availability, load_manifest
from tests.end_to_end.command import (
    PROGRAM,
    ROOT,
    SQLITE_C,
    SQLITE_PYTHON,
    called,
    error_form,
    records,
    rowpath,
    write_experiment,
)

# What no run can provoke at will: a defect, a child that never ends.
BROKEN = """
import sys
from rowpath.cli import list as listing
from rowpath.cli import main as cli
from rowpath.errors import TimedOut
def broken():
    raise {error}
listing.engines = broken
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run that went well."""
    folder = tmp_path_factory.mktemp("cli")
    experiment = write_experiment(folder, [SQLITE_C, SQLITE_PYTHON], phases=["keyed.read", "scan.read"])
    done = rowpath("run", experiment, "-o", folder / "run", "--seed", "7")
    assert done.returncode == 0, done.stderr
    assert "building" in done.stderr or "verifying" in done.stderr, "progress goes to stderr"
    assert "verifying" not in done.stdout
    assert str(folder / "run" / "report.html") in done.stdout.replace("\n", "")
    return folder / "run"


@pytest.mark.parametrize(
    ("arguments", "wording"),
    [
        (["run"], "no experiment given"),
        (["run", "tuor"], "unknown experiment 'tuor'"),
        (["run", "tour", "keyed-reads"], "expected one experiment, got 2"),
        (["run", "tour", "engin=sqlite"], "unknown coordinate 'engin'"),
        (["run", "tour", "engine=sqlit"], "unknown engine 'sqlit'"),
        (["run", "tour", "engine="], "expected COORDINATE=VALUE"),
        (["run", "tour", "-r", "0"], "at least 1 set"),
        (["run", "tour", "--nonsense"], "unknown option or argument: --nonsense"),
        (["run", "tour", "--fast", "--rigorous"], "not allowed with"),
        (["run", "tour", "--within", "3m", "--fast"], "not allowed with"),
        (["run", "tour", "--within", "2s"], "--within 2 s is too short"),
        (["run", "tour", "--within", "soon"], "invalid --within 'soon'"),
        (["run", "tour", "--export-json", "/nonexistent/r.json"], "/nonexistent/r.json"),
        (["run", "nowhere.toml"], "no file nowhere.toml"),
        (["run", "--resume", "/nonexistent"], "/nonexistent is not a run directory"),
        (["show", "/nonexistent"], "/nonexistent is not a run directory"),
        (["report", "/nonexistent"], "/nonexistent is not a run directory"),
        (["verify", "tour", "--adapters", "/nonexistent.toml"], "/nonexistent.toml"),
        (["list", "nothing"], "nothing"),
        (["list", "engines", "engine=sqlite"], "takes no filter"),
        (["selftest", "nonsense"], "unknown known-answer test 'nonsense'"),
        (["nonsense"], "nonsense"),
    ],
)
def test_a_mistake_in_the_usage(tmp_path: Path, arguments: list[str], wording: str) -> None:
    done = called(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    message, hint = error_form(done.stderr)
    assert done.stderr.startswith("error: ")
    assert wording in message
    assert hint
    assert not list(tmp_path.iterdir()), "nothing is left behind"


def test_a_mistake_in_an_experiment(tmp_path: Path) -> None:
    file = write_experiment(tmp_path, [SQLITE_C])
    file.write_text(file.read_text().replace("rounds =", "ruonds ="))
    done = called("run", file)
    assert done.returncode == 2
    line = 1 + file.read_text().splitlines().index("ruonds = 5")
    message, hint = error_form(done.stderr)
    assert f"{file}:{line}: unknown key 'ruonds'" in message
    assert "'rounds'" in hint


def test_something_this_machine_lacks(tmp_path: Path) -> None:
    experiment = write_experiment(tmp_path, [SQLITE_PYTHON])
    done = rowpath("run", experiment, "-o", "/proc/rowpath-run")
    assert done.returncode == 3
    assert done.stdout == ""
    error_form(done.stderr)


def test_an_internal_error(tmp_path: Path) -> None:
    compiler = tmp_path / "cc"
    compiler.write_text('#!/bin/sh\n[ "$1" = --version ] && echo broken 1.0 && exit\necho no good >&2\nexit 1\n')
    compiler.chmod(0o755)
    experiment = write_experiment(
        tmp_path, ['engine = "null", language = "c", driver = "null"'], phases=["null.nothing"]
    )
    done = rowpath("run", experiment, "-o", tmp_path / "run", added={"CC": str(compiler)})
    assert done.returncode == 4, done.stderr
    assert done.stdout == ""
    message, hint = error_form(done.stderr)
    assert "no good" in message
    assert str(compiler) in hint


@pytest.mark.parametrize(
    ("error", "code"), [("TimedOut('it did not end', 'try again')", 124), ("ValueError('a defect')", 4)]
)
def test_what_cannot_be_provoked(error: str, code: int) -> None:
    done = rowpath("list", "engines", program=(sys.executable, "-c", BROKEN.format(error=error)))
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    error_form(done.stderr)


def test_help_and_version() -> None:
    for arguments in (["--help"], ["run", "--help"], ["show", "--help"]):
        done = rowpath(*arguments)
        assert done.returncode == 0 and done.stderr == ""
        assert "usage: rowpath" in done.stdout
        assert ("exit codes:" in done.stdout) == (arguments == ["--help"])
    assert rowpath("--version").stdout.startswith("rowpath ")


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("engines", ["sqlite", "postgresql", "derby", "h2", "hsqldb", "duckdb", "parquet", "arrow", "file", "null"]),
        ("workloads", ["scan", "keyed", "tab1", "aggregate", "connect", "types", "load", "retrieve", "wide"]),
        ("experiments", ["tour", "access-methods", "keyed-reads", "clients", "columnar", "load", "tls", "wide"]),
    ],
)
def test_lists(what: str, expected: list[str]) -> None:
    done = called("list", what)
    assert done.returncode == 0 and done.stderr == ""
    first = [line.split()[0] for line in done.stdout.splitlines() if line[:1].strip()]
    assert set(expected) <= set(first), done.stdout


def test_list_paths_and_its_filters() -> None:
    done = rowpath("list", "paths", "engine=sqlite", "language=c,python")
    assert done.returncode == 0 and done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines
    for line in lines:
        words = dict(word.split("=", 1) for word in line.split() if "=" in word)
        assert words["engine"] == "sqlite" and words["language"] in ("c", "python")
    with_reader_gone = rowpath("list", "paths", program=("/bin/sh", "-c", '"$@" | head -1', "sh", *PROGRAM))
    assert with_reader_gone.stderr == "" and len(with_reader_gone.stdout.splitlines()) == 1


def test_a_plan_runs_nothing(tmp_path: Path) -> None:
    done = rowpath("run", "tour", "--plan", "engine=sqlite", cwd=tmp_path)
    assert done.returncode == 0 and done.stderr == ""
    assert "SQLite C" in done.stdout and "SQLite Python" in done.stdout
    assert "estimated time" in done.stdout
    assert "PostgreSQL" not in done.stdout
    assert not list(tmp_path.iterdir())


def test_words_and_options_in_any_order(tmp_path: Path) -> None:
    words = ["tour", "engine=sqlite", "language=c"]
    plans = {
        called("run", *words, "--plan", "--fast").stdout,
        called("run", "engine=sqlite", "-w", "2.5", "language=c", "--fast", "tour", "--plan").stdout,
    }
    assert len(plans) == 1 and "SQLite C" in plans.pop()
    least = "lead-ins of 2 ms, Go 25 ms\n"
    assert least in called("run", "languages", "--plan").stdout
    assert least not in called("run", "languages", "--plan", "language=c").stdout
    moded = called("run", "tour", "--plan", "-M", "text", "language=c").stdout
    assert moded == called("run", "tour", "statement=text", "--plan", "language=c").stdout


def test_the_json_export(run: Path, tmp_path: Path) -> None:
    done = rowpath("show", run, "--export-json", "-")
    assert done.returncode == 0 and done.stderr == ""
    export = json.loads(done.stdout)
    schema = json.loads((ROOT / "schemas" / "results.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(export, schema)
    timed = [result for result in export["results"] if result["metric"] == "time"]
    assert {(r["workload"], r["phase"]) for r in timed} == {("keyed", "read"), ("scan", "read")}
    assert all(r["digest"] and r["sets"] == 2 and r["blocks"] for r in timed)
    file = tmp_path / "r.json"
    also = called("show", run, "--export-json", file)
    assert also.returncode == 0 and "keyed" in also.stdout
    assert json.loads(file.read_text(encoding="utf-8")) == export


def test_the_code_of_adapters_is_kept(run: Path) -> None:
    done = called("show", run, "--export-json", "-")
    sources = json.loads(done.stdout)["sources"]
    assert sources == {
        file: (ROOT / "runners" / file).read_text(encoding="utf-8")
        for file in ("c/adapters/sqlite.c", "python/adapters/sqlite3.py")
    }


def test_the_other_exports(run: Path) -> None:
    done = called("show", run, "--export-csv", "-")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert done.returncode == 0 and done.stderr == ""
    assert {row["metric"] for row in rows} >= {"time", "connect", "client_cpu"}
    done = called("show", run, "--export-markdown", "-")
    assert done.returncode == 0 and done.stderr == ""
    assert any(line.startswith("|") for line in done.stdout.splitlines())


def test_the_exports_for_other_programs(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "r.parquet"
    done = called("show", run, "--export-parquet", file, "--export-csv", "-")
    table = parquet.read_table(file).to_pylist()
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["median"] for row in table] == [float(row["median"]) if row["median"] else None for row in rows]
    done = called("show", run, "--export-bencher", "-")
    benchmarks = json.loads(done.stdout)
    done = called("show", run, "--export-github-benchmark", "-")
    entries = json.loads(done.stdout)
    counted = {benchmark for benchmark, measures in benchmarks.items() if "latency" in measures}
    assert counted == {entry["name"].removesuffix(" · time") for entry in entries if entry["name"].endswith(" · time")}
    good = sum(row["metric"] == "time" and row["status"] in ("ok", "tied") for row in rows)
    assert len(counted) == good or done.stderr.startswith("not exported")


def test_a_projection_of_a_real_run(run: Path) -> None:
    done = called("show", run, "--row", "path", "--col", "regime", "--filter", "phase=scan.read")
    assert done.returncode == 0 and done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[:3] == ["time by path and regime", "", "scan.read"]
    assert lines[3].split() == ["path", "steady", "cold"]
    unknown = called("show", run, "--row", "motor")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    message, hint = error_form(unknown.stderr)
    assert message == "unknown coordinate 'motor' in --row"
    assert hint.startswith("one of: path, phase, regime, engine, ")


def test_data_alone_on_stdout_of_a_run(tmp_path: Path) -> None:
    experiment = write_experiment(tmp_path, [SQLITE_PYTHON], sets=1, rounds=1)
    done = rowpath("run", experiment, "-q", "-o", tmp_path / "run", "--export-json", "-")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["results"]
    assert "sqlite" in done.stderr


def test_a_run_directory_that_was_moved(run: Path, tmp_path: Path) -> None:
    before = {form: called("show", run, f"--export-{form}", "-").stdout for form in ("json", "markdown")}
    shown = [called("show", run, *words).stdout for words in ((), ("--tables",))]
    moved = tmp_path / "far away"
    shutil.copytree(run, moved)
    hidden = run.with_name("hidden")
    run.rename(hidden)
    try:
        after = {form: called("show", moved, f"--export-{form}", "-").stdout for form in before}
        assert after == before
        replaced = [called("show", moved, *words).stdout for words in ((), ("--tables",))]
        assert [_unwrapped(text, moved) for text in replaced] == [_unwrapped(text, run) for text in shown]
        assert called("report", moved).returncode == 0
        assert (moved / "report.html").read_bytes() == (hidden / "report.html").read_bytes()
    finally:
        hidden.rename(run)


def _unwrapped(text: str, directory: Path) -> str:
    """Without its breaks, and the directory's name replaced wherever it stands, in quotes or broken by a wrap."""
    joined = "".join(text.replace(shlex.quote(str(directory)), "DIR").split())
    return joined.replace("".join(str(directory).split()), "DIR")


def test_verify(tmp_path: Path) -> None:
    words = ("driver=sqlite", "statement=prepared", "clients=1", "placement=same")
    done = rowpath("verify", *words, "-o", tmp_path / "run", "-q")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 wrong or failed" in done.stdout
    assert not records(tmp_path / "run", "sample"), "nothing is measured"
    assert {record["workload"] for record in records(tmp_path / "run", "verify")} >= {"scan", "keyed", "types", "tab1"}
    assert all(record["ok"] for record in records(tmp_path / "run", "verify"))


def test_doctor() -> None:
    done = rowpath("doctor")
    assert done.returncode == 0 and done.stderr == ""
    for word in ("Engines", "Paths", "Collectors", "Noise sources", "sqlite", "postgresql", "derby"):
        assert word in done.stdout


@pytest.mark.skipif(not ENGINES["postgresql"].availability().ok, reason="no PostgreSQL")
def test_two_versions_of_a_driver_in_one_set(tmp_path: Path) -> None:
    adapter = next(adapter for adapter in load_manifest("java").adapter if adapter.driver == "pgjdbc")
    here = availability(adapter, "42.7.4")
    if not here.ok:
        pytest.skip(here.reason)
    path = 'engine = "postgresql", driver = "pgjdbc", transport = "tcp", version = ["42.7.14", "42.7.4"]'
    experiment = write_experiment(tmp_path, [path], sets=1, rounds=2)
    run = tmp_path / "run"
    done = rowpath("run", experiment, "-o", run, "--gate", "--junit", tmp_path / "run.xml")
    assert done.returncode == 0, done.stdout + done.stderr
    suite = ElementTree.parse(tmp_path / "run.xml").getroot()[0]
    assert suite.get("failures") == "0"
    assert [case.get("classname") for case in suite].count("keyed.read") == 2
    names = {record["path_id"]: record["name"] for record in records(run, "path")}
    assert len(names) == 2 and len(set(names.values())) == 2
    assert [len(record["path_ids"]) for record in records(run, "set")] == [2]
    told = {names[record["path_id"]]: record["facts"]["driver_version"] for record in records(run, "facts")}
    for version in ("42.7.14", "42.7.4"):
        assert any(name.endswith(f" {version}") and said.endswith(f" {version}") for name, said in told.items()), told


def test_colour_is_never_where_it_is_not_wanted(run: Path) -> None:
    assert "\x1b[" not in rowpath("show", run).stdout
    assert "\x1b[" in rowpath("show", run, "--color", "always").stdout
    assert "\x1b[" not in rowpath("show", run, "--color", "never").stdout


def test_the_launcher_of_a_clone(tmp_path: Path) -> None:
    if not os.access(ROOT / "rowpath", os.X_OK):
        pytest.fail("./rowpath cannot be executed")
    done = rowpath("list", "experiments", cwd=tmp_path, program=(str(ROOT / "rowpath"),), added={"PYTHONPATH": ""})
    assert done.returncode == 0, done.stderr
    assert "tour" in done.stdout


def test_within_says_what_it_costs_and_the_run_has_it(tmp_path: Path) -> None:
    run = tmp_path / "run"
    small = ("tour", "engine=sqlite,null", "language=c", "--within")
    refused = called("run", *small, "1s")
    assert refused.returncode == 2
    least_s = int(refused.stderr.rpartition("--within ")[2].partition("s")[0])  # how fast this machine is decides
    within = f"{math.ceil(1.5 * least_s)}s"
    planned = called("run", *small, within, "--plan")
    assert planned.returncode == 0, planned.stderr
    assert f"within {within[:-1]} s, about " in planned.stdout
    done = rowpath("run", *small, within, "-o", run)
    assert done.returncode == 0, done.stderr
    assert f"within {within[:-1]} s, about " in done.stderr
    measure, usual = records(run, "run")[0]["experiment"]["measure"], load_experiment("tour").experiment.measure
    assert measure["sets"] < usual.sets
    assert f"{measure['sets']} set{'s' * (measure['sets'] > 1)} instead of {usual.sets}" in done.stderr
    assert (f"{measure['rounds']} rounds instead of" in done.stderr) == (measure["rounds"] != usual.rounds)
    measured = len(records(run, "set-end"))
    notes = [note["text"] for note in records(run, "note")]
    cut = f"{measured} of {measure['sets']} sets measured: another would exceed --within {within[:-1]} s"
    assert measured == measure["sets"] or cut in notes
    for words, said in (((), True), (("-q",), False)):
        again = called("run", *small, within, "-o", run, *words)
        assert again.returncode == 2 and (f"within {within[:-1]} s" in again.stderr) == said
