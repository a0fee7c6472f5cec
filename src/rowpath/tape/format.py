"""A tape as a file: a line that names it, a checksum, then as Zstandard a header in JSON and the records.

The records are what the replay server reads (runners/c/tools/replay/tape.c). Little-endian, of each: kind, state of the
session after it, whether the reply is an error, a zero (a byte each); connection, extra, bytes of the request, bytes of
the reply (u32 each); request; reply.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from rowpath.errors import EnvironmentMissing, RowpathError, UsageError
from rowpath.model.experiment import Experiment
from rowpath.model.workload import Workload

MAGIC = b"ROWPATH TAPE "
VERSION = 2
MOST_BYTES = 2 << 30  # of content: it is held in memory
HEAD = struct.Struct("<BBBBIIII")
END, CONNECT, ASK, AGAIN = range(4)
SMALL_BYTES = 64  # up to here a reply is as short as what would refer to it
DIGEST_BYTES = 32
PROTOCOLS = ("postgresql", "mysql", "drda")  # records begin with the first letter of theirs
IN_WORDS = "PostgreSQL's protocol, MySQL's and Derby's DRDA"
LIBRARY = "libzstd.so.1"
LEVEL = 6
FRAME_BYTES = 8 << 20


class RecordedPath(msgspec.Struct, frozen=True):
    """A path whose conversation is on the tape."""

    coordinates: dict[str, str]
    digests: dict[str, str]  # workload.phase → digest of all its parameters' rows


class Header(msgspec.Struct, frozen=True):
    """What a tape says of itself."""

    engine: str
    rowpath: str
    recorded: str  # ISO 8601, UTC
    server: str = ""  # its version, in its own words
    scrubbed: bool = False
    connections: int = 0
    requests: int = 0
    experiment: Experiment | None = None
    workloads: dict[str, Workload] = {}
    paths: tuple[RecordedPath, ...] = ()


@dataclass(frozen=True)
class Tape:
    """A tape that was read; its content is what the replay server takes."""

    file: Path
    header: Header
    content: bytes

    @property
    def protocol(self) -> str:
        """That of its records: one of `PROTOCOLS`; empty: of none of them."""
        return next((name for name in PROTOCOLS if self.content.startswith(name[:1].encode())), "")


class TapeRecords:
    """Records as they are recorded, ready to be written."""

    def __init__(self, protocol: str) -> None:
        self._parts = [protocol[:1].encode().ljust(8, b"\0")]
        self._replies: dict[bytes, int] = {}  # digest of a long reply → its record
        self.size_bytes = 8
        self.count = self.connections = self.requests = 0

    def connect(self, startup: bytes, reply: bytes) -> int:
        """A connection that has logged in; its number."""
        number = self.connections
        self.connections += 1
        self._add(CONNECT, "I", False, number, 0, startup, reply)
        return number

    def ask(self, connection: int, request: bytes, reply: bytes, state: str, failed: bool, extra: int = 0) -> None:
        """A request and the whole reply to it."""
        self.requests += 1
        digest = hashlib.blake2b(reply + bytes((failed,)), digest_size=16, salt=struct.pack("<I", extra)).digest()
        earlier = self._replies.setdefault(digest, self.count) if len(reply) > SMALL_BYTES else self.count
        if earlier < self.count:
            self._add(AGAIN, state, failed, connection, earlier, request, b"")
        else:
            self._add(ASK, state, failed, connection, extra, request, reply)

    def executed(self, sql: bytes) -> None:
        """A statement was executed to its end: a tape has it in its requests."""

    def content(self) -> bytes:
        """All of them, with their end."""
        return b"".join([*self._parts, HEAD.pack(END, 0, 0, 0, self.count, 0, 0, 0)])

    def _add(
        self, kind: int, state: str, failed: bool, connection: int, extra: int, request: bytes, reply: bytes
    ) -> None:
        head = HEAD.pack(kind, ord(state), failed, 0, connection, extra, len(request), len(reply))
        self._parts += [head, request, reply]
        self.count += 1
        self.size_bytes += len(head) + len(request) + len(reply)


def write(file: Path, header: Header, content: bytes) -> None:
    """Write a tape that only its owner may read, whole or not at all."""
    head = msgspec.json.encode(header)
    frames = b"".join(compressed(struct.pack("<I", len(head)) + head + content))
    partial = file.with_name(f".{file.name}.partial")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(b"%s%d\n" % (MAGIC, VERSION) + hashlib.sha256(frames).digest() + frames)
    partial.rename(file)


def read(file: Path) -> Tape:
    """A tape, its checksum and header checked. Errors: UsageError."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read the tape {file}: {error.strerror}", "rowpath record --help") from error
    line, newline, _ = data[:32].partition(b"\n")
    if not line.startswith(MAGIC) or not newline:
        raise UsageError(f"{file} is not a tape", "rowpath record URL -o FILE -- COMMAND makes one")
    version = line.removeprefix(MAGIC)
    if version != b"%d" % VERSION:
        what = f"{file} is a tape of version {version.decode(errors='replace')!r}"
        raise UsageError(f"{what}: this Rowpath reads {VERSION}", "record it again")
    begin = len(line) + 1 + DIGEST_BYTES
    if hashlib.sha256(data[begin:]).digest() != data[len(line) + 1 : begin]:
        raise damaged(file, "its checksum does not match")
    try:
        content = decompressed(data[begin:], MOST_BYTES)
    except BadFrames as error:
        raise damaged(file, str(error)) from error
    size = int.from_bytes(content[:4], "little")
    if len(content) < 4 or size > len(content) - 4:
        raise damaged(file, "its header is longer than the tape")
    try:
        header = msgspec.json.decode(content[4 : 4 + size], type=Header)
    except (msgspec.MsgspecError, ValueError, RecursionError, RowpathError) as error:
        raise damaged(file, f"its header is invalid: {error}") from error
    tape = Tape(file, header, content[4 + size :])
    if not tape.protocol:
        raise damaged(file, "its records are of no known protocol")
    return tape


