"""Comparing runs in which one server process worked for all sets: it shows nothing of the next process."""

from __future__ import annotations

from pathlib import Path

from rowpath.analysis.comparison.compare import compare
from rowpath.analysis.comparison.model import ComparedRow
from tests.unit.analysis.comparison.test_compare import SLOWER, bend, made, row
from tests.unit.journal_factory import Record


def test_peak_memory_of_one_server_process_a_side_is_no_difference(tmp_path: Path) -> None:
    """Its sets agree to the byte: what the next process takes they do not show."""

    def grown(record: Record) -> None:
        if record["record"] == "memory" and "driver=psycopg," in record["path_id"]:
            record["server_peak_bytes"] = int(1.3 * record["server_peak_bytes"])

    def outcome(*sides: list[Path]) -> ComparedRow:
        rows = compare(*sides, ()).rows
        return next(row for row in rows if (row.name, row.metric) == (SLOWER, "server_peak_memory"))

    runs = [made(tmp_path / str(seed), seed) for seed in range(4)]
    heads = [bend(run, grown) for run in runs[2:]]
    one = outcome(runs[:1], heads[:1])
    assert (one.outcome, one.reason) == ("no difference shown", "one server process a side shows no noise")
    assert outcome(runs[:2], heads).outcome == "more"
    restarted = [bend(run, lambda record: record.get("options", {}).update(restart_servers=True)) for run in runs]
    assert outcome(restarted[:1], restarted[2:3]).outcome == "more"


def test_time_behind_one_server_process_a_side_is_no_difference(tmp_path: Path) -> None:
    """A server in Java stays for all sets: what its compiler makes of the next process they do not show."""

    def stays(record: Record) -> None:
        if record["record"] == "path" and "driver=psycopg," in record["path_id"]:
            record["server_stays"] = True

    def outcome(*sides: list[Path]) -> ComparedRow:
        return row(compare(*sides, ()), SLOWER, "keyed.read", "steady")

    runs = [bend(made(tmp_path / str(seed), seed), stays) for seed in range(4)]
    heads = [bend(made(tmp_path / f"slower {seed}", seed, slower=1.5), stays) for seed in (2, 3)]
    one = outcome(runs[:1], heads[:1])
    assert (one.outcome, one.reason) == ("no difference shown", "one server process a side shows no noise")
    assert outcome(runs[:2], heads).outcome == "slower"
    restarted = [
        bend(run, lambda record: record.get("options", {}).update(restart_servers=True)) for run in (runs[0], heads[0])
    ]
    assert outcome(restarted[:1], restarted[1:]).outcome == "slower"
