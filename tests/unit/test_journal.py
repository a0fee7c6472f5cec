import json
from pathlib import Path

import pytest

from rowpath.errors import UsageError
from rowpath.journal.records import NoteRecord
from rowpath.journal.writer import Journal, RunDirectory, Scrubber
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
    scrubber = Scrubber()
    scrubber.add('p@ss "w/ö')
    directory, journal = made(tmp_path / "run", scrubber)
    journal.write(NoteRecord('plain p@ss "w/ö, quoted p%40ss%20%22w%2F%C3%B6, plus p%40ss+%22w%2F%C3%B6'))
    text = directory.samples.read_text()
    for form in ("p@ss", "p%40ss", "%C3%B6"):
        assert form not in text
    assert text.count("***") == 3


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
