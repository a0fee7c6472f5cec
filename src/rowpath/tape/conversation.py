"""A connection as the recording proxy sees it, whatever its protocol, and what no tape can hold."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from rowpath.tape.format import TapeRecords
from rowpath.tape.scrub import Scrub

SETS_A_PASSWORD = re.compile(
    rb"\bPASSWORD\b\s*(=|\(|'|E')|\bIDENTIFIED\s+(BY|WITH|VIA)\b"
    rb"|\bSYSCS_(CREATE_USER|RESET_PASSWORD|MODIFY_PASSWORD|SET_DATABASE_PROPERTY)\b",
    re.IGNORECASE,
)


class Refused(Exception):
    """Why a conversation cannot be recorded, in words for the user."""


def check_statement(sql: bytes) -> None:
    """Refused for a statement that holds a password."""
    if SETS_A_PASSWORD.search(sql):
        raise Refused("a statement that sets a password: the tape would contain it")


class Conversation(ABC):
    """One connection between a client and a server; `server`: the server's version in its own words, once known."""

    def __init__(self, records: TapeRecords, scrub: Scrub | None) -> None:
        self._records, self._scrub = records, scrub
        self._from_client, self._from_server = bytearray(), bytearray()
        self._number: int | None = None  # of the connection on the tape, once logged in
        self._state = "I"  # of the session: idle, in a transaction, in one that failed
        self.to_client = b""  # what the proxy itself says
        self.server = ""

    @abstractmethod
    def client(self, data: bytes) -> bytes:
        """Take what the client sent; what goes on to the server. Errors: Refused."""

    @abstractmethod
    def server_sent(self, data: bytes) -> bytes:
        """Take what the server sent; what goes on to the client. Errors: Refused."""
