"""MySQL's and MariaDB's protocol, as a recording proxy sees it: each command of the client with the reply to it.

Source: MySQL's "Client/Server Protocol" (command phase, capabilities), MariaDB's "Clients & Utilities: protocol".
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

from typing_extensions import override

from rowpath.tape.conversation import Conversation, Refused, check_statement
from rowpath.tape.format import TapeRecords
from rowpath.tape.scrub import Scrub

QUIT, INIT_DB, QUERY, PING, PREPARE, EXECUTE = 0x01, 0x02, 0x03, 0x0E, 0x16, 0x17
LONG_DATA, CLOSE, RESET, SET_OPTION, FETCH, RESET_CONNECTION, BULK = 0x18, 0x19, 0x1A, 0x1B, 0x1C, 0x1F, 0xFA
SINGLE = (INIT_DB, PING, RESET, SET_OPTION, RESET_CONNECTION)  # one packet answers them
OF_STATEMENT = (EXECUTE, LONG_DATA, CLOSE, RESET, FETCH, BULK)
LAST_PREPARED = 0xFFFFFFFF
LONG_PASSWORD = 1  # not set: MariaDB's own capabilities follow
TLS, COMPRESS, ZSTD = 1 << 11, 1 << 5, 1 << 26
DEPRECATE_EOF, OPTIONAL_METADATA = 1 << 24, 1 << 25
CACHE_METADATA, EXTENDED_METADATA = 1 << 4, 1 << 3  # MariaDB's own
IN_TRANSACTION, MORE_RESULTS, CURSOR_EXISTS = 1, 8, 64
OK, MORE_DATA, LOCAL_INFILE, EOF, ERROR = 0x00, 0x01, 0xFB, 0xFE, 0xFF
LONGEST = 0xFFFFFF
NATIVE = b"mysql_native_password"
SERVED = (QUERY, PREPARE, *SINGLE, *OF_STATEMENT)
Reply = Generator[None, bytes, None]
INTEGERS = {1: "<b", 2: "<h", 13: "<h", 3: "<i", 9: "<i", 8: "<q"}
FLOATS = {4: "<f", 5: "<d"}
NUMBERS = (*INTEGERS, *FLOATS, 0, 246)
MOMENTS, TIME, JSON, BIT, GEOMETRY, NULL = (7, 10, 12), 11, 245, 16, 255, 6
BINARY_SET = 63


@dataclass
class PendingCommand:
    """A command whose reply is not complete."""

    command: int
    request: bytes
    number: int = 0  # of the statement, as the tape numbers it
    raw: list[bytes] = field(default_factory=list)
    failed: bool = False
    parameters: int = 0
    columns: list[tuple[int, int]] = field(default_factory=list)  # type and character set
    parser: Generator[None, bytes, object] | None = None


def packets(buffer: bytearray) -> Iterator[tuple[int, bytes, bytes]]:
    """Take whole packets out of the buffer: sequence number, payload (of all its parts), raw bytes."""
    while True:
        payload, at, size = b"", 0, LONGEST
        while size == LONGEST:
            size = int.from_bytes(buffer[at : at + 3], "little")
            if len(buffer) - at < 4 + size:
                return
            payload += buffer[at + 4 : at + 4 + size]
            at += 4 + size
        raw = bytes(buffer[:at])
        del buffer[:at]
        yield raw[3], payload, raw


def number(payload: bytes, at: int) -> tuple[int, int]:
    """A length-encoded integer and where it ends."""
    first = payload[at]
    size = {0xFC: 2, 0xFD: 3, 0xFE: 8}.get(first, 0)
    return (int.from_bytes(payload[at + 1 : at + 1 + size], "little"), at + 1 + size) if size else (first, at + 1)


class MysqlConversation(Conversation):
    """One connection between a client and a server of MySQL's family."""

    def __init__(self, records: TapeRecords, scrub: Scrub | None) -> None:
        super().__init__(records, scrub)
        self._greeting = b""
        self._startup = b""
        self._pending: deque[PendingCommand] = deque()
        self._numbers: dict[int, int] = {}  # the server's number of a statement → the tape's
        self._prepared = 0
        self._flags = self._own_flags = 0
        self._columns: dict[int, list[tuple[int, int]]] = {}  # of statements, for FETCH
        self._texts: dict[int, bytes] = {}  # of statements

    @override
    def client(self, data: bytes) -> bytes:
        self._from_client += data
        for sequence, payload, _raw in packets(self._from_client):
            if self._number is not None:
                self._request(sequence, payload)
            elif not self._startup:
                if len(payload) < 32:
                    raise Refused("a login of MySQL's protocol before version 4.1")
                self._flags = int.from_bytes(payload[:4], "little")
                self._own_flags = 0 if self._flags & LONG_PASSWORD else int.from_bytes(payload[28:32], "little")
                if self._flags & (TLS | COMPRESS | ZSTD):
                    raise Refused("a client that insists on TLS or on compression")
                self._startup = payload[:4] + bytes(4) + payload[8:32]
        return data

    def _request(self, sequence: int, payload: bytes) -> None:
        command = payload[0] if payload else 0
        if sequence != 0:
            raise Refused("client bytes that are not a command")
        if len(payload) >= LONGEST:
            raise Refused("a command of 16 MB or more")
        if command == QUIT:
            return
        if command not in SERVED:
            raise Refused(f"the command 0x{command:02x} of MySQL's protocol")
        if command in (QUERY, PREPARE):
            check_statement(payload[1:])
        pending = PendingCommand(command, payload)
        if command in OF_STATEMENT:
            given = int.from_bytes(payload[1:5], "little")
            pending.number = self._prepared if given == LAST_PREPARED else self._numbers.get(given, 0)
            if given != LAST_PREPARED:
                pending.request = payload[:1] + pending.number.to_bytes(4, "little") + payload[5:]
        if command == FETCH:
            pending.columns = self._columns.get(pending.number, [])
        if command not in (LONG_DATA, CLOSE):  # these get no reply
            parsers = {PREPARE: self._prepare, FETCH: self._row_by_row} | dict.fromkeys(SINGLE, self._single)
            pending.parser = parsers.get(command, self._results)(pending)
            next(pending.parser)
        self._pending.append(pending)
        self._without_reply()

    @override
    def server_sent(self, data: bytes) -> bytes:
        self._from_server += data
        forward = b"" if not self._greeting else data
        for _sequence, payload, raw in packets(self._from_server):
            if not self._greeting:
                changed = self._greet(payload)
                forward += len(changed).to_bytes(3, "little") + raw[3:4] + changed
            elif self._number is not None:
                self._reply(payload, raw)
            elif payload[:1] == b"\x00" and self._startup:
                if len(payload) > 250:
                    raise Refused("a login whose reply is very long")
                greeting = bytes((len(self._greeting),)) + self._greeting
                self._number = self._records.connect(self._startup, greeting + payload)
                self._from_client.clear()
        return forward

    def _greet(self, payload: bytes) -> bytes:
        """The greeting without TLS and compression; the tape's has no salt and names the oldest login."""
        if payload[:1] == b"\xff":
            raise Refused(f"the server refuses connections: {payload[3:].decode(errors='replace')}")
        if payload[:1] != b"\x0a":
            raise Refused(f"version {payload[0] if payload else 0} of MySQL's protocol")
        version = payload.index(0, 1)
        self.server = payload[1:version].decode(errors="replace")
        at = version + 1
        low, high = at + 13, at + 18
        flags = int.from_bytes(payload[low : low + 2] + payload[high : high + 2], "little")
        flags &= ~(TLS | COMPRESS | ZSTD)
        kept = flags.to_bytes(4, "little")
        changed = payload[:low] + kept[:2] + payload[low + 2 : high] + kept[2:] + payload[high + 2 :]
        salt_2 = at + 31
        head = changed[:at] + bytes(12) + changed[at + 12 : at + 20] + b"\x15" + changed[at + 21 : salt_2]
        self._greeting = head + bytes(13) + NATIVE + b"\0"
        if len(self._greeting) > 250:
            raise Refused("a server with a very long version text")
        return changed

    def _reply(self, payload: bytes, raw: bytes) -> None:
        if not self._pending:
            return
        head = self._pending[0]
        assert head.parser is not None
        head.raw.append(raw)
        try:
            head.parser.send(payload)
        except StopIteration:
            self._finish()
            self._without_reply()
        except IndexError:
            raise Refused("a server's reply that does not follow MySQL's protocol") from None

    def _finish(self) -> None:
        head = self._pending.popleft()
        assert self._number is not None
        raw = b"".join(head.raw)
        if head.command == PREPARE and not head.failed:
            self._texts[self._prepared] = head.request[1:]
        elif head.command in (QUERY, EXECUTE):
            self._records.executed(head.request[1:] if head.command == QUERY else self._texts.get(head.number, b""))
        self._records.ask(self._number, head.request, raw, self._state, head.failed, head.parameters)

    def _without_reply(self) -> None:
        while self._pending and self._pending[0].parser is None:
            self._finish()

    def _failed(self, pending: PendingCommand, payload: bytes) -> bool:
        pending.failed = payload[0] == ERROR
        if pending.failed and self._scrub is not None:  # what its sentence quotes
            raw = pending.raw[-1]
            pending.raw[-1] = raw[:13] + self._scrub.quoted(raw[13:])
        return pending.failed

    def _status(self, payload: bytes) -> int:
        """The status in a packet OK, or in one that ends rows."""
        at = 1
        if payload[0] == OK or self._flags & DEPRECATE_EOF:
            _affected, at = number(payload, at)
            _last, at = number(payload, at)
        else:
            at += 2
        status = int.from_bytes(payload[at : at + 2], "little")
        self._state = "T" if status & IN_TRANSACTION else "I"
        return status

    def _single(self, pending: PendingCommand) -> Reply:
        payload = yield
        if not self._failed(pending, payload):
            self._status(payload)

    def _prepare(self, pending: PendingCommand) -> Reply:
        payload = yield
        if self._failed(pending, payload):
            return
        self._prepared += 1
        self._numbers[int.from_bytes(payload[1:5], "little")] = self._prepared
        columns, pending.parameters = (int.from_bytes(payload[at : at + 2], "little") for at in (5, 7))
        if self._flags & OPTIONAL_METADATA and len(payload) > 12 and payload[12] == 0:
            return
        for count in (pending.parameters, columns):
            for _ in range(count + (count > 0 and not self._flags & DEPRECATE_EOF)):
                yield

    def _results(self, pending: PendingCommand) -> Reply:
        """The reply to a statement: OK, or rows, or several of these."""
        while True:
            payload = yield
            if self._failed(pending, payload):
                return
            if payload[0] == LOCAL_INFILE:
                raise Refused("LOAD DATA LOCAL: the client sends a file")
            if payload[0] == OK and not (self._flags & OPTIONAL_METADATA and len(payload) < 7):
                if not self._status(payload) & MORE_RESULTS:
                    return
                continue
            yield from self._head(pending, payload)
            status = 0
            if not self._flags & DEPRECATE_EOF:
                status = self._status((yield))
            if not status & CURSOR_EXISTS:
                status = yield from self._row_by_row(pending)
            if pending.failed or not status & MORE_RESULTS:
                return

    def _head(self, pending: PendingCommand, payload: bytes) -> Reply:
        """The columns' descriptions, unless they are left out."""
        at, follows = 0, True
        if self._flags & OPTIONAL_METADATA:
            follows, at = payload[0] == 1, 1
        count, at = number(payload, at)
        if self._own_flags & CACHE_METADATA and len(payload) > at:
            follows = payload[at] == 1
        pending.columns = [] if follows else self._columns.get(pending.number, [])
        for _ in range(count if follows else 0):
            column, at = (yield), 0
            for _ in range(7 if self._own_flags & EXTENDED_METADATA else 6):
                size, at = number(column, at)
                at += size
            _fixed, at = number(column, at)
            pending.columns.append((column[at + 6], int.from_bytes(column[at : at + 2], "little")))
        if pending.number:
            self._columns[pending.number] = pending.columns

    def _row_by_row(self, pending: PendingCommand) -> Generator[None, bytes, int]:
        most = LONGEST if self._flags & DEPRECATE_EOF else 9
        while True:
            payload = yield
            if self._failed(pending, payload):
                return 0
            if payload[0] == EOF and len(payload) < most:
                return self._status(payload)
            if self._scrub is not None:
                binary = pending.command in (EXECUTE, FETCH, BULK)
                pending.raw[-1] = pending.raw[-1][:4] + scrubbed_row(self._scrub, payload, pending.columns, binary)


