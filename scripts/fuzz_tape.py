"""Change tapes at random and replay them: the server must refuse or serve, never crash, hang or read what is not its.

    PYTHONPATH=src .venv/bin/python scripts/fuzz_tape.py --seconds 600 tests/tapes/*.tape

Changed files must be refused by their checksum. Behind it, records are changed, sealed again and given to a server that
is built with the compiler's address and undefined-behaviour sanitizers; every second one is also spoken to, with the
recorded requests, changed too. It ends with 1 and keeps the tape when a server died, was still reading after a minute,
or reported a fault.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import random
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import msgspec

from rowpath.errors import UsageError
from rowpath.machine import processes
from rowpath.machine.directories import data_dir
from rowpath.tape.format import AGAIN, ASK, CONNECT, DIGEST_BYTES, HEAD, MAGIC, VERSION, Tape, compressed, read

SANITIZED = ("-std=c11", "-D_GNU_SOURCE", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
NO_LEAKS = {"ASAN_OPTIONS": "detect_leaks=0"}  # what a program that ends leaves is no fault
HANG_S = 60.0
SHORT_BYTES = 3000  # of the sequences of records that are changed: many tries a second
KEPT = Path("fuzz-failure.content")
BOTH = {"contents served", "contents refused"}  # a slow machine goes on for a while until it has seen both
INTERESTING = (0, 1, 4, 5, 127, 128, 250, 251, 252, 253, 254, 255)


class Broken(Exception):
    """What must not be."""


def main() -> int:
    """Until the time is over."""
    parser = argparse.ArgumentParser(description="change tapes at random and replay them")
    parser.add_argument("tapes", nargs="+", type=Path)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000_007)
    options = parser.parse_args()
    dice, counts = random.Random(options.seed), Counter[str]()
    tapes = [read(file) for file in options.tapes]
    with tempfile.TemporaryDirectory(prefix="rowpath-fuzz-") as folder:
        program = built(Path(folder))
        until = time.monotonic() + options.seconds
        content = b""
        try:
            while time.monotonic() < until or (time.monotonic() < until + HANG_S and not counts.keys() >= BOTH):
                tape = dice.choice(tapes)
                counts[changed_file(tape, Path(folder), dice)] += 1
                counts[resealed_file(tape, Path(folder), dice)] += 1
                for _ in range(20):
                    content = changed(excerpt(tape, dice), dice)
                    counts[served(program, content, tape, dice)] += 1
        except Broken as broken:
            KEPT.write_bytes(content)
            print(f"seed {options.seed}: {broken}; the content is kept in {KEPT}", file=sys.stderr)
            return 1
        finally:
            processes.stop_all()
    print(f"seed {options.seed}: " + ", ".join(f"{number:,} {what}" for what, number in sorted(counts.items())))
    return 0


def built(folder: Path) -> Path:
    """The replay server with sanitizers."""
    sources = sorted((data_dir() / "runners" / "c" / "tools" / "replay").glob("*.c"))
    program = folder / "replay"
    subprocess.run(["gcc", *SANITIZED, *map(str, sources), "-o", str(program)], check=True)
    return program


def changed_file(tape: Tape, folder: Path, dice: random.Random) -> str:
    """A file with a changed, missing or added part: Rowpath refuses it. Errors: Broken."""
    whole = bytearray(tape.file.read_bytes())
    at = dice.randrange(len(whole))
    kind = dice.randrange(3)
    if kind == 0:
        whole[at] ^= 1 << dice.randrange(8)
    elif kind == 1:
        del whole[at:]
    else:
        whole[at:at] = dice.randbytes(dice.randint(1, 8))
    file = folder / "changed.tape"
    file.write_bytes(whole)
    try:
        read(file)
    except UsageError:
        return "files refused"
    raise Broken("a changed file was taken for a whole one")


def resealed_file(tape: Tape, folder: Path, dice: random.Random) -> str:
    """A file whose frames or header are changed behind a right checksum: taken or refused. Errors: Broken."""
    line, whole = b"%s%d\n" % (MAGIC, VERSION), tape.file.read_bytes()
    if dice.random() < 0.5:
        frames = bytearray(whole[len(line) + DIGEST_BYTES :])
        frames[dice.randrange(len(frames)) if dice.random() < 0.5 else dice.randrange(20)] = dice.randrange(256)
    else:
        header = bytearray(msgspec.json.encode(tape.header))
        for _ in range(dice.randint(1, 4)):
            at = dice.randrange(len(header))
            header[at : at + dice.randrange(3)] = dice.choice((b"", b"{", b"[", b"null", b"9", b"-1", b'"', b"\xff"))
        frames = bytearray(b"".join(compressed(len(header).to_bytes(4, "little") + header + tape.content)))
    file = folder / "resealed.tape"
    file.write_bytes(line + hashlib.sha256(frames).digest() + frames)
    try:
        read(file)
    except UsageError:
        return "resealed files refused"
    except Exception as error:
        raise Broken(f"a resealed file: {type(error).__name__}: {error}") from error
    return "resealed files taken"


def split(content: bytes) -> list[bytes]:
    """The records of a content."""
    found, at = [], 8
    while at < len(content):
        *_, request, reply = HEAD.unpack_from(content, at)
        found.append(content[at : at + HEAD.size + request + reply])
        at += len(found[-1])
    return found


def excerpt(tape: Tape, dice: random.Random) -> list[bytes]:
    """The head of a content, its first records and some in a row, with their end."""
    if tape.file not in _records:
        _records[tape.file] = split(tape.content)
    every = _records[tape.file]
    first, begin = every[:12], dice.randrange(12, len(every) - 1)
    chosen, size = list(first), 0
    for found in every[begin:-1]:
        record = whole(found, every) if dice.random() < 0.9 else found
        size += len(record)
        if size > SHORT_BYTES or record[0] == CONNECT:
            break
        chosen.append(record)
    return [tape.content[:8], *chosen, every[-1]]


def whole(record: bytes, every: list[bytes]) -> bytes:
    """A record with its reply in itself, also where it refers to an earlier one, which an excerpt lacks."""
    kind, state, failed, zero, connection, earlier, request, _reply = HEAD.unpack_from(record)
    if kind != AGAIN:
        return record
    *_, extra, length, reply = HEAD.unpack_from(every[earlier])
    head = HEAD.pack(ASK, state, failed, zero, connection, extra, request, reply)
    return b"".join((head, record[HEAD.size :], every[earlier][HEAD.size + length :]))


_records: dict[Path, list[bytes]] = {}


def changed(parts: list[bytes], dice: random.Random) -> bytes:
    """A content with some of its records changed, doubled, dropped or swapped; their number is mostly right."""
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(1, len(parts))
        kind = dice.randrange(8)
        if kind < 5:
            parts[at] = changed_bytes(parts[at], dice)
        elif kind == 5:
            parts.insert(at, dice.choice(parts[1:]))
        elif kind == 6 and len(parts) > 3:
            del parts[at]
        else:
            other = dice.randrange(1, len(parts))
            parts[at], parts[other] = parts[other], parts[at]
    if len(parts[-1]) == HEAD.size and dice.random() < 0.9:
        parts[-1] = HEAD.pack(0, 0, 0, 0, len(parts) - 2, 0, 0, 0)
    return b"".join(parts)


def changed_bytes(part: bytes, dice: random.Random) -> bytes:
    """Some bytes changed; where that makes a record longer or shorter, its lengths follow mostly."""
    if len(part) < HEAD.size:
        return part
    head, body = bytearray(part[: HEAD.size]), bytearray(part[HEAD.size :])
    request = int.from_bytes(head[12:16], "little")
    for _ in range(dice.randint(1, 4)):
        target = head if dice.random() < 0.2 or not body else body
        at = dice.randrange(len(target))
        if target is body and dice.random() < 0.2:
            del body[at : at + dice.randint(1, 5)]
            request = min(request, len(body))
        elif target is body and dice.random() < 0.2:
            body[at:at] = dice.randbytes(dice.randint(1, 5))
        else:
            target[at] = dice.choice(INTERESTING) if dice.random() < 0.5 else dice.randrange(256)
    if dice.random() < 0.8 and len(body) >= request:
        head[12:20] = request.to_bytes(4, "little") + (len(body) - request).to_bytes(4, "little")
    return bytes(head + body)


def served(program: Path, content: bytes, tape: Tape, dice: random.Random) -> str:
    """Give a content to a server and speak to it; what it did. Errors: Broken."""
    with tempfile.TemporaryFile() as errors:
        process = processes.start(
            [program], environment=NO_LEAKS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
        )
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(len(content).to_bytes(8, "little") + content)
            process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], HANG_S)
        line = process.stdout.readline().decode() if ready else ""
        if line.startswith("ready tcp=") and dice.random() < 0.5:
            speak(int(line.split()[1].removeprefix("tcp=")), tape, dice)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        if not processes.wait(process, HANG_S):
            raise Broken("the server hangs")
        code = processes.stop(process)
        errors.seek(0)
        said = errors.read().decode(errors="replace")
    if code == 2 and not line and said.count("\n") == 1:
        return "contents refused"
    if code == 0 and line:
        return "contents served"
    raise Broken(f"the server ended with {code}: {said[-2000:]}")


def speak(port: int, tape: Tape, dice: random.Random) -> None:
    """Log in as recorded and send requests, some of them changed; whatever comes back."""
    every = _records[tape.file]
    protocol = tape.protocol
    *_, request, _reply = HEAD.unpack_from(every[0])
    startup = every[0][HEAD.size : HEAD.size + request]
    login = [] if protocol != "drda" else every[1:3]  # its requests are whole messages, those of the login too
    sent = {
        "postgresql": (len(startup) + 4).to_bytes(4, "big") + startup,
        "mysql": packet(startup + b"me\0\0", 1),
        "drda": b"",
    }[protocol]
    for record in [*login, *dice.sample(every[1:-1], 8)]:
        *_, request, _reply = HEAD.unpack_from(record)
        one = record[HEAD.size : HEAD.size + request]
        if dice.random() < 0.5 and one:
            where = dice.randrange(len(one))
            one = one[:where] + bytes((dice.randrange(256),)) + one[where + 1 :]
        sent += {"postgresql": one + b"S\0\0\0\4", "mysql": packet(one, 0), "drda": one}[protocol]
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5.0) as client:
        client.settimeout(0.02)
        at = 0
        while at < len(sent):
            size = dice.choice((1, 7, 100, len(sent)))
            client.sendall(sent[at : at + size])
            at += size
        with contextlib.suppress(TimeoutError):
            while client.recv(65536):
                pass


def packet(payload: bytes, sequence: int) -> bytes:
    """A packet of MySQL's protocol."""
    return len(payload).to_bytes(3, "little") + bytes((sequence,)) + payload


if __name__ == "__main__":
    sys.exit(main())
