"""Runners that crash, hang, chatter, answer out of order, speak another version, refuse or lie."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rowpath.runners.protocol import PROTOCOL
from tests import fakes
from tests.end_to_end.command import records, rowpath

TIMEOUT_S = 10  # an honest one answers in time on a loaded machine
SPOKEN = ".".join(map(str, PROTOCOL))
OUTCOMES = {
    "crash": ("failed", "the runner was killed by SIGABRT"),
    "hang": ("failed", f"no reply within {TIMEOUT_S} s; the runner was stopped"),
    "out-of-order": ("failed", "answered request"),
    "other-version": ("failed", f"the runner speaks protocol 99.0 with codec 2, this Rowpath speaks {SPOKEN}"),
    "wrong-digest": ("wrong", "digest 6071:"),
    "too-few-rows": ("wrong", "digest 6070:"),
    "never-reads": ("wrong", "some values were not read"),
    "unknown-requirement": ("unsupported", "the requirement 'touch' is not known"),
    "silent-start": ("failed", "the runner ended with status 7"),
}
RANKED = ("ok", "tied", "disturbed")


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """One run over all of them at once."""
    folder = tmp_path_factory.mktemp("faults")
    manifest, experiment = fakes.write_manifest(folder), fakes.write_experiment(folder)
    files: list[str | Path] = ["--adapters", manifest, "-o", folder / "run", "--export-json", folder / "r.json"]
    done = rowpath("run", experiment, "--timeout", str(TIMEOUT_S), *files)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return folder / "run", json.loads((folder / "r.json").read_text())


@pytest.mark.parametrize("how", OUTCOMES)
def test_a_fault_is_named_and_not_ranked(everything: tuple[Path, dict[str, Any]], how: str) -> None:
    _directory, export = everything
    status, reason = OUTCOMES[how]
    mine = [result for result in export["results"] if result["name"] == how and result["metric"] == "time"]
    assert mine
    for result in mine:
        assert (result["status"], result["median"]) == (status, None)
        assert reason in result["reason"]
    for ranking in export["rankings"]:
        rows = [row for row in ranking["rows"] if row["name"] == how]
        assert all((row["rank"], row["cost_ns"], row["status"]) == (0, None, status) for row in rows)
    said = {(one["status"], name) for one in export["answer"]["not_ranked"] for name in one["names"]}
    assert (status, how) in said or any(f"{how} in scan.read ({status})" in text for text in export["verdict"])


@pytest.mark.parametrize("regime", ["cold", "steady"])
def test_the_honest_one_is_ranked_and_so_is_the_chatty_one(
    everything: tuple[Path, dict[str, Any]], regime: str
) -> None:
    _directory, export = everything
    ranking = next(ranking for ranking in export["rankings"] if ranking["regime"] == regime)
    placed = [row["name"] for row in ranking["rows"] if row["rank"] > 0]
    assert sorted(placed) == ["honest", "noise"]
    for result in export["results"]:
        if result["name"] in placed and result["metric"] == "time":
            assert result["status"] in RANKED
            assert result["sets"] == 2
            assert result["median"] > 0


def test_nothing_measured_is_lost(everything: tuple[Path, dict[str, Any]]) -> None:
    directory, _export = everything
    names = {record["path_id"]: record["name"] for record in records(directory, "path")}
    samples = [names[record["path_id"]] for record in records(directory, "sample")]
    assert {"honest", "noise", "never-reads", "crash", "hang"} == set(samples)
    notes = [record["text"] for record in records(directory, "note")]
    assert any("noise said: WARNING: a chatty library says hello" in note for note in notes)
    assert len(records(directory, "set-end")) == 2
    assert records(directory)[-1] == {"record": "end", "outcome": "complete"}


def test_the_gate(tmp_path: Path) -> None:
    faults = ("honest", "too-few-rows")
    manifest = fakes.write_manifest(tmp_path, faults)
    experiment = fakes.write_experiment(tmp_path, faults, sets=1)
    done = rowpath("run", "--gate", experiment, "--adapters", manifest, "-o", tmp_path / "run")
    assert done.returncode == 1, done.stderr
    assert "too-few-rows" in done.stdout


def test_verify_finds_them_too(tmp_path: Path) -> None:
    faults = ("honest", "too-few-rows", "out-of-order")
    manifest = fakes.write_manifest(tmp_path, faults)
    experiment = fakes.write_experiment(tmp_path, faults)
    done = rowpath("verify", experiment, "--adapters", manifest, "-q", "-o", tmp_path / "run")
    assert done.returncode == 1, done.stderr
    assert "too-few-rows" in done.stdout
    assert "6070 rows, expected 6071" in done.stdout