def damaged(file: Path, why: str) -> UsageError:
    """The error for a tape that cannot be replayed."""
    return UsageError(f"the tape {file} is damaged: {why}", "record it again, or copy it again")


class BadFrames(Exception):
    """What is not whole frames of at most FRAME_BYTES."""


@functools.cache
def _library() -> Any:
    """The library with the types of what is called of it. Errors: EnvironmentMissing."""
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise EnvironmentMissing(f"a tape needs {LIBRARY}, which is missing", "apt-get install libzstd1") from error
    size, text = ctypes.c_size_t, ctypes.c_char_p
    for name, result, arguments in (
        ("ZSTD_compressBound", size, [size]),
        ("ZSTD_compress", size, [ctypes.c_void_p, size, text, size, ctypes.c_int]),
        ("ZSTD_decompress", size, [ctypes.c_void_p, size, text, size]),
        ("ZSTD_isError", ctypes.c_uint, [size]),
        ("ZSTD_findFrameCompressedSize", size, [ctypes.c_void_p, size]),
        ("ZSTD_getFrameContentSize", ctypes.c_ulonglong, [ctypes.c_void_p, size]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def compressed(content: bytes) -> Iterator[bytes]:
    """The frames of a content."""
    library = _library()
    for begin in range(0, len(content), FRAME_BYTES):
        part = content[begin : begin + FRAME_BYTES]
        room = library.ZSTD_compressBound(len(part))
        buffer = ctypes.create_string_buffer(room)
        size = library.ZSTD_compress(buffer, room, part, len(part), LEVEL)
        yield buffer.raw[:size]


def decompressed(frames: bytes, most_bytes: int) -> bytes:
    """The content of frames. Errors: BadFrames, also for more content than `most_bytes`."""
    library, content, at = _library(), bytearray(), 0
    buffer = ctypes.create_string_buffer(FRAME_BYTES)
    while at < len(frames):
        rest = frames[at : at + 2 * FRAME_BYTES]
        size, part = library.ZSTD_findFrameCompressedSize(rest, len(rest)), 0
        if not library.ZSTD_isError(size):
            part = library.ZSTD_getFrameContentSize(rest, len(rest))
        if not 0 < part <= FRAME_BYTES:  # the signs for unknown and invalid are greater
            raise BadFrames("a frame is damaged")
        if len(content) + part > most_bytes:
            raise BadFrames(f"it holds more than {most_bytes >> 20} MiB")
        if library.ZSTD_decompress(buffer, FRAME_BYTES, rest[:size], size) != part:
            raise BadFrames("a frame is damaged")
        content += memoryview(buffer)[:part]
        at += size
    return bytes(content)
