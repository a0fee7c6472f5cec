"""The block in which calls are stamped: after those that give the figures, with processes of its own on both sides."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec import structs

from rowpath.engines.base import External
from rowpath.errors import RowpathError
from rowpath.execution.instances import EngineInstances
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.explain import hops
from rowpath.explain.blocks import warm_up
from rowpath.explain.hops import Unknown
from rowpath.machine import private_directories
from rowpath.machine.counters import call_stamps
from rowpath.model.explanation import Explanation
from rowpath.model.hops import Hops
from rowpath.planning.instance_key import key_of
from rowpath.planning.plan import PlannedPath
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import SampleReply
from rowpath.runners.toolchains import c

MOST_OPERATIONS = 2_000
MOST_TOGETHER = 20_000  # operations in pipelines: there is room for their calls
BLOCKS = 9  # stamped ones, in turn with as many bare: the median ratio of two neighbours is what stamps cost
LEAST_EACH = 20  # operations, or pipelines, of a block: its first may be lost
MOST_S = 4.0  # of either
Start = Callable[[dict[str, str]], Worker]  # with this added to the environment


def with_hops(
    explanation: Explanation,
    planned: PlannedPath,
    instances: EngineInstances,
    work: PreparedPhase,
    directory: Path,
    timeout_s: float,
    log: Callable[[str], None],
) -> Explanation:
    """The explanation of a path with a server, and its hops, or why they are not known. Errors: RowpathError.

    A private server is restarted before, so that its calls are stamped, and after.
    """
    key = key_of(planned.path)
    ours = not isinstance(instances[key], External)

    def start(environment: dict[str, str]) -> Worker:
        how: dict[str, Any] = {"log": log, "timeout_s": timeout_s, "environment": environment}
        return Worker(planned, instances[key], pinned=True, **how)

    def taken() -> Hops:
        file = server_file(directory) if ours else None
        if file is not None:
            instances.restart(key, stamping_environment(file))
        return stamped(start, work, explanation.operation_ns, directory, file, instances.way_to(planned.path))

    complete = known(explanation, taken)
    if ours:
        instances.restart(key)
    return complete


def server_file(directory: Path) -> Path:
    """A file for the stamps of a private server."""
    return call_stamps.make_file(directory / "server-stamps", clocks=False, user=private_directories.server_user())


def stamping_environment(file: Path) -> dict[str, str]:
    """What a process's environment needs so that its calls are stamped into `file`.

    The C toolchain builds the library that is preloaded. Errors: EnvironmentMissing without a C compiler.
    """
    return {"LD_PRELOAD": str(c.call_stamps_library()), call_stamps.VARIABLE: str(file)}


def known(explanation: Explanation, taken: Callable[[], Hops]) -> Explanation:
    """The explanation with what `taken` returns, or with the reason why it failed."""
    try:
        return structs.replace(explanation, hops=taken())
    except Unknown as unknown:
        why = str(unknown)
    except RunnerFailure as failure:
        why = failure.text
    except RowpathError as error:
        why = f"{error.message} ({error.hint})"
    return structs.replace(explanation, no_hops=why)


def stamped(
    start: Start,
    work: PreparedPhase,
    operation_ns: float,
    directory: Path,
    server: Path | None,
    way: Mapping[str, Any] = {},
) -> Hops:
    """The hops of a fresh worker's operations; `server`: the file of its server's stamps, None: of others.

    `operation_ns`: what an operation takes without stamps. Errors: Unknown, RunnerFailure, EnvironmentMissing.
    """
    work = replace(work, phase=structs.replace(work.phase, stamps=False))  # the loop reads its clock once an operation
    client = call_stamps.make_file(directory / "client-stamps", clocks=True)
    worker = start(stamping_environment(client))
    path = worker.planned.path
    size = path.pipeline if work.parameter_count else 1  # a statement without parameters is never in a pipeline
    bare: list[SampleReply] = []
    replies: list[SampleReply] = []
    files = [client, *([server] if server else [])]
    try:
        worker.open(**way)
        worker.notice_server()
        worker.prepare(work)
        warm_up(worker, work)
        units = max(1, min(MOST_OPERATIONS, MOST_TOGETHER // size, int(MOST_S * 1e9 / (operation_ns * size))))
        blocks = max(1, min(BLOCKS, units // LEAST_EACH))
        operations = units // blocks * size
        for _number in range(blocks):
            bare.append(worker.sample(work, "steady", operations=operations).reply)
            with call_stamps.stamping(*files):
                replies.append(worker.sample(work, "steady", operations=operations).reply)
    finally:
        worker.close()
    read = [call_stamps.read(file) for file in files]
    if not all(whole for _calls, whole in read):
        raise Unknown(f"{blocks * operations} operations make more calls than there is room for")
    one_core = server is not None and path.placement == "same" and path.link == "none"
    longer = statistics.median(one.ns / other.ns for one, other in zip(replies, bare, strict=True)) - 1
    done = [reply.operations // size for reply in replies]
    return hops.hops(
        read[0][0], read[1][0] if server else None, done, one_core=one_core, stamping_share=longer, pipeline=size
    )
