"""Whether a copy of PostgreSQL's files is whole: its manifest's sizes and checksums (PostgreSQL's documentation, 69).

PostgreSQL's own program for that, pg_verifybackup, does not run as the wheel has it.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rowpath.errors import RowpathError

MANIFEST = "backup_manifest"
CASTAGNOLI = 0x82F63B78  # reflected
BLOCK = 1024
BLOCKS_AT_ONCE = 1 << 15
CACHED_BLOCKS = 1 << 13
Crcs = NDArray[np.uint32]


def verify(folder: Path) -> None:
    """Errors: RowpathError for the first file that is missing or differs from the manifest, the manifest included."""
    text = (folder / MANIFEST).read_bytes()
    body, mark, checksum = text.rpartition(b'"Manifest-Checksum": "')
    if not mark or hashlib.sha256(body).hexdigest() != checksum[:64].decode(errors="replace"):
        raise RowpathError(f"{MANIFEST} is incomplete or damaged")
    listed: dict[Path, dict[str, Any]] = {}
    for entry in json.loads(text)["Files"]:
        name = entry["Path"] if "Path" in entry else bytes.fromhex(entry["Encoded-Path"]).decode()
        file = folder / name
        if not file.is_file() or file.stat().st_size != entry["Size"]:
            raise RowpathError(f"{name} is missing or does not have {entry['Size']} bytes")
        listed[file] = entry
    for file, crc in crc32c(listed):
        if crc.to_bytes(4, "little").hex() != listed[file]["Checksum"]:
            raise RowpathError(f"{file.relative_to(folder)} does not have its checksum")


def crc32c(files: Iterable[Path]) -> Iterator[tuple[Path, int]]:
    """The CRC-32C of each file: blocks of many files at once, for a loop over single bytes would take minutes."""
    waiting: list[tuple[Path, NDArray[np.uint8]]] = []
    for file in files:
        waiting.append((file, _blocks(file.read_bytes())))
        if sum(len(blocks) for _, blocks in waiting) >= BLOCKS_AT_ONCE:
            yield from _of_blocks(waiting)
            waiting = []
    yield from _of_blocks(waiting)


def _blocks(data: bytes) -> NDArray[np.uint8]:
    """Split data into rows of BLOCK bytes, with zeros in front, and put the register's first value into it."""
    padded = np.zeros((-(-max(len(data), 4) // BLOCK), BLOCK), np.uint8)
    flat = padded.reshape(-1)
    begin = len(flat) - len(data)
    flat[begin:] = np.frombuffer(data, np.uint8)
    # A file of fewer than four bytes: the rest of the first value comes out at the end instead.
    flat[begin : begin + 4] ^= np.uint8(255)
    return padded


def _of_blocks(files: list[tuple[Path, NDArray[np.uint8]]]) -> Iterator[tuple[Path, int]]:
    if not files:
        return
    blocks = np.concatenate([blocks for _, blocks in files])
    # In pieces that stay in the processor's cache.
    pieces = [_advanced(blocks[at : at + CACHED_BLOCKS]) for at in range(0, len(blocks), CACHED_BLOCKS)]
    registers = np.concatenate(pieces)
    shifts = _shifts()
    at = 0
    for file, own in files:
        register = 0
        for one in registers[at : at + len(own)].tolist():
            register = one ^ int(
                shifts[0, register & 255]
                ^ shifts[1, register >> 8 & 255]
                ^ shifts[2, register >> 16 & 255]
                ^ shifts[3, register >> 24]
            )
        at += len(own)
        short = max(0, 4 - file.stat().st_size)  # bytes of the first value that nothing has pushed out
        yield file, register ^ (0xFFFFFFFF >> 8 * (4 - short) if short else 0) ^ 0xFFFFFFFF


def _advanced(blocks: NDArray[np.uint8], begin: Crcs | None = None) -> Crcs:
    """The register after each row's bytes, from 0 or from `begin`."""
    table = _table()
    registers = np.zeros(len(blocks), np.uint32) if begin is None else begin
    for column in np.ascontiguousarray(blocks.view("<u2").T):
        registers = table[(registers ^ column) & 0xFFFF] ^ (registers >> 16)
    return registers


@functools.cache
def _table() -> Crcs:
    """The table of the CRC that takes two bytes at once."""
    table = np.arange(1 << 16, dtype=np.uint32)
    for _ in range(16):
        table = np.where(table & 1, table >> 1 ^ np.uint32(CASTAGNOLI), table >> 1)
    return table


@functools.cache
def _shifts() -> Crcs:
    """What each value of each byte of a register becomes after a block of zeros."""
    values = np.arange(256, dtype=np.uint32)
    begin = np.concatenate([values << np.uint32(8 * byte) for byte in range(4)])
    return _advanced(np.zeros((1024, BLOCK), np.uint8), begin).reshape(4, 256)
