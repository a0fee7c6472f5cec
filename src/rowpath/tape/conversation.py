"""A connection as the recording proxy sees it, whatever its protocol, and what no tape can hold."""

from __future__ import annotations

import re

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
