"""The agent of one host: it starts, reads and stops there what a run needs; one call at a time, on its main thread."""

from __future__ import annotations

import os
import platform
import signal
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from rowpath import __version__
from rowpath.engines.base import Backup
from rowpath.errors import InternalError, RowpathError
from rowpath.execution.mixed_load import crash_recovery
from rowpath.execution.mixed_load.resource_usage import ProcessUse
from rowpath.execution.several_hosts import HostLost
from rowpath.hosts import load, network, node
from rowpath.hosts.host_run import HostRun
from rowpath.hosts.program import Program
from rowpath.hosts.replies import Ask, Reply, reply_of
from rowpath.hosts.server_side import HeldServer, ServerFacts
from rowpath.hosts.way_watch import WayWatch
from rowpath.journal.mixed_load_records import ProcessSecond
from rowpath.journal.record_base import Record
from rowpath.machine import counters, cpus, describe, processes
from rowpath.machine.counters import sync_cost
from rowpath.machine.counters.sync_cost import SyncCost
from rowpath.model.hosts import cpu_list
from rowpath.model.path import AccessPath
from rowpath.planning.availability import unavailable
from rowpath.planning.plan import Key, Plan, key_of
from rowpath.runners.manifest import adapter_of, build, tools
from rowpath.workloads import generators

WORKER_METHODS = frozenset(
    {"open", "notice_server", "facts", "run", "settle", "commits", "written_bytes", "reset_peaks", "peaks", "close"}
    | {"helpers_cpu_ns", "disconnect"}
)
PHASE_METHODS = frozenset({"prepare", "sample", "warm_up", "verify", "reset", "first_answer_ns"})
ENGINE_METHODS = frozenset(
    {"check", "options", "own_copy", "settle", "commits", "size_bytes", "facts", "statement_counts"}
)
REPLIES_KEPT = 4  # calls under way at once: of a step, and a look at the network
SYNCS_METHODS = frozenset({"method", "count", "read"})
SERVER_METHODS = frozenset({"notice", "take_cores", "leave_cores", "memory_bytes", "written_bytes"})


