"""A server and its client on two hosts: as the server's host reads and pins it, and as the client's host sees it."""

from __future__ import annotations

from typing import Any

import msgspec
from typing_extensions import override

from rowpath.engines.base import CountsStatements, FarSpent, Instance
from rowpath.execution.instances import ServerSyncs
from rowpath.execution.measured import FOREIGN_MOST, HelperThreads, capped
from rowpath.hosts.replies import Ask, forwarding
from rowpath.machine import cpus, processes
from rowpath.machine.counters import core_users, cpu, disk, memory
from rowpath.machine.counters.core_users import Look
from rowpath.machine.counters.noise import NS_PER_TICK
from rowpath.model.core_user import CoreUser
from rowpath.planning.plan import Key


class ServerFacts(msgspec.Struct, frozen=True):
    """What does not change of an instance on another host while it runs."""

    key: Key
    deployment: str
    version: str
    host: str
    flush_statements: tuple[str, ...]
    helper_threads: tuple[str, ...]
    counts_statements: bool
    secrets: tuple[str, ...]

    @classmethod
    def of(cls, key: Key, host: str, instance: Instance) -> ServerFacts:
        """As the instance has it now."""
        counts = isinstance(instance, CountsStatements)
        flush, helpers = tuple(instance.flush_statements), tuple(instance.helper_threads)
        secrets = tuple(instance.secrets())
        return cls(key, instance.deployment, instance.version, host, flush, helpers, counts, secrets)


class HeldServer:
    """The processes of one server, on its own host, while a client on another host is measured."""

    def __init__(self, host: str, instance: Instance, placement: str) -> None:
        self.instance = instance
        self._host = host
        self._cpus = cpus.server_cpus(placement)
        self._pids: list[int] = []
        self._helpers = HelperThreads()
        self._before: tuple[int, int, Look] | None = None

    def notice(self) -> None:
        """Learn which processes there are now, and move them away from the measured cores."""
        self._pids = self.instance.pids()
        self._before = None
        for pid in self._pids:
            processes.pin(pid, cpus.spare_cpus())

    def take_cores(self) -> None:
        """Bring them to their cores, helper threads excepted, and read them."""
        for pid in self._pids:
            self._helpers.pin(pid, self._cpus, tuple(self.instance.helper_threads))
        self._before = self._read()

    def leave_cores(self) -> FarSpent | None:
        """Read them again, and move them away."""
        if self._before is None:
            return None
        before, after = self._before, self._read()
        self._before = None
        for pid in self._pids:
            processes.pin(pid, cpus.spare_cpus())
        spent_ns = after[0] - before[0]
        return FarSpent(spent_ns, after[1] - before[1], tuple(self._others(before[2], after[2], spent_ns)))

    def memory_bytes(self) -> int | None:
        """Memory that is their own now."""
        return memory.anonymous_bytes(self._pids)

    def written_bytes(self) -> int | None:
        """Bytes that they have handed to the disk so far."""
        return disk.written_bytes(self._pids)

    def _read(self) -> tuple[int, int, Look]:
        return cpu.total_ns(self._pids), self._helpers.cpu_ns(self._pids), core_users.look(self._cpus)

    def _others(self, before: Look, after: Look, spent_ns: int) -> list[CoreUser]:
        """Who else had the server's cores, where that was more than a sample may lose."""
        elapsed_ns = (after.at_ns - before.at_ns) * len(self._cpus)
        idle_ns = after.idle_ns - before.idle_ns
        foreign_ns = elapsed_ns - idle_ns - spent_ns
        if foreign_ns <= FOREIGN_MOST * elapsed_ns + 2 * NS_PER_TICK:
            return []
        users = core_users.users(before, after, self._cpus, frozenset(self._pids))
        return [CoreUser(user.kind, f"{user.name} on {self._host}", user.ns) for user in capped(users, foreign_ns)]


@forwarding(
    *("check", "options", "own_copy", "settle", "commits", "size_bytes", "facts"),
    *("take_cores", "leave_cores", "memory_bytes", "written_bytes"),
)
class FarServer(Instance):
    """An instance on another host, as `Far` has it: everything is asked of that host's agent."""

    def __init__(self, facts: ServerFacts, ask: Ask) -> None:
        self._facts = facts
        self._ask = ask
        self.deployment, self.version = facts.deployment, facts.version
        self.flush_statements, self.helper_threads = facts.flush_statements, ()
        self.start_ns = 0

    def _there(self, method: str, *arguments: Any) -> Any:
        return self._ask("server", self._facts.key, method, *arguments)

    @override
    def start(self) -> None:
        self._facts, self.start_ns = self._ask("engine_start", self._facts.key)

    @override
    def stop(self) -> None:
        self._ask("engine_stop", self._facts.key)

    @override
    def pids(self) -> list[int]:
        """Its own host notices them."""
        self._there("notice")
        return []

    @override
    def secrets(self) -> list[str]:
        return list(self._facts.secrets)


@forwarding("statement_counts")
class FarCountingServer(FarServer):
    """One whose server counts its statements."""


@forwarding()
class FarServerSyncs(ServerSyncs):
    """The syncs of a server on another host, which counts them there."""

    def __init__(self, key: Key, ask: Ask) -> None:
        self._key = key
        self._ask = ask

    def _there(self, method: str, *arguments: Any) -> Any:
        return self._ask("server_syncs", self._key, method, *arguments)


def far_server(facts: ServerFacts, ask: Ask) -> FarServer:
    """The instance with these facts, on the host that `ask` reaches."""
    return (FarCountingServer if facts.counts_statements else FarServer)(facts, ask)
