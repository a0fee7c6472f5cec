"""Whose syncs are counted, from when until when, and how a server on another host is asked about them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rowpath.engines.base import Place
from rowpath.execution.instances import ServerSyncs
from rowpath.hosts.server_side import FarServerSyncs
from rowpath.machine.counters import syncs
from rowpath.machine.counters.syncs import SyncCount

NO_COMPILER = "unavailable: the library needs a C compiler"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Of a server, where a library for counting is there."""
    monkeypatch.setattr(syncs, "method", lambda: syncs.METHOD)
    monkeypatch.setattr(syncs, "environment", lambda file: {"LD_PRELOAD": "library", "FILE": str(file)})
    return Place(tmp_path, tmp_path, ())


def _of(place: Place, **instance: str) -> ServerSyncs:
    made: Any = SimpleNamespace(**({"deployment": "server"} | instance))
    return ServerSyncs(made, place, place.directory / "syncs")


def test_a_server_counts_from_one_start_until_another(place: Place) -> None:
    counted = _of(place)
    assert counted.method() == syncs.METHOD
    assert counted.read() == SyncCount(None, "")
    counted.count(True)
    file = Path(place.environment["FILE"])
    assert place.environment == {"LD_PRELOAD": "library", "FILE": str(file)}
    file.write_bytes(bytes([5, *bytes(7), 2, *bytes(8 * syncs.COUNTERS - 9)]))
    assert counted.read() == SyncCount(7, syncs.METHOD)
    counted.count(False)
    assert place.environment == {}
    assert counted.read().total is None


def test_what_else_is_added_for_a_server_stays(place: Place) -> None:
    counted = _of(place)
    counted.count(False)
    place.environment["LD_PRELOAD"] = "another"
    counted.count(False)
    assert place.environment == {"LD_PRELOAD": "another"}


@pytest.mark.parametrize("instance", [{"deployment": "embedded"}, {"given_by": "ROWPATH_POSTGRESQL_URL"}])
def test_only_servers_of_ours_are_counted(place: Place, instance: dict[str, str]) -> None:
    assert _of(place, **instance).method() == ""
    assert _of(place, **instance).read() == SyncCount(None, "")


def test_without_a_compiler_the_reason_is_named(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("CC", "no-such-compiler")
    assert _of(place).method() == NO_COMPILER
    assert _of(place).read() == SyncCount(None, NO_COMPILER)


def test_another_host_is_asked_by_the_instance(place: Place) -> None:
    here = _of(place)
    asked: list[Any] = []

    def ask(method: str, *words: Any) -> Any:
        asked.append((method, *words))
        return getattr(here, words[1])(*words[2:])

    key = ("postgresql", "server", "full", "none", "none", "none", "db")
    far = FarServerSyncs(key, ask)
    assert far.method() == syncs.METHOD
    far.count(True)
    assert far.read() == SyncCount(0, syncs.METHOD)
    assert asked == [("server_syncs", key, *words) for words in (("method",), ("count", True), ("read",))]