class Agent:
    """What the controller and other agents ask things of."""

    def __init__(self, name: str, address: str, others: tuple[str, ...], given: Mapping[str, str] = {}) -> None:
        """`others`: addresses of hosts whose clients may log in here; `given`: environment, where Ray is another's."""
        if given:
            node.join_foreign(given)
        self.name = name
        self._address = address
        self._others = others
        self._peers: dict[str, Ask] = {}
        self._run: HostRun | None = None
        self._listener: processes.Process | None = None
        self._program: Program | None = None
        self._made_ready = False
        self._watch: WayWatch | None = None
        self._replies: dict[int, Reply] = {}

    def call_once(self, number: int, method: str, *arguments: Any) -> Reply:
        """As `call`; a number that was there before gets its reply again: the network may have lost it."""
        if number not in self._replies:
            self._replies[number] = self.call(method, *arguments)
            while len(self._replies) > REPLIES_KEPT:
                del self._replies[next(iter(self._replies))]
        return self._replies[number]

    def call(self, method: str, *arguments: Any) -> Reply:
        """What a method came to."""
        return reply_of(lambda: self._called(method, *arguments))

    def _called(self, method: str, *arguments: Any) -> Any:
        if not self._made_ready:
            like_a_users_program()
            self._made_ready = True
        if method.startswith("_") or method.startswith("call"):
            raise InternalError(f"unknown method '{method}'", "run the same Rowpath on every host")
        return getattr(self, method)(*arguments)

    def meet(self, peers: dict[str, Ask], addresses: dict[str, str], port: int) -> None:
        """Learn how other hosts' agents are asked, where they are, and a port on which they do not listen."""
        self._peers.clear()  # a run under way has this very dictionary
        self._peers.update(peers)
        self._watch = WayWatch(self.name, addresses, port)

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
            "methods": counters.probe(),
            "note": cpus.not_kept_apart(()),
            "mtu": network.mtu(self._address),
        }

    def processes(self) -> list[node.Running]:
        """What belongs to this host now, with what each has used."""
        cluster = os.environ[node.MARK].partition("/")[0]
        return list(node.running(cluster, self.name, node.foreign_helpers()))

    def unavailable(self, coordinates: Mapping[str, str], role: str) -> tuple[str, str]:
        """Why a path's server (or with `client` all of it) cannot be here, and the remedy; empty when it can."""
        path = AccessPath.of(dict(coordinates))
        if path.placement == "split" and len(cpus.usable()) == 1:
            return f"host {self.name} has one core to measure on", "placement=same"
        return unavailable(adapter_of(path.language, path.driver), path)

    def begin(self, plan: Plan, timeout_s: float, loads: bool) -> None:
        """Get ready for a run: nothing is started. `loads`: clients of every path may be here."""
        self.end()
        adapters = {(p.adapter.language, p.adapter.driver) for p in plan.paths}
        ours = {each: adapter_of(*each) for each in adapters}
        paths = tuple(replace(p, adapter=ours[p.adapter.language, p.adapter.driver]) for p in plan.paths)
        planned = replace(plan, paths=paths)
        self._run = HostRun(self.name, planned, timeout_s, self._address, self._others, self._peers, loads)

    def build(self) -> list[str]:
        """Build runners and drivers for the paths that have clients here; what was built or fetched."""
        run = self._now()
        here = [p for p in run.plan.paths if run.loads or p.path.client_host == self.name]
        if any(group.action for group in run.plan.experiment.client_groups):  # backups are restored and read here
            here += [p for p in run.plan.paths if key_of(p.path)[-1] == self.name and p not in here]
        noted: list[str] = []
        build([(p.adapter, p.path.version) for p in here], noted.append, [p.path for p in here])
        return noted

    def bring_up(self, key: Key) -> ServerFacts:
        """Start an instance and load what its paths need."""
        run = self._now()
        for workload in run.plan.workloads.values():
            for table in workload.tables.values():
                if table.rows:
                    generators.kept_file(table)
        instance = run.instances.bring_up(run.plan.paths, run.plan.workloads, key)
        run.held[key] = HeldServer(self.name, instance, "free" if key[5] == "free" else "same")
        return ServerFacts.of(key, self.name, instance)

    def engine_start(self, key: Key) -> tuple[ServerFacts, int]:
        """Start an instance again; beside what it is now, what that took in ns."""
        instance = self._now().instances[key]
        begun_ns = time.monotonic_ns()
        instance.start()
        return ServerFacts.of(key, self.name, instance), time.monotonic_ns() - begun_ns

    def engine_kill(self, key: Key) -> tuple[list[int], int]:
        """Kill an instance here: its pids, and when, by our clock."""
        run = self._now()
        return crash_recovery.kill(run.instances[key], run.load_workers())

    def engine_stop(self, key: Key) -> None:
        """Stop an instance; its data stays."""
        instances = self._now().instances
        if key in instances:
            instances[key].stop()

    def facts_of(self, key: Key) -> ServerFacts:
        """What a client's host must know of an instance here."""
        return ServerFacts.of(key, self.name, self._now().instances[key])

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

    def server_syncs(self, key: Key, method: str, *arguments: Any) -> Any:
        """A method of a server's syncs here."""
        if method not in SYNCS_METHODS:
            raise InternalError(f"unknown method '{method}' of syncs", "run the same Rowpath on every host")
        return getattr(self._now().instances.server_syncs(key), method)(*arguments)

    def sync_cost(self) -> SyncCost:
        """What one sync costs on the disk of the run's directory here."""
        return sync_cost.measure(self._now().context.directory.work)

    def worker_start(self, path_id: str) -> tuple[int, int, bool]:
        """A new runner on a path: its number here, its pid, and whether helper threads take part."""
        return self._now().worker_start(path_id)

    def workers(
        self, calls: list[tuple[int, str, tuple[Any, ...], dict[str, Any]]]
    ) -> list[tuple[Reply, list[str], int]]:
        """Methods of workers, in turn; after a failure of a worker its next ones are left out, with that reply.

        Of each what it came to, the lines that the runner wrote so far, and how many ns ago it ended. Errors: HostLost.
        """
        replies: list[tuple[Reply, list[str], int]] = []
        failed: dict[int, Reply] = {}
        for number, method, arguments, named in calls:
            worker = self._now().workers[number]
            reply = failed.get(number) or reply_of(partial(self._of_worker, number, method, arguments, named))
            if reply[0] == "lost":
                raise HostLost(*reply[1])
            if reply[0] != "ok":
                failed[number] = reply
            replies.append((reply, list(worker.runner.noise), time.monotonic_ns()))
        now_ns = time.monotonic_ns()
        return [(reply, noise, now_ns - at_ns) for reply, noise, at_ns in replies]

    def _of_worker(self, number: int, method: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        run = self._now()
        worker = run.workers[number]
        if method in PHASE_METHODS:
            name, *rest = arguments
            return getattr(worker, method)(run.work_of(worker, name) if name else None, *rest, **named)
        if method not in WORKER_METHODS:
            raise InternalError(f"unknown method '{method}' of a worker", "run the same Rowpath on every host")
        if method == "close":
            del run.workers[number]
        return getattr(worker, method)(*arguments, **named)

    def load_open(self, path_id: str, connections: dict[str, int]) -> tuple[load.Opened, list[tuple[int, int]]]:
        """Client processes of a path here, connected; beside it each one's number as a worker, and its pid."""
        return self._now().load_open(path_id, connections)

    def load(self, method: str, *arguments: Any) -> Any:
        """A method of the client processes here."""
        return load.called(self._now().loading(), method, arguments)

    def load_close(self) -> None:
        """End the client processes here; harmless when there are none."""
        self._now().load_close()

    def server_used(self, key: Key) -> ProcessSecond | None:
        """What a server here used since the last time."""
        run = self._now()
        if key not in run.used:
            run.used[key] = ProcessUse(run.instances[key].pids)
        return run.used[key].since()

    def backup_make(self, path_id: str, name: str) -> Backup:
        """A backup of a path's database that is to be made here; how it is."""
        return self._now().backups.make(path_id, name)

    def backup(self, path_id: str, name: str, method: str, *arguments: Any) -> Any:
        """A method of a backup here."""
        return self._now().backups.called(path_id, name, method, *arguments)

    def backups_used(self) -> ProcessSecond | None:
        """What programs that make backups here used since the last time."""
        return self._now().backups.use.since()

    def copy_directories(self, engine: str) -> tuple[list[Record], list[str]]:
        """Every move of the experiment's databases of that engine, done here: its records, and what was said of it."""
        return self._now().copy_directories(engine)

    def reaches(self, names: tuple[str, ...]) -> None:
        """Take a look at the network to these hosts. Errors: HostLost of one to which it broke."""
        if self._watch is not None:
            self._watch.look(name for name in names if name != self.name)

    def verify(self, path_id: str, count_commits: bool) -> tuple[dict[str, str], list[Record]]:
        """The verification pass of a path whose client is here, and its records."""
        return self._now().verify(path_id, count_commits)

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

    def program_start(self, module: str, given: bytes, files: dict[str, bytes]) -> None:
        """Start a module of Rowpath as the agent's program; the one before ends."""
        self.program_end()
        self._program = Program(module, given, files)

    def program_look(self, globs: tuple[str, ...], seen: dict[str, int]) -> tuple[dict[str, bytes], int | None]:
        """What `Program.look` returns of the program that runs here."""
        if self._program is None:
            raise InternalError(f"the agent of host {self.name} has no program", "run it again")
        return self._program.look(globs, seen)

    def program_interrupt(self) -> None:
        """Interrupt the program; harmless when there is none."""
        if self._program is not None:
            self._program.interrupt()

    def program_end(self) -> None:
        """End the program; harmless when there is none."""
        program, self._program = self._program, None
        if program is not None:
            program.end()

    def end(self) -> dict[str, str]:
        """Stop all that the run has here; what runners wrote, by the name of its file."""
        self.stop_network()
        self.program_end()
        run, self._run = self._run, None
        return run.end() if run is not None else {}

    def _now(self) -> HostRun:
        if self._run is None:
            raise InternalError(f"the agent of host {self.name} has no run", "run it again")
        return self._run


def like_a_users_program() -> None:
    """Undo what this process has from Ray, or from an agent: CPUs, one thread for libraries, blocked signals.

    Errors: RowpathError where we run at another priority than a user's programs.
    """
    os.environ.pop("OMP_NUM_THREADS", None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGPIPE})
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.sched_setaffinity(0, cpu_list(os.environ[node.CPUS]))
    cpus.set_aside(cpu_list(os.environ.get(node.HELPERS, "")))
    wanted = int(os.environ.get(node.NICE, "0"))
    if os.nice(0) != wanted:
        hint = "start Ray there with RAY_worker_niceness=0"
        raise RowpathError(f"programs run at nice {os.nice(0)} here, not {wanted}", hint)
