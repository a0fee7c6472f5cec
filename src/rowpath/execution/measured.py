"""A sample with what the collectors saw around it, and whether it had its cores to itself."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

import msgspec

from rowpath.journal.records import SampleRecord, VerifyRecord
from rowpath.machine import cpus, processes
from rowpath.machine.counters import cpu
from rowpath.machine.counters.core_users import Look, users
from rowpath.machine.counters.noise import NS_PER_TICK
from rowpath.model.core_user import CoreUser
from rowpath.runners import protocol

ACCOUNTED_LEAST = 0.95  # of a window, by client and server CPU together, where they are on one core
WAIT_MOST = 0.02  # of a window, spent ready but not running for others' sake
FOREIGN_MOST = 0.05  # of the cores' time in a window, had by others, where client and server may use every core
NAMED = 3  # users of the cores of a sample


class HelperThreads:
    """The helper threads of a worker's processes, as far as pinning has met them."""

    def __init__(self) -> None:
        self._helps: dict[tuple[int, int], bool] = {}  # (pid, tid) → whether it is one

    def pin(self, pid: int, to: tuple[int, ...], names: tuple[str, ...]) -> None:
        """Pin a process to these cores, and threads whose names begin like one of `names` to the spare ones."""
        if not names:
            processes.pin(pid, to)
            return
        for tid in processes.threads(pid):
            if (pid, tid) not in self._helps:
                self._helps[pid, tid] = processes.name(tid).startswith(names)
            processes.pin_thread(tid, cpus.spare_cpus() if self._helps[pid, tid] else to)

    def cpu_ns(self, pids: Collection[int]) -> int:
        """CPU time so far of the helper threads of these processes."""
        return cpu.threads_cpu_ns(thread for thread, helps in self._helps.items() if helps and thread[0] in pids)


@dataclass(frozen=True)
class Reading:
    """The counters of a path's processes at one moment; None where they cannot be read."""

    client_ns: int | None  # CPU time of the runner's threads that the reply's window does not hold
    client_helpers_ns: int  # of that, of helper threads on spare cores
    server_ns: int
    pooler_ns: int
    server_helpers_ns: int
    others_ns: int  # CPU time of a server that is not ours
    loop: cpu.LoopClocks | None
    look: Look


@dataclass(frozen=True)
class WindowSpent:
    """What a sample's window was spent on, on the measured cores."""

    window_ns: int
    client_ns: int | None
    server_ns: int | None  # with its pooler; None: not known; 0 where there is none
    wait_ns: int | None


@dataclass
class CoreShare:
    """Judges the samples of one worker. It learns from them whether the path waits by itself (timer, network, disk)."""

    cpus: frozenset[int]  # all that the path is measured on
    own: frozenset[int]  # its processes
    _missing_ns: int = field(default=0, init=False)
    _idle_ns: int = field(default=0, init=False)
    _stolen_ns: int = field(default=0, init=False)

    def of_one_core(self, spent: WindowSpent, before: Look, after: Look) -> tuple[list[CoreUser], int]:
        """Who had the core, where client and server share one, and for how long it was idle: the path waited."""
        missing = spent.window_ns - (spent.client_ns or 0) - (spent.server_ns or 0)
        if missing <= (1 - ACCOUNTED_LEAST) * spent.window_ns:
            return [], 0
        others = capped(users(before, after, self.cpus, self.own), missing)
        rest = missing - sum(user.ns for user in others)
        outside_ns = after.at_ns - before.at_ns - spent.window_ns
        self._missing_ns += rest
        self._idle_ns += after.idle_ns - before.idle_ns - outside_ns
        self._stolen_ns += after.stolen_ns - before.stolen_ns
        if rest < missing / 2:
            return others, 0
        # Both come in steps of a clock tick, longer than a sample's part that is missing: only sums over samples tell.
        if self._idle_ns > max(self._stolen_ns, self._missing_ns / 2):
            return [], rest
        return [*others, CoreUser("hypervisor" if self._stolen_ns >= NS_PER_TICK else "unknown", "", rest)], 0

    def of_every_core(self, spent: WindowSpent, before: Look, after: Look) -> list[CoreUser]:
        """Who had the cores, where client and server may use all of them and wait for each other's threads."""
        elapsed_ns = (after.at_ns - before.at_ns) * len(self.cpus)
        foreign = elapsed_ns - (after.idle_ns - before.idle_ns) - (spent.client_ns or 0) - (spent.server_ns or 0)
        limit = FOREIGN_MOST * spent.window_ns + 2 * NS_PER_TICK
        if foreign <= limit * len(self.cpus):
            return []
        return self._named(foreign, foreign, before, after, users(before, after, self.cpus, self.own))

    def by_waiting(
        self,
        spent: WindowSpent,
        before: Look,
        after: Look,
        *,
        writes: bool = False,
        with_server: bool = False,
        others_ns: int = 0,
    ) -> list[CoreUser]:
        """Who had the cores while the client's thread was ready but not running.

        `writes`: kernel threads are the path's own, as they write what it wrote. `with_server`: on the same core, so
        that the client waited for its server too. `others_ns`: the CPU time of a server that is not ours, which may
        have been spent on this core.
        """
        foreign = (spent.wait_ns or 0) - others_ns
        if foreign <= WAIT_MOST * spent.window_ns:
            return []
        known = users(before, after, self.cpus, self.own)
        if writes:
            foreign -= sum(user.ns for user in known if user.kind == "kernel")
            known = [user for user in known if user.kind != "kernel"]
        unseen = foreign
        if with_server:
            own = (spent.client_ns or 0) + (spent.server_ns or 0)
            foreign = min(foreign, spent.window_ns - own)
            unseen = 0 if spent.server_ns is None else foreign - spent.server_ns
        others = self._named(foreign, unseen, before, after, known)
        return others if sum(user.ns for user in others) > WAIT_MOST * spent.window_ns else []

    def _named(self, most: int, unseen: int, before: Look, after: Look, known: list[CoreUser]) -> list[CoreUser]:
        """The users that are `known`, together at most `most`; then an unknown one for the rest of `unseen`."""
        named = capped(known, most)
        rest = unseen - sum(user.ns for user in named)
        stolen = after.stolen_ns - before.stolen_ns
        return named if rest <= 0 else [*named, CoreUser("hypervisor" if stolen else "unknown", "", rest)]


