"""Cells of a result: the server fails in its middle, or the client has too little memory for it."""

from __future__ import annotations

import time

from typing_extensions import override

from rowpath.faults import memory_limit
from rowpath.faults.trial import WARM_OPERATIONS, Trial
from rowpath.runners import manifest
from rowpath.runners.process import Runner


class ServerError(Trial):
    """The statement fails at the row in the middle."""

    @override
    def phases(self) -> set[str]:
        return super().phases() | {"scan-with-error"}

    @override
    def flow(self) -> None:
        self.begin()
        self.worker.prepare(self.phase("scan-with-error"))
        self.fault_ns = time.monotonic_ns()
        self.event("the query is sent; its result fails in the middle")
        self.ask("scan-with-error")
        self.see_end()
        self.heal()
        self.recover()


class Memory(Trial):
    """The whole result is larger than the client's memory may be."""

    @override
    def flow(self) -> None:
        self.proxy = self.make_proxy()
        start = manifest.command(self.planned.adapter, self.planned.path.version, self.planned.path)
        limited = memory_limit.of_runtime(self.planned.adapter.language, start)
        runner = Runner.start(limited or start, (), lambda _line: None)
        self.worker = self.make_worker(runner)
        self.open()
        self.prepare()
        self.sample("read", WARM_OPERATIONS)
        if limited is None:
            memory_limit.of_process(runner.pid)
        self.fault_now()
        self.ask("scan")
        self.see_end()
        self.heal()
        self.recover()
