"""DRDA, as a recording proxy sees it: each command of the client with its objects, and the server's reply to it.

Source: The Open Group, "DRDA, Version 5", volume 3: "Distributed Data Management Architecture" (its DSS and terms).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from typing_extensions import override

from rowpath.tape.conversation import Conversation, Refused, check_statement
from rowpath.tape.format import TapeRecords
from rowpath.tape.scrub import Scrub

EXCSAT, ACCSEC, SECCHK, ACCRDB = 0x1041, 0x106D, 0x106E, 0x2001
PRPSQLSTT, DSCSQLSTT, OPNQRY, CNTQRY, CLSQRY = 0x200D, 0x2008, 0x200C, 0x2006, 0x2005
EXCSQLIMM, EXCSQLSTT, EXCSQLSET, RDBCMM, RDBRLLBCK = 0x200A, 0x200B, 0x2014, 0x200E, 0x200F
STATEMENTS = (PRPSQLSTT, DSCSQLSTT, OPNQRY, CNTQRY, CLSQRY, EXCSQLIMM, EXCSQLSTT, EXCSQLSET, RDBCMM, RDBRLLBCK)
SECMEC, SQLSTT, PKGNAMCSN, QRYINSID, MGRLVLLS = 0x11A2, 0x2414, 0x2113, 0x215B, 0x1404
PRDID, TYPDEFNAM, TYPDEFOVR, SRVCLSNM, SRVRLSLV = 0x112E, 0x002F, 0x0035, 0x1147, 0x115A
KEPT = {EXCSAT: (MGRLVLLS,), ACCRDB: (PRDID, TYPDEFNAM, TYPDEFOVR)}  # of the login; the rest says who logs in where
EXCSATRD, ACCRDBRM, OPNQRYRM, ENDUOWRM, QRYDTA, SQLCARD = 0x1443, 0x2201, 0x2205, 0x220C, 0x241B, 0x2408
REPLIES = {EXCSATRD, ACCRDBRM, OPNQRYRM, ENDUOWRM, TYPDEFNAM, TYPDEFOVR, QRYDTA, SQLCARD} | {
    0x14AC: "ACCSECRD",
    0x1219: "SECCHKRM",
    0x2411: "SQLDARD",
    0x2413: "SQLDTARD",
    0x241A: "QRYDSC",
    0x146C: "EXTDTA",
    0x220B: "ENDQRYRM",
    0x2202: "QRYNOPRM",
    0x2212: "OPNQFLRM",
    0x2213: "SQLERRRM",
    0x2218: "RDBUPDRM",
    0xC000: "PBSD, Derby's own",
}.keys()
IN_CLEAR = (3, 4)  # mechanisms: user and password, user only
REQUEST, OBJECT = 1, 3  # types of a DSS
CHAINED, SAME, TYPE = 0x40, 0x10, 0x0F  # bits of its fourth byte: another one follows, of the same correlation
HEAD_BYTES = 6
LONGEST = 0x7FFF  # of a DSS without continuations
# The end of rows: SQLCODE 100, then among six numbers (SQLERRD) how many rows the section has delivered so far.
END_OF_ROWS = re.compile(rb"(\0\0\0\0\x6402000.{8}\0.{4}).{4}(.{16}.{11}\0{6}\xff\xff?)\Z", re.DOTALL)
END_BYTES = 62
SHORT_NAME_BYTES = 18  # of a database; the terms of a PKGNAMCSN of 64 bytes have no lengths
SHORT_PKGNAMCSN_BYTES = 64


class Dss(NamedTuple):
    """One of the pieces that a conversation consists of."""

    flags: int
    correlation: int
    body: bytes  # without the heads
    raw: bytes


@dataclass
class PendingRequest:
    """A command with its objects whose reply is not complete."""

    command: int
    correlation: int
    request: bytes
    ends_chain: bool
    reply: list[bytes] = field(default_factory=list)
    codes: set[int] = field(default_factory=set)  # code points of the reply


def pieces(buffer: bytearray) -> Iterator[Dss]:
    """Take whole pieces out of the buffer. Errors: Refused."""
    while len(buffer) >= HEAD_BYTES:
        if buffer[2] != 0xD0:
            raise Refused("bytes that are not a DRDA message (TLS is not recorded)")
        body, at, more, head = b"", 0, True, HEAD_BYTES
        while more:
            if len(buffer) - at < 2:
                return
            size = int.from_bytes(buffer[at : at + 2], "big")
            more, size = size > LONGEST, size & LONGEST
            if size < head:
                raise Refused("a message of DRDA that is shorter than its head")
            if len(buffer) - at < size:
                return
            body += buffer[at + head : at + size]
            at, head = at + size, 2
        raw = bytes(buffer[:at])
        del buffer[:at]
        yield Dss(raw[3], int.from_bytes(raw[4:6], "big"), body, raw)


def terms(body: bytes) -> Iterator[tuple[int, int, int]]:
    """The terms in a body, or in a term: code point, where its value begins and ends. Errors: Refused."""
    at = 0
    while at < len(body):
        size, code = int.from_bytes(body[at : at + 2], "big"), int.from_bytes(body[at + 2 : at + 4], "big")
        begin, end = at + 4, at + size
        if size > LONGEST:  # this many more bytes have the length; none: up to the end
            begin = at + (size & LONGEST)
            end = begin + int.from_bytes(body[at + 4 : begin], "big") if begin > at + 4 else len(body)
        if end < begin or end > len(body):
            raise Refused("a term of DRDA that is longer than its message")
        yield code, begin, end
        at = end


def term(code: int, value: bytes) -> bytes:
    """A short term."""
    return (len(value) + 4).to_bytes(2, "big") + code.to_bytes(2, "big") + value


def dss(flags: int, correlation: int, body: bytes) -> bytes:
    """A piece without continuations."""
    size = len(body) + HEAD_BYTES
    return size.to_bytes(2, "big") + bytes((0xD0, flags)) + correlation.to_bytes(2, "big") + body


class DrdaConversation(Conversation):
    """One connection between a client and a server that speak DRDA."""

    def __init__(self, records: TapeRecords, scrub: Scrub | None) -> None:
        super().__init__(records, scrub)
        self._command: list[Dss] = []  # and its objects, while more of them follow
        self._login: list[tuple[bytes, bytes]] = []
        self._pending: deque[PendingRequest] = deque()
        self._skipping = False

    @override
    def client(self, data: bytes) -> bytes:
        if self._scrub is not None:
            raise Refused("--scrub does not know how DRDA lays out rows")
        self._from_client += data
        for piece in pieces(self._from_client):
            self._command.append(piece)
            if piece.flags & (CHAINED | SAME) != CHAINED | SAME:
                self._request(self._command)
                self._command = []
        return data

    def _request(self, parts: list[Dss]) -> None:
        first, ends_chain = parts[0], not parts[-1].flags & CHAINED
        if self._skipping:
            self._skipping = not ends_chain
            return
        ((command, begin, end),) = terms(first.body)
        value = first.body[begin:end]
        if first.flags & TYPE != REQUEST or len(first.raw) > LONGEST:
            raise Refused(f"a command of DRDA in an unusual form (0x{command:04x})")
        if command not in (EXCSAT, ACCSEC, SECCHK, ACCRDB, *STATEMENTS):
            raise Refused(f"the command 0x{command:04x} of DRDA")
        for code, at, until in terms(value) if command == ACCSEC else ():
            mechanism = int.from_bytes(value[at:until], "big")
            if code == SECMEC and mechanism not in IN_CLEAR:
                raise Refused(f"a login that encrypts (security mechanism {mechanism}; 3 is user and password)")
        for part in parts[1:]:
            if part.flags & TYPE != OBJECT or part.correlation != first.correlation:
                raise Refused("an object of DRDA that belongs to no command")
            for code, at, until in terms(part.body):
                if code == SQLSTT:
                    check_statement(part.body[at:until])
        request = [dss(first.flags, 0, term(command, kept(command, value)))]
        request += [uncorrelated(part.raw) for part in parts[1:]]
        self._pending.append(PendingRequest(command, first.correlation, unchained(request), ends_chain))

    @override
    def server_sent(self, data: bytes) -> bytes:
        self._from_server += data
        for piece in pieces(self._from_server):
            self._reply(piece)
        return data

    def _reply(self, piece: Dss) -> None:
        if not self._pending or self._pending[0].correlation != piece.correlation:
            raise Refused("a reply of DRDA to no command")
        head, raw = self._pending[0], uncorrelated(piece.raw)
        for code, begin, end in terms(piece.body):
            if code not in REPLIES and head.command in STATEMENTS:  # a login may fail as it likes
                raise Refused(f"the reply 0x{code:04x} of DRDA")
            head.codes.add(code)
            value = piece.body[begin:end]
            if code == EXCSATRD and not self.server:
                texts = {code: value[at:until].decode("cp037") for code, at, until in terms(value)}
                release = re.search(r"/([\w.]+)", texts.get(SRVRLSLV, ""))
                version = release[1] if release else texts.get(SRVRLSLV, "")
                self.server = f"{texts.get(SRVCLSNM, 'DRDA')} {version}".strip()
            elif code == OPNQRYRM:
                # Zeros for the cursor's number: a section of a package has one cursor at a time.
                for inner, at, until in terms(value):
                    if inner == QRYINSID:
                        first = HEAD_BYTES + begin + at
                        raw = raw[:first] + bytes(until - at) + raw[first + until - at :]
            elif code in (QRYDTA, SQLCARD):
                raw = without_count(raw)
        head.reply.append(raw)
        if piece.flags & (CHAINED | SAME) != CHAINED | SAME:
            self._finish(ended=not piece.flags & CHAINED)

    def _finish(self, ended: bool) -> None:
        """The reply is whole. Where it `ended` a chain early, the server ignores what is left of the commands."""
        head = self._pending.popleft()
        early = ended and not head.ends_chain
        if early:
            while self._pending and not self._pending[0].ends_chain:
                self._pending.popleft()
            self._skipping = not self._pending
            if self._pending:
                self._pending.popleft()
        if head.command in (ACCSEC, SECCHK):  # the replay server answers it by itself
            return
        reply = unchained(head.reply)
        if self._number is None:
            self._login.append((head.request, reply))
            if ACCRDBRM not in head.codes:
                return
            self._number = self._records.connect(b"", b"")
            for pair in self._login:
                self._records.ask(self._number, *pair, "I", False)
            return
        state = "I" if ENDUOWRM in head.codes or head.command in KEPT else "T"
        self._records.ask(self._number, head.request, reply, state, early)


def kept(command: int, value: bytes) -> bytes:
    """What of a command's terms a reply can depend on; blanks stand for the database's name."""
    if command in KEPT:
        return b"".join(term(code, value[begin:end]) for code, begin, end in terms(value) if code in KEPT[command])
    for code, begin, end in terms(value):
        if code == PKGNAMCSN:
            short = end - begin == SHORT_PKGNAMCSN_BYTES
            at = begin if short else begin + 2
            size = SHORT_NAME_BYTES if short else int.from_bytes(value[begin:at], "big")
            value = value[:at] + b" " * size + value[at + size :]
    return value


def uncorrelated(raw: bytes) -> bytes:
    """A piece with correlation 0."""
    return raw[:4] + bytes(2) + raw[HEAD_BYTES:]


def unchained(raws: list[bytes]) -> bytes:
    """Pieces in a row, of which the last is the last of its chain."""
    last = raws[-1]
    return b"".join([*raws[:-1], last[:3], bytes((last[3] & ~(CHAINED | SAME),)), last[4:]])


def without_count(raw: bytes) -> bytes:
    """A reply whose end of rows says nothing of the executions before, as Derby's does."""
    end = END_OF_ROWS.search(raw, max(0, len(raw) - END_BYTES))
    return raw[: end.start()] + end[1] + bytes(4) + end[2] if end else raw
