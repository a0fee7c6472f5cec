"""What one run has on a host: instances, workers, client processes, backups; `end` stops all of it."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from typing_extensions import override

from rowpath.engines.base import Backup, Instance
from rowpath.errors import InternalError, RowpathError
from rowpath.execution.instances import EngineInstances
from rowpath.execution.mixed_load import directory_copies, durability
from rowpath.execution.mixed_load.backups import BackupSite
from rowpath.execution.mixed_load.client_processes import ProcessUse
from rowpath.execution.prepared_phases import PhaseCache, PreparedPhase
from rowpath.execution.run_context import Instances, RunContext
from rowpath.execution.verification_pass import VerificationPass
from rowpath.execution.worker import Worker
from rowpath.hosts import node
from rowpath.hosts.load import HostLoad, Opened
from rowpath.hosts.replies import Ask, called, has_method
from rowpath.hosts.server_side import FarServerSyncs, HeldServer, ServerFacts, far_server
from rowpath.journal.mixed_load_records import ProcessSecond
from rowpath.journal.record_base import Record
from rowpath.journal.records import LinkRecord
from rowpath.journal.writer import RunDirectory
from rowpath.machine import processes
from rowpath.machine.counters.syncs import SyncCost, measure_cost
from rowpath.model.path import AccessPath
from rowpath.model.progress import Progress
from rowpath.model.workload import PhaseName
from rowpath.planning import client_groups
from rowpath.planning.plan import Key, Plan, key_of
from rowpath.scrubber import Scrubber
from rowpath.workloads import generators


@dataclass(eq=False)
class HostRun(Instances):
    """What one run has on this host; as instances, all that the run has on any host."""

    name: str
    plan: Plan
    timeout_s: float
    address: str
    others: tuple[str, ...]
    peers: Mapping[str, Ask]
    loads: bool
    held: dict[Key, HeldServer] = field(default_factory=dict)
    workers: dict[int, Worker] = field(default_factory=dict)
    _used: dict[Key, ProcessUse] = field(default_factory=dict)
    _load: HostLoad | None = None
    _started: int = 0
    _backups: dict[tuple[str, str], BackupSite] = field(default_factory=dict)  # by a path's id and a name

    def __post_init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="rowpath-run-", dir=node.session_folder()))
        directory = RunDirectory(self._folder)
        directory.logs.mkdir(mode=0o700)
        directory.work.mkdir(mode=0o700)
        scrubber, phases = Scrubber(), PhaseCache(directory.work / "params")
        place: dict[str, Any] = {"listen": self.address, "clients": self.others}
        self.instances = EngineInstances(
            directory.work, phases, scrubber.add, **place, connections=client_groups.needed(self.plan)
        )
        self._records: list[Record] = []  # until the controller takes them
        journal: Any = SimpleNamespace(write=self._records.append)
        self.context = RunContext(self.plan, directory, journal, scrubber, Progress(), self.timeout_s, self, phases)
        self._backups_use = ProcessUse(lambda: [pid for site in self._backups.values() for pid in site.pids()])

    @override
    def __getitem__(self, key: Key) -> Instance:
        """An instance here, or as this host sees one on another."""
        if key[-1] == self.name:
            return self.instances[key]
        ask = self.peers[key[-1]]
        facts: ServerFacts = ask("facts_of", key)
        for secret in facts.secrets:
            self.context.scrubber.add(secret)
        return far_server(facts, ask)

    @override
    def __contains__(self, key: Key) -> bool:
        return True

    @override
    def pids(self) -> list[int]:
        return self.instances.pids()

    @override
    def way_to(self, path: AccessPath, clients: int = 0) -> dict[str, Any]:
        """No link is emulated between hosts, and no pooler stands there."""
        return {}

    @override
    def learn_link(self, record: LinkRecord) -> None:
        pass

    @override
    def pooler_pids(self, path: AccessPath) -> list[int]:
        return []

    @override
    def stop_pooler(self, path: AccessPath) -> None:
        pass

    def bring_up(self, key: Key) -> ServerFacts:
        """Start an instance and load what its paths need."""
        for workload in self.plan.workloads.values():
            for table in workload.tables.values():
                if table.rows:
                    generators.kept_file(table)
        instance = self.instances.bring_up(self.plan.paths, self.plan.workloads, key)
        self.held[key] = HeldServer(self.name, instance, "free" if key[5] == "free" else "same")
        return self.facts_of(key)

    def facts_of(self, key: Key) -> ServerFacts:
        """What a client's host must know of an instance here."""
        return ServerFacts.of(key, self.name, self.instances[key])

    def engine_start(self, key: Key) -> tuple[ServerFacts, int]:
        """Start an instance again; beside what it is now, what that took in ns."""
        begun_ns = time.monotonic_ns()
        self.instances[key].start()
        return self.facts_of(key), time.monotonic_ns() - begun_ns

    def engine_kill(self, key: Key) -> tuple[list[int], int]:
        """Kill an instance here: its pids, and when, by our clock."""
        return durability.kill(self.instances[key], self._load.workers if self._load is not None else [])

    def engine_stop(self, key: Key) -> None:
        """Stop an instance; its data stays."""
        if key in self.instances:
            self.instances[key].stop()

    def server(self, key: Key, method: str, *arguments: Any) -> Any:
        """What a method of a server here, or of its instance, returned."""
        held = self.held[key]
        return called("a server", held if has_method(HeldServer, method) else held.instance, method, *arguments)

    def server_syncs(self, key: Key, method: str, *arguments: Any) -> Any:
        """What a method of a server's syncs here returned."""
        return called("syncs", self.instances.server_syncs(key), method, *arguments)

    def server_used(self, key: Key) -> ProcessSecond | None:
        """What a server here used since the last time."""
        if key not in self._used:
            self._used[key] = ProcessUse(self.instances[key].pids)
        return self._used[key].since()

    def sync_cost(self) -> SyncCost:
        """What one sync costs on the disk of the run's directory here."""
        return measure_cost(self.context.directory.work)

    def worker_start(self, path_id: str) -> tuple[int, int, bool]:
        """A new runner on a path: its number, its pid, and whether helper threads take part."""
        planned = self.plan.path(path_id)
        instance, log = self[key_of(planned.path)], self.context.log_of(planned)
        worker = Worker(planned, instance, log=log, timeout_s=self.timeout_s, pinned=True)
        return *self._numbered(worker), worker.has_helpers

    def _numbered(self, worker: Worker) -> tuple[int, int]:
        self._started += 1
        self.workers[self._started] = worker
        return self._started, worker.runner.pid

    def load_open(self, path_id: str, connections: dict[str, int]) -> tuple[Opened, list[tuple[int, int]]]:
        """Start and connect client processes: what was opened, and each worker's number and pid.

        Errors: RunnerFailure, RowpathError.
        """
        self.load_close()
        planned = self.plan.path(path_id)
        instance, log = self[key_of(planned.path)], self.context.log_of(planned)
        works = self.context.prepared_workloads(planned)
        folder, timeout_s = self.context.directory.work, self.timeout_s
        made = self._load = HostLoad(planned, instance, connections, works, folder, log=log, timeout_s=timeout_s)
        numbers = [self._numbered(worker) for worker in made.workers]
        return made.open(), numbers

    def load(self, method: str, *arguments: Any) -> Any:
        """What a method of the client processes here returned."""
        if self._load is None:
            raise InternalError(f"host {self.name} has no client processes", "run it again")
        of_load = has_method(HostLoad, method)
        return called("client processes", self._load if of_load else self._load.processes, method, *arguments)

    def load_close(self) -> None:
        """End the client processes here."""
        made, self._load = self._load, None
        if made is not None:
            made.close()
            self.workers = {number: worker for number, worker in self.workers.items() if worker not in made.workers}

    def work_of(self, worker: Worker, name: str) -> PreparedPhase:
        """The phase of that name, ready for the worker's path."""
        whole, of_proof, _number = name.partition(".after")
        workload = self.plan.workloads[PhaseName.of(whole).workload]
        work = self.context.phase_cache.path_work(workload, worker.planned.path, worker.instance).phases[whole]
        return next(proof for proof in work.proofs if proof.name == name) if of_proof else work

    def verify(self, path_id: str, count_commits: bool) -> tuple[dict[str, str], list[Record]]:
        """The verification pass of a path, and its records."""
        self._records.clear()
        planned = self.plan.path(path_id)
        key = key_of(planned.path)
        here = key[-1] == self.name
        syncs = self.instances.server_syncs(key) if here else FarServerSyncs(key, self.peers[key[-1]])
        bad = VerificationPass(self.context, planned, count_commits, syncs.read).verify()
        return bad, list(self._records)

    def backup_make(self, path_id: str, name: str) -> Backup:
        """Get ready for a backup; how it is made, without secrets. Errors: EnvironmentMissing."""
        planned = self.plan.path(path_id)
        folder = self.context.directory.work / f"backups-{self.plan.paths.index(planned)}" / name
        site = self._backups[path_id, name] = BackupSite(planned, self.instances[key_of(planned.path)], folder)
        return replace(site.backup, environment={})

    def backup(self, path_id: str, name: str, method: str, *arguments: Any) -> Any:
        """What a method of a backup here returned, which gets the run's own context where it needs one."""
        site = self._backups[path_id, name]
        if method == "remove":
            del self._backups[path_id, name]
        return called("a backup", site, method, *([self.context] if method == "restored" else []), *arguments)

    def backups_used(self) -> ProcessSecond | None:
        """What programs that make backups here used since the last time."""
        return self._backups_use.since()

    def copy_directories(self, engine: str) -> tuple[list[Record], list[str]]:
        """Carry out the moves of that engine's databases: records, and sentences."""
        of_engine = tuple(planned for planned in self.plan.paths if planned.path.engine == engine)
        plan, folder = replace(self.plan, paths=of_engine), self.context.directory.work / "moves"
        records: list[Record] = []
        notes: list[str] = []
        log = self.context.log_of(of_engine[0])
        directory_copies.carry_out_all(plan, folder, records.append, notes.append, log, self.timeout_s)
        return records, notes

    def end(self) -> dict[str, str]:
        """Stop everything; what runners wrote."""
        for worker in self.workers.values():
            worker.runner.kill()
        for key in list(self.held):
            with contextlib.suppress(RowpathError):
                self.instances.forget(key)
        self.instances.stop_all()
        processes.stop_all()
        logs = self.context.directory.logs
        texts = {file.name: file.read_text(errors="replace") for file in sorted(logs.glob("*.log"))}
        shutil.rmtree(self._folder, ignore_errors=True)
        return texts
