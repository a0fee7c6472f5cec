"""PostgreSQL's protocol, as a recording proxy sees it: each message of the client with the server's messages to it.

Source: "Frontend/Backend Protocol" of PostgreSQL's manual, version 3.
"""

from __future__ import annotations

import re
import struct
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from typing_extensions import override

from rowpath.tape.conversation import Conversation, Refused, check_statement
from rowpath.tape.format import TapeRecords
from rowpath.tape.scrub import Scrub

REFUSES_TLS = (80877103, 80877104)
CANCEL = 80877102
LEFT_OUT = (b"user", b"database", b"application_name")
OWN_PID = b"pg_backend_pid("
LAST = {b"P": b"1", b"B": b"2", b"D": b"Tn", b"C": b"3", b"E": b"CIs", b"S": b"Z", b"Q": b"Z"}
FROM_CLIENT = {b"d": "a COPY from the client", b"c": "a COPY from the client", b"f": "a COPY from the client"}
FROM_SERVER = {
    b"A": "a notification (LISTEN): the server sends it at any time",
    b"G": "a COPY from the client",
    b"W": "a replication connection",
    b"V": "a FunctionCall message",
}
BEGINS, ENDS = (b"BEGIN", b"START TRANSACTION"), (b"COMMIT", b"ROLLBACK", b"PREPARE TRANSACTION")
TO_SAVEPOINT = re.compile(rb"\bTO\b", re.IGNORECASE)
WHOLLY = b"DWqH"  # fields of an error that show values: detail, context, query, hint
TEXTS = (18, 19, 25, 705, 1042, 1043)
MOMENTS = {1082: "!i", 1083: "!q", 1114: "!q", 1184: "!q"}
INTEGERS = {20: "!q", 21: "!h", 23: "!i", 26: "!I"}
FLOATS = {700: "!f", 701: "!d"}
BOOL, BYTEA, NUMERIC, INTERVAL, JSON, JSONB, UUID = 16, 17, 1700, 1186, 114, 3802, 2950


@dataclass
class Statement:
    """What was prepared or bound: its text and, once described, its columns as (type, format)."""

    sql: bytes
    columns: list[tuple[int, int]] | None = None
    formats: tuple[int, ...] = ()  # of the result, of a portal
    prepared: Statement | None = None  # of a portal

    def shape(self) -> list[tuple[int, int]] | None:
        """The columns of a portal's rows, None: never described."""
        if self.columns is not None or self.prepared is None or self.prepared.columns is None:
            return self.columns
        types = [kind for kind, _ in self.prepared.columns]
        formats = self.formats or (0,)
        return list(zip(types, formats * len(types) if len(formats) == 1 else formats, strict=False))


@dataclass
class PendingMessage:
    """A request whose reply is not complete."""

    type: bytes
    raw: bytes
    about: Statement | None = None
    reply: list[bytes] = field(default_factory=list)
    failed: bool = False
    tag: bytes = b""


def messages(buffer: bytearray) -> Iterator[tuple[bytes, bytes]]:
    """Take whole messages out of the buffer: type and raw bytes. Errors: Refused."""
    at = 0
    while len(buffer) - at >= 5:
        size = int.from_bytes(buffer[at + 1 : at + 5], "big") + 1
        if size < 5:
            raise Refused("bytes that are not a message of PostgreSQL's protocol")
        if len(buffer) - at < size:
            break
        yield bytes(buffer[at : at + 1]), bytes(buffer[at : at + size])
        at += size
    del buffer[:at]


