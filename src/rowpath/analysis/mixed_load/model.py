"""Nouns of groups at work at once: what the reports show of them. Instants are seconds since the set's begin."""

from __future__ import annotations

from typing import Literal

from rowpath.journal.mixed_load_records import CountedFailure
from rowpath.model.base import Frozen


class Latency(Frozen, frozen=True):
    """A distribution of durations in ns; None of no values."""

    operations: int
    mean_ns: float | None
    p50_ns: int | None
    p90_ns: int | None
    p99_ns: int | None
    p999_ns: int | None
    most_ns: int | None


class GroupFigures(Frozen, frozen=True):
    """A group in one stage on one path, over all sets. Failed operations are in no rate."""

    name: str  # of the path
    path_id: str
    stage: str
    client_group: str
    phase: str
    clients: int
    pacing: Literal["closed", "fixed", "poisson"]
    sets: int
    rate_per_s: float  # geometric mean over the sets
    low: float | None  # its interval
    high: float | None
    service: Latency
    latency: Latency | None  # open loop, from when an operation was due; None: closed loop, or the rate was not reached
    lateness: Latency | None  # open loop: how late the generator itself began
    requested_per_s: float | None  # open loop
    reached: bool  # closed loop: true
    not_begun: int  # open loop: operations due that were never begun
    failed: int
    failures: tuple[CountedFailure, ...]
    rows_per_operation: float
    touch_ok: bool | None  # None: nothing is known of it
    longest_stall_s: float  # within which no operation of the group ended
    client_cpu_ns: float | None = None  # per operation, of its clients' threads
    cut: bool = False  # the run was ended within it


class HostWork(Frozen, frozen=True):
    """What one host did of a group in a stage of a path, all sets together."""

    name: str  # of the path
    path_id: str
    stage: str
    client_group: str
    host: str
    clients: int
    operations: int
    share: float  # of the group's operations
    failed: int
    lost: str = ""  # why the host was lost; its counts are those of the last look


class HostsStart(Frozen, frozen=True):
    """How the hosts of a group began a stage, of the set in which they were furthest apart."""

    name: str  # of the path
    path_id: str
    stage: str
    client_group: str
    hosts: tuple[str, ...]
    skew_ns: int  # from the first host's begin to the last one's
    bound_ns: int  # of the skew: what the two clocks may be off
    lead_ns: int  # the least that was left when a host knew the instant; negative: it began late
    clock_moved_ns: int | None  # the most that a clock moved within a stage, all sets; None: not known


class BackupFigures(Frozen, frozen=True):
    """The backups of one path in one stage."""

    name: str
    path_id: str
    stage: str
    way: str
    made: int
    failed: int
    reasons: tuple[str, ...]  # why those failed, or could not be restored
    restored: int  # and found right
    seconds: float | None  # mean
    low: float | None
    high: float | None
    kept_bytes: int | None
    stopped: int = 0  # ended with their engine, killed on purpose, or with the run: neither made nor failed


class BackupEffect(Frozen, frozen=True):
    """A group's rate inside the backup's span ÷ its rate in the stage without one (same set), with its interval."""

    name: str
    path_id: str
    client_group: str
    stage: str
    against: str  # the stage without a backup
    inside_per_s: float
    outside_per_s: float
    ratio: float
    low: float | None
    high: float | None
    sets: int


class StageFigures(Frozen, frozen=True):
    """What one path used in one stage, all of its groups together, over all sets (geometric means)."""

    name: str
    path_id: str
    stage: str
    sets: int
    seconds: float  # mean length
    client_cpu_ns: float | None  # per operation of any group: of the whole process
    server_cpu_ns: float | None
    traffic_bytes_per_s: float | None  # only of our connections, both directions, payload
    low: float | None  # its interval
    high: float | None
    bytes_per_operation: float | None
    traffic_in_backup_bytes_per_s: float | None = None  # over the seconds of which nine tenths lie within a backup


class GroupRatio(Frozen, frozen=True):
    """A group's rate behind a server ÷ its rate on the same engine embedded, over the sets that both are in."""

    stage: str
    client_group: str
    server: str  # names of the paths
    embedded: str
    ratio: float
    low: float | None
    high: float | None
    sets: int


class AcknowledgedCheck(Frozen, frozen=True):
    """Whether every acknowledged write was in the database: at the end, after a kill, in a backup."""

    name: str
    path_id: str
    when: Literal["end", "kill", "backup"]
    durability: str
    checks: int
    writes: int  # acknowledged, and looked for
    rows: int
    lost: int
    doubled: int  # in the database more often than requested
    in_doubt: int  # their clients got no result: they may be there or not
    recovery_s: float | None = None  # from the start of the killed engine to its first answer, mean


class DirectoryCopy(Frozen, frozen=True):
    """A database directory copied from one deployment or version to another, and what came of it."""

    source: str
    target: str
    bytes: int
    digest: str
    expected: str
    ok: bool
    seconds: float
    reason: str = ""


class RateTry(Frozen, frozen=True):
    """One rate of a rate search."""

    rate_per_s: float
    reached: bool
    p50_ns: int | None
    p99_ns: int | None
    p999_ns: int | None


class RateSearch(Frozen, frozen=True):
    """The highest rate found at which the 99th percentile stays under the bound; None: not even the first did."""

    name: str
    path_id: str
    client_group: str
    bound_ns: int
    highest_per_s: float | None
    tries: tuple[RateTry, ...]

    @property
    def bounded(self) -> bool:
        """Whether a higher rate was tried and did not hold; otherwise the tries ended before the path did."""
        return self.highest_per_s is not None and any(each.rate_per_s > self.highest_per_s for each in self.tries)


class TimeLine(Frozen, frozen=True):
    """One path in one set, second by second: every series has one value for each of `at_s` (the interval's end)."""

    name: str
    path_id: str
    set: int
    at_s: tuple[float, ...]
    stages: tuple[tuple[str, float, float], ...]  # name, begin, end
    backups: tuple[tuple[float, float], ...]
    kills: tuple[float, ...]
    series: tuple[Series, ...]


class Series(Frozen, frozen=True):
    """One quantity of a time line; None where there is nothing to tell (the group was not at work).

    Units: rate operations/s; failed operations; p50, p99, longest, stall ns; cpu cores (1: one core all the time);
    memory bytes; sent, received, read, written bytes/s.
    """

    quantity: str  # rate | failed | p50 | p99 | longest | stall | cpu | memory | sent | received | read | written
    of: str  # the group or the process
    unit: str
    values: tuple[float | None, ...]


class MixedLoadReport(Frozen, frozen=True):
    """Everything about groups that the reports show."""

    figures: tuple[GroupFigures, ...] = ()
    backups: tuple[BackupFigures, ...] = ()
    effects: tuple[BackupEffect, ...] = ()
    stages: tuple[StageFigures, ...] = ()
    ratios: tuple[GroupRatio, ...] = ()
    checks: tuple[AcknowledgedCheck, ...] = ()
    moves: tuple[DirectoryCopy, ...] = ()
    rate_searches: tuple[RateSearch, ...] = ()
    lines: tuple[TimeLine, ...] = ()
    hosts: tuple[HostWork, ...] = ()
    starts: tuple[HostsStart, ...] = ()
