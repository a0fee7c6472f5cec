"""The agent of one host: it starts, reads and stops there what a run needs; one call at a time, on its main thread."""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import signal
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rowpath import __version__
from rowpath.engines.base import Instance
from rowpath.errors import InternalError, RowpathError
from rowpath.execution.instances import EngineInstances
from rowpath.execution.prepared_phases import PhaseCache, PreparedPhase
from rowpath.execution.run_context import RunContext
from rowpath.execution.verification_pass import VerificationPass
from rowpath.execution.worker import Worker
from rowpath.hosts import network, node
from rowpath.hosts.replies import Ask, Reply, reply_of
from rowpath.hosts.server_side import Facts, HeldServer, far_server
from rowpath.journal.record_base import Record
from rowpath.journal.writer import RunDirectory, Scrubber
from rowpath.machine import cpus, describe, processes
from rowpath.model.hosts import cpu_list
from rowpath.model.path import AccessPath
from rowpath.model.progress import Progress
from rowpath.model.workload import PhaseName
from rowpath.planning.availability import unavailable
from rowpath.planning.instance_key import Key, key_of
from rowpath.planning.plan import Plan, PlannedPath
from rowpath.runners.manifest import adapter_of, build, tools
from rowpath.workloads import generators

WORKER_METHODS = frozenset(
    {"open", "notice_server", "facts", "run", "settle", "commits", "written_bytes", "reset_peaks", "peaks", "close"}
    | {"helpers_cpu_ns", "disconnect"}
)
PHASE_METHODS = frozenset({"prepare", "sample", "verify", "reset"})
ENGINE_METHODS = frozenset(
    {"check", "options", "own_copy", "settle", "commits", "size_bytes", "facts", "statement_counts"}
)
SERVER_METHODS = frozenset({"notice", "take_cores", "leave_cores", "memory_bytes", "written_bytes"})


