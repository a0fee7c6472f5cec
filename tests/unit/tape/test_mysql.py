"""MySQL's commands as the recording proxy follows them, in whatever pieces they come."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from rowpath.tape.conversation import Refused
from rowpath.tape.mysql import COMPRESS, DEPRECATE_EOF, TLS, MysqlConversation
from rowpath.tape.scrub import Scrub
from tests.unit.tape.test_postgresql import Kept

BASE = 0x00FFF7DF | 1
OK_PACKET = b"\0\0\0\2\0\0\0"
IN_TRANSACTION = b"\0\0\0\3\0\0\0"


def packets(*payloads: bytes, first: int = 1) -> bytes:
    return b"".join(
        len(one).to_bytes(3, "little") + bytes(((first + number) % 256,)) + one for number, one in enumerate(payloads)
    )


def command(payload: bytes) -> bytes:
    return packets(payload, first=0)


def greeting(flags: int) -> bytes:
    words = struct.pack("<I", flags)
    head = b"\x0a8.0.15\0" + struct.pack("<I", 7) + b"saltsalt\0" + words[:2] + b"\x21\2\0" + words[2:] + b"\x15"
    return head + bytes(10) + b"saltsaltsalt\0" + b"caching_sha2_password\0"


def logged_in(flags: int = BASE, scrub: Scrub | None = None) -> tuple[MysqlConversation, Kept]:
    kept: Any = Kept()
    conversation = MysqlConversation(kept, scrub)
    changed = conversation.server_sent(packets(greeting(flags | TLS | COMPRESS), first=0))
    assert changed == packets(greeting(flags & ~(TLS | COMPRESS)), first=0)
    login = struct.pack("<IIB", flags & ~(TLS | COMPRESS), 1 << 24, 33) + bytes(23) + b"me\0\x14scrambled.scrambled."
    conversation.client(packets(login))
    conversation.server_sent(packets(b"\xfecaching_sha2_password\0salt", first=2))
    conversation.client(packets(b"secret", first=3))
    conversation.server_sent(packets(OK_PACKET, first=4))
    ((startup, reply),) = kept.connections
    assert len(startup) == 32 and b"scrambled" not in startup
    assert b"salt" not in reply and b"secret" not in reply and reply.endswith(OK_PACKET)
    assert conversation.server == "8.0.15"
    return conversation, kept


def column(kind: int = 253) -> bytes:
    texts = b"".join(bytes((len(text),)) + text for text in (b"def", b"shop", b"t", b"t", b"a", b"a"))
    return texts + b"\x0c" + struct.pack("<HIBHB", 33, 40, kind, 0, 0) + b"\0\0"


def eof(flags: int, status: int = 2) -> bytes:
    return b"\xfe\0\0" + struct.pack("<HH", status, 0) if flags & DEPRECATE_EOF else b"\xfe\0\0" + bytes((status, 0))


def rows(flags: int, *values: bytes, status: int = 2) -> list[bytes]:
    metadata = [] if flags & DEPRECATE_EOF else [eof(flags)]
    return [b"\1", column(), *metadata, *(bytes((len(one),)) + one for one in values), eof(flags, status)]


@pytest.mark.parametrize("flags", [BASE, BASE | DEPRECATE_EOF])
@pytest.mark.parametrize("size", [1, 3, 50, 10_000])
def test_commands_are_paired_in_any_pieces(flags: int, size: int) -> None:
    conversation, kept = logged_in(flags)
    asked = [b"\x03SELECT a FROM t", b"\x0e", b"\x03BEGIN", b"\x03CALL two()", b"\x03bad"]
    two = rows(flags, b"abc", status=2 | 8)
    replies = [
        packets(*rows(flags, b"abc", b"\xfe" * 12)),
        packets(OK_PACKET),
        packets(IN_TRANSACTION),
        packets(*two, *rows(flags, b"x"), first=1),
        packets(b"\xff\x28\x04#42000no"),
    ]
    sent, got = b"".join(map(command, asked)), b"".join(replies)  # all before the first answer
    for at in range(0, len(sent), size):
        assert conversation.client(sent[at : at + size]) == sent[at : at + size]
    for at in range(0, len(got), size):
        assert conversation.server_sent(got[at : at + size]) == got[at : at + size]
    states = ["I", "I", "T", "I", "I"]
    failed = [False] * 4 + [True]
    assert kept.asks == list(zip(asked, replies, states, failed, strict=True))


def prepared_reply(number: int, columns: int = 1, parameters: int = 1) -> bytes:
    return b"\0" + struct.pack("<IHHBH", number, columns, parameters, 0, 0)


def test_statements_are_numbered_in_order() -> None:
    conversation, kept = logged_in()
    eof_packet = eof(BASE)
    for number in (70, 71):
        conversation.client(command(b"\x16SELECT ?" + b"%d" % number))
        conversation.server_sent(packets(prepared_reply(number), column(), eof_packet, column(), eof_packet))
    execute = b"\0\1\0\0\0\0\1\xfe\0\1x"
    conversation.client(
        command(b"\x17" + struct.pack("<I", 71) + execute)
        + command(b"\x17" + struct.pack("<I", 0xFFFFFFFF) + execute)
        + command(b"\x19" + struct.pack("<I", 70))
        + command(b"\x0e")
    )
    binary = [b"\1", column(), eof_packet, b"\0\0\3abc", eof_packet]
    conversation.server_sent(packets(*binary) * 2 + packets(OK_PACKET))
    requests = [ask[0] for ask in kept.asks]
    assert requests[2:] == [
        b"\x17\2\0\0\0" + execute,
        b"\x17\xff\xff\xff\xff" + execute,
        b"\x19\1\0\0\0",
        b"\x0e",
    ]
    assert kept.executions == [b"SELECT ?71"] * 2


def test_a_cursor_ends_after_its_columns() -> None:
    conversation, kept = logged_in()
    conversation.client(command(b"\x16SELECT 1"))
    conversation.server_sent(packets(prepared_reply(1, parameters=0), column(), eof(BASE)))
    conversation.client(command(b"\x17\1\0\0\0\1\1\0\0\0"))
    conversation.server_sent(packets(b"\1", column(), eof(BASE, 2 | 64)))
    conversation.client(command(b"\x1c\1\0\0\0\5\0\0\0"))
    conversation.server_sent(packets(b"\0\0\3abc", eof(BASE, 2 | 128)))
    assert [ask[0][0] for ask in kept.asks] == [0x16, 0x17, 0x1C]


@pytest.mark.parametrize(
    ("asked", "reply", "why"),
    [
        (command(b"\x03LOAD DATA LOCAL INFILE 'x'"), packets(b"\xfbx"), "LOAD DATA LOCAL"),
        (command(b"\x11me"), b"", "command 0x11"),
        (packets(b"\x03SELECT 1", first=2), b"", "not a command"),
        (command(b"\x03CREATE USER a IDENTIFIED BY 'x'"), b"", "sets a password"),
    ],
)
def test_what_no_tape_holds_is_named(asked: bytes, reply: bytes, why: str) -> None:
    conversation, _kept = logged_in()
    with pytest.raises(Refused, match=why):
        conversation.client(asked)
        conversation.server_sent(reply)


def test_a_login_with_tls_is_refused() -> None:
    kept: Any = Kept()
    conversation = MysqlConversation(kept, None)
    conversation.server_sent(packets(greeting(BASE), first=0))
    with pytest.raises(Refused, match="insists on TLS"):
        conversation.client(packets(struct.pack("<IIB", BASE | TLS, 0, 33) + bytes(23)))


def test_rows_become_noise_of_the_same_size() -> None:
    conversation, kept = logged_in(scrub=Scrub())
    conversation.client(command(b"\x03SELECT a FROM t"))
    real = packets(*rows(BASE, b"abcdef"))
    conversation.server_sent(real)
    noise = kept.asks[0][1]
    assert noise != real and len(noise) == len(real) and b"abcdef" not in noise
