"""Blocks of a path whose calls are stamped, in turn with bare ones of the same worker, and the hops of all of them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from msgspec import structs

from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.explain import hops
from rowpath.explain.blocks import Blocks, CoreBlock
from rowpath.explain.round_trips import Unknown
from rowpath.machine import c_tools, private_directories
from rowpath.machine.counters import call_stamps
from rowpath.model.explanation import Hops

MOST_OPERATIONS = 10_000
MOST_TOGETHER = 20_000  # operations in pipelines: there is room for their calls
BLOCKS = 9  # stamped ones, in turn with as many bare: the median ratio of two neighbours is what stamps cost
LEAST_EACH = 20  # operations, or pipelines, of a block: its first may be lost
MOST_S = 4.0  # of either
TakeSome = Callable[[int], CoreBlock]  # a block of that many operations


def server_file(directory: Path, side: str) -> Path:
    """A file for the stamps of a private server, or of the pooler before it."""
    return call_stamps.make_file(directory / f"{side}-stamps", clocks=False, user=private_directories.server_user())


def stamping_environment(file: Path) -> dict[str, str]:
    """What a process's environment needs so that its calls are stamped into `file`.

    The library that is preloaded is built when needed. Errors: EnvironmentMissing without a C compiler.
    """
    return {"LD_PRELOAD": str(c_tools.call_stamps_library()), call_stamps.VARIABLE: str(file)}


def once_an_operation(work: PreparedPhase) -> PreparedPhase:
    """The phase in which the loop reads its clock once an operation, so that its readings are borders."""
    return replace(work, phase=structs.replace(work.phase, stamps=False))


@dataclass
class Stamping:
    """The blocks of one worker. `server`: the file of its server's stamps, None: of others; `pooler`: None: has none.

    `here`: the server is on this machine, so that the core from which it answers is known.
    """

    client: Path
    server: Path | None = None
    pooler: Path | None = None
    here: bool = False
    stamped: Blocks = field(default_factory=Blocks)
    _bare: Blocks = field(default_factory=Blocks)
    _size: int = 1  # operations of a pipeline
    _blocks: int = 0
    _operations: int = 0  # of each

    @classmethod
    def begun(cls, directory: Path, server: Path | None = None, pooler: Path | None = None) -> Stamping:
        """One with an empty file for the client's stamps."""
        return cls(call_stamps.make_file(directory / "client-stamps", clocks=True), server, pooler)

    def environment(self) -> dict[str, str]:
        """Of the worker's process. Errors: EnvironmentMissing without a C compiler."""
        return stamping_environment(self.client)

    def go_on(self, worker: Worker, work: PreparedPhase, operation_ns: float, until: float, take: TakeSome) -> None:
        """Take blocks until that share of them is there. Errors: RunnerFailure.

        `operation_ns`: about what an operation takes.
        """
        path = worker.planned.path
        self._size = size = path.pipeline if work.parameter_count else 1  # without parameters never in a pipeline
        units = max(1, min(MOST_OPERATIONS, MOST_TOGETHER // size, int(MOST_S * 1e9 / (operation_ns * size))))
        blocks = max(1, min(BLOCKS, units // LEAST_EACH))
        if not self._operations:  # the first call decides
            self._blocks, self._operations = blocks, units // blocks * size
        while len(self.stamped.blocks) < math.ceil(min(1.0, until) * self._blocks):
            self._bare.blocks.append(take(self._operations))
            with call_stamps.stamping(*filter(None, (self.client, self.pooler, self.server))):
                self.stamped.blocks.append(take(self._operations))

    def hops(self, worker: Worker) -> Hops:
        """The hops of the stamped operations. Errors: Unknown."""
        path, blocks = worker.planned.path, self.stamped.blocks
        client, whole = call_stamps.read(self.client)
        server, whole_there = call_stamps.read(self.server) if self.server else (None, True)
        pooler, whole_between = call_stamps.read(self.pooler) if self.pooler else (None, True)
        if not (whole and whole_there and whole_between):
            raise Unknown(f"{self.stamped.operations} operations make more calls than there is room for")
        both = zip(self.stamped.each_ns(), self._bare.each_ns(), strict=True)
        return hops.hops(
            client,
            server,
            [block.measured.reply.operations // self._size for block in blocks],
            one_core=self.server is not None and path.placement == "same" and path.link == "none",
            stamping_share=statistics.median(one / other for one, other in both) - 1,
            pipeline=self._size,
            by_core=self.here,
            pooler_calls=pooler,
        )
