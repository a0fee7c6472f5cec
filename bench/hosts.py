"""What Rowpath costs on a host: a path there against the same path without hosts, on one machine and one core.

The host is an address of the loopback, in the roles of client and server.
"""

from __future__ import annotations

import itertools
import os
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, cast

from tests.hosts.lab import Lab, free_port
from typing_extensions import override

from bench.figure import Figure
from rowpath.analysis.statistics.intervals import set_log_ratio, student
from rowpath.checks.selftest.bench import Bench
from rowpath.cli.hosts import joined
from rowpath.cli.plan import plan_for
from rowpath.engines.base import Instance
from rowpath.errors import RowpathError
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.run import run_plan
from rowpath.execution.run_options import RunOptions
from rowpath.execution.worker import Worker
from rowpath.hosts import setup
from rowpath.hosts.session import Session
from rowpath.journal import reader
from rowpath.journal.records import WorkerRecord
from rowpath.model.path import AccessPath
from rowpath.model.progress import Silent
from rowpath.planning.plan import Key, Plan, PlannedPath, key_of

HOST = "both"
FILTERS = {"language": ("c",), "engine": ("sqlite", "postgresql", "null"), "statement": ("prepared", "none")}
THERE = {"client_host": (HOST,), "server_host": (HOST,)}
IDLE_S = 20.0
IDLE_BAR = 0.02
SET_BAR = 1.10
WIDTH_BAR = 0.02
COUPLES, PAIRS, BLOCK_NS, WARM_BLOCKS = 10, 10, 50_000_000, 8


def measure(bench: Bench) -> Iterator[Figure]:
    """What helpers take while nothing is measured, how much longer a set takes, and the rates of the same paths."""
    if not setup.is_here():
        yield Figure("a path on a host", "Ray is not here", "", None)
        return
    with one_host(bench.directory) as lab, joined(lab.file) as session:
        yield from idle(session)
        seed = time.time_ns() % 1_000_000
        here = plan_for("tour", FILTERS, seed=seed)
        there = plan_for("tour", FILTERS | THERE, seed=seed, hosts=session)
        yield set_time(bench.directory, here, there, session)
        yield from rates(bench, here, there, session)


@contextmanager
def one_host(folder: Path) -> Iterator[Lab]:
    """A host on this machine, up."""
    lab = Lab(folder / "hosts.toml", folder, {HOST: "127.0.0.2"}, "127.0.0.5")
    lines = [
        "schema_version = 1",
        "[cluster]",
        f'controller = "{lab.controller}"',
        f"port = {free_port(lab.controller)}",
        "[[host]]",
        f'name = "{HOST}"',
        f'address = "{lab.addresses[HOST]}"',
        'roles = ["client", "server"]',
        'helpers = "0"',
    ]
    lab.file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    lab.up()
    try:
        yield lab
    finally:
        lab.down()


def idle(session: Session) -> Iterator[Figure]:
    """CPU of a host's helpers, and whether one of them may run on a measured core."""
    before, begun = session.processes(HOST), time.monotonic()
    time.sleep(IDLE_S)
    elapsed_ns = (time.monotonic() - begun) * 1e9
    after = {each.pid: each.cpu_ns for each in session.processes(HOST)}
    share = sum(after.get(each.pid, each.cpu_ns) - each.cpu_ns for each in before) / elapsed_ns
    bar = f"at most {IDLE_BAR:.0%} of a core"
    yield Figure("hosts: helpers of one host while nothing is measured", f"{share:.2%}", bar, share <= IDLE_BAR)
    measured = set(session.hello[HOST]["measured_cpus"])
    astray = [each.name for each in before if os.sched_getaffinity(each.pid) & measured]
    yield Figure("hosts: helpers that may run on a measured core", ", ".join(astray) or "none", "none", not astray)


def set_time(folder: Path, here: Plan, there: Plan, session: Session) -> Figure:
    """The median set on the host over that without hosts."""
    how: dict[str, Any] = {"progress": Silent()}
    options = RunOptions(timeout_s=60.0, wait_for_quiet_s=0.0)
    run_plan(here, options, directory=folder / "here", **how)
    run_plan(there, options, directory=folder / "there", hosts=session, **how)
    took = [statistics.median(set_times_s(folder / name)) for name in ("there", "here")]
    ratio = took[0] / took[1]
    value = f"{ratio:.3f} ({took[0]:.2f} s over {took[1]:.2f} s, {len(here.paths)} paths)"
    return Figure(
        "hosts: a set on a host over the same set without hosts", value, f"at most {SET_BAR}", ratio <= SET_BAR
    )


