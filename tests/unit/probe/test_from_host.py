"""What is kept here of a probe on another host: in pieces, as they come; how it ended; what its URL's host is there."""

from __future__ import annotations

import pickle
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.errors import InternalError, UsageError
from rowpath.execution.several_hosts import HostLost
from rowpath.journal.writer import RunDirectory
from rowpath.model.progress import Progress
from rowpath.own_database.host_choice import where_resolved
from rowpath.own_database.question import ProbeOptions
from rowpath.probe import from_host
from rowpath.probe.from_host import readied

Look = tuple[dict[str, bytes], int | None]


class Notes(Progress):
    """Keeps notes."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


class There:
    """An agent whose program shows these looks, one after the other."""

    def __init__(self, *looks: Look | BaseException) -> None:
        self._looks: Iterator[Look | BaseException] = iter(looks)
        self.seen: list[dict[str, int]] = []
        self.requests: list[str] = []
        self.given = b""

    def __call__(self, method: str, *arguments: Any) -> Any:
        self.requests.append(method)
        if method == "program_start":
            self.given = arguments[1]
        if method != "program_look":
            return None
        self.seen.append(arguments[1])
        look = next(self._looks)
        if isinstance(look, BaseException):
            raise look
        return look


def mirrored(folder: Path, there: There, progress: Progress) -> bool:
    directory = RunDirectory(folder / "run")
    directory.create()
    return from_host.Mirror("app1", there, directory, progress).follow()


def test_pieces_are_put_together_and_events_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    progress = Notes()
    there = There(
        ({"run/samples.jsonl": b'{"a"', "events": b'["say","probing"]\n["note",'}, None),
        ({"run/samples.jsonl": b":1}\n", "events": b'"hello"]\n', "run/logs/search.log": b"line\n"}, None),
        ({"events": b'["result","ok",false]\n'}, 0),
        ({}, 0),
    )
    assert mirrored(tmp_path, there, progress) is False
    assert (tmp_path / "run" / "samples.jsonl").read_text() == '{"a":1}\n'
    assert (tmp_path / "run" / "logs" / "search.log").read_text() == "line\n"
    assert (tmp_path / "run" / "samples.jsonl").stat().st_mode & 0o777 == 0o600
    assert progress.notes == ["hello"]
    assert capsys.readouterr().err == "probing\n"
    assert there.seen[1] == {"run/samples.jsonl": 4, "events": 26}


def test_an_error_there_names_the_host(tmp_path: Path) -> None:
    there = There(({"events": b'["result","error",["UsageError","no file","a hint"]]\n'}, 0), ({}, 0))
    with pytest.raises(UsageError) as failure:
        mirrored(tmp_path, there, Progress())
    assert (failure.value.message, failure.value.hint) == ("on host app1: no file", "a hint")


def test_a_program_without_a_result_is_an_error_with_its_last_words(tmp_path: Path) -> None:
    there = There(({"errors": b"Traceback\nImportError: no\n"}, None), ({}, 1))
    with pytest.raises(InternalError, match=r"on host app1 ended with status 1:\nTraceback\nImportError: no"):
        mirrored(tmp_path, there, Progress())


def test_an_interruption_is_passed_on_once(tmp_path: Path) -> None:
    end: Look = ({"events": b'["result","ok",true]\n'}, 0)
    there = There(KeyboardInterrupt(), end, ({}, 0))
    assert mirrored(tmp_path, there, Progress()) is True
    assert there.requests.count("program_interrupt") == 1
    there = There(KeyboardInterrupt(), KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        mirrored(tmp_path / "again", there, Progress())


def test_a_lost_host_leaves_a_journal_that_says_so_or_nothing(tmp_path: Path) -> None:
    lost = HostLost("app1", "its agent has ended")
    options = ProbeOptions("postgresql://a@b/c", from_host="app1", directory=tmp_path / "run")
    progress = Notes()
    there = There(({"run/samples.jsonl": b'{"type":"note","text":"a"}\n{"type":"no'}, None), lost)
    with pytest.raises(HostLost):
        from_host.probe(options, there, progress, {})
    lines = (tmp_path / "run" / "samples.jsonl").read_text().splitlines()
    assert '"interrupted"' in lines[-1]
    assert lines[-2] == '{"type":"no'
    assert progress.notes == [f"what was measured until then: rowpath show {tmp_path / 'run'}"]
    assert there.requests[-1] == "program_end"
    with pytest.raises(HostLost):
        from_host.probe(options.__class__("x", directory=tmp_path / "other"), There(lost), progress, {})
    assert not (tmp_path / "other").exists()


def test_files_of_this_machine_go_with_the_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROWPATH_PROBE_PASSWORD", "hunter2")
    (tmp_path / "q.sql").write_text("SELECT a FROM t WHERE a = ?")
    (tmp_path / "p.csv").write_text("a:int\n1\n")
    given = ProbeOptions(
        "postgresql://a@b/c",
        query_file=tmp_path / "q.sql",
        params_file=tmp_path / "p.csv",
        from_host="app1",
        directory=tmp_path / "run",
    )
    options, files = readied(given)
    assert files == {"given/p.csv": b"a:int\n1\n"}
    there = There(({"events": b'["result","error",["UsageError","no",""]]\n'}, 0), ({}, 0))
    with pytest.raises(UsageError):
        from_host.probe(options, there, Progress(), files)
    request = pickle.loads(there.given)
    assert (request.options.query, request.options.query_file) == ("SELECT a FROM t WHERE a = ?", None)
    assert (request.options.params_file, request.options.directory) == (Path("given/p.csv"), Path("run"))
    assert request.password == "hunter2"
    assert "hunter2" not in repr(request)


@pytest.mark.parametrize(
    ("addresses", "said"),
    [
        (["127.0.0.1", "::1"], ("db.example of the URL is host app1 itself",)),
        (["10.0.0.2"], ("host app1 resolved db.example to 10.0.0.2",)),
    ],
)
def test_which_machine_a_name_means_there(
    monkeypatch: pytest.MonkeyPatch, addresses: list[str], said: tuple[str, ...]
) -> None:
    found = [(0, 0, 0, "", (each, 0)) for each in addresses]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: found)
    assert where_resolved("db.example", "app1") == said
    assert where_resolved("db.example", "") == ()


def test_an_address_needs_no_note() -> None:
    assert where_resolved("10.0.0.2", "app1") == ()
    assert where_resolved("127.0.0.1", "app1") == ("127.0.0.1 of the URL is host app1 itself",)
