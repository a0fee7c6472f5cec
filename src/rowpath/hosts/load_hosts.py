"""The hosts over which one path's client processes are spread: calls to them, their clocks, each one's share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rowpath.execution.several_hosts import HostLost
from rowpath.journal.records import ClockRecord
from rowpath.planning import client_groups
from rowpath.planning.client_groups import GroupShare
from rowpath.planning.plan import PlannedPath, key_of

Clocks = Callable[[tuple[str, ...]], Mapping[str, ClockRecord | Exception]]
AskEach = Callable[[Mapping[str, tuple[Any, ...]]], tuple[dict[str, Any], dict[str, str]]]


class LoadHosts:
    """The hosts of a path's clients and of its engine. A call leaves out hosts that were lost before."""

    def __init__(
        self,
        planned: PlannedPath,
        connections: Mapping[str, int],
        hosts: Mapping[str, tuple[str, ...]],
        *,
        ask_each: AskEach,
        clocks: Clocks,
    ) -> None:
        self.planned = planned
        self.lost: dict[str, str] = {}
        self.clocks: dict[str, ClockRecord] = {}
        self._groups = dict(hosts)
        self._ask_each = ask_each
        self._clocks = clocks
        names = [name for group in connections for name in self._of(group, connections[group])]
        self.hosts = tuple(dict.fromkeys(names))
        self._key = key_of(planned.path)
        self.engine_host = self._key[-1]

    def _of(self, group: str, clients: int, rate_per_s: float = 0.0, seed: int = 0) -> dict[str, GroupShare]:
        return client_groups.shares(clients, rate_per_s, seed, self._groups[group])

    def hosts_of(self, group: str, clients: int) -> dict[str, int]:
        """The number of a group's clients on each host."""
        return {host: share.clients for host, share in self._of(group, clients).items()}

    def ask(self, arguments: Mapping[str, tuple[Any, ...]], *, may_miss: bool = False) -> dict[str, Any]:
        """What hosts returned; `may_miss`: without those that are lost. Errors: HostLost otherwise."""
        found, lost = self._ask_each({host: words for host, words in arguments.items() if host not in self.lost})
        self.lost |= lost
        if not may_miss:
            self._raise_if_lost()
        return found

    def _raise_if_lost(self) -> None:
        for host, text in self.lost.items():
            raise HostLost(host, text)

    def ask_load(self, hosts: Iterable[str], method: str, *arguments: Any, may_miss: bool = False) -> dict[str, Any]:
        """What one method of the client processes on each host returned; errors as `ask`."""
        return self.ask(dict.fromkeys(hosts, ("load", method, *arguments)), may_miss=may_miss)

    def offset_ns(self, host: str) -> int:
        """A host's clock less ours, as last measured."""
        return self.clocks[host].offset_ns

    def read_clocks(self) -> None:
        """Measure the clock of every host. Errors: HostLost, EnvironmentMissing."""
        for host, found in self._clocks(tuple(dict.fromkeys((*self.hosts, self.engine_host)))).items():
            if isinstance(found, Exception):
                raise found
            self.clocks[host] = found
