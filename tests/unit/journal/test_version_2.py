"""Journals of schema version 2 are read under the names of version 3."""

from pathlib import Path
from typing import Any

from rowpath.journal.mixed_load_records import ClientGroupRecord
from rowpath.journal.reader import Records, read
from rowpath.journal.records import FailureRecord
from tests.unit import journal_factory as factory

TABLE = {"generator": "hits", "rows": 10, "seed": 1, "columns": [{"name": "ID", "type": "integer"}]}
WORKLOAD = {
    "name": "scan",
    "title": "A scan",
    "tables": {"hits": TABLE},
    "phases": [
        {"name": "read", "kind": "query", "table": "hits", "truth": "whole-table"},
        {"name": "write", "kind": "execute"},
    ],
}


def _read(directory: Path, *more: dict[str, Any]) -> Records:
    made = factory.records(factory.Run(paths=factory.usual_paths()[:2], sets=2, rounds=3, disturbed_share=0))
    made[0] |= {"schema_version": 2, "workloads": {"scan": WORKLOAD}}
    records = read(factory.write(directory, [*made, *more]))
    assert records.skipped_lines == 0 and not records.notes
    return records


def test_the_rows_that_a_phase_must_deliver(tmp_path: Path) -> None:
    workload = _read(tmp_path).run.workloads["scan"]
    assert [phase.expected for phase in workload.phases] == ["whole-table", "none"]


def test_what_a_probe_found(tmp_path: Path) -> None:
    tried = {"name": "b", "path": {}, "step": "try", "anchor": "a", "said": "libpq, text"}
    records = _read(tmp_path, {"record": "probe", "tried": tried}, {"record": "probe", "limit": "few sets"})
    candidate, caveat = records.probe
    assert candidate.tried is not None
    assert (candidate.tried.compared_with, candidate.tried.description) == ("a", "libpq, text")
    assert caveat.caveat == "few sets"


def test_the_rate_that_was_requested_of_a_client_group(tmp_path: Path) -> None:
    (group,) = _read(tmp_path, {"record": "client-group", "client_group": "readers", "asked_per_s": 900.0}).all(
        ClientGroupRecord
    )
    assert group.requested_per_s == 900.0


def test_a_result_that_may_be_of_a_cache(tmp_path: Path) -> None:
    (failure,) = _read(tmp_path, {"record": "failure", "kind": "not-asked", "text": "a cache"}).all(FailureRecord)
    assert (failure.kind, failure.text) == ("client-cache", "a cache")
