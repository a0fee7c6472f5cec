import json
from pathlib import Path

import pytest

from rowpath.errors import UsageError
from rowpath.journal.mixed_load_records import ClientGroupRecord, CountedFailure
from rowpath.journal.reader import read_as_written
from rowpath.journal.record_base import OperationFailure
from rowpath.journal.records import (
    CountedRecord,
    EndRecord,
    FactsRecord,
    FailureRecord,
    NoteRecord,
    OperationShape,
    PathRecord,
    ProbeRecord,
    RunRecord,
    SampleRecord,
    SetEndRecord,
    SetRecord,
    VerifiedRecord,
    WorkerRecord,
)
from rowpath.journal.writer import Journal, RunDirectory
from rowpath.model.experiment import Experiment, Selection
from rowpath.scrubber import Scrubber
from rowpath.text import printable


def made(path: Path, scrubber: Scrubber | None = None) -> tuple[RunDirectory, Journal]:
    directory = RunDirectory(path)
    directory.create()
    return directory, Journal(directory, scrubber or Scrubber())


def test_a_record_is_one_line_on_disk_at_once(tmp_path: Path) -> None:
    directory, journal = made(tmp_path / "run")
    journal.write(NoteRecord("first\nline"))
    lines = directory.samples.read_text().splitlines()
    assert [json.loads(line) for line in lines] == [{"record": "note", "text": "first\nline"}]


def test_secrets_never_reach_the_disk_in_any_form(tmp_path: Path) -> None:
    directory, journal = made(tmp_path / "run", Scrubber(['Pass1 "w/ö']))
    written = 'plain Pass1 "w/ö, quoted Pass1%20%22w%2F%C3%B6, plus Pass1+%22w%2F%C3%B6'
    journal.write(NoteRecord(written))
    journal.write(FactsRecord(facts={"settings": {"url": written}}))
    text = directory.samples.read_text()
    for form in ("Pass1", "%C3%B6"):
        assert form not in text
    assert text.count("***") == 6


def test_a_secret_that_may_be_a_word_goes_from_foreign_fields_only(tmp_path: Path) -> None:
    directory, journal = made(tmp_path / "run", Scrubber(["text"]))
    journal.write(NoteRecord("as text"))
    journal.write(FactsRecord(path_id="text", facts={"text": "by text=text", "texts": 1}))
    note, facts = map(json.loads, directory.samples.read_text().splitlines())
    assert note == {"record": "note", "text": "as text"}
    assert (facts["path_id"], facts["facts"]) == ("text", {"text": "by ***=***", "texts": 1})


def test_the_directory_is_private(tmp_path: Path) -> None:
    directory, _journal = made(tmp_path / "run")
    assert directory.path.stat().st_mode & 0o777 == 0o700
    assert directory.samples.stat().st_mode & 0o777 == 0o600


def test_two_runs_never_share_a_directory(tmp_path: Path) -> None:
    directory, _journal = made(tmp_path / "run")
    with pytest.raises(UsageError, match="in use by another run"):
        Journal(directory, Scrubber())
    with pytest.raises(UsageError, match="already holds a run"):
        directory.create()


def test_a_directory_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious")
    with pytest.raises(UsageError, match="not empty"):
        RunDirectory(tmp_path).create()
    assert (tmp_path / "mine").read_text() == "precious"


def test_going_on_after_a_torn_line_starts_a_new_one(tmp_path: Path) -> None:
    directory, journal = made(tmp_path / "run")
    journal.write(NoteRecord("whole"))
    journal.close()
    with directory.samples.open("a") as stream:
        stream.write('{"record":"sam')
    journal = Journal(directory, Scrubber())
    journal.write(NoteRecord("after"))
    lines = directory.samples.read_text().splitlines()
    assert json.loads(lines[0])["text"] == "whole"
    assert json.loads(lines[2])["text"] == "after"


def test_control_characters_of_foreign_text_are_removed() -> None:
    assert printable("a\x1b[31mred\x07\x9b\ttab\nline") == "a[31mred\ttab\nline"


def test_a_misspelt_field_is_an_error() -> None:
    with pytest.raises(TypeError, match="opertions"):
        SampleRecord(opertions=1)  # type: ignore[call-arg]


def test_what_is_written_is_what_is_read_and_what_is_kept_in_memory(tmp_path: Path) -> None:
    directory, journal = made(tmp_path / "run")
    at = {"path_id": "p", "workload": "keyed", "phase": "read"}
    written = [
        RunRecord(command=["rowpath"], seed=3, methods={"cpu": "clock"}),
        PathRecord("p", "a path", {"engine": "sqlite"}, durabilities=["full"]),
        VerifiedRecord("p", {"keyed.scan": "wrong"}),
        SetRecord(0, 2, ["p"]),
        WorkerRecord(set=0, path_id="p", pid=7),
        FactsRecord(set=0, path_id="p", facts={"driver_version": "1"}),
        SampleRecord(
            set=0, **at, regime="steady", round=0, failure=OperationFailure("sql", "1", "no"), cpu_coverage=0.9
        ),
        CountedRecord(**at, operations=3, shape=OperationShape(1.0, 4.0, 20.5)),
        FailureRecord.of(0, "p", "keyed.read", "unsupported", "not\x1b[31m here"),
        ClientGroupRecord(set=0, path_id="p", stage="s", failures=[CountedFailure("sql", "1", "no", 4)]),
        ProbeRecord(caveat="nothing is known"),
        SetEndRecord(0, 2),
        NoteRecord("a note"),
        EndRecord("complete"),
    ]
    for record in written:
        journal.write(record)
    journal.close()
    found = read_as_written(directory.path)
    assert found == journal.records
    assert found.skipped_lines == 0
    assert {record.batch for record in (*found.in_sets, *found.in_stages)} == {0, 2}
    assert (found.done.sets, found.done.verified, found.done.bad) == ({(2, 0)}, {"p"}, {"p": {"keyed.scan": "wrong"}})
    (worker,) = found.all(WorkerRecord)
    assert worker.facts == {"driver_version": "1"}
    (failure,) = found.all(FailureRecord)
    assert (failure.workload, failure.phase, failure.status, failure.text) == (
        "keyed",
        "read",
        "unsupported",
        "not[31m here",
    )


def test_a_head_with_unknown_fields_is_read(tmp_path: Path) -> None:
    directory, journal = made(tmp_path / "run")
    journal.write(RunRecord(experiment=Experiment(1, "e", "E", (), (Selection({"engine": "sqlite"}),))))
    journal.close()
    head = json.loads(directory.samples.read_text())
    head["experiment"]["paths"][0]["new"] = head["experiment"]["measure"]["new"] = head["new"] = 1
    directory.samples.write_text(json.dumps(head) + "\n")
    experiment = read_as_written(directory.path).run.experiment
    assert experiment.paths == (Selection({"engine": "sqlite"}),)
