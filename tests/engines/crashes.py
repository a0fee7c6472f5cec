"""An engine killed with SIGKILL while two clients write through a runner, brought back, its ledger read row by row."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from rowpath.checks.selftest.bench import Bench
from rowpath.engines.base import Instance
from rowpath.execution.mixed_load import durability
from rowpath.execution.mixed_load.durability import Ledger, counting
from rowpath.execution.mixed_load.shared_counters import SharedCounters
from rowpath.execution.worker import Worker
from rowpath.journal.mixed_load_records import AcknowledgedRecord, KillRecord
from rowpath.planning.plan import PlannedPath
from rowpath.runners.manifest import adapter_of
from rowpath.workloads.workload_file import at_scale, load_workload
from tests.waiting import until

PHASE, CLIENTS, LEAST = "library.write", 2, 60  # acknowledged writes, of all clients, before the kill
GROUP = "writers"
SCALE = 0.005


@dataclass(frozen=True)
class Crashed:
    """What came of it."""

    pids: list[int]
    recovery: KillRecord
    found: AcknowledgedRecord | None  # None: it did not come back


class Killing:
    """One path on its own engine, loaded."""

    def __init__(
        self, folder: Path, language: str, driver: str, deployment: str, durability: str, **coordinates: str
    ) -> None:
        self.bench = Bench(folder)
        engine = coordinates.get("engine") or adapter_of(language, driver).engines[0]
        named = {"deployment": deployment, "durability": durability, "placement": "free", "statement": "prepared"}
        self.planned: PlannedPath = self.bench.path(language, driver, PHASE, **(named | coordinates))
        workload = at_scale(load_workload("library"), SCALE)
        self.works = {"library": self.bench.phase_cache.prepared_workload(workload, engine)}
        found = counting(self.planned, self.works)
        assert found
        self.prepared_workload, self.work = found
        self.instance: Instance = self.bench.instance(engine, deployment, durability=durability)
        self.instance.load(self.prepared_workload.loaded_tables())
        self.instance.own_copy(self.planned.path)
        self.folder = folder

    def opened(self, clients: int = 1) -> Worker:
        return self.bench.worker(self.planned, self.instance, clients=clients)

    def write(self, worker: Worker, ledger: Ledger, kill: bool) -> list[int]:
        """Clients write until enough was acknowledged; then the engine is killed, or they end. The killed pids."""
        shared_counters = SharedCounters([(GROUP, CLIENTS, self.work.parameter_count)])
        try:
            worker.groups(shared_counters.file, [shared_counters.spec(GROUP, self.work.name)])
            shared_counters.begin(GROUP, time.monotonic_ns())
            until(lambda: shared_counters.snapshot(GROUP, time.monotonic_ns()).operations >= LEAST, "writes")
            pids = durability.kill(self.instance, [worker])[0] if kill else []
            shared_counters.end(GROUP, time.monotonic_ns())
            if worker.runner.alive():
                worker.groups_end(60.0)
            ledger.add(*shared_counters.acknowledged(GROUP))
        finally:
            shared_counters.close()
        return pids

    def crashed(self) -> Crashed:
        worker = self.opened(CLIENTS)
        worker.reset(self.work)
        worker.prepare(self.work)
        ledger = Ledger.of(self.work)
        pids = self.write(worker, ledger, kill=True)
        worker.close()
        back, recovery = durability.recover(self.start, self.opened, self.work)
        found = durability.check(back, self.prepared_workload, self.work, ledger, self.folder) if back else None
        return Crashed(pids, recovery, found)

    def start(self) -> int:
        begun_ns = time.monotonic_ns()
        if self.instance.deployment == "server":
            self.instance.start()
        return time.monotonic_ns() - begun_ns
