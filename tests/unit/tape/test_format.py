"""A tape as a file: what is written is read, and whatever is changed is refused in a sentence."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import pytest

from rowpath.errors import UsageError
from rowpath.tape import format as tape_format
from rowpath.tape.format import MAGIC, Header, TapeRecords, read, write


def example() -> tuple[Header, bytes]:
    records = TapeRecords("postgresql")
    connection = records.connect(b"\0\3\0\0\0", b"")
    for number in range(20):
        records.ask(connection, b"Q%d" % (number % 7), b"x" * 100 + b"%d" % (number % 3), "I", False)
    return Header("postgresql", "1", "now", connections=1, requests=20), records.content()


def test_what_is_written_is_read(tmp_path: Path) -> None:
    header, content = example()
    file = tmp_path / "a.tape"
    write(file, header, content)
    tape = read(file)
    assert tape.header == header and tape.content == content
    assert file.stat().st_mode & 0o077 == 0
    assert [each.name for each in tmp_path.iterdir()] == ["a.tape"]


def test_a_long_reply_stands_there_once() -> None:
    records = TapeRecords("mysql")
    connection = records.connect(b"", b"")
    for _ in range(50):
        records.ask(connection, b"\x03SELECT 1", b"r" * 10_000, "I", False)
    assert records.requests == 50 and records.size_bytes < 15_000


def test_large_content_survives_compression() -> None:
    content = random.Random(1).randbytes(1000) * (tape_format.FRAME_BYTES // 1000 * 2)
    frames = b"".join(tape_format.compressed(content))
    assert len(frames) < len(content) // 100 and tape_format.decompressed(frames, len(content)) == content
    with pytest.raises(tape_format.BadFrames, match="more than"):
        tape_format.decompressed(frames, tape_format.FRAME_BYTES)


def test_every_changed_byte_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.tape"
    write(file, *example())
    whole = file.read_bytes()
    for position in range(len(whole)):
        file.write_bytes(whole[:position] + bytes((whole[position] ^ 1,)) + whole[position + 1 :])
        with pytest.raises(UsageError):
            read(file)
    for size in range(len(whole)):
        file.write_bytes(whole[:size])
        with pytest.raises(UsageError):
            read(file)


def test_what_is_no_tape_is_named(tmp_path: Path) -> None:
    file = tmp_path / "a.tape"
    with pytest.raises(UsageError, match="No such file"):
        read(file)
    file.write_bytes(b"SQLite format 3\0")
    with pytest.raises(UsageError, match="is not a tape"):
        read(file)
    for version in (1, 3):
        file.write_bytes(MAGIC + b"%d\n" % version)
        with pytest.raises(UsageError, match=f"a tape of version '{version}'"):
            read(file)
    frames = b"".join(tape_format.compressed(b"\xff\xff\xff\xff"))
    file.write_bytes(MAGIC + b"2\n" + hashlib.sha256(frames).digest() + frames)
    with pytest.raises(UsageError, match="its header is longer than the tape"):
        read(file)


@pytest.mark.parametrize("name", ["derby", "mariadb", "postgresql"])
def test_recorded_tapes_know_which_rows_they_deliver(name: str) -> None:
    file = Path(__file__).parents[2] / "tapes" / f"{name}.tape"
    workloads = read(file).header.workloads
    assert {phase.expected for each in workloads.values() for phase in each.phases} > {"none"}
