"""Known answer 21: drivers of ours that meet faults badly, each found by name, and a silence that the kernel makes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import cast

from rowpath.analysis.faults import findings
from rowpath.checks.selftest.bench import Bench, Verdict
from rowpath.execution.worker import Worker
from rowpath.faults.bench import Bench as Servers
from rowpath.faults.cells import measured
from rowpath.faults.kinds import BY_NUMBER
from rowpath.faults.matrix import planned_path
from rowpath.faults.proxy import LOOPBACK, Break, FaultProxy
from rowpath.model.fault import Work
from rowpath.planning.plan import PlannedPath
from rowpath.runners import protocol
from rowpath.runners.manifest import adapter_of

CHEATS = (
    ("swallowing", "7", "scan", "truncated-without-error"),
    ("retrying", "4", "write", "retries-a-write"),
    ("leaking", "4", "read", "leaks-on-fault"),
    ("deaf", "9a", "read", "cancel-not-heard"),
)
USER_TIMEOUT_S, SLACK_S, STALL_S = 3.0, 1.0, 6.0


def faults(bench: Bench, *, full: bool) -> Iterator[Verdict]:
    """21: a driver that swallows an error, retries a write, leaks a socket or ignores a cancel is found by name.

    And `tcp_user_timeout` ends libpq in a silence of the kernel, not where a proxy merely stops reading.
    """
    directory = bench.directory / "faults"
    directory.mkdir(mode=0o711)
    servers = Servers(directory)
    try:
        honest = _path("python", "psycopg")
        for how, fault, work, finding in CHEATS:
            for planned in (honest, bench.cheat(honest, how)):
                cell = measured(servers, planned, BY_NUMBER[fault], cast(Work, work))
                found = [one.id for one in findings([cell])]
                expected = [] if planned is honest else [finding]
                what = f"{planned.name}, fault {fault}"
                yield Verdict(
                    found == expected, what, ", ".join(found) or cell.reason or "nothing found", str(expected)
                )
        for way in ("silence", "stall"):
            took_s = _user_timeout(servers, way)
            if way == "silence":
                bounds = USER_TIMEOUT_S - SLACK_S, USER_TIMEOUT_S + SLACK_S
                yield Verdict.within("tcp_user_timeout in a silence, s", took_s, *bounds)
            else:
                yield Verdict.within(
                    "without an end where the proxy stops reading, s", took_s, STALL_S, STALL_S + SLACK_S
                )
    finally:
        servers.stop()


def _path(language: str, driver: str) -> PlannedPath:
    planned, reason = planned_path(adapter_of(language, driver), "postgresql")
    assert planned is not None, reason
    return planned


def _user_timeout(servers: Servers, way: str) -> float:
    """Seconds until a read that is sent into a silence fails, at most STALL_S."""
    planned = _path("c", "libpq")
    servers.build(planned)
    instance = servers.instance("steady", planned)
    proxy = FaultProxy((LOOPBACK, int(instance.options(planned.path)["port"])))
    worker = Worker(planned, instance, log=lambda _line: None, timeout_s=STALL_S)
    try:
        settings = f"tcp_user_timeout={USER_TIMEOUT_S * 1000:.0f}"
        worker.open(host=LOOPBACK, port=proxy.port, driver_settings=settings)
        work = servers.work(planned, "read")
        worker.prepare(work)
        worker.sample(work, "steady", operations=1, first=0)
        if way == "silence":
            proxy.silence()
        else:
            proxy.arm(Break("stall", answers=1))
        begun = time.monotonic()
        how = {"lead_in_ns": 0, "duration_ns": 0, "operations": 1, "first": 0}
        worker.runner.send(protocol.Sample, STALL_S, phase=work.name, regime="steady", **how)
        worker.runner.replies_within(STALL_S)
        return time.monotonic() - begun
    finally:
        worker.runner.kill()
        proxy.stop()