class Agent:
    """What the controller and other agents ask things of."""

    def __init__(self, name: str, address: str, others: tuple[str, ...]) -> None:
        """`others`: addresses of hosts whose clients may log in here."""
        self.name = name
        self._address = address
        self._others = others
        self._peers: dict[str, Ask] = {}
        self._run: _Run | None = None
        self._listener: processes.Process | None = None
        self._made_ready = False

    def call(self, method: str, *arguments: Any) -> Reply:
        """What a method came to."""
        return reply_of(lambda: self._called(method, *arguments))

    def _called(self, method: str, *arguments: Any) -> Any:
        if not self._made_ready:
            _like_a_users_program()
            self._made_ready = True
        if method.startswith("_") or method == "call":
            raise InternalError(f"unknown method '{method}'", "run the same Rowpath on every host")
        return getattr(self, method)(*arguments)

    def meet(self, peers: dict[str, Ask]) -> None:
        """Learn how other hosts' agents are asked."""
        self._peers = peers

    def hello(self) -> dict[str, Any]:
        """What this host is: versions, cores, and whether programs run here as a user's do."""
        return {
            "rowpath": __version__,
            "code": node.code_digest(),
            "pid": os.getpid(),
            "nice": os.nice(0),
            "nice_wanted": int(os.environ.get(node.NICE, "0")),
            "measured_cpus": list(cpus.usable()),
            "spare_cpus": list(cpus.spare_cpus()),
            "environment": describe.describe(tools()) | {"python": platform.python_version()},
            "note": cpus.not_kept_apart(()),
            "mtu": network.mtu(self._address),
        }

    def processes(self) -> list[node.Running]:
        """What belongs to this host now, with what each has used."""
        cluster = os.environ[node.MARK].partition("/")[0]
        return list(node.running(cluster, self.name))

    def unavailable(self, coordinates: Mapping[str, str], role: str) -> tuple[str, str]:
        """Why a path's server (or with `client` all of it) cannot be here, and the remedy; empty when it can."""
        path = AccessPath.of(dict(coordinates))
        if path.placement == "split" and len(cpus.usable()) == 1:
            return f"host {self.name} has one core to measure on", "placement=same"
        return unavailable(adapter_of(path.language, path.driver), path)

    def begin(self, plan: Plan, timeout_s: float) -> None:
        """Get ready for a run: nothing is started."""
        self.end()
        adapters = {(p.adapter.language, p.adapter.driver) for p in plan.paths}
        ours = {each: adapter_of(*each) for each in adapters}
        paths = tuple(replace(p, adapter=ours[p.adapter.language, p.adapter.driver]) for p in plan.paths)
        self._run = _Run(self.name, replace(plan, paths=paths), timeout_s, self._address, self._others, self._peers)

    def build(self) -> list[str]:
        """Build runners and drivers for the paths whose client is here; what was built or fetched."""
        mine = [p for p in self._now().plan.paths if p.path.get("client_host") == self.name]
        noted: list[str] = []
        build([(p.adapter, p.path.version) for p in mine], noted.append, [p.path for p in mine])
        return noted

    def bring_up(self, key: Key) -> Facts:
        """Start an instance and load what its paths need."""
        run = self._now()
        for workload in run.plan.workloads.values():
            for table in workload.tables.values():
                if table.rows:
                    generators.kept_file(table)
        instance = run.instances.bring_up(run.plan.paths, run.plan.workloads, key)
        run.held[key] = HeldServer(self.name, instance, "free" if key[5] == "free" else "same")
        return Facts.of(key, self.name, instance)

    def engine_start(self, key: Key) -> Facts:
        """Start an instance again."""
        instance = self._now().instances[key]
        instance.start()
        return Facts.of(key, self.name, instance)

    def engine_stop(self, key: Key) -> None:
        """Stop an instance; its data stays."""
        instances = self._now().instances
        if key in instances:
            instances[key].stop()

    def facts_of(self, key: Key) -> Facts:
        """What a client's host must know of an instance here."""
        return Facts.of(key, self.name, self._now().instances[key])

    def engine(self, key: Key, method: str, *arguments: Any) -> Any:
        """A method of an instance here."""
        if method not in ENGINE_METHODS:
            raise InternalError(f"unknown method '{method}' of an instance", "run the same Rowpath on every host")
        return getattr(self._now().instances[key], method)(*arguments)

    def server(self, key: Key, method: str) -> Any:
        """What is read of a server here, or where it runs."""
        if method not in SERVER_METHODS:
            raise InternalError(f"unknown method '{method}' of a server", "run the same Rowpath on every host")
        return getattr(self._now().held[key], method)()

    def worker_start(self, path_id: str) -> tuple[int, int, bool]:
        """A new runner on a path: its number here, its pid, and whether helper threads take part."""
        return self._now().worker_start(path_id)

    def worker(self, number: int, method: str, *arguments: Any, **named: Any) -> tuple[Any, list[str]]:
        """A method of a worker; what it returned, and the lines that its runner wrote so far."""
        run = self._now()
        worker = run.workers[number]
        if method in PHASE_METHODS:
            name, *rest = arguments
            found = getattr(worker, method)(run.work_of(worker, name), *rest, **named)
        elif method in WORKER_METHODS:
            found = getattr(worker, method)(*arguments, **named)
        else:
            raise InternalError(f"unknown method '{method}' of a worker", "run the same Rowpath on every host")
        if method == "close":
            del run.workers[number]
        return found, list(worker.runner.noise)

    def worker_named(self, number: int, method: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """The same with named arguments as a value."""
        return self.worker(number, method, *arguments, **named)

    def prove(self, path_id: str, count_commits: bool) -> tuple[dict[str, str], list[Record]]:
        """The verification pass of a path whose client is here, and its records."""
        return self._now().prove(path_id, count_commits)

    def serve_network(self, peer: str) -> int:
        """Listen for the measuring of the way from that address; the port."""
        self.stop_network()
        self._listener, port = network.serve(self._address, peer)
        return port

    def measure_network(self, to: str, port: int) -> dict[str, Any]:
        """Measure the way to an address that listens for us."""
        return network.measure(self._address, to, port)

    def stop_network(self) -> None:
        """Listen no more."""
        if self._listener is not None:
            processes.stop(self._listener, processes.AT_ONCE)
            self._listener = None

    def end(self) -> dict[str, str]:
        """Stop all that the run has here; what runners wrote, by the name of its file."""
        self.stop_network()
        run, self._run = self._run, None
        return run.end() if run is not None else {}

    def _now(self) -> _Run:
        if self._run is None:
            raise InternalError(f"the agent of host {self.name} has no run", "run it again")
        return self._run


class _Run:
    """What one run has on this host."""

    def __init__(
        self, name: str, plan: Plan, timeout_s: float, address: str, others: tuple[str, ...], peers: Mapping[str, Ask]
    ) -> None:
        self.name = name
        self.plan = plan
        self.held: dict[Key, HeldServer] = {}
        self.workers: dict[int, Worker] = {}
        self._started = 0
        self._peers = peers
        self._folder = Path(tempfile.mkdtemp(prefix="rowpath-run-", dir=_session()))
        directory = RunDirectory(self._folder)
        directory.logs.mkdir(mode=0o700)
        directory.work.mkdir(mode=0o700)
        scrubber, phases = Scrubber(), PhaseCache(directory.work / "params")
        self.instances = EngineInstances(directory.work, phases, scrubber.add, listen=address, clients=others)
        self.records: list[Record] = []
        self._scrubber = scrubber
        kept: Any = _Kept(self.records)
        seen: Any = _Seen(self)
        self.context = RunContext(plan, directory, kept, scrubber, Progress(), timeout_s, seen, phases)
        self._timeout_s = timeout_s

    def planned(self, path_id: str) -> PlannedPath:
        """The path of that id."""
        return next(each for each in self.plan.paths if each.path.id == path_id)

    def instance(self, key: Key) -> Instance:
        """An instance here, or as this host sees one on another."""
        if key[-1] == self.name:
            return self.instances[key]
        ask = self._peers[key[-1]]
        facts: Facts = ask("facts_of", key)
        for secret in facts.secrets:
            self._scrubber.add(secret)
        return far_server(facts, ask)

    def worker_start(self, path_id: str) -> tuple[int, int, bool]:
        """A new runner on a path: its number, its pid, and whether helper threads take part."""
        planned = self.planned(path_id)
        instance, log = self.instance(key_of(planned.path)), self.context.log_of(planned)
        worker = Worker(planned, instance, log=log, timeout_s=self._timeout_s, pinned=True)
        self._started += 1
        self.workers[self._started] = worker
        return self._started, worker.runner.pid, worker.has_helpers

    def work_of(self, worker: Worker, name: str) -> PreparedPhase:
        """The phase of that name, ready for the worker's path."""
        whole = name.removesuffix(".after")
        workload = self.plan.workloads[PhaseName.of(whole).workload]
        work = self.context.phase_cache.path_work(workload, worker.planned.path, worker.instance).phases[whole]
        if whole == name:
            return work
        assert work.after is not None
        return work.after

    def prove(self, path_id: str, count_commits: bool) -> tuple[dict[str, str], list[Record]]:
        """The verification pass of a path, and its records."""
        self.records.clear()
        bad = VerificationPass(self.context, self.planned(path_id), count_commits).prove()
        return bad, list(self.records)

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


class _Seen:
    """The instances of a run as a host sees them."""

    def __init__(self, run: _Run) -> None:
        self._run = run

    def __getitem__(self, key: Key) -> Instance:
        return self._run.instance(key)

    def __contains__(self, key: Key) -> bool:
        return True

    def pids(self) -> list[int]:
        """Of every server here."""
        return self._run.instances.pids()

    def way_to(self, path: AccessPath) -> dict[str, Any]:
        """Nothing: no link is emulated between hosts."""
        return {}


class _Kept:
    """A journal that keeps records until the controller takes them."""

    def __init__(self, records: list[Record]) -> None:
        self._kept = records

    def write(self, record: Record) -> None:
        """Keep it."""
        self._kept.append(record)


def _session() -> Path:
    cluster, _, host = os.environ[node.MARK].partition("/")
    return Path((node.folder(cluster, host) / "session").read_text())


def _like_a_users_program() -> None:
    """Undo what programs would inherit from Ray: its CPUs, one thread for libraries, blocked signals.

    Errors: RowpathError where we run at another priority than a user's programs.
    """
    os.environ.pop("OMP_NUM_THREADS", None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGPIPE})
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.sched_setaffinity(0, cpu_list(os.environ[node.CPUS]))
    cpus.set_aside(cpu_list(os.environ.get(node.HELPERS, "")))
    wanted = int(os.environ.get(node.NICE, "0"))
    if os.nice(0) != wanted:
        raise RowpathError(f"programs run at nice {os.nice(0)} here, not {wanted}", "rowpath hosts down, then up")
