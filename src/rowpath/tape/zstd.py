"""Zstandard through the system's libzstd: content in frames of a bounded size, one after another."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterator
from typing import Any

from rowpath.errors import EnvironmentMissing

LIBRARY = "libzstd.so.1"
LEVEL = 6
FRAME_BYTES = 8 << 20


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
    library = _library()
    found: list[bytes] = []
    at = total = 0
    buffer = ctypes.create_string_buffer(FRAME_BYTES)
    while at < len(frames):
        rest = frames[at : at + 2 * FRAME_BYTES]
        size, content = library.ZSTD_findFrameCompressedSize(rest, len(rest)), 0
        if not library.ZSTD_isError(size):
            content = library.ZSTD_getFrameContentSize(rest, len(rest))
        if not 0 < content <= FRAME_BYTES:  # the signs for unknown and invalid are greater
            raise BadFrames("a frame is damaged")
        total += content
        if total > most_bytes:
            raise BadFrames(f"it holds more than {most_bytes >> 20} MiB")
        if library.ZSTD_decompress(buffer, FRAME_BYTES, rest[:size], size) != content:
            raise BadFrames("a frame is damaged")
        found.append(buffer.raw[:content])
        at += size
    return b"".join(found)
