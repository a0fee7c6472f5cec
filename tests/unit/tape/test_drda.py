"""DRDA's commands as the recording proxy follows them, in whatever pieces they come."""

from __future__ import annotations

from typing import Any

import pytest

from rowpath.tape.conversation import Refused
from rowpath.tape.drda import DrdaConversation, pieces, terms
from rowpath.tape.scrub import Scrub
from tests.unit.tape.test_postgresql import Kept

SECTION = b"shop".ljust(18) + b"NULLID".ljust(18) + b"SYSLH000".ljust(18) + b"SYSLVL01" + b"\0\1"
SECRET = b"correct horse"


def of(code: int, *values: bytes) -> bytes:
    """A term: two bytes of length, two of code point, then its value or its own terms."""
    value = b"".join(values)
    return (len(value) + 4).to_bytes(2, "big") + code.to_bytes(2, "big") + value


def piece(kind: int, correlation: int, body: bytes) -> bytes:
    """A DSS: length, D0, format, correlation."""
    return (len(body) + 6).to_bytes(2, "big") + bytes((0xD0, kind)) + correlation.to_bytes(2, "big") + body


def named(section: bytes = SECTION) -> bytes:
    return of(0x2113, section)


def sqlcard(code: int = 0, state: bytes = b"     ", rows: int = 0) -> bytes:
    numbers = bytes(4) + rows.to_bytes(4, "big") + bytes(16)
    group = b"\0" + code.to_bytes(4, "big") + state + b"CSS10160" + b"\0" + numbers + b" " * 11 + bytes(6) + b"\xff"
    return of(0x2408, group)


EXCSAT = of(0x1041, of(0x115E, b"\x84\x85"), of(0x1404, b"\x14\x03\0\7\x24\7\0\7"), of(0x116D, b"\xa2"))
EXCSATRD = of(
    0x1443, of(0x1147, "Apache Derby".encode("cp037")), of(0x115A, "CSS10160/10.16.1.1 - (1)".encode("cp037"))
)
ACCSEC = of(0x106D, of(0x11A2, b"\0\3"), of(0x2110, b"shop".ljust(18)))
SECCHK = of(0x106E, of(0x11A2, b"\0\3"), of(0x11A0, b"walther"), of(0x11A1, SECRET))
ACCRDB = of(
    0x2001,
    of(0x2110, b"shop".ljust(18)),
    of(0x112E, b"DNC10160"),
    of(0x002F, b"QTDSQLASC"),
    of(0x2135, b"NF000001.CE16token"),
)
ACCRDBRM = of(0x2201, of(0x1149, b"\0\0"), of(0x112E, b"CSS10160"), of(0x002F, b"QTDSQLASC"))
COMMIT, COMMITTED = of(0x200E), of(0x220C, of(0x1149, b"\0\4"), of(0x2115, b"\1"))
PREPARE = of(0x200D, named(), of(0x2116, b"\xf1"))
SQL = of(0x2414, b"\0\0\0\0\x0eSELECT a FROM t\xff")
SQLDARD = of(0x2411, b"described")
OPEN = of(0x200C, named(), of(0x2114, b"\0\0\x7f\xff"))
OPENED = of(0x2205, of(0x1149, b"\0\0"), of(0x215B, b"\0\0\0\0\0\0\0\7"))


def logged_in(scrub: Scrub | None = None) -> tuple[DrdaConversation, Kept]:
    kept: Any = Kept()
    conversation = DrdaConversation(kept, scrub)
    conversation.client(piece(0x41, 1, EXCSAT) + piece(0x01, 2, ACCSEC))
    conversation.server_sent(piece(0x42, 1, EXCSATRD) + piece(0x02, 2, of(0x14AC, of(0x11A2, b"\0\3"))))
    conversation.client(piece(0x41, 1, SECCHK) + piece(0x01, 2, ACCRDB))
    assert not kept.connections
    secchkrm = of(0x1219, of(0x1149, b"\0\0"), of(0x11A4, b"\0"))
    conversation.server_sent(piece(0x42, 1, secchkrm) + piece(0x02, 2, ACCRDBRM))
    return conversation, kept


def test_a_login_leaves_neither_names_nor_secrets() -> None:
    conversation, kept = logged_in()
    assert conversation.server == "Apache Derby 10.16.1.1" and len(kept.connections) == 1
    (attributes, attributes_reply, *_), (access, access_reply, *_) = kept.asks
    assert attributes == piece(0x01, 0, of(0x1041, of(0x1404, b"\x14\x03\0\7\x24\7\0\7")))
    assert access == piece(0x01, 0, of(0x2001, of(0x112E, b"DNC10160"), of(0x002F, b"QTDSQLASC")))
    assert (attributes_reply, access_reply) == (piece(0x02, 0, EXCSATRD), piece(0x02, 0, ACCRDBRM))
    everything = b"".join(one[0] + one[1] for one in kept.asks)
    assert not [word for word in (SECRET, b"walther", b"shop", b"token") if word in everything]


