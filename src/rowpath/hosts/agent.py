"""The agent of one host: it starts, reads and stops there what a run needs; one call at a time, on its main thread."""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rowpath import __version__
from rowpath.errors import InternalError, RowpathError
from rowpath.execution.several_hosts import HostLost
from rowpath.hosts import network, node
from rowpath.hosts.far_worker import PhaseThere
from rowpath.hosts.host_run import HostRun
from rowpath.hosts.network import WayWatch
from rowpath.hosts.replies import Ask, Reply, called, has_method, reply_of
from rowpath.machine import counters, cpus, describe, processes
from rowpath.model.hosts import cpu_list
from rowpath.model.path import AccessPath
from rowpath.planning.availability import unavailable
from rowpath.planning.plan import Plan, key_of
from rowpath.runners.manifest import adapter_of, build, tools

LOOK_S = 0.3  # for the program's end, in one look
MOST_BYTES = 1 << 20  # of a file, in one look
ERRORS = "errors"  # the file of what it writes to stderr
REPLIES_KEPT = 4  # calls under way at once: of a step, and a look at the network


class Program:
    """The program, in a private folder that is its working directory."""

    def __init__(self, module: str, given: bytes, files: Mapping[str, bytes]) -> None:
        """`given`: its stdin, where secrets may be. `files`: by name, in its folder before it begins."""
        self._folder = Path(tempfile.mkdtemp(prefix="rowpath-program-", dir=node.session_folder()))
        for name, data in files.items():
            file = self._folder / name
            file.parent.mkdir(mode=0o700, exist_ok=True)
            file.write_bytes(data)
        source = Path(__file__).parents[2]
        places = os.pathsep.join(filter(None, (str(source), os.environ.get("PYTHONPATH"))))
        with (self._folder / ERRORS).open("wb") as errors:
            self._process = processes.start(
                [sys.executable, "-P", "-m", module],
                environment={"PYTHONPATH": places, "PYTHONNOUSERSITE": "1"},
                directory=self._folder,
                stdin=subprocess.PIPE,
                stderr=errors,
            )
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError), self._process.stdin as stream:
            stream.write(given)

    def look(self, globs: Iterable[str], seen: Mapping[str, int]) -> tuple[dict[str, bytes], int | None]:
        """What files hold after what was seen of them, in bytes; the program's status once it has ended.

        A status without anything new: that was all.
        """
        processes.wait(self._process, LOOK_S)
        status = self._process.poll()  # before reading: then nothing follows
        news = {}
        for file in sorted({file for pattern in globs for file in self._folder.glob(pattern)}):
            name = str(file.relative_to(self._folder))
            if file.is_file() and file.stat().st_size > seen.get(name, 0):
                with file.open("rb") as stream:
                    stream.seek(seen.get(name, 0))
                    news[name] = stream.read(MOST_BYTES)
        return news, status

    def interrupt(self) -> None:
        """Have it end in order, as Ctrl-C does; harmless when it has ended."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def end(self) -> None:
        """End it with all that it started, and remove its folder."""
        processes.stop(self._process)
        shutil.rmtree(self._folder, ignore_errors=True)


class Agent:
    """What the controller and other agents ask things of: its own methods, and those of the run that it has."""

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
        if has_method(type(self), method) and not method.startswith("call"):
            return getattr(self, method)(*arguments)
        return called("a run", self._now(), method, *arguments)

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
        ours = {adapter: adapter_of(*adapter) for adapter in adapters}
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

    def workers(self, calls: list[tuple[int, str, list[Any], dict[str, Any]]]) -> list[tuple[Reply, list[str], int]]:
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

    def _of_worker(self, number: int, method: str, arguments: list[Any], named: dict[str, Any]) -> Any:
        run = self._now()
        worker = run.workers[number]
        ready = [run.work_of(worker, value.name) if isinstance(value, PhaseThere) else value for value in arguments]
        if method == "close":
            del run.workers[number]
        return called("a worker", worker, method, *ready, **named)

    def reaches(self, names: tuple[str, ...]) -> None:
        """Take a look at the network to these hosts. Errors: HostLost of one to which it broke."""
        if self._watch is not None:
            self._watch.look(name for name in names if name != self.name)

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
