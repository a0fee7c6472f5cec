"""Whether a sample had its cores to itself, from what the collectors read right before and after it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rowpath.machine.counters import cpu
from rowpath.machine.counters.core_users import Look, users
from rowpath.machine.counters.noise import NS_PER_TICK
from rowpath.model.core_user import CoreUser

ACCOUNTED_LEAST = 0.95  # of a window, by client and server CPU together, where they are on one core
WAIT_MOST = 0.02  # of a window, spent ready but not running for others' sake
FOREIGN_MOST = 0.05  # of the cores' time in a window, had by others, where client and server may use every core
NAMED = 3  # users of the cores of a sample


@dataclass(frozen=True)
class Reading:
    """The counters of a path's processes at one moment; None where they cannot be read."""

    client_ns: int | None  # CPU time of the runner's threads that the reply's window does not hold
    client_helpers_ns: int  # of that, of helper threads on spare cores
    server_ns: int
    server_helpers_ns: int
    others_ns: int  # CPU time of a server that is not ours
    loop: cpu.LoopClocks | None
    look: Look


@dataclass(frozen=True)
class Spent:
    """What a sample's window was spent on, on the measured cores."""

    window_ns: int
    client_ns: int | None
    server_ns: int | None  # None: not known; 0 where there is none
    wait_ns: int | None


@dataclass
class CoreShare:
    """Judges the samples of one worker. It learns from them whether the path waits by itself (timer, network, disk)."""

    cpus: frozenset[int]  # all that the path is measured on
    own: frozenset[int]  # its processes
    _missing_ns: int = field(default=0, init=False)
    _idle_ns: int = field(default=0, init=False)
    _stolen_ns: int = field(default=0, init=False)

    def of_one_core(self, spent: Spent, before: Look, after: Look) -> tuple[list[CoreUser], int]:
        """Who had the core, where client and server share one, and for how long it was idle: the path waited."""
        missing = spent.window_ns - (spent.client_ns or 0) - (spent.server_ns or 0)
        if missing <= (1 - ACCOUNTED_LEAST) * spent.window_ns:
            return [], 0
        found = capped(users(before, after, self.cpus, self.own), missing)
        rest = missing - sum(user.ns for user in found)
        outside_ns = after.at_ns - before.at_ns - spent.window_ns
        self._missing_ns += rest
        self._idle_ns += after.idle_ns - before.idle_ns - outside_ns
        self._stolen_ns += after.stolen_ns - before.stolen_ns
        if rest < missing / 2:
            return found, 0
        # Both come in steps of a clock tick, longer than a sample's part that is missing: only sums over samples tell.
        if self._idle_ns > max(self._stolen_ns, self._missing_ns / 2):
            return [], rest
        return [*found, CoreUser("hypervisor" if self._stolen_ns >= NS_PER_TICK else "unknown", "", rest)], 0

    def of_every_core(self, spent: Spent, before: Look, after: Look) -> list[CoreUser]:
        """Who had the cores, where client and server may use all of them and wait for each other's threads."""
        elapsed_ns = (after.at_ns - before.at_ns) * len(self.cpus)
        foreign = elapsed_ns - (after.idle_ns - before.idle_ns) - (spent.client_ns or 0) - (spent.server_ns or 0)
        limit = FOREIGN_MOST * spent.window_ns + 2 * NS_PER_TICK
        if foreign <= limit * len(self.cpus):
            return []
        return self._named(foreign, foreign, before, after, users(before, after, self.cpus, self.own))

    def by_waiting(
        self,
        spent: Spent,
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
        found = self._named(foreign, unseen, before, after, known)
        return found if sum(user.ns for user in found) > WAIT_MOST * spent.window_ns else []

    def _named(self, most: int, unseen: int, before: Look, after: Look, known: list[CoreUser]) -> list[CoreUser]:
        """The users that are `known`, together at most `most`; then an unknown one for the rest of `unseen`."""
        found = capped(known, most)
        rest = unseen - sum(user.ns for user in found)
        stolen = after.stolen_ns - before.stolen_ns
        return found if rest <= 0 else [*found, CoreUser("hypervisor" if stolen else "unknown", "", rest)]


def capped(found: Iterable[CoreUser], most_ns: int) -> list[CoreUser]:
    """The greatest of them, together at most `most_ns`: they may have run outside the window too."""
    kept: list[CoreUser] = []
    for user in found:
        left = most_ns - sum(each.ns for each in kept)
        if left <= 0 or len(kept) == NAMED:
            break
        kept.append(CoreUser(user.kind, user.name, min(user.ns, left)))
    return kept


def sentence(found: list[CoreUser], window_ns: int) -> str:
    """Who had most of the cores, in words: `36% of the window went to gcc`; empty without any."""
    if not found:
        return ""
    names = {"hypervisor": "the hypervisor", "unknown": "processes that have ended, or interrupts"}
    user = max(found, key=lambda each: each.ns)
    return f"{user.ns / window_ns:.0%} of the window went to {user.name or names[user.kind]}"
