"""What a run needs of other hosts, and what it does without one that is lost, and when that is back."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from typing_extensions import override

from rowpath.engines.base import Instance
from rowpath.errors import InternalError
from rowpath.execution import pooler_behaviours
from rowpath.execution.instances import ServerSyncs
from rowpath.execution.mixed_load import directory_copies
from rowpath.execution.mixed_load.backups import BackupSite
from rowpath.execution.mixed_load.client_processes import Processes
from rowpath.execution.run_context import RunContext
from rowpath.execution.verification_pass import VerificationPass
from rowpath.execution.worker import Worker
from rowpath.journal.record_base import Record
from rowpath.machine.counters.syncs import SyncCost, measure_cost
from rowpath.model.experiment import ClientGroupTable
from rowpath.planning.hosts import together
from rowpath.planning.plan import Key, Plan, PlannedPath, key_of

LOOK_S = 0.1  # at hosts that are waited for


class HostLost(Exception):
    """A host, or what joins the hosts, is gone: no set can be completed without it."""

    def __init__(self, host: str, text: str) -> None:
        super().__init__(f"host {host} was lost: {text}")
        self.host = host
        self.text = text

    @override
    def __reduce__(self) -> tuple[type[HostLost], tuple[str, str]]:
        return type(self), (self.host, self.text)


class Hosts:
    """Where the paths of a run are carried out; of this class: on this machine only.

    Every method raises HostLost when a host is gone, and asks it nothing more.
    """

    @property
    def lost(self) -> Mapping[str, HostLost]:
        """The hosts that are lost now, by name."""
        return {}

    @property
    def wait_s(self) -> float:
        """How long a run waits for a lost host without which nothing can be measured."""
        return 0.0

    def begin(self, plan: Plan, timeout_s: float, note: Callable[[str], None]) -> None:
        """Make the hosts of the plan's paths ready: runners and drivers are built there. Errors: RowpathError."""

    def of(self, _planned: PlannedPath) -> Hosts:
        """What carries out the path: these hosts, or this machine."""
        return self

    def needed_by(self, _planned: PlannedPath) -> frozenset[str]:
        """The hosts without which nothing of the path can be measured."""
        return frozenset()

    def loads(self, _planned: PlannedPath, _client_groups: Iterable[str]) -> frozenset[str]:
        """The hosts over which clients of one of these groups of the path are spread."""
        return frozenset()

    def call_back(self, lost: HostLost) -> None:
        """Have a lost host come back while something else goes on."""

    def wait_until_idle(self, host: str) -> None:
        """Wait, for a short time, until a lost host that was called back does nothing any more."""

    def back(self) -> Mapping[str, list[Record]]:
        """Lost hosts that can be used again, ready as by `begin`, with what they are now, as by `records`."""
        return {}

    def bring_up(self, key: Key) -> tuple[Instance, ServerSyncs]:
        """The instance of that key, started and loaded on its host; its syncs. Errors: RowpathError, RunnerFailure."""
        raise InternalError(f"host {key[-1]} has not been joined", "run it again")

    def sync_cost(self, _host: str, folder: Path) -> SyncCost:
        """What one sync costs on the disk of that host's part of the run; here that of a folder."""
        return measure_cost(folder)

    def worker(self, context: RunContext, planned: PlannedPath) -> Worker:
        """A new runner on the path's client host. Errors: RowpathError, RunnerFailure."""
        instance, log = context.engine_instances[key_of(planned.path)], context.log_of(planned)
        worker = Worker(planned, instance, log=log, timeout_s=context.timeout_s, pinned=True)
        worker.pooler_pids = lambda: context.engine_instances.pooler_pids(planned.path)
        return worker

    def of_group(self, _planned: PlannedPath, _group: ClientGroupTable) -> tuple[str, ...]:
        """The hosts over which the path's clients of that group are spread."""
        return ("none",)

    def client_processes(
        self, context: RunContext, planned: PlannedPath, connections: Mapping[str, int], groups: list[ClientGroupTable]
    ) -> Processes:
        """New client processes with that many connections for each group. Errors: RowpathError, RunnerFailure."""
        instance, log = context.engine_instances[key_of(planned.path)], context.log_of(planned)
        made = Processes(planned, instance, connections, log=log, timeout_s=context.timeout_s)
        for worker in made.workers:
            worker.pooler_pids = lambda: context.engine_instances.pooler_pids(planned.path)
        return made

    def backup_site(self, planned: PlannedPath, instance: Instance, folder: Path, _name: str) -> BackupSite:
        """A backup on the path's engine's host: in that folder here, by that name there. Errors: EnvironmentMissing."""
        return BackupSite(planned, instance, folder)

    def copy_directories(self, context: RunContext, paths: tuple[PlannedPath, ...]) -> None:
        """The experiment's moves of databases of these paths' engine, on its host, journalled and noted."""
        plan, folder = replace(context.plan, paths=paths), context.directory.work / "moves"
        log = context.log_of(paths[0])
        directory_copies.carry_out_all(
            plan, folder, context.journal.write, context.progress.note, log, context.timeout_s
        )

    def verify(
        self, context: RunContext, planned: PlannedPath, count_commits: bool, server_syncs: ServerSyncs
    ) -> dict[str, str]:
        """The verification pass of the path, on its client host, journalled; as `VerificationPass.verify`."""
        bad = VerificationPass(context, planned, count_commits, server_syncs.read).verify()
        return bad if "" in bad or planned.path.pooler == "none" else bad | pooler_behaviours.checked(context, planned)

    def records(self, _when: Literal["before", "after"]) -> list[Record]:
        """What hosts, clocks and the ways between them are, measured now."""
        return []

    def end(self, logs: Path) -> None:
        """Stop all that the run has on other hosts, keep what runners wrote there; never raises."""