class PostgresqlConversation(Conversation):
    """One connection between a client and a server of PostgreSQL."""

    def __init__(self, records: TapeRecords, scrub: Scrub | None) -> None:
        super().__init__(records, scrub)
        self._startup: bytes | None = None
        self._statuses: list[bytes] = []
        self._pid = 0
        self._pending: deque[PendingMessage] = deque()
        self._skipping = False
        self._statements: dict[bytes, Statement] = {}
        self._portals: dict[bytes, Statement] = {}
        self._columns: list[tuple[int, int]] | None = None  # of a simple query's rows

    @override
    def client(self, data: bytes) -> bytes:
        self._from_client += data
        if self._startup is None:
            data = self._first()
        if self._startup is not None and self._number is not None:
            for kind, raw in messages(self._from_client):
                self._request(kind, raw)
        return data

    def _first(self) -> bytes:
        """The bytes before the first message with a type."""
        buffer = self._from_client
        while len(buffer) >= 8:
            size, code = struct.unpack_from("!II", buffer)
            if code in REFUSES_TLS:
                del buffer[:8]
                self.to_client += b"N"
                continue
            if code == CANCEL:
                raise Refused("a cancel request")
            if code >> 16 != 3:
                raise Refused(f"version {code >> 16} of PostgreSQL's protocol")
            if len(buffer) < size:
                break
            whole = bytes(buffer)
            self._startup = startup_of(whole[4:size])
            del buffer[:size]
            return whole
        return b""

    @override
    def server_sent(self, data: bytes) -> bytes:
        self._from_server += data
        for kind, raw in messages(self._from_server):
            if self._number is not None:
                self._reply(kind, raw)
            elif kind in b"Sv":
                self._statuses.append(raw)
                if raw[5:].startswith(b"server_version\0"):
                    self.server = f"PostgreSQL {raw[20:-1].decode(errors='replace')}"
            elif kind == b"K":
                self._pid = int.from_bytes(raw[5:9], "big")
            elif kind == b"Z":
                assert self._startup is not None
                self._number = self._records.connect(self._startup, b"".join(self._statuses))
                self._from_client.clear()  # what was in it belonged to the login
        return data

    def _request(self, kind: bytes, raw: bytes) -> None:
        if self._skipping and kind != b"S":
            return
        self._skipping = False
        body = raw[5:]
        if kind in FROM_CLIENT:
            raise Refused(FROM_CLIENT[kind])
        if kind in (b"H", b"X"):
            return
        if kind not in LAST:
            raise Refused(f"a message of type {kind!r}")
        about: Statement | None = None
        if kind == b"Q":
            about = Statement(body[:-1])
            check_statement(about.sql)
        elif kind == b"P":
            name, sql, _types = body.split(b"\0", 2)
            check_statement(sql)
            about = self._statements[name] = Statement(sql)
        elif kind == b"B":
            about = self._bound(body)
        elif kind == b"D":
            about = (self._portals if body[:1] == b"P" else self._statements).get(body[1:-1])
        elif kind == b"E":
            about = self._portals.get(body[: body.index(0)])
        self._pending.append(PendingMessage(kind, raw, about))

    def _bound(self, body: bytes) -> Statement:
        portal, name, rest = body.split(b"\0", 2)
        prepared = self._statements.get(name, Statement(b""))
        (count,) = struct.unpack_from("!H", rest)
        at = 2 + 2 * count
        (values,) = struct.unpack_from("!H", rest, at)
        at += 2
        for _ in range(values):
            (size,) = struct.unpack_from("!i", rest, at)
            at += 4 + max(0, size)
        (count,) = struct.unpack_from("!H", rest, at)
        formats = struct.unpack_from(f"!{count}H", rest, at + 2)
        self._portals[portal] = Statement(prepared.sql, formats=formats, prepared=prepared)
        return self._portals[portal]

    def _reply(self, kind: bytes, raw: bytes) -> None:
        if kind in FROM_SERVER:
            raise Refused(FROM_SERVER[kind])
        if not self._pending:  # such as the last words of a server that stops
            return
        head = self._pending[0]
        if kind == b"E":
            head.failed = True
            self._state = "I" if self._state == "I" else "E"
        elif kind == b"C" and head.type in b"EQ":
            head.tag = raw[5:-1]
        elif kind == b"T":
            self._described(head, raw)
        elif kind == b"D" and head.about is not None and OWN_PID in head.about.sql:
            raw = without_pid(raw, self._pid)
        head.reply.append(raw if self._scrub is None else self._scrubbed(self._scrub, head, kind, raw))
        if kind == b"E" and head.type not in b"QS":
            self._finish()
            while self._pending and self._pending[0].type != b"S":  # the server ignores everything up to the next Sync
                self._pending.popleft()
            self._skipping = not self._pending
        elif kind in LAST[head.type]:
            if kind == b"Z":  # of a simple query the server's state is news, else it follows from the tags
                state = chr(raw[5])
                if head.type == b"S" and state != self._state:
                    what = f"({self._state}, not {state})"
                    raise Refused(f"a transaction whose state does not follow from its statements {what}")
                self._state = state
            elif head.type == b"E" and head.tag in BEGINS:
                self._state = "T"
            elif head.type == b"E" and head.tag in ENDS:
                to_savepoint = head.about is not None and TO_SAVEPOINT.search(head.about.sql)
                self._state = "T" if to_savepoint else "I"
            self._finish()

    def _described(self, head: PendingMessage, raw: bytes) -> None:
        columns, at = [], 7
        for _ in range(struct.unpack_from("!H", raw, 5)[0]):
            at = raw.index(0, at) + 1
            columns.append(struct.unpack_from("!6xI6xH", raw, at))
            at += 18
        if head.type == b"Q":
            self._columns = columns
        elif head.about is not None:
            head.about.columns = columns

    def _scrubbed(self, scrub: Scrub, head: PendingMessage, kind: bytes, raw: bytes) -> bytes:
        if kind in b"EN":
            return scrubbed_fields(scrub, raw)
        if kind == b"d":
            raise Refused("the rows of a COPY: --scrub does not know their columns")
        if kind != b"D":
            return raw
        columns = self._columns if head.type == b"Q" else head.about.shape() if head.about else None
        if columns is None:
            raise Refused("rows of a statement that was never described: --scrub does not know their types")
        return scrubbed_row(scrub, raw, columns)

    def _finish(self) -> None:
        head = self._pending.popleft()
        assert self._number is not None
        if head.type in b"QE" and head.about is not None:
            self._records.executed(head.about.sql)
        if head.type != b"S":  # the replay server answers it by the session's state
            self._records.ask(self._number, head.raw, b"".join(head.reply), self._state, head.failed)


