"""The reader: torn lines, restarted sets, unknown records."""

import json
from pathlib import Path

import pytest

from rowpath.errors import InternalError, UsageError
from rowpath.journal.reader import read
from rowpath.journal.records import SampleRecord
from tests.unit import journal_factory as factory


def _small() -> factory.Run:
    return factory.Run(paths=factory.usual_paths()[:4], sets=2, rounds=3, disturbed_share=0)


def test_a_torn_last_line_is_ignored_and_a_broken_one_counted(tmp_path: Path) -> None:
    made = factory.records(_small())
    run = factory.write(tmp_path, made)
    whole = read(run)
    file = run / "samples.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([lines[0], "no record\n", '{"record":"invented"}\n', *lines[1:], lines[-3][:40]]))
    torn = read(run)
    assert torn.skipped_lines == 2
    assert torn.all(SampleRecord) == whole.all(SampleRecord)
    assert whole.outcome == "complete"


def test_a_restarted_set_replaces_what_it_had_left(tmp_path: Path) -> None:
    made = factory.records(_small())
    start = next(i for i, record in enumerate(made) if record["record"] == "set" and record["set"] == 1)
    failure = {"record": "failure", "set": 1, "path_id": "x", "workload": "", "phase": "", "status": "failed"}
    failure["path_id"] = made[start]["path_ids"][0]
    killed = [*made[: start + 9], failure, {"record": "resumed", "started": "later"}, *made[start:]]
    once, twice = read(factory.write(tmp_path / "a", made)), read(factory.write(tmp_path / "b", killed))
    assert twice.in_sets == once.in_sets
    assert twice.resumed == 1


def test_restarting_one_group_leaves_the_other_alone(tmp_path: Path) -> None:
    names = [made.name for made in factory.usual_paths()[:6]]
    run = factory.Run(paths=factory.usual_paths()[:6], sets=1, rounds=3, groups=[names[:4], names[3:]])
    made = factory.records(run)
    again = next(i for i, record in enumerate(made) if record["record"] == "set" and record["batch"] == 1)
    once, twice = (
        read(factory.write(tmp_path / name, records))
        for name, records in (("a", made), ("b", [*made[:-1], *made[again:]]))
    )
    assert twice.in_sets == once.in_sets


def test_null_and_unknown_fields_are_taken_as_absent(tmp_path: Path) -> None:
    made = factory.records(_small())
    for record in made:
        if record["record"] == "sample":
            record |= {"server_cpu_ns": None, "wait_ns": None, "invented": [1]}
    assert read(factory.write(tmp_path, made)).skipped_lines == 0


def test_errors_name_the_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"samples\.jsonl"):
        read(tmp_path)
    (tmp_path / "samples.jsonl").write_text("{}\n")
    with pytest.raises(UsageError, match="is not a run directory"):
        read(tmp_path)


@pytest.mark.parametrize("version", [1, 2, 99])
def test_a_journal_of_another_version_is_refused(version: int, tmp_path: Path) -> None:
    (tmp_path / "samples.jsonl").write_text(json.dumps({"record": "run", "schema_version": version}) + "\n")
    with pytest.raises(InternalError, match=f"has schema version {version}; this Rowpath reads version 3") as refused:
        read(tmp_path)
    assert refused.value.hint == "read it with the Rowpath that wrote it"