HERE = Hosts()


@dataclass
class LostHosts:
    """The hosts that a run has lost since its sets began, and that are not back."""

    _context: RunContext
    _hosts: Hosts
    _forget: Callable[[str], None]  # the instances on a host
    _bring_up: Callable[[Key], None]  # an instance, whose failure is one of its paths
    _first: HostLost | None = None
    _lost: dict[str, HostLost] = field(default_factory=dict)  # those that are not back
    _uncalled: list[HostLost] = field(default_factory=list)  # nothing can be measured until they are called back

    def needed_by(self, planned: PlannedPath) -> bool:
        """Whether nothing of the path can be measured without them."""
        return bool(self._lost.keys() & self._hosts.needed_by(planned))

    def load(self, planned: PlannedPath, client_groups: Iterable[str]) -> bool:
        """Whether clients of one of these groups of the path would be on one of them: fewer hosts are another load."""
        return bool(self._lost.keys() & self._hosts.loads(planned, client_groups))

    @property
    def leave_nothing(self) -> bool:
        """Whether some are lost, and without them no path that delivers rows can be measured."""
        return bool(self._lost) and all(planned.path.is_null for planned in self._able())

    def _able(self) -> list[PlannedPath]:
        context = self._context
        return [planned for planned in context.plan.paths if context.runnable(planned) and not self.needed_by(planned)]

    @contextlib.contextmanager
    def left_out(self) -> Iterator[None]:
        """A host that is lost within is named, and left out until it is back.

        Errors: HostLost of what joins the hosts, and of a host that no path needs.
        """
        try:
            yield
        except HostLost as lost:
            self._leave_out(lost)
            for other in list(self._hosts.lost.values()):
                if other.host not in self._lost and self._takes_part(other.host):
                    self._leave_out(other)

    def _takes_part(self, host: str) -> bool:
        stages = together(self._context.plan.experiment).values()
        return any(
            host in self._hosts.needed_by(planned).union(*(self._hosts.loads(planned, groups) for groups in stages))
            for planned in self._context.plan.paths
        )

    def _leave_out(self, lost: HostLost) -> None:
        context, hosts = self._context, self._hosts
        if lost.host in self._lost or not self._takes_part(lost.host):
            raise lost
        able, stages = self._able(), together(context.plan.experiment)
        self._first = self._first or lost
        self._lost[lost.host] = lost
        self._forget(lost.host)
        when = f"{lost}; {context.now_ns() / 1e9:.1f} s after the run's begin"
        if self.leave_nothing:
            context.note(f"{when}; nothing can be measured without it")
            if not hosts.wait_s:
                raise lost
            self._uncalled.append(lost)
            return
        names = [planned.name for planned in able if self.needed_by(planned)]
        for name, groups in stages.items():
            if any(lost.host in hosts.loads(planned, groups) for planned in self._able()):
                names.append(f"stage '{name}'")
        context.note(f"{when}; all paths continue without it{', except: ' if names else ''}{', '.join(names)}")
        hosts.call_back(lost)
        hosts.wait_until_idle(lost.host)

    def look(self, where: str) -> None:
        """Let paths of hosts that are back take part from `where` on.

        Waits for one while nothing can be measured. Errors: HostLost when none came back in time.
        """
        if not self._lost:
            return
        self._take_back(where)
        if not self.leave_nothing:
            return
        wait_s, until_s = self._hosts.wait_s, time.monotonic() + self._hosts.wait_s
        if wait_s:
            hosts = "host" if len(self._lost) == 1 else "hosts"
            self._context.note(f"waiting for {hosts} {', '.join(self._lost)}, at most {wait_s:g} s")
        while self.leave_nothing:
            if time.monotonic() > until_s:
                self.end()
            time.sleep(LOOK_S)
            self._take_back(where)

    def _take_back(self, where: str) -> None:
        context, hosts = self._context, self._hosts
        while self._uncalled:
            hosts.call_back(self._uncalled.pop())
        back: Mapping[str, list[Record]] = {}
        with self.left_out():
            back = hosts.back()
        for host, records in back.items():
            del self._lost[host]
            for record in records:
                context.journal.write(record)
        keys = dict.fromkeys(key_of(planned.path) for planned in context.plan.paths)
        for host in back:
            with self.left_out():
                for key in keys:
                    if key[-1] == host:
                        self._bring_up(key)
                context.note(f"{host} is back: its paths are measured again from {where} on")

    def end(self) -> None:
        """Errors: HostLost when there was one: the run is not complete. One that is not back is named first."""
        for lost in [*self._lost.values(), self._first]:
            if lost is not None:
                raise lost
