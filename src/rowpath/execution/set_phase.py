"""One phase of one set: cold passes, warming up, interleaved blocks; or whole write phases in turn."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from rowpath.engines import ENGINES
from rowpath.execution.prepared_phases import EngineWork, Work
from rowpath.execution.warm_up import FLAT_BLOCKS, WARM_LEAST_OTHERS_S, WARM_LEAST_S, classify, is_flat
from rowpath.execution.worker import Invocation, Measured
from rowpath.model.workload import Phase
from rowpath.planning.plan import block_order
from rowpath.runners.process import RunnerFailure

if TYPE_CHECKING:
    from rowpath.execution.schedule import Schedule

LONG_OPERATION_NS = 50e6  # a switch between paths costs 0.1 to 0.4 ms: under a hundredth of such an operation
REPEATS_OF_A_BLOCK = 2
REPEAT_BUDGET = 0.25  # of a phase's blocks


class SetPhase:
    """One phase of one set: cold passes, warming up, interleaved blocks; or whole write phases in turn."""

    def __init__(
        self, schedule: Schedule, set_number: int, group: int, name: str, invocations: list[Invocation]
    ) -> None:
        self.schedule = schedule
        self.set_number = set_number
        self.name = name
        self.where = f"{set_number}/{group}/{name}"
        self.invocations = invocations
        self.measure = schedule.plan.experiment.measure
        self.workload_name, _, self.phase_name = name.partition(".")
        self.phase: Phase = schedule.plan.phase(name)
        self._last_ns: dict[str, float] = {}  # of an operation of each path, in its last sample

    def cold(self) -> None:
        """Prepare and take the cold pass; an invocation that fails is left out from there on."""
        if self.phase.writes:
            self._write_pass("cold")
        elif self.invocations:
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
        for invocation in self.invocations:
            invocation.free_helpers()
        self._each("warm", self._warm)
        wait_until_quiet(self._alive)
        for invocation in self._alive():
            invocation.pin_all()
        self._announce("steady")
        with contextlib.ExitStack() as peaks:
            for invocation in self._alive():
                peaks.enter_context(self._memory(invocation))
            self._steady()

    def _alive(self) -> list[Invocation]:
        """Those that have not failed in this phase; one whose process was lost in another phase fails in this one."""
        for invocation in self.invocations:
            with self._guarded(invocation):
                if not invocation.runner.alive():
                    raise RunnerFailure("crashed", "the runner was lost before this phase of the set")
        return self.invocations

    def _announce(self, regime: str) -> None:
        sets = self.measure.sets
        self.schedule.progress.phase(self.set_number, sets, self.workload_name, self.phase_name, regime)

    def _work(self, invocation: Invocation) -> EngineWork:
        workload = self.schedule.plan.workloads[self.workload_name]
        return self.schedule.workshop.path_work(workload, invocation.planned.path, invocation.instance)

    def _in_order(self, regime: str, round_number: int) -> Iterator[Invocation]:
        alive = list(self._alive())
        for position in block_order(self.schedule.plan.seed, f"{self.where}/{regime}/{round_number}", len(alive)):
            yield alive[position]

    def _each(self, regime: str, action: Callable[[Invocation, Work], None]) -> None:
        for invocation in self._in_order(regime, 0):
            with self._guarded(invocation):
                action(invocation, self._work(invocation).phases[self.name])

    @contextlib.contextmanager
    def _guarded(self, invocation: Invocation) -> Iterator[None]:
        try:
            yield
        except RunnerFailure as failure:
            self.schedule.fail(self.set_number, invocation.planned, self.name, failure)
            self.invocations = [other for other in self.invocations if other is not invocation]

    def _prepare(self, invocation: Invocation, work: Work) -> None:
        took_ns = invocation.prepare(work)
        self._write("prepare", invocation, prepare_ns=took_ns, cold=True)

    def _cold(self, invocation: Invocation, work: Work) -> None:
        self._prepare(invocation, work)
        if "cold" in self.measure.regimes and self.phase.kind != "null":
            operations = 1 if self.phase.scan else work.parameter_count or 1
            self._sample(invocation, work, "cold", 0, operations=operations, first=0)

    def _warm(self, invocation: Invocation, work: Work) -> None:
        blocks: list[float] = []
        operations = 0
        first, later = WARM_LEAST_S.get(invocation.planned.adapter.language, WARM_LEAST_OTHERS_S)
        least_s = min(later if invocation.warmed else first, self.measure.warm_cap_s)
        if self._server_is_fresh() and not invocation.alone:
            least_s = max(least_s, ENGINES[invocation.planned.path.get("engine")].server_warm_s)
        least_ns = least_s * 1e9
        cap_ns = max(self.measure.warm_cap_s, least_s) * 1e9
        invocation.warmed = True
        begun = time.monotonic_ns()
        while time.monotonic_ns() - begun < cap_ns:
            reply = invocation.sample(work, "warm", duration_ns=int(self.measure.block_ms * 1e6)).reply
            operations += reply.operations
            blocks.append(reply.ns / max(1, reply.operations))
            self._last_ns[invocation.planned.path.id] = blocks[-1]
            long_enough = time.monotonic_ns() - begun >= least_ns
            if long_enough and len(blocks) >= FLAT_BLOCKS and is_flat(blocks[-FLAT_BLOCKS:]):
                break
        self._write(
            "warm",
            invocation,
            operations=operations,
            ns=time.monotonic_ns() - begun,
            shape=classify(blocks),
            first_block_ns_per_operation=blocks[0],
            last_block_ns_per_operation=blocks[-1],
        )

    def _server_is_fresh(self) -> bool:
        """Whether the servers were started for this set: later sets meet what they have compiled by then."""
        return self.set_number == 0 or self.schedule.restart_servers

    def _steady(self) -> None:
        budget = int(REPEAT_BUDGET * self.measure.rounds * len(self.invocations)) + 1
        for round_number in range(self.measure.rounds):
            for invocation in self._in_order("steady", round_number):
                with self._guarded(invocation):
                    work = self._work(invocation).phases[self.name]
                    for _attempt in range(1 + REPEATS_OF_A_BLOCK):
                        measured = self._sample(
                            invocation,
                            work,
                            "steady",
                            round_number,
                            lead_in_ns=self._lead_in_ns(invocation),
                            duration_ns=int(self.measure.block_ms * 1e6),
                        )
                        if not measured.disturbed or budget <= 0:
                            break
                        budget -= 1
                    self._show(invocation, measured, round_number + 1)

    def _lead_in_ns(self, invocation: Invocation) -> int:
        """None before long operations: it would double their time for what they do not notice."""
        if self._last_ns.get(invocation.planned.path.id, 0.0) > LONG_OPERATION_NS:
            return 0
        return int(self.measure.lead_in_ms * 1e6)

    def _write_pass(self, regime: str) -> None:
        wanted = regime in self.measure.regimes and regime in self.measure.write_regimes
        if not wanted or not self._alive():
            return
        self._announce(regime)
        for invocation in self._in_order(regime, 0):
            with self._guarded(invocation):
                work = self._work(invocation).phases[self.name]
                invocation.reset(work)
                invocation.settle()
                self._prepare(invocation, work)
                time.sleep(self.measure.settle_pause_ms / 1000)
                before_bytes = invocation.written_bytes()
                with self._memory(invocation):
                    measured = self._sample(invocation, work, regime, 0, operations=self.phase.operations, first=0)
                self._settle(invocation, before_bytes)
                self._prove_written(invocation, work, measured)
                self._show(invocation, measured, 1)

    def _settle(self, invocation: Invocation, before_bytes: int | None) -> None:
        settled = invocation.settle()
        after_bytes = invocation.written_bytes()
        written = None if before_bytes is None or after_bytes is None else after_bytes - before_bytes
        self._write("settle", invocation, ns=settled.ns, bytes_written=written, means=settled.means)

    def _prove_written(self, invocation: Invocation, work: Work, measured: Measured) -> None:
        if work.after is None or measured.reply.failed:
            return
        invocation.prepare(work.after)
        expected = self._work(invocation).truth.after_digest(self.phase, measured.reply.operations)
        reply = invocation.verify(work.after, 0, 1)
        self._write(
            "verify",
            invocation,
            digest=reply.digest,
            expected=expected,
            ok=reply.digest == expected,
            rows=reply.rows,
            delivered=reply.delivered,
            converted=reply.converted,
        )

    def _sample(self, invocation: Invocation, work: Work, regime: str, round_number: int, **how: int) -> Measured:
        measured = invocation.sample(work, regime, **how)
        reply = measured.reply
        if regime == "steady" and reply.operations:
            self._last_ns[invocation.planned.path.id] = reply.ns / reply.operations
        if reply.failure:
            self.schedule.stop_when_full(reply.failure.text)
        expected = None
        touch_ok: bool | None = None
        if not reply.failed and not self.phase.writes and not invocation.planned.adapter.floor:
            spans = [] if self.phase.union else [(client.first, client.operations) for client in reply.clients]
            touches = self._work(invocation).truth.touches(self.phase)
            expected = touches.expected_of(spans or [(reply.first, reply.operations)])
        if expected is not None:
            touch_ok = int(reply.touch, 16) in expected
        self._write(
            "sample",
            invocation,
            regime=regime,
            round=round_number,
            at_ns=self.schedule.now_ns(),
            touch_ok=touch_ok,
            expected_touch=None if expected is None else sorted(f"{value:016x}" for value in expected),
            **measured.record(),
        )
        return measured

    def _show(self, invocation: Invocation, measured: Measured, done: int) -> None:
        reply = measured.reply
        if reply.operations:
            total = 1 if self.phase.writes else self.measure.rounds
            self.schedule.progress.block(invocation.planned.name, reply.ns / reply.operations, done, total)

    @contextlib.contextmanager
    def _memory(self, invocation: Invocation) -> Iterator[None]:
        with invocation.peak_memory() as record:
            yield
        self._write("memory", invocation, **record)

    def _write(self, record: str, invocation: Invocation, **fields: Any) -> None:
        self.schedule.journal.write(
            record,
            set=self.set_number,
            path_id=invocation.planned.path.id,
            workload=self.workload_name,
            phase=self.phase_name,
            **fields,
        )


WINDOW_S = 0.1


SHARE = 0.05  # of one core, by all runtimes together


CAP_S = 6.0


def wait_until_quiet(invocations: Callable[[], Iterable[Invocation]]) -> float:
    """Until no compiler's backlog is left, for it would fall on what is measured next; the seconds it took.

    CAP_S at most; `invocations` is asked again at every look, for one may be lost meanwhile.
    """
    begun = time.monotonic()
    before = sum(invocation.helpers_cpu_ns() for invocation in invocations())
    while time.monotonic() - begun < CAP_S:
        time.sleep(WINDOW_S)
        now = sum(invocation.helpers_cpu_ns() for invocation in invocations())
        if now - before < SHARE * WINDOW_S * 1e9:
            break
        before = now
    return time.monotonic() - begun
