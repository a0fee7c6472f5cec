"""What one run has on a host: instances, workers, client processes; `end` stops all of it."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from typing_extensions import override

from rowpath.engines.base import Instance
from rowpath.errors import InternalError, RowpathError
from rowpath.execution.instances import EngineInstances
from rowpath.execution.mixed_load import directory_copies
from rowpath.execution.mixed_load.resource_usage import ProcessUse
from rowpath.execution.prepared_phases import PhaseCache, PreparedPhase, PreparedWorkload
from rowpath.execution.run_context import Instances, RunContext
from rowpath.execution.server_syncs import ServerSyncs
from rowpath.execution.verification_pass import VerificationPass
from rowpath.execution.worker import Worker
from rowpath.hosts import load, node
from rowpath.hosts.host_backups import HostBackups
from rowpath.hosts.replies import Ask
from rowpath.hosts.server_side import FarServerSyncs, HeldServer, ServerFacts, far_server
from rowpath.journal.record_base import Record
from rowpath.journal.writer import RunDirectory, Scrubber
from rowpath.machine import processes
from rowpath.model.path import AccessPath
from rowpath.model.progress import Progress
from rowpath.model.workload import PhaseName
from rowpath.planning import client_groups
from rowpath.planning.plan import Key, Plan, PlannedPath, key_of


class HostRun:
    """What one run has on this host."""

    def __init__(
        self,
        name: str,
        plan: Plan,
        timeout_s: float,
        address: str,
        others: tuple[str, ...],
        peers: Mapping[str, Ask],
        loads: bool,
    ) -> None:
        self.name = name
        self.plan = plan
        self.held: dict[Key, HeldServer] = {}
        self.workers: dict[int, Worker] = {}
        self.loads = loads
        self.used: dict[Key, ProcessUse] = {}
        self._load: load.HostLoad | None = None
        self._started = 0
        self._peers = peers
        self._folder = Path(tempfile.mkdtemp(prefix="rowpath-run-", dir=node.session_folder()))
        directory = RunDirectory(self._folder)
        directory.logs.mkdir(mode=0o700)
        directory.work.mkdir(mode=0o700)
        scrubber, phases = Scrubber(), PhaseCache(directory.work / "params")
        self.instances = EngineInstances(
            directory.work, phases, scrubber.add, listen=address, clients=others, connections=client_groups.needed(plan)
        )
        self.records: list[Record] = []
        self._scrubber = scrubber
        kept: Any = _Kept(self.records)
        seen = _Seen(self)
        self.context = RunContext(plan, directory, kept, scrubber, Progress(), timeout_s, seen, phases)
        self.backups = HostBackups(self.context, self.instances)
        self._timeout_s = timeout_s

    def instance(self, key: Key) -> Instance:
        """An instance here, or as this host sees one on another."""
        if key[-1] == self.name:
            return self.instances[key]
        ask = self._peers[key[-1]]
        facts: ServerFacts = ask("facts_of", key)
        for secret in facts.secrets:
            self._scrubber.add(secret)
        return far_server(facts, ask)

    def worker_start(self, path_id: str) -> tuple[int, int, bool]:
        """A new runner on a path: its number, its pid, and whether helper threads take part."""
        planned = self.plan.path(path_id)
        instance, log = self.instance(key_of(planned.path)), self.context.log_of(planned)
        worker = Worker(planned, instance, log=log, timeout_s=self._timeout_s, pinned=True)
        self._started += 1
        self.workers[self._started] = worker
        return self._started, worker.runner.pid, worker.has_helpers

    def load_open(self, path_id: str, connections: dict[str, int]) -> tuple[load.Opened, list[tuple[int, int]]]:
        """Start and connect client processes: what was opened, and each worker's number and pid.

        Errors: RunnerFailure, RowpathError.
        """
        self.load_close()
        planned = self.plan.path(path_id)
        instance, log = self.instance(key_of(planned.path)), self.context.log_of(planned)
        works = self.works(planned, instance)
        made = self._load = load.HostLoad(
            planned, instance, connections, works, self.context.directory.work, log=log, timeout_s=self._timeout_s
        )
        numbers = []
        for worker in made.workers:
            self._started += 1
            self.workers[self._started] = worker
            numbers.append((self._started, worker.runner.pid))
        return made.open(), numbers

    def load_workers(self) -> list[Worker]:
        """The client processes here; none when there are no groups."""
        return self._load.workers if self._load is not None else []

    def loading(self) -> load.HostLoad:
        """The client processes here."""
        if self._load is None:
            raise InternalError(f"host {self.name} has no client processes", "run it again")
        return self._load

    def works(self, planned: PlannedPath, instance: Instance) -> dict[str, PreparedWorkload]:
        """The workloads of a path's phases, ready for its engine."""
        workloads = (self.plan.workloads[name] for name in planned.workloads)
        return {each.name: self.context.phase_cache.path_work(each, planned.path, instance) for each in workloads}

    def load_close(self) -> None:
        """End the client processes here."""
        made, self._load = self._load, None
        if made is not None:
            made.close()
            self.workers = {number: each for number, each in self.workers.items() if each not in made.workers}

    def work_of(self, worker: Worker, name: str) -> PreparedPhase:
        """The phase of that name, ready for the worker's path."""
        whole = name.removesuffix(".after")
        workload = self.plan.workloads[PhaseName.of(whole).workload]
        work = self.context.phase_cache.path_work(workload, worker.planned.path, worker.instance).phases[whole]
        if whole == name:
            return work
        assert work.after is not None
        return work.after

    def server_syncs(self, key: Key) -> ServerSyncs:
        """The syncs of a server, here or on another host."""
        here = key[-1] == self.name
        return self.instances.server_syncs(key) if here else FarServerSyncs(key, self._peers[key[-1]])

    def verify(self, path_id: str, count_commits: bool) -> tuple[dict[str, str], list[Record]]:
        """The verification pass of a path, and its records."""
        self.records.clear()
        planned = self.plan.path(path_id)
        syncs = self.server_syncs(key_of(planned.path))
        bad = VerificationPass(self.context, planned, count_commits, syncs.read).verify()
        return bad, list(self.records)

    def copy_directories(self, engine: str) -> tuple[list[Record], list[str]]:
        """Carry out the moves of that engine's databases: records, and sentences."""
        of_engine = tuple(each for each in self.plan.paths if each.path.engine == engine)
        plan, folder = replace(self.plan, paths=of_engine), self.context.directory.work / "moves"
        found: list[Record] = []
        notes: list[str] = []
        log = self.context.log_of(of_engine[0])
        directory_copies.carry_out_all(plan, folder, found.append, notes.append, log, self._timeout_s)
        return found, notes

    def end(self) -> dict[str, str]:
        """Stop everything; what runners wrote."""
        for worker in self.workers.values():
            worker.runner.kill()
        for each in list(self.held):
            with contextlib.suppress(RowpathError):
                self.instances.forget(each)
        self.instances.stop_all()
        processes.stop_all()
        logs = self.context.directory.logs
        texts = {file.name: file.read_text(errors="replace") for file in sorted(logs.glob("*.log"))}
        shutil.rmtree(self._folder, ignore_errors=True)
        return texts


class _Seen(Instances):
    """The instances of a run as a host sees them."""

    def __init__(self, run: HostRun) -> None:
        self._run = run

    @override
    def __getitem__(self, key: Key) -> Instance:
        return self._run.instance(key)

    @override
    def __contains__(self, key: Key) -> bool:
        return True

    @override
    def pids(self) -> list[int]:
        return self._run.instances.pids()

    @override
    def way_to(self, path: AccessPath) -> dict[str, Any]:
        """No link is emulated between hosts."""
        return {}


class _Kept:
    """A journal that keeps records until the controller takes them."""

    def __init__(self, records: list[Record]) -> None:
        self._kept = records

    def write(self, record: Record) -> None:
        """Keep it."""
        self._kept.append(record)
