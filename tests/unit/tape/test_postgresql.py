"""PostgreSQL's messages as the recording proxy follows them, in whatever pieces they come."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from rowpath.tape.conversation import Refused
from rowpath.tape.postgresql import PostgresqlConversation, startup_of
from rowpath.tape.scrub import Scrub

STARTUP = b"\0\3\0\0user\0me\0database\0shop\0client_encoding\0UTF8\0application_name\0x\0\0"
READY = b"Z\0\0\0\5I"
NAMES = ("", "s1")


class Kept:
    """Records that only remember."""

    def __init__(self) -> None:
        self.connections: list[tuple[bytes, bytes]] = []
        self.asks: list[tuple[bytes, bytes, str, bool]] = []
        self.executions: list[bytes] = []

    def connect(self, startup: bytes, reply: bytes) -> int:
        self.connections.append((startup, reply))
        return len(self.connections) - 1

    def ask(self, _connection: int, request: bytes, reply: bytes, state: str, failed: bool, _extra: int = 0) -> None:
        self.asks.append((request, reply, state, failed))

    def executed(self, sql: bytes) -> None:
        self.executions.append(sql)


def message(kind: str, body: bytes = b"") -> bytes:
    return kind.encode() + struct.pack("!I", len(body) + 4) + body


def ready(state: str = "I") -> bytes:
    return message("Z", state.encode())


def logged_in(scrub: Scrub | None = None) -> tuple[PostgresqlConversation, Kept]:
    kept: Any = Kept()
    conversation = PostgresqlConversation(kept, scrub)
    first = struct.pack("!II", 8, 80877103) + struct.pack("!I", len(STARTUP) + 4) + STARTUP
    for at in range(len(first)):
        conversation.client(first[at : at + 1])
    assert conversation.to_client == b"N"
    status = message("S", b"server_version\x0018.4\0")
    conversation.server_sent(message("R", struct.pack("!I", 10) + b"SCRAM-SHA-256\0\0"))
    conversation.client(message("p", b"SCRAM-SHA-256\0secret"))
    conversation.server_sent(message("R", struct.pack("!I", 0)) + status + message("K", bytes(8)) + READY)
    assert conversation.server == "PostgreSQL 18.4"
    assert kept.connections == [(startup_of(STARTUP), status)]
    return conversation, kept


def prepared(name: str = "s1") -> list[bytes]:
    named = name.encode() + b"\0"
    return [
        message("P", named + b"SELECT $1\0\0\0"),
        message("B", b"\0" + named + b"\0\0\0\1\0\0\0\1x\0\1\0\0"),
        message("D", b"P\0"),
        message("E", b"\0\0\0\0\0"),
        message("S"),
    ]


def replies() -> list[bytes]:
    row = struct.pack("!Hi", 1, 3) + b"abc"
    columns = struct.pack("!H", 1) + b"a\0" + struct.pack("!IHIhih", 0, 0, 25, -1, -1, 0)
    return [
        message("1"),
        message("2"),
        message("T", columns),
        message("D", row) + message("D", row) + message("C", b"SELECT 2\0"),
        ready(),
    ]


def test_who_logs_in_where_is_left_out() -> None:
    assert startup_of(STARTUP) == b"\0\3\0\0client_encoding\0UTF8\0\0"


@pytest.mark.parametrize("size", [1, 2, 7, 100, 10_000])
def test_messages_are_paired_in_any_pieces(size: int) -> None:
    conversation, kept = logged_in()
    sent, got = b"".join(prepared() * 3), b"".join(replies() * 3)  # a pipeline of three
    for at in range(0, len(sent), size):
        assert conversation.client(sent[at : at + size]) == sent[at : at + size]
    for at in range(0, len(got), size):
        assert conversation.server_sent(got[at : at + size]) == got[at : at + size]
    expected = [(q, r, "I", False) for q, r in zip(prepared(), replies(), strict=True)][:-1]
    assert kept.asks == expected * 3
    assert kept.executions == [b"SELECT $1"] * 3


def test_an_error_ends_at_the_next_sync() -> None:
    conversation, kept = logged_in()
    error = message("E", b"SERROR\0C42P01\0Mno\0\0")
    parse, *_, sync = prepared()
    conversation.client(b"".join(prepared()))
    conversation.server_sent(error + ready())
    conversation.client(parse)  # the error comes before the rest of its pipeline
    conversation.server_sent(error)
    conversation.client(b"".join(prepared()[1:]))
    conversation.server_sent(ready())
    conversation.client(b"".join(prepared()))
    conversation.server_sent(b"".join(replies()))
    assert [ask[3] for ask in kept.asks] == [True, True, False, False, False, False]
    assert sync not in [ask[0] for ask in kept.asks]


def test_the_state_follows_the_statements() -> None:
    conversation, kept = logged_in()

    def execute(sql: str, tag: str, state: str) -> str:
        body = sql.encode()
        asked = [message("P", b"\0" + body + b"\0\0\0"), message("B", b"\0\0\0\0\0\0\0\0"), *prepared()[3:]]
        conversation.client(b"".join(asked))
        conversation.server_sent(message("1") + message("2") + message("C", tag.encode() + b"\0") + ready(state))
        return kept.asks[-1][2]

    assert execute("BEGIN", "BEGIN", "T") == "T"
    assert execute("SELECT 1", "SELECT 1", "T") == "T"
    assert execute("ROLLBACK TO a", "ROLLBACK", "T") == "T"
    assert execute("COMMIT", "COMMIT", "I") == "I"
    with pytest.raises(Refused, match="state does not follow"):
        execute("COMMIT AND CHAIN", "COMMIT", "T")


@pytest.mark.parametrize(
    ("asked", "reply", "why"),
    [
        (message("Q", b"COPY t FROM STDIN\0"), message("G", b"\0\0\0"), "COPY from the client"),
        (message("d", b"x"), b"", "COPY from the client"),
        (message("F", b"x"), b"", "message of type b'F'"),
        (message("Q", b"LISTEN a\0"), message("A", b"\0\0\0\1a\0\0"), "notification"),
        (message("Q", b"ALTER ROLE me PASSWORD 'x'\0"), b"", "sets a password"),
        (message("P", b"\0CREATE USER a IDENTIFIED BY 'x'\0\0\0"), b"", "sets a password"),
        (b"Q\0\0\0\1", b"", "not a message"),
    ],
)
def test_what_no_tape_holds_is_named(asked: bytes, reply: bytes, why: str) -> None:
    conversation, _kept = logged_in()
    with pytest.raises(Refused, match=why):
        conversation.client(asked)
        conversation.server_sent(reply)


def test_other_protocols_are_named() -> None:
    kept: Any = Kept()
    with pytest.raises(Refused, match="version 2 of"):
        PostgresqlConversation(kept, None).client(struct.pack("!II", 8, 2 << 16))
    with pytest.raises(Refused, match="cancel"):
        PostgresqlConversation(kept, None).client(struct.pack("!IIII", 16, 80877102, 1, 1))


def test_rows_become_noise_of_the_same_size() -> None:
    conversation, kept = logged_in(Scrub())
    conversation.client(b"".join(prepared()))
    conversation.server_sent(b"".join(replies()))
    noise = kept.asks[3][1]
    real = replies()[3]
    assert noise != real and len(noise) == len(real)
    assert noise[:11] == real[:11] and noise[11:14].isalpha() and noise.count(noise[11:14]) == 2


def test_the_backends_process_is_taken_out() -> None:
    conversation, kept = logged_in()
    pid = 0  # of the login above
    row = message("D", struct.pack("!Hi", 1, 1) + b"%d" % pid)
    conversation.client(message("Q", b"SELECT pg_backend_pid()\0") + message("Q", b"SELECT 0\0"))
    for _ in range(2):
        conversation.server_sent(row + message("C", b"SELECT 1\0") + ready())
    assert [ask[1][11:12] for ask in kept.asks] == [b"1", b"0"]