def without_pid(row: bytes, pid: int) -> bytes:
    """A row in which ones stand for the digits of the backend's process: it says nothing to a replay."""
    digits = b"%d" % pid
    for old, new in ((digits, b"1" * len(digits)), (struct.pack("!i", pid), struct.pack("!i", 1))):
        row = row.replace(struct.pack("!i", len(old)) + old, struct.pack("!i", len(new)) + new)
    return row


def startup_of(body: bytes) -> bytes:
    """A startup message's version and settings without who logs in where."""
    words = body[4:].split(b"\0")
    pairs = zip(words[::2], words[1::2], strict=False)
    kept = [name + b"\0" + value + b"\0" for name, value in pairs if name and name not in LEFT_OUT]
    return body[:4] + b"".join(kept) + b"\0"


def scrubbed_row(scrub: Scrub, raw: bytes, columns: list[tuple[int, int]]) -> bytes:
    """A DataRow message with noise for its values. Errors: Refused for a type that has none."""
    scrubbed, at = [raw[:7]], 7
    for kind, form in columns:
        (size,) = struct.unpack_from("!i", raw, at)
        value = raw[at + 4 : at + 4 + max(0, size)]
        noise = value if size <= 0 else _binary(scrub, value, kind) if form else _text(scrub, value, kind)
        scrubbed += [raw[at : at + 4], noise]
        at += 4 + len(value)
    return b"".join(scrubbed)


def scrubbed_fields(scrub: Scrub, raw: bytes) -> bytes:
    """An error or a notice: its details as noise, and what its sentence quotes."""
    fields = []
    for part in raw[5:].split(b"\0"):
        kind, value = part[:1], part[1:]
        if kind and kind in WHOLLY:
            value = scrub.text(b" " + value)[1:]
        fields.append(kind + (scrub.quoted(value) if kind == b"M" else value))
    return raw[:5] + b"\0".join(fields)


def _text(scrub: Scrub, value: bytes, kind: int) -> bytes:
    by_kind: dict[int, Callable[[bytes], bytes]] = {
        BOOL: lambda one: scrub.dice(one).choice((b"t", b"f")),
        BYTEA: scrub.hexadecimal,
        UUID: scrub.hexadecimal,
        JSON: scrub.json,
        JSONB: scrub.json,
        **dict.fromkeys(MOMENTS, scrub.moment),
        **dict.fromkeys((*INTEGERS, *FLOATS, NUMERIC, INTERVAL), scrub.number),
    }
    return by_kind.get(kind, scrub.text)(value)


def _binary(scrub: Scrub, value: bytes, kind: int) -> bytes:
    if kind in TEXTS:
        return scrub.text(value)
    if kind in (JSON, JSONB):
        begin = kind == JSONB
        return value[:begin] + scrub.json(value[begin:])
    if kind in INTEGERS or kind in MOMENTS:
        return scrub.integer(value, {**INTEGERS, **MOMENTS}[kind])
    if kind in FLOATS:
        return scrub.floating(value, FLOATS[kind])
    if kind in (BYTEA, UUID):
        return scrub.raw(value)
    if kind == BOOL:
        return bytes((scrub.dice(value).randint(0, 1),))
    if kind == NUMERIC:
        dice, digits = scrub.dice(value), struct.unpack_from(f"!{(len(value) - 8) // 2}H", value, 8)
        noise = [dice.randint(min(1, digit), digit) for digit in digits]
        return value[:8] + struct.pack(f"!{len(noise)}H", *noise)
    if kind == INTERVAL:
        return b"".join(scrub.integer(value[a:b], form) for a, b, form in ((0, 8, "!q"), (8, 12, "!i"), (12, 16, "!i")))
    raise Refused(f"values of type {kind} in binary form: --scrub has no noise for them")
