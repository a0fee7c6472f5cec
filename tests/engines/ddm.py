"""As much of DDM as it takes to log in to the stand-in for IBM i, and to ask it for what jt400 would not."""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Iterator
from contextlib import contextmanager

TIMEOUT_S = 60.0
EXCSAT, EXCSATRD = 0x1041, 0x1443
ACCSEC, SECTKN, SECCHK, PASSWORD = 0x106D, 0x11DC, 0x106E, 0x11A1
DCLNAM, S38OPEN, S38MTEXT = 0x1136, 0xD011, 0xD116
SEED = b"12345678"


def _number(value: int) -> bytes:
    return value.to_bytes(2, "big")


def _term(point: int, content: bytes) -> bytes:
    return _number(len(content) + 4) + _number(point) + content


class Client:
    """A connection that has sent nothing yet."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._replies = connection.makefile("rb")

    def _send(self, point: int, *terms: bytes) -> None:
        request = _term(point, b"".join(terms))
        self._connection.sendall(_number(len(request) + 6) + b"\xd0\x01\x00\x01" + request)

    def _reply(self) -> bytes:
        head = self._replies.read(6)
        return self._replies.read(int.from_bytes(head[:2], "big") - 6)

    def asked(self, point: int) -> list[bytes]:
        """What it answers to a request about a file: all that comes before the reply to another request."""
        self._send(point, _term(DCLNAM, b"\xf1" + 7 * b"\x40"))
        self._send(EXCSAT)
        replies = []
        while (reply := self._reply())[2:4] != _number(EXCSATRD):
            replies.append(reply)
        return replies

    def logs_in(self, user: str, password: str) -> bool:
        self._send(ACCSEC, _term(SECTKN, SEED))
        challenge = self._reply()
        token = hashlib.sha1(f"{user:<10}{password}".encode("utf-16-be")).digest()
        sequence = (1).to_bytes(8, "big")
        proof = hashlib.sha1(token + challenge[-8:] + SEED + f"{user:<10}".encode("utf-16-be") + sequence).digest()
        self._send(SECCHK, _term(PASSWORD, proof))
        return self._reply()[-1] == 0

    def message(self, replies: list[bytes]) -> str:
        """The text of the only message among them."""
        (reply,) = replies
        at = reply.index(_number(S38MTEXT)) + 4
        return reply[at:].decode("cp037")


@contextmanager
def connected(port: int) -> Iterator[Client]:
    with socket.create_connection(("127.0.0.1", port), TIMEOUT_S) as connection:
        yield Client(connection)
