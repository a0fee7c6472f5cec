"""What a run needs of other hosts: instances, workers and verification there. Without hosts nothing of it is used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Literal, Protocol

from typing_extensions import override

from rowpath.engines.base import Instance
from rowpath.execution.mixed_load.backup_site import BackupSite
from rowpath.execution.mixed_load.client_processes import Processes
from rowpath.execution.run_context import RunContext
from rowpath.execution.server_syncs import ServerSyncs
from rowpath.execution.worker import Worker
from rowpath.journal.record_base import Record
from rowpath.machine.counters.sync_cost import SyncCost
from rowpath.model.experiment import ClientGroupTable
from rowpath.planning.plan import Key, Plan, PlannedPath


class HostLost(Exception):
    """A host, or what joins the hosts, is gone: no set can be completed without it."""

    def __init__(self, host: str, text: str) -> None:
        super().__init__(f"host {host} was lost: {text}")
        self.host = host
        self.text = text

    @override
    def __reduce__(self) -> tuple[type[HostLost], tuple[str, str]]:
        return type(self), (self.host, self.text)


class Hosts(Protocol):
    """The hosts of a run. Every method raises HostLost when one is gone, and asks it nothing more."""

    @property
    def lost(self) -> Mapping[str, HostLost]:
        """The hosts that are lost now, by name."""

    @property
    def wait_s(self) -> float:
        """How long a run waits for a lost host without which nothing can be measured."""

    def begin(self, plan: Plan, timeout_s: float, note: Callable[[str], None]) -> None:
        """Make the hosts of the plan's paths ready: runners and drivers are built there. Errors: RowpathError."""

    def is_far(self, planned: PlannedPath) -> bool:
        """Whether the path runs on other hosts than this machine."""

    def needed_by(self, planned: PlannedPath) -> frozenset[str]:
        """The hosts without which nothing of the path can be measured."""

    def loads(self, planned: PlannedPath, client_groups: Iterable[str]) -> frozenset[str]:
        """The hosts over which clients of one of these groups of the path are spread."""

    def call_back(self, lost: HostLost) -> None:
        """Have a lost host come back while something else goes on."""

    def wait_until_idle(self, host: str) -> None:
        """Wait, for a short time, until a lost host that was called back does nothing any more."""

    def back(self) -> Mapping[str, list[Record]]:
        """Lost hosts that can be used again, ready as by `begin`, with what they are now, as by `records`."""

    def instance(self, key: Key) -> Instance:
        """The instance of that key, started and loaded on its host. Errors: RowpathError, RunnerFailure."""

    def server_syncs(self, key: Key) -> ServerSyncs:
        """The syncs of that instance's server."""

    def sync_cost(self, host: str) -> SyncCost:
        """What one sync costs on the disk of that host's part of the run."""

    def worker(self, planned: PlannedPath, log: Callable[[str], None]) -> Worker:
        """A new runner on the path's client host. Errors: RowpathError, RunnerFailure."""

    def of_group(self, planned: PlannedPath, group: ClientGroupTable) -> tuple[str, ...]:
        """The hosts over which the path's clients of that group are spread."""

    def client_processes(
        self, planned: PlannedPath, instance: Instance, connections: Mapping[str, int], groups: list[ClientGroupTable]
    ) -> Processes:
        """New client processes on these hosts, as `Processes`. Errors: RowpathError, RunnerFailure."""

    def backup_site(self, planned: PlannedPath, name: str) -> BackupSite:
        """A backup by that name on the path's engine's host. Errors: EnvironmentMissing."""

    def copy_directories(self, planned: PlannedPath) -> tuple[list[Record], list[str]]:
        """The experiment's moves of databases of the path's engine, on its engine's host: records, and sentences."""

    def verify(self, context: RunContext, planned: PlannedPath, count_commits: bool) -> dict[str, str]:
        """The verification pass of the path, on its client host, journalled; as `VerificationPass.verify`."""

    def records(self, when: Literal["before", "after"]) -> list[Record]:
        """What hosts, clocks and the ways between them are, measured now."""

    def end(self, logs: Path) -> None:
        """Stop all that the run has on other hosts, keep what runners wrote there; never raises."""
