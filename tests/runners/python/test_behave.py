"""Whether the Python drivers stop a long statement when they are asked to, on real engines."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines.postgresql import Postgresql
from rowpath.engines.sqlite import Sqlite
from rowpath.runners import protocol as p
from rowpath.runners.process import RunnerFailure
from tests.runners.python.engines import postgresql_fixture, sqlite_file_fixture, sqlite_loaded_fixture  # noqa: F401
from tests.runners.python.talk import Talk, kept_fixture, living_fixture, start_fixture  # noqa: F401

AFTER_MS, MOST_MS = 1_000, 40_000  # an earlier request could be lost where the statement waits for the CPU


def tried(talk: Talk, behaviour: str, sql: str, after_ms: int = AFTER_MS, most_ms: int = MOST_MS) -> p.InterruptReply:
    return talk.runner.request(
        p.Interrupt, 60, kind=behaviour, sql=sql, after_ms=after_ms, most_ms=most_ms, expect=p.InterruptReply
    )


@pytest.mark.parametrize(
    ("driver", "behaviour", "said", "profile"),
    [
        ("psycopg", "cancel", "user request", "tuned"),
        ("psycopg", "timeout", "statement timeout", "tuned"),
        ("psycopg2", "cancel", "user request", "tuned"),
        ("psycopg2", "timeout", "statement timeout", "tuned"),
        ("asyncpg", "cancel", "Cancelled", "tuned"),
        ("asyncpg", "timeout", "Timeout", "tuned"),
        ("psqlpy", "timeout", "statement timeout", "tuned"),
        # It is tried on a connection of its own as when tuned, also beside ones that begin transactions by themselves.
        ("psycopg", "timeout", "statement timeout", "shipped"),
        ("psycopg2", "cancel", "user request", "shipped"),
    ],
)
def test_postgresql(
    kept: Callable[..., Talk], postgresql: dict[str, Any], driver: str, behaviour: str, said: str, profile: str
) -> None:
    talk = kept(driver)
    talk.open(**postgresql, statement="text", transport="tcp", profile=profile, clients="2")
    reply = tried(talk, behaviour, Postgresql().slow_query)
    assert (reply.honoured, reply.usable) == (True, True)
    assert said in reply.text
    assert AFTER_MS * 0.9 <= reply.took_ns / 1e6 < MOST_MS
    talk.run("SELECT 1")  # nothing of it was on the connections that are open


def test_sqlite(kept: Callable[..., Talk], sqlite_file: Path) -> None:
    talk = kept("sqlite3")
    talk.open(path=str(sqlite_file), statement="prepared")
    reply = tried(talk, "cancel", Sqlite().slow_query)
    assert (reply.honoured, reply.usable) == (True, True)
    assert "interrupted" in reply.text
    with pytest.raises(RunnerFailure, match="no statement timeout") as caught:
        tried(talk, "timeout", Sqlite().slow_query)
    assert caught.value.kind == "unsupported"
    with pytest.raises(RunnerFailure, match="no such table") as caught:
        tried(talk, "cancel", "SELECT * FROM nowhere", after_ms=20_000)
    assert caught.value.kind == "sql"
    ended = tried(talk, "cancel", "SELECT 1")
    assert (ended.honoured, ended.usable, ended.text) == (False, True, "the query ended by itself")
    with pytest.raises(RunnerFailure, match="unknown behaviour 'sing'"):
        tried(talk, "sing", "SELECT 1")


DEAF = """
import threading, time
from core.adapter import Adapter as Base

class Adapter(Base):
    def cancel(self):
        pass

    def run(self, statement):
        time.sleep(600)
"""


def test_it_gives_up_on_a_driver_that_does_not_hear(start: Callable[..., Talk], tmp_path: Path) -> None:
    (tmp_path / "adapters").mkdir()
    (tmp_path / "adapters" / "toy.py").write_text(DEAF)
    talk = start("toy", tmp_path)
    talk.open()
    started = time.monotonic()
    reply = tried(talk, "cancel", "anything", 100, 500)
    assert time.monotonic() - started >= 0.5
    assert (reply.honoured, reply.usable) == (False, False)
    assert "still running after 500 ms" in reply.text
    with pytest.raises(RunnerFailure, match="no statement timeout") as caught:
        tried(talk, "timeout", "anything")
    assert caught.value.kind == "unsupported"
