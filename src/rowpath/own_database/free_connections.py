"""How many more connections a user's server has, how many of them we take at most, and who else is active there."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from rowpath import text as fmt
from rowpath.engines import ENGINES
from rowpath.errors import UsageError
from rowpath.own_database.access import Access

TAKEN = 2  # at most the half of what is free
LOOK_AGAIN_S = 0.5  # a session of ours that was closed may still be seen as another one
BEHIND_A_POOLER = (
    "a connection pooler is in front of the server: how many connections are free is not known, "
    "and the sessions of several clients cannot be kept read only"
)


@dataclass(frozen=True)
class Limit:
    """One limit of connections, and what of it is left."""

    name: str
    limit: int
    in_use: int
    reserve: int

    @property
    def free(self) -> int:
        """Connections that could still be opened; never negative."""
        return max(0, self.limit - self.in_use - self.reserve)

    @property
    def shown(self) -> str:
        """`max_connections 100, 3 in use, 3 reserved`."""
        return f"{self.name} {self.limit}, {self.in_use} in use, {self.reserve} reserved"


@dataclass(frozen=True)
class FreeConnections:
    """What a server has left for this login: the tightest of its limits counts."""

    limits: tuple[Limit, ...]
    others: int  # sessions that were active within the last minute, or may have been

    @property
    def tightest(self) -> Limit:
        """The limit that leaves least."""
        return min(self.limits, key=lambda limit: limit.free)

    @property
    def most(self) -> int:
        """How many we may take."""
        return self.tightest.free // TAKEN

    @property
    def shown(self) -> str:
        """`94 free (max_connections 100, …)`."""
        return f"{self.tightest.free} free ({self.tightest.shown})"


def free_connections(access: Access, file: Path) -> FreeConnections:
    """Ask the server; `file` is written and removed. Errors: UsageError where it is not known, RowpathError."""
    target = access.target
    questions = ENGINES[target.engine].probe.connection_limits
    if target.deployment != "server" or questions is None:
        known = ", ".join(sorted(name for name, engine in ENGINES.items() if engine.probe.connection_limits))
        what = f"--clients: how many connections {target.shown} has is not known"
        raise UsageError(what, f"connections are sized on servers of {known}")
    if access.session.pooled is not None:
        raise UsageError(f"--clients: {BEHIND_A_POOLER}", "give the URL of the server itself")
    with access.asking((), file) as ask:
        limits = tuple(map(_limit, ask(questions.limits, 1)))
        others = int(ask(questions.others, 1)[0])
        if others:
            time.sleep(LOOK_AGAIN_S)
            others = min(others, int(ask(questions.others, 1)[0]))
    return FreeConnections(limits, others)


def _limit(row: str) -> Limit:
    name, *numbers = row.rsplit("|", 3)
    return Limit(name, *map(int, numbers))


def allowed(free: FreeConnections, callers: int, most: int, *, agreed: bool) -> int:
    """How many connections the load may have, beside the one that watches. Errors: UsageError where none may be.

    `most`: what the user allows in all; `agreed`: although other sessions are active.
    """
    if free.others and not agreed:
        those = fmt.counted(free.others, "other session")
        what = f"{those} {'was' if free.others == 1 else 'were'} active on the server within the last minute"
        raise UsageError(what, "size at a quieter time, or on a copy; with --yes although they are active")
    taken = min(callers, most - 1, free.most - 1)
    if taken < 1:
        what = f"too few connections: {free.shown}; at most half of the free ones are taken, and one of them watches"
        raise UsageError(what, "size at a quieter time, or raise the limit")
    return taken
