"""Ten thousand faults: every driver's scan cut or reset at a random byte; whether a runner hangs, crashes or takes it.

`ROWPATH_BENCH_FAULTS` is how many there are in all, instead of ten thousand.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator

from bench.figure import Figure
from rowpath.checks.selftest.bench import Bench
from rowpath.errors import RowpathError
from rowpath.execution.worker import Worker
from rowpath.faults.bench import Bench as Servers
from rowpath.faults.matrix import make_matrix
from rowpath.faults.proxy import LOOPBACK, Break, FaultProxy, Way
from rowpath.planning.plan import PlannedPath
from rowpath.runners import protocol
from rowpath.runners.process import RunnerFailure

FAULTS = 10_000
WAYS: tuple[Way, ...] = ("close", "reset")
WITHIN_S = 20.0


def measure(bench: Bench) -> Iterator[Figure]:
    """Of all drivers together: faults, hangs, crashes, and cut results taken for whole."""
    tasks = make_matrix([], {}, every=True, faults=["7"]).tasks
    paths = list({task.key: task.planned for task in tasks if "faults.scan" in task.planned.phases}.values())
    each = -(-int(os.environ.get("ROWPATH_BENCH_FAULTS", FAULTS)) // len(paths))
    directory = bench.directory / "faults"
    directory.mkdir(mode=0o711)
    servers, seen, who = Servers(directory), Counter[str](), Counter[str]()
    try:
        for planned in paths:
            for outcome in _outcomes(servers, planned, each):
                seen[outcome] += 1
                who[f"{planned.name}: {outcome}"] += outcome not in ("error", "passed whole")
    finally:
        servers.stop()
    yield Figure("faults", f"{seen.total():,} on {len(paths)} paths", "", None)
    yield Figure("errors; ended before the fault", f"{seen['error']:,}; {seen['passed whole']:,}", "", None)
    for outcome in ("hang", "crash", "taken for whole", "no connection afterwards"):
        by = ", ".join(f"{name} ({count})" for name, count in who.items() if count and name.endswith(f": {outcome}"))
        yield Figure(outcome, f"{seen[outcome]} {by}".strip(), "0", not seen[outcome])


def _outcomes(servers: Servers, planned: PlannedPath, each: int) -> Iterator[str]:
    chance = random.Random(planned.name)
    servers.build(planned)
    instance = servers.instance("steady", planned)
    work = servers.work(planned, "scan")
    proxy = FaultProxy((LOOPBACK, int(instance.options(planned.path)["port"])))
    worker: Worker | None = None
    size = 0
    try:
        for number in range(each):
            try:
                if worker is None or not worker.runner.alive():
                    worker = Worker(planned, instance, log=lambda _line: None, timeout_s=WITHIN_S)
                worker.open(host=LOOPBACK, port=proxy.port)
                worker.prepare(work)
                if not size:
                    proxy.count_anew()
                    worker.sample(work, "steady", operations=1, first=0)
                    size = proxy.bytes_down()
            except (RunnerFailure, RowpathError):
                yield "no connection afterwards"
                if worker is not None:
                    worker.runner.kill()
                continue
            one = proxy.arm(Break(WAYS[number % 2], after_bytes=chance.randrange(size)))
            yield _outcome(worker, work.name, work.phase.rows_per_operation, one)
            proxy.heal()
            worker.disconnect()
    finally:
        if worker is not None:
            worker.runner.kill()
        proxy.stop()


def _outcome(worker: Worker, name: str, rows: int, one: Break) -> str:
    how = {"lead_in_ns": 0, "duration_ns": 0, "operations": 1, "first": 0}
    try:
        reply = worker.runner.request(
            protocol.Sample, WITHIN_S, expect=protocol.SampleReply, phase=name, regime="steady", **how
        )
    except RunnerFailure as failure:
        return {"timeout": "hang", "crashed": "crash", "protocol": "crash"}.get(failure.kind, "error")
    if reply.failed:
        return "error"
    return "taken for whole" if one.broken_ns and reply.rows < rows else "passed whole"
