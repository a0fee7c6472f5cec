"""Paths of an experiment onto a tape: each phase's operations with every row of its parameters, on a private server."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rowpath import __version__
from rowpath.engines import ENGINES
from rowpath.engines.base import External
from rowpath.errors import RowpathError, UsageError
from rowpath.execution.instances import EngineInstances
from rowpath.execution.prepared_phases import PhaseCache, PreparedWorkload
from rowpath.execution.worker import Worker
from rowpath.machine import private_directories
from rowpath.model.experiment import Experiment, Selection
from rowpath.model.workload import PhaseName
from rowpath.planning.plan import Plan, key_of
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import VERIFIED_ROWS
from rowpath.tape.format import IN_WORDS, Header, RecordedPath
from rowpath.tape.proxy import RecordingProxy

PASSES = 3  # through the parameters: a driver prepares a statement after some executions
SCANS = 12  # of a phase without parameters, for the same reason
LARGE_ROWS = 50_000
LARGE_SCANS = 2
NOT_SELECTED = ("engine_version", "version", "placement", "ranges", "link", "processes", "backup")


def check(plan: Plan) -> None:
    """UsageError for paths that one tape cannot hold."""
    for planned in plan.paths:
        path = planned.path
        if ENGINES[path.engine].wire is None or not path.served or path.tls == "on":
            what = f"cannot record {planned.name}: a tape holds {IN_WORDS}, without TLS"
            raise UsageError(what, "engine=postgresql deployment=server")
        if path.compression != "none":
            what = f"cannot record {planned.name}: no message can be read of a connection with compression"
            raise UsageError(what, "compression=none")
        if path.ranges != "none":
            raise UsageError(f"cannot record {planned.name}: it retrieves in parts", "ranges=none")
    keys = dict.fromkeys(key_of(planned.path) for planned in plan.paths)
    if len(keys) > 1:
        named = " and ".join(" ".join(part for part in key if part != "none") for key in keys)
        raise UsageError(f"one tape is of one server, not of {named}", "engine=postgresql durability=full")
    if not reads(plan):
        what = f"every phase of {plan.experiment.name} writes: a tape holds only phases that read"
        raise UsageError(what, "another experiment")


def reads(plan: Plan) -> tuple[str, ...]:
    """The phases that a tape can hold: those that change nothing and connect only once."""
    eligible = {name for planned in plan.paths for name in planned.phases}
    phases = ((name, plan.phase(name)) for name in plan.experiment.phases if name in eligible)
    return tuple(name for name, phase in phases if not phase.writes and phase.kind == "query")


def record(
    plan: Plan, work: Path, note: Callable[[str], None], timeout_s: float, log: Callable[[str], None]
) -> tuple[Header, bytes]:
    """The tape of all paths of the plan. Errors: RowpathError, also for a path that fails or delivers wrong rows."""
    phase_cache = PhaseCache(work / "params")
    instances = EngineInstances(work, phase_cache, lambda _secret: None)
    first = plan.paths[0].path
    wire = ENGINES[first.engine].wire
    assert wire is not None  # by `check`
    try:
        note(f"starting and loading {first.engine}")
        instance = instances.bring_up(plan.paths, plan.workloads, key_of(first))
        if isinstance(instance, External):
            raise UsageError("--experiment records only Rowpath's own servers", f"unset {instance.given_by}")
        # A recording proxy in front of the server, and what `open` gets so that a runner goes through it.
        port = int(instance.options(first)["port"])
        folder = private_directories.socket_home(work / "proxy", None)
        socket = wire.socket(folder, port)
        proxy = RecordingProxy(wire.protocol, ("127.0.0.1", port), unix=socket)
        proxy.start()
        recorded = []
        try:
            overrides = {"port": proxy.port, **wire.socket_options(socket)}
            for planned in plan.paths:
                note(f"recording {planned.name}")
                workloads = {
                    name: phase_cache.path_work(plan.workloads[name], planned.path, instance)
                    for name in planned.workloads
                }
                worker = Worker(planned, instance, log=log, timeout_s=timeout_s)
                recorded.append(_path(worker, reads(plan), workloads, overrides))
        finally:
            proxy.stop()
            shutil.rmtree(folder, ignore_errors=True)
        proxy.check()
        content = proxy.records.content()
        if any(secret.encode() in content for secret in instance.secrets()):
            raise RowpathError("the recording contains a password, so no tape was written", "report this path")
    except RunnerFailure as failure:
        raise RowpathError(f"cannot record: {failure.kind}: {failure.text}", "rowpath verify NAME") from failure
    finally:
        instances.stop_all()
        shutil.rmtree(work, ignore_errors=True)
    header = Header(
        engine=first.engine,
        rowpath=__version__,
        recorded=datetime.now(UTC).isoformat(timespec="seconds"),
        server=proxy.server,
        connections=proxy.records.connections,
        requests=proxy.records.requests,
        experiment=_kept(plan),
        workloads={name: plan.workloads[name] for name in {PhaseName.of(phase).workload for phase in reads(plan)}},
        paths=tuple(recorded),
    )
    return header, content


def _path(
    worker: Worker, names: Iterable[str], workloads: dict[str, PreparedWorkload], overrides: dict[str, Any]
) -> RecordedPath:
    """Have the path do everything that a run has it do. Errors: RunnerFailure, RowpathError."""
    path = worker.planned.path
    if path.transport == "unix" and "socket_dir" in overrides:
        overrides = {"socket_dir": overrides["socket_dir"]}  # the socket's name has the server's port
    try:
        worker.open(**overrides)
        worker.facts()
        read = [name for name in worker.planned.phases if name in names]
        digests = {name: _phase(worker, workloads[PhaseName.of(name).workload], name) for name in read}
        worker.facts()  # drivers change their ways after some executions
    finally:
        worker.close()
    return RecordedPath(path.as_dict(), digests)


def _phase(worker: Worker, prepared: PreparedWorkload, name: str) -> str:
    """The phase's digest over all its parameters."""
    planned, work = worker.planned, prepared.phases[name]
    count = work.parameter_count or 1
    large = work.phase.scan and work.phase.rows_per_operation >= LARGE_ROWS
    operations = count * PASSES if work.parameter_count else LARGE_SCANS if large else SCANS
    worker.prepare(work)
    for _ in range(worker.clients):  # each begins elsewhere in the parameters
        reply = worker.sample(work, "cold", operations=operations, first=0).reply
        if reply.failure:
            raise RunnerFailure(reply.failure.kind, reply.failure.text, reply.failure.code)
    verified = worker.verify(work, 0, count, max_rows=VERIFIED_ROWS).digest
    expected = prepared.expected.verify_digest(work.phase, 0, count, VERIFIED_ROWS)
    known = work.phase.expected != "none" and not planned.adapter.floor
    if known and verified != expected:
        raise RowpathError(f"{planned.name} delivers wrong rows in {work.name}: nothing is recorded", "rowpath verify")
    worker.prepare(work)  # as every set does
    worker.sample(work, "warm", operations=count, first=0)
    return expected if known else ""


def _kept(plan: Plan) -> Experiment:
    """What of the experiment is on the tape."""
    given = plan.experiment
    selections = tuple(
        Selection({key: value for key, value in planned.path.coordinates if key not in NOT_SELECTED}, name=planned.name)
        for planned in plan.paths
    )
    of_file = given.schema_version, given.name, given.title
    return Experiment(*of_file, reads(plan), selections, question=given.question, measure=given.measure)