@pytest.mark.parametrize("size", [1, 3, 50, 10_000])
def test_a_chain_is_paired_in_any_pieces(size: int) -> None:
    conversation, kept = logged_in()
    data = of(0x241B, b"a row", sqlcard(100, b"02000", rows=7)[4:], b"\xff")
    sent = (piece(0x51, 1, PREPARE) + piece(0x43, 1, SQL) + piece(0x01, 2, OPEN) + piece(0x41, 1, COMMIT)) + piece(
        0x01, 2, OPEN
    )
    got = piece(0x43, 1, SQLDARD) + piece(0x52, 2, OPENED) + piece(0x03, 2, data)
    got += piece(0x52, 1, COMMITTED) + piece(0x43, 1, sqlcard()) + piece(0x52, 2, OPENED) + piece(0x03, 2, data)
    for at in range(0, len(sent), size):
        assert conversation.client(sent[at : at + size]) == sent[at : at + size]
    for at in range(0, len(got), size):
        assert conversation.server_sent(got[at : at + size]) == got[at : at + size]
    prepared, opened, committed, again = kept.asks[2:]
    blank = SECTION.replace(b"shop", b"    ")
    prepare = of(0x200D, named(blank), of(0x2116, b"\xf1"))
    assert prepared == (piece(0x51, 0, prepare) + piece(0x03, 0, SQL), piece(0x03, 0, SQLDARD), "T", False)
    everywhere = of(0x241B, b"a row", sqlcard(100, b"02000")[4:], b"\xff")
    rows = piece(0x52, 0, OPENED.replace(b"\7", b"\0")) + piece(0x03, 0, everywhere)
    assert opened == (piece(0x01, 0, OPEN.replace(b"shop", b"    ")), rows, "T", False)
    assert committed[1:] == (piece(0x52, 0, COMMITTED) + piece(0x03, 0, sqlcard()), "I", False)
    assert again == opened


@pytest.mark.parametrize("late", [False, True])
def test_what_the_server_does_not_answer_is_left_out(late: bool) -> None:
    conversation, kept = logged_in()
    first, rest = piece(0x51, 1, PREPARE) + piece(0x43, 1, SQL), piece(0x41, 2, OPEN) + piece(0x01, 3, COMMIT)
    conversation.client(first + (b"" if late else rest))
    conversation.server_sent(piece(0x03, 1, sqlcard(0xFFFFFFFF, b"42X05")))
    conversation.client((rest if late else b"") + piece(0x01, 1, COMMIT))
    conversation.server_sent(piece(0x52, 1, COMMITTED) + piece(0x03, 1, sqlcard()))
    failed, committed = kept.asks[2:]
    assert (failed[3], committed[3]) == (True, False) and committed[0] == piece(0x01, 0, COMMIT)


def test_a_long_name_of_a_database_is_blanked_too() -> None:
    conversation, kept = logged_in()
    parts = (b"a name of more than eighteen", b"NULLID".ljust(18), b"SYSLH000".ljust(18))
    long = b"".join(len(part).to_bytes(2, "big") + part for part in parts) + b"SYSLVL01\0\1"
    conversation.client(piece(0x01, 1, of(0x200C, named(long))))
    conversation.server_sent(piece(0x03, 1, sqlcard()))
    assert kept.asks[2][0] == piece(0x01, 0, of(0x200C, named(long.replace(parts[0], b" " * len(parts[0])))))


def test_a_long_piece_is_continued() -> None:
    first, second = b"\0\0\x24\x1b" + b"a" * (0x7FFF - 10), b"b" * 40
    raw = b"\xff\xff\xd0\x03\0\1" + first + b"\0\x2a" + second
    buffer = bytearray(raw)
    (found,) = pieces(buffer)
    assert (found.body, found.raw, found.correlation, buffer) == (first + second, raw, 1, b"")
    buffer = bytearray(raw[:-1])
    assert not list(pieces(buffer)) and buffer == raw[:-1]


def test_terms_have_short_long_and_open_lengths() -> None:
    assert list(terms(of(0x2114, b"abcd") + of(0x2116))) == [(0x2114, 4, 8), (0x2116, 12, 12)]
    assert list(terms(b"\x80\x08\x24\x1b\0\0\0\3abc")) == [(0x241B, 8, 11)]
    assert list(terms(b"\x80\x04\x14\x6cabc")) == [(0x146C, 4, 7)]
    for broken in (b"\0\3\x24\x1b", b"\0\x09\x24\x1babcd", b"\x80\x08\x24\x1b\0\0\0\4abc"):
        with pytest.raises(Refused, match="longer than its message"):
            list(terms(broken))


@pytest.mark.parametrize(
    ("sent", "reply", "why"),
    [
        (b"\x16\x03\x01\0\xa5\1\0\0\xa1", b"", "TLS is not recorded"),
        (piece(0x01, 1, of(0x106D, of(0x11A2, b"\0\x09"))), b"", "security mechanism 9"),
        (piece(0x01, 1, of(0x1055)), b"", "command 0x1055"),
        (piece(0x01, 1, COMMIT), piece(0x02, 1, of(0x2219)), "reply 0x2219"),
        (piece(0x01, 1, COMMIT), piece(0x03, 2, sqlcard()), "reply of DRDA to no command"),
        (piece(0x03, 1, COMMIT), b"", "unusual form"),
        (piece(0x51, 1, PREPARE) + piece(0x03, 2, SQL), b"", "belongs to no command"),
        (b"\0\5\xd0\1\0\1", b"", "shorter than its head"),
        (
            piece(0x51, 1, PREPARE) + piece(0x03, 1, of(0x2414, b"\0\0\0\0\5CALL SYSCS_UTIL.SYSCS_CREATE_USER(?, ?)")),
            b"",
            "sets a password",
        ),
    ],
)
def test_what_no_tape_holds_is_named(sent: bytes, reply: bytes, why: str) -> None:
    conversation, _kept = logged_in()
    with pytest.raises(Refused, match=why):
        conversation.client(sent)
        conversation.server_sent(reply)


def test_rows_of_drda_are_not_scrubbed() -> None:
    with pytest.raises(Refused, match="--scrub does not know"):
        logged_in(Scrub())
