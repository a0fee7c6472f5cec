"""4: operations that make N system calls: counted exactly, once the runner's own constant overhead is taken out."""

from __future__ import annotations

from rowpath.checks.selftest.bench import Bench, Verdict
from rowpath.machine.counters import system_calls

OPERATIONS = 50
# Threads of a runner that hand over a request meet at a lock, or do not: that adds calls to some requests.
REPETITIONS = 7


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """Check the count of system calls by the method that works here; strace may miss a call at either end."""
    if skipped := bench.without_compiler("system calls"):
        return skipped
    if system_calls.probe() not in (system_calls.METHOD, system_calls.METHOD_STRACE):
        return [Verdict(None, "system calls", system_calls.probe())]
    slack = 0 if system_calls.probe() == system_calls.METHOD else system_calls.STRACE_SLACK
    overhead = _counted(bench, 0)
    verdicts = []
    for calls in (1, 7, 100, 5_000) if full else (1, 7, 100):
        counted = _counted(bench, calls)
        each = None if counted is None or overhead is None else counted - overhead
        what = f"{OPERATIONS} operations of {calls} calls each"
        verdicts.append(Verdict.exactly(what, each, OPERATIONS * calls, slack))
    return verdicts


def _counted(bench: Bench, calls: int) -> int | None:
    """The least of some repetitions."""
    worker, work = bench.null_worker(system_calls=calls)
    worker.sample(work, "warm", operations=OPERATIONS)
    found: list[int] = []
    for _ in range(REPETITIONS):
        with system_calls.counting(worker.runner.pid) as counted:
            worker.sample(work, "steady", operations=OPERATIONS)
        found += [counted.calls] if counted.calls is not None else []
    worker.close()
    return min(found, default=None)