def set_times_s(directory: Path) -> list[float]:
    """From the first runner of each set to that of the next."""
    begun: dict[int, int] = {}
    for worker in reader.read(directory).all(WorkerRecord):
        if worker.set >= 0:
            begun[worker.set] = min(begun.get(worker.set, worker.started_ns), worker.started_ns)
    instants = [begun[number] for number in sorted(begun)]
    return [(after - before) / 1e9 for before, after in itertools.pairwise(instants)]


def rates(bench: Bench, here: Plan, there: Plan, session: Session) -> Iterator[Figure]:
    """Each path's time through an agent over that without, blocks by turns; the interval is over couples."""
    session.begin(there, 60.0, lambda _text: None)
    bench.build(*here.paths)
    instances: dict[Key, Instance] = {}
    for far in there.paths:
        near = next(each for each in here.paths if each.name == far.name)
        name = near.phases[0]
        if key_of(far.path) not in instances:
            instances[key_of(far.path)] = instance_for(
                bench, near, here, session.bring_up(key_of(far.path))[0], session
            )
        instance = instances[key_of(far.path)]
        interval = student([couple(bench, instance, near, far, session, name) for _ in range(COUPLES)])
        assert interval is not None
        ratio, low, high = interval.ratios
        value = f"{ratio:.4f} [{low:.4f}, {high:.4f}], {COUPLES} × {PAIRS} pairs"
        met = interval.low <= 0 <= interval.high and interval.half_width <= WIDTH_BAR
        bar = f"interval contains 1, half-width {WIDTH_BAR:.0%}"
        yield Figure(f"hosts: {near.name}, {name}: time on a host over that without", value, bar, met)
    session.end(bench.directory)


def instance_for(bench: Bench, near: PlannedPath, here: Plan, there: Instance, session: Session) -> Instance:
    """Where the path without hosts has its rows. Two servers of PostgreSQL would differ: both sides have the host's."""
    if near.path.engine == "postgresql":
        return SameServer(there, session)
    of_instance = tuple(each for each in here.paths if key_of(each.path) == key_of(near.path))
    return bench.engine_instances.bring_up(of_instance, here.workloads, key_of(near.path))


class SameServer(Instance):
    """The PostgreSQL that the host's agent started, which stands on this machine, as one that was started here."""

    def __init__(self, there: Instance, session: Session) -> None:
        self._there = there
        self._session = session
        self.deployment, self.version = there.deployment, there.version

    @override
    def pids(self) -> list[int]:
        return [each.pid for each in self._session.processes(HOST) if each.name.startswith("postgres")]

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        return self._there.options(path)


def couple(bench: Bench, instance: Instance, near: PlannedPath, far: PlannedPath, session: Session, name: str) -> float:
    """ln(on the host / without) of two fresh processes: the median over their pairs of blocks."""
    with ExitStack() as cleanup:
        workers: list[Worker] = []
        for worker in (
            session.worker(cast(Any, None), far),
            Worker(near, instance, log=lambda _line: None, timeout_s=60.0, pinned=True),
        ):
            cleanup.callback(worker.close)
            worker.open()
            worker.notice_server()
            workers.append(worker)
        work = bench.work(name, near.path.engine)
        for worker in workers:
            worker.prepare(work)
        for _ in range(WARM_BLOCKS):
            operations = [operations_in(worker, work) for worker in workers]
        count = max(1, round(statistics.mean(operations)))
        costs: tuple[dict[int, float], dict[int, float]] = {}, {}
        for pair in range(PAIRS):
            for side in (0, 1) if pair % 2 else (1, 0):
                reply = workers[side].sample(work, "steady", operations=count, first=0).reply
                if reply.failed or reply.operations != count:
                    raise RowpathError(f"{near.name}: {reply.failed} of {count} operations failed")
                costs[side][pair] = reply.ns / count
        ratio = set_log_ratio(*costs)
        assert ratio is not None
        return ratio


def operations_in(worker: Worker, work: PreparedPhase) -> float:
    """Of one block."""
    reply = worker.sample(work, "warm", duration_ns=BLOCK_NS).reply
    return BLOCK_NS * reply.operations / reply.ns