def capped(core_users: Iterable[CoreUser], most_ns: int) -> list[CoreUser]:
    """The greatest of them, together at most `most_ns`: they may have run outside the window too."""
    kept: list[CoreUser] = []
    for user in core_users:
        left = most_ns - sum(other.ns for other in kept)
        if left <= 0 or len(kept) == NAMED:
            break
        kept.append(CoreUser(user.kind, user.name, min(user.ns, left)))
    return kept


def sentence(core_users: list[CoreUser], window_ns: int) -> str:
    """Who had most of the cores, in words: `36% of the window went to gcc`; empty without any."""
    if not core_users:
        return ""
    names = {"hypervisor": "the hypervisor", "unknown": "processes that have ended, or interrupts"}
    user = max(core_users, key=lambda core_user: core_user.ns)
    return f"{user.ns / window_ns:.0%} of the window went to {user.name or names[user.kind]}"


@dataclass
class Measured:
    """A sample's reply with what the collectors saw around it."""

    reply: protocol.SampleReply
    client_cpu_ns: int | None
    server_cpu_ns: int | None
    wait_ns: int | None
    cpu_coverage: float | None  # share of the window that client and server CPU account for
    core_users: list[CoreUser]  # who else had the measured cores, so that the sample is disturbed; empty: none
    pooler_cpu_ns: int | None = None
    client_helpers_cpu_ns: int = 0  # of those above, on spare cores beside the window
    server_helpers_cpu_ns: int = 0
    own_wait_ns: int = 0  # in which the path waited and its core was idle
    ended_ns: int = field(default_factory=time.monotonic_ns)  # by the clock of the machine that has it

    @property
    def helpers_cpu_ns(self) -> int:
        """CPU time of the helper threads of both sides, on spare cores."""
        return self.client_helpers_cpu_ns + self.server_helpers_cpu_ns

    @property
    def disturbed(self) -> str:
        """Why the sample is, in words; empty when it is not."""
        return sentence(self.core_users, max(1, self.reply.window_ns))

    def record(self, regime: str, round_number: int, at_ns: int) -> SampleRecord:
        """As the journal has it; what it was compared to is not in it yet."""
        record = msgspec.convert(protocol.body(self.reply), SampleRecord)
        record.regime, record.round, record.at_ns = regime, round_number, at_ns
        cpu_ns = ("client_cpu_ns", "server_cpu_ns", "pooler_cpu_ns", "client_helpers_cpu_ns", "server_helpers_cpu_ns")
        for name in (*cpu_ns, "wait_ns", "own_wait_ns", "cpu_coverage", "core_users", "disturbed"):
            setattr(record, name, getattr(self, name))
        return record


def book_as_one(reply: protocol.SampleReply, parts: int) -> None:
    """Count the parts of one retrieval as one operation: done when all were, failed when one failed."""
    whole = reply.operations == parts and not reply.failed
    reply.operations, reply.failed = (1, 0) if whole else (0, 1)
    reply.lead_in_operations = 0
    reply.min_ns = reply.max_ns = reply.ns
    reply.execute_ns //= parts  # a part's own, on average
    reply.first_row_ns //= parts


def verify_record(reply: protocol.VerifyReply, expected: str) -> VerifyRecord:
    """A digest compared with the expected one, as the journal has it."""
    return msgspec.convert(protocol.body(reply) | {"expected": expected, "ok": reply.digest == expected}, VerifyRecord)
