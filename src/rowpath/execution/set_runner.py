"""One set: a new worker for each path, every cold pass, then every phase warmed up and measured in blocks."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rowpath.engines import ENGINES
from rowpath.errors import RowpathError
from rowpath.execution import warm_up
from rowpath.execution.in_turn import CallOutcome, WorkerCall, helpers_cpu_ns, in_turn, of_each, peak_memory
from rowpath.execution.measured import Measured, verify_record
from rowpath.execution.prepared_phases import PreparedPhase, PreparedWorkload
from rowpath.execution.run_context import RunContext
from rowpath.execution.worker import Worker
from rowpath.journal.record_base import InSet
from rowpath.journal.records import FactsRecord, NoteRecord, PrepareRecord, SettleRecord
from rowpath.model.workload import Phase, PhaseName
from rowpath.planning.plan import PlannedPath, block_order, key_of
from rowpath.runners.manifest import language
from rowpath.runners.process import RunnerFailure

LONG_OPERATION_NS = 50e6  # a switch between paths costs 0.1 to 0.4 ms: under a hundredth of such an operation
REPEATS_OF_A_BLOCK = 2
REPEAT_BUDGET = 0.25  # of a phase's blocks
PART_NS = 1e9  # of blocks that are asked for at once on another host


class SetPhase:
    """One phase of one set: cold passes, warming up, interleaved blocks; or whole write phases in turn."""

    def __init__(
        self, context: RunContext, set_number: int, batch_number: int, name: str, workers: list[Worker]
    ) -> None:
        self.context = context
        self.set_number = set_number
        self.name = name
        self.where = f"{set_number}/{batch_number}/{name}"
        self.workers = workers
        self.measure = context.plan.experiment.measure
        self.workload_name, self.phase_name = PhaseName.of(name)
        self.phase: Phase = context.plan.phase(name)
        self._repeats = 0  # of disturbed blocks that are left
        self._last_ns: dict[str, float] = {}  # of an operation of each path, in its last sample

    def cold(self) -> None:
        """Prepare and take the cold pass; a worker that fails is left out from there on."""
        if self.phase.writes:
            self._write_pass("cold")
        elif self.workers:
            self._announce("cold")
            self._each("cold", self._cold)

    def steady(self) -> None:
        """Warm up, then interleaved blocks; or the whole write phase again."""
        if "steady" not in self.measure.regimes or not self._alive():
            return
        if self.phase.writes:
            self._write_pass("steady")
            return
        self._announce("warm")
        self._each("warm", self._warm)
        warm_up.wait_for_compilers(lambda: helpers_cpu_ns(self._alive()))
        self._announce("steady")
        with self._memory(list(self._alive())):
            self._steady()

    def _alive(self) -> list[Worker]:
        """The workers that have not failed in this phase; a process lost in another phase fails in this one."""
        for worker in self.workers:
            with self._guarded(worker):
                if not worker.runner.alive():
                    raise RunnerFailure("crashed", "the runner exited before this phase of the set")
        return self.workers

    def _announce(self, regime: str) -> None:
        names = self.workload_name, self.phase_name
        self.context.progress.phase(self.set_number, self.measure.sets, *names, regime)

    def _work(self, worker: Worker) -> PreparedWorkload:
        workload = self.context.plan.workloads[self.workload_name]
        return self.context.phase_cache.path_work(workload, worker.planned.path, worker.instance)

    def _in_order(self, regime: str, round_number: int) -> Iterator[Worker]:
        alive = list(self._alive())
        for position in block_order(self.context.plan.seed, f"{self.where}/{regime}/{round_number}", len(alive)):
            yield alive[position]

    def _each(self, regime: str, action: Callable[[Worker, PreparedPhase], None]) -> None:
        for worker in self._in_order(regime, 0):
            with self._guarded(worker):
                action(worker, self._work(worker).phases[self.name])

    @contextlib.contextmanager
    def _guarded(self, worker: Worker) -> Iterator[None]:
        try:
            yield
        except RunnerFailure as failure:
            self.context.fail(self.set_number, worker.planned, self.name, failure)
            self.workers = [other for other in self.workers if other is not worker]

    def _cold(self, worker: Worker, work: PreparedPhase) -> None:
        calls = [WorkerCall(worker, "prepare", (work,))]
        if "cold" in self.measure.regimes and self.phase.kind != "null":
            operations = 1 if self.phase.scan else work.parameter_count or 1
            calls.append(WorkerCall(worker, "sample", (work, "cold"), {"operations": operations, "first": 0}))
        prepared, *sampled = in_turn(calls)
        self._write(worker, PrepareRecord(prepare_ns=prepared[1](), cold=True))
        for _worker, sample in sampled:
            self._keep(worker, work, "cold", 0, sample())

    def _warm(self, worker: Worker, work: PreparedPhase) -> None:
        first, later = language(worker.planned.adapter.language).warm_least_s
        cap_s = min(self.measure.warm_cap_s, worker.warm_most_s)
        least_s = min(later if worker.warmed else first, cap_s)
        # Servers that were started for this set; later sets meet what they have compiled by then.
        if (self.set_number == 0 or self.context.restart_servers) and not worker.alone:
            least_s = max(least_s, ENGINES[worker.planned.path.engine].server_warm_s)
        least_ns = least_s * 1e9
        cap_ns = max(cap_s, least_s) * 1e9
        worker.warmed = True
        record = worker.warm_up(work, int(self.measure.block_ms * 1e6), least_ns, cap_ns)
        self._last_ns[worker.planned.path.id] = record.last_block_ns_per_operation or 0.0
        self._write(worker, record)

    def _steady(self) -> None:
        self._repeats = int(REPEAT_BUDGET * self.measure.rounds * len(self.workers)) + 1
        for round_number in range(self.measure.rounds):
            disturbed = self._round(round_number)
            if 2 * len(disturbed) > len(self.workers) and self.context.patience.wait_for_quiet(
                frozenset(cpu for worker in disturbed for cpu in worker.measured_cpus), self.context.progress.note
            ):
                self._round(round_number)

    def _round(self, round_number: int) -> list[Worker]:
        """A block of every path, in random order; those whose last attempt was disturbed."""
        disturbed = []
        calls = [self._block(worker) for worker in self._in_order("steady", round_number)]
        for part in self._parts(calls):
            for block, (worker, sample) in zip(part, in_turn(part), strict=True):
                with self._guarded(worker):
                    if self._is_still_disturbed(block, round_number, sample):
                        disturbed.append(worker)
        return disturbed

    def _block(self, worker: Worker) -> WorkerCall:
        # No lead-in before long operations: it would double their time for what they do not notice.
        is_long = self._last_ns.get(worker.planned.path.id, 0.0) > LONG_OPERATION_NS
        lead_in_ns = 0 if is_long else int(self.measure.lead_in_ms * 1e6)
        duration_ns = int(self.measure.block_ms * 1e6)
        work = self._work(worker).phases[self.name]
        return WorkerCall(worker, "sample", (work, "steady"), {"lead_in_ns": lead_in_ns, "duration_ns": duration_ns})

    def _parts(self, blocks: list[WorkerCall]) -> Iterator[list[WorkerCall]]:
        """What may be asked for at once: blocks that take PART_NS together, so that a lost host takes no more along."""
        part: list[WorkerCall] = []
        left_ns = PART_NS
        for block in blocks:
            last_ns = self._last_ns.get(block.worker.planned.path.id, 0.0)
            lead_in_ns = language(block.worker.planned.adapter.language).lead_in_ns(block.named["lead_in_ns"])
            takes_ns = lead_in_ns + max(block.named["duration_ns"], last_ns)
            if part and takes_ns > left_ns:
                yield part
                part, left_ns = [], PART_NS
            part.append(block)
            left_ns -= takes_ns
        if part:
            yield part

    def _is_still_disturbed(self, block: WorkerCall, round_number: int, sample: CallOutcome) -> bool:
        """Keep a block, and repeat it while it is disturbed and repeats are left."""
        worker, work = block.worker, block.arguments[0]
        for attempt in range(1 + REPEATS_OF_A_BLOCK):
            measured = sample() if attempt == 0 else worker.sample(work, "steady", **block.named)
            self._keep(worker, work, "steady", round_number, measured)
            if not measured.core_users or self._repeats <= 0:
                break
            self._repeats -= 1
        self._show(worker, measured, round_number + 1)
        return bool(measured.core_users)

    def _write_pass(self, regime: str) -> None:
        wanted = regime in self.measure.regimes and regime in self.measure.write_regimes
        if not wanted or not self._alive():
            return
        self._announce(regime)
        for worker in self._in_order(regime, 0):
            with self._guarded(worker):
                work = self._work(worker).phases[self.name]
                worker.reset(work)
                worker.settle()
                self._write(worker, PrepareRecord(prepare_ns=worker.prepare(work), cold=True))
                time.sleep(self.measure.settle_pause_ms / 1000)
                before_bytes = worker.written_bytes()
                with self._memory([worker]):
                    measured = worker.sample(work, regime, operations=self.phase.operations, first=0)
                    self._keep(worker, work, regime, 0, measured)
                settled, after_bytes = worker.settle(), worker.written_bytes()
                written = None if before_bytes is None or after_bytes is None else after_bytes - before_bytes
                self._write(worker, SettleRecord(ns=settled.ns, bytes_written=written, method=settled.method))
                for proof in () if measured.reply.failed else work.proofs:
                    worker.prepare(proof)
                    operations, table = measured.reply.operations, proof.phase.table
                    expected = self._work(worker).expected.after_digest(self.phase, operations, table)
                    self._write(worker, verify_record(worker.verify(proof, 0, 1), expected))
                self._show(worker, measured, 1)

    def _keep(self, worker: Worker, work: PreparedPhase, regime: str, round_number: int, measured: Measured) -> None:
        reply = measured.reply
        if regime == "steady" and reply.operations:
            self._last_ns[worker.planned.path.id] = reply.ns / reply.operations
        if reply.failure:
            self.context.stop_when_full(reply.failure.text)
        record = measured.record(regime, round_number, measured.ended_ns - self.context.started_ns)
        if not reply.failed and not self.phase.writes:
            spans = [] if self.phase.union else [(client.first, client.operations) for client in reply.clients]
            touches = self._work(worker).expected.touches(self.phase)
            expected = touches.expected_of(spans or [(reply.first, reply.operations)])
            if worker.planned.adapter.floor:
                if expected is None:  # values that differ at every execution differ in length too
                    record.bytes = 0
            elif expected is not None:
                record.touch_ok = int(reply.touch, 16) in expected
                record.expected_touch = sorted(f"{value:016x}" for value in expected)
        self._write(worker, record)

    def _show(self, worker: Worker, measured: Measured, done: int) -> None:
        reply = measured.reply
        if reply.operations:
            total = 1 if self.phase.writes else self.measure.rounds
            self.context.progress.block(worker.planned.name, reply.ns / reply.operations, done, total)

    @contextlib.contextmanager
    def _memory(self, workers: list[Worker]) -> Iterator[None]:
        with peak_memory(workers) as records:
            yield
        for worker, record in zip(workers, records, strict=True):
            self._write(worker, record)

    def _write(self, worker: Worker, record: InSet) -> None:
        self.context.write(record, self.set_number, worker.planned, self.name)


StartWorker = Callable[[PlannedPath], Worker]  # a new process, not yet connected; errors: RunnerFailure, RowpathError


@dataclass
class SetRunner:
    """Measures sets on engines that are up. It starts and stops workers, never an engine."""

    context: RunContext
    start_worker: StartWorker

    def run(self, set_number: int, batch_number: int, members: Sequence[PlannedPath]) -> None:
        """One set of these paths, journalled as `set` … `set-end`."""
        one_set = self.context.one_set(set_number, batch_number, members, self.context.plan.anchors)
        with one_set, contextlib.ExitStack() as cleanup:
            workers = self._start(set_number, members, cleanup)
            phases = []
            for name in self.context.plan.experiment.phases:
                of_phase = (worker for worker in workers if name in worker.planned.phases)
                able = [worker for worker in of_phase if name not in self.context.bad.get(worker.planned.path.id, {})]
                phases.append(SetPhase(self.context, set_number, batch_number, name, able))
            # Every cold pass before anything is warmed up: a process is fresh only once.
            for phase in phases:
                phase.cold()
            for phase in phases:
                phase.steady()
            lost = self.context.lost
            living = [worker for worker in workers if set_number not in lost.get(worker.planned.path.id, ())]
            for worker, facts in of_each(living, "facts"):
                with self.context.failures_kept(set_number, worker.planned):
                    self.context.write(FactsRecord(facts=facts()), set_number, worker.planned)
            for worker in workers:
                for line in worker.runner.noise:
                    self.context.journal.write(NoteRecord(f"{worker.planned.name} said: {line}"))

    def _start(self, set_number: int, members: Sequence[PlannedPath], cleanup: contextlib.ExitStack) -> list[Worker]:
        instances = self.context.engine_instances
        started: list[Worker] = []
        for planned in members:
            if key_of(planned.path) not in instances:
                continue
            try:
                worker = self.start_worker(planned)
            except (RunnerFailure, RowpathError) as error:
                failure = error if isinstance(error, RunnerFailure) else RunnerFailure("internal", str(error))
                self.context.fail(set_number, planned, "", failure)
                continue
            cleanup.callback(worker.close)
            started.append(worker)
        opened = []
        for worker in started:
            with self.context.failures_kept(set_number, worker.planned):
                record = worker.open(**instances.way_to(worker.planned.path))
                record.set, record.started_ns = set_number, self.context.now_ns()
                self.context.journal.write(record)
                opened.append(worker)
        for _worker, notice in of_each(opened, "notice_server"):
            notice()
        return opened
