"""What a target's refusal means to who probes it."""

from __future__ import annotations

import re

from rowpath.errors import EnvironmentMissing, RowpathError, UsageError
from rowpath.model.path import CHECKED
from rowpath.own_database.target import Target
from rowpath.runners.process import RunnerFailure

AT_THE_SERVER = "give the URL of the server itself; docs/probe.md has what works through a pooler"
POOLER_WORDS = "unsupported startup parameter"  # PgBouncer's own, where it does not ignore what drivers send
OF_A_CHECK = re.compile(r"certificate|\bSSL\b|\bTLS\b", re.IGNORECASE)  # in the words of drivers


class RefusedStartup(EnvironmentMissing):
    """A pooler refuses what a driver begins a session with."""


def error_of(failure: RunnerFailure, target: Target) -> RowpathError:
    """A runner's failure as an error for the user."""
    words = failure.text
    if POOLER_WORDS in words:
        return RefusedStartup(f"a connection pooler in front of {target.shown} refuses it: {words}", AT_THE_SERVER)
    if failure.kind == "connect":
        hint = "check host, port, user, password and database"
        if target.tls in CHECKED and OF_A_CHECK.search(words):
            hint = "name the host as the server's certificate has it, and the file of the authority that signed it"
        return EnvironmentMissing(f"cannot connect to {target.shown}: {words}", hint)
    if failure.kind in ("sql", "unsupported"):
        file = target.deployment == "file"
        hint = "convert the file, or probe another form of it" if file else "fix the query, or read fewer rows"
        return UsageError(f"{target.shown} refused: {words}", hint)
    return RowpathError(f"{target.shown}: {failure.kind}: {words}", "rowpath doctor")
