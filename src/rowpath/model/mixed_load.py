"""What an experiment's file has of groups: `[[client_groups]]`, `[[stages]]`, `[rate_search]`."""

from __future__ import annotations

from typing import Literal

from rowpath.model.base import Frozen

Pacing = Literal["closed", "fixed", "poisson"]
Action = Literal["", "backup"]


class ClientGroupTable(Frozen, frozen=True):
    """Some clients with one operation and one pacing, at work in the stages that name them."""

    name: str
    phase: str = ""  # workload.phase; empty: an action
    action: Action = ""  # what the engine does as a whole, once for each repetition
    clients: int = 1
    over: Literal["", "load"] = ""  # spread over every host in that role; empty: on the client's host
    pacing: Pacing = "closed"
    rate_per_s: float = 0.0  # open loop: of the whole group
    begin_s: float = 0.0  # after the stage's begin, or after what `after` names
    after: str = ""  # "backup.begin" or "backup.end": it waits for that of another group of the stage
    times: int = 0  # operations of each client, repetitions of an action (0: one); 0: until the stage ends
    pause_s: float = 0.0  # between two operations of a client, or two repetitions of an action


class StageTable(Frozen, frozen=True):
    """A stage of time in which certain groups are at work."""

    name: str
    client_groups: tuple[str, ...]
    seconds: float = 10.0  # at most, where `until` is named
    until: str = ""  # it ends when this group is done
    clients: dict[str, int] = {}  # other numbers of clients than the groups' own
    rates: dict[str, float] = {}  # other rates than the groups' own
    kill_s: float = 0.0  # so long after its begin the engine's process is killed (SIGKILL), then recovers; 0: never
    extended: bool = False  # runs with --all only


class RateSearchTable(Frozen, frozen=True):
    """A search for the highest rate of a group at which the 99th percentile of its latency stays under a bound."""

    client_group: str
    p99_ms: float
    begin_per_s: float = 100.0
    seconds: float = 3.0  # each rate tried
    tries: int = 12


class CopyEnd(Frozen, frozen=True):
    """Where a database is: which version of its engine has it, in a program or behind a server."""

    version: str = ""  # empty: the default
    deployment: Literal["embedded", "server"] = "embedded"


class DirectoryCopyTable(Frozen, frozen=True):
    """A database directory made by one end and copied to the other, whose rows must still be the same."""

    source: CopyEnd
    target: CopyEnd
    engine: str = "derby"  # one whose databases are directories that know no users