def scrubbed_row(scrub: Scrub, payload: bytes, columns: list[tuple[int, int]], binary: bool) -> bytes:
    """A row with noise for its values. Errors: Refused."""
    if not columns or len(payload) >= LONGEST:
        raise Refused("rows of 16 MB or of unknown types: --scrub has no noise for them")
    at = 1 + (len(columns) + 9) // 8 if binary else 0
    scrubbed = [payload[:at]]
    for position, (kind, charset) in enumerate(columns, 2):
        form = (INTEGERS | FLOATS).get(kind, "") if binary else ""
        if binary and (payload[1 + position // 8] >> position % 8 & 1 or kind == NULL):
            continue
        if not binary and payload[at] == 0xFB:  # NULL
            scrubbed.append(payload[at : at + 1])
            at += 1
        elif form:
            value = payload[at : at + struct.calcsize(form)]
            scrubbed.append(scrub.integer(value, form) if kind in INTEGERS else scrub.floating(value, form))
            at += len(value)
        else:
            size, begin = number(payload, at)
            value = payload[begin : begin + size]
            moment = binary and kind in (*MOMENTS, TIME)
            scrubbed.append(payload[at:begin])
            scrubbed.append(_moment(scrub, value, kind) if moment else _value(scrub, value, kind, charset))
            at = begin + size
    return b"".join(scrubbed)


def _value(scrub: Scrub, value: bytes, kind: int, charset: int) -> bytes:
    """A value that is a text or a length-encoded one."""
    if kind == GEOMETRY:
        raise Refused("values of type GEOMETRY: --scrub has no noise for them")
    if kind in NUMBERS:
        return scrub.number(value)
    if kind in MOMENTS or kind == TIME:
        return scrub.moment(value)
    if kind == JSON:
        return scrub.json(value)
    return scrub.raw(value) if kind == BIT or charset == BINARY_SET else scrub.text(value)


def _moment(scrub: Scrub, value: bytes, kind: int) -> bytes:
    """The binary form of a date or time, as long as before."""
    dice = scrub.dice(value)
    clock = bytes((dice.randint(0, 23), dice.randint(0, 59), dice.randint(0, 59)))
    micro = struct.pack("<I", dice.randint(0, 999_999))
    date = struct.pack("<HBB", dice.randint(1970, 2037), dice.randint(1, 12), dice.randint(1, 28))
    whole = b"\0" + struct.pack("<I", 0) + clock + micro if kind == TIME else date + clock + micro
    return whole[: len(value)]
