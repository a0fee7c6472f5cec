"""One stage: client groups begun and ended through shared counters, watched each second; backups, a kill."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rowpath.execution.mixed_load.backups import Repetition, Repetitions
from rowpath.execution.mixed_load.client_processes import Processes, Usage
from rowpath.execution.mixed_load.durability import Ledger
from rowpath.execution.mixed_load.group_totals import Member, figures, group_record
from rowpath.execution.mixed_load.shared_counters import DONE, Snapshot
from rowpath.execution.several_hosts import HostLost
from rowpath.journal.mixed_load_records import ClientGroupRecord, SecondRecord
from rowpath.machine import processes
from rowpath.model.experiment import StageTable
from rowpath.model.progress import GroupNow, StageSecond
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import GroupSpec

S = 1_000_000_000
CLOSE_NS = 20_000_000  # between two looks while something may happen at any moment
DRAIN_NS = 5_000_000  # between two looks while last operations end
SLIVER = 20  # no look within the 20th part of an interval after another one
CUT_S = 10.0  # for which an interrupted stage's last operations are waited for
LOST_S = 2.0  # where a host is lost: what waits for its server never ends

Enough = Callable[[dict[str, Snapshot]], bool]


@dataclass
class StageOutcome:
    """What came of a stage."""

    records: list[ClientGroupRecord] = field(default_factory=list)
    lasts: dict[str, Snapshot] = field(default_factory=dict)
    lost: str = ""  # why a client process is gone that no one killed on purpose
    killed: list[int] | None = None  # pids
    killed_ns: int = 0
    cut: bool = False


@dataclass
class Stage:
    """Runs once. `second` gets each interval (None: a warm-up); `zero_ns`: when the run began."""

    table: StageTable
    members: Sequence[Member]
    actions: Sequence[Repetitions]
    processes: Processes
    ledger: Ledger | None
    zero_ns: int
    timeout_s: float
    usage: Usage | None = None
    second: Callable[[SecondRecord, StageSecond], None] | None = None
    enough: Enough | None = None  # called at every look: the stage ends when it is true
    look_ns: int = S
    outcome: StageOutcome = field(default_factory=StageOutcome)

    def run(self) -> StageOutcome:
        """Run from the clients' readiness to the totals. Errors: RunnerFailure before anything began.

        An interruption or a lost host ends the groups, keeps what they did in `outcome` and goes on as what it is.
        """
        repetitions = [part for action in self.actions for part in action.made]
        counted = [(part.name, part.clients, part.counted_rows) for part in self.members]
        counted += [(part.name, 1, 0) for part in repetitions if part.backup.statement]
        with contextlib.closing(self.processes.counters(counted)) as self.shared_counters:
            self.processes.ready(self.shared_counters, self._specs(repetitions))
            self._begin()
            try:
                self._watch()
            except (KeyboardInterrupt, HostLost) as ended:
                self.outcome.cut = True
                self._give_up(str(ended) or "the run was interrupted")
                self._finish(repetitions, LOST_S if isinstance(ended, HostLost) else CUT_S)
                raise
            self._finish(repetitions, self.timeout_s)
            self.processes.listen()  # a host may have been lost with its totals
        return self.outcome

    def _specs(self, repetitions: list[Repetition]) -> list[tuple[int, GroupSpec]]:
        specs = []
        for member in self.members:
            table, seat = member.table, self.processes.seats[member.name]
            spec = self.shared_counters.spec(member.name, member.work.name, seat.first_client)
            spec.clients, spec.pacing = member.clients, table.pacing
            spec.rate_per_s, spec.seed = member.rate_per_s, member.seed
            spec.dispatch, spec.population = table.dispatch, table.population
            spec.operations, spec.pause_ns = table.times, round(table.pause_s * S)
            spec.spin_ns = self.processes.spin_ns() if member.open_loop else 0
            specs.append((seat.process, spec))
        for repetition in (part for part in repetitions if part.backup.statement):
            seat = self.processes.seats[repetition.group]
            client = seat.first_client + repetition.number - 1
            spec = self.shared_counters.spec(repetition.name, repetition.name, client)
            spec.operations = 1
            specs.append((seat.process, spec))
        return specs

    def _begin(self) -> None:
        if self.usage:
            self.usage.since()
        self.begin_ns = time.monotonic_ns() + self.processes.lead_ns
        self.end_ns = self.begin_ns + round(self.table.seconds * S)
        self._begun: dict[str, int] = {}  # by group: when its clients are to begin
        self._done: dict[str, int] = {}
        self._ended = False
        self._last: dict[str, Snapshot] = {}
        self._stalls: dict[str, int] = {}
        self._edges = 0  # of backups: begins and ends so far
        self._second_begin_ns = self.begin_ns
        self._next_look_ns = self.begin_ns
        self._look_next(self.begin_ns)
        # In one step: on other hosts each takes time, and a host that replies late would delay those after it.
        self.shared_counters.set_instants(self._now_due(), self.end_ns)

    def _watch(self) -> None:
        """Until every client is done, or was given up."""
        while True:
            self._sleep()
            self.processes.listen()
            for action in self.actions:
                due_ns = self._due_ns(action.table.after, action.table.begin_s)
                action.look(self.shared_counters, None if self._ended else due_ns, self._path_status)
            if begins_ns := self._now_due():
                self.shared_counters.set_instants(begins_ns, self.end_ns)
            self._notice_done()
            now_ns = time.monotonic_ns()
            if now_ns >= self.end_ns and not self._ended:
                self._end_now()
            over = self._over()
            if over or now_ns >= self._next_look_ns or self._at_an_edge(now_ns):
                self._look(now_ns)
            if over:
                return
            if self.table.kill_s and now_ns >= self.begin_ns + self.table.kill_s * S and self.outcome.killed is None:
                self.outcome.killed, self.outcome.killed_ns = self.processes.kill_engine()
                self.end_ns = self.outcome.killed_ns
                self._end_now()
            if now_ns >= self.end_ns + self.timeout_s * S:
                self._give_up(f"an operation did not return within {self.timeout_s:g} s of the stage's end")
                for name in self._unfinished():
                    self.processes.kill(name)

    def _sleep(self) -> None:
        now_ns = time.monotonic_ns()
        wake_ns = self._next_look_ns
        if self.table.kill_s and self.outcome.killed is None:
            wake_ns = min(wake_ns, self.begin_ns + round(self.table.kill_s * S))
        if now_ns < self.end_ns:
            wake_ns = min(wake_ns, self.end_ns)
            if self.actions or self.table.until or len(self._begun) < len(self.members):
                wake_ns = min(wake_ns, now_ns + CLOSE_NS)
        else:
            wake_ns = min(wake_ns, now_ns + (CLOSE_NS if now_ns > self.end_ns + S else DRAIN_NS))
        time.sleep(max(0, wake_ns - now_ns) / S)

    def _due_ns(self, after: str, begin_s: float) -> int | None:
        """When something is to begin; None: what it waits for has not happened."""
        since_ns: int | None = self.begin_ns
        if after:
            awaited, _, event = after.rpartition(".")
            action = next((action for action in self.actions if action.table.name == awaited), None)
            if action is not None:
                since_ns = action.begun_ns if event == "begin" else action.ended_ns
            else:
                since_ns = (self._begun if event == "begin" else self._done).get(awaited)
        return since_ns + round(begin_s * S) if since_ns else None

    def _now_due(self) -> dict[str, int]:
        """The groups that are newly due, and when each begins."""
        begins_ns = {}
        for member in self.members:
            due = self._due_ns(member.table.after, member.table.begin_s)
            if member.name not in self._begun and due is not None:
                begins_ns[member.name] = max(due, time.monotonic_ns() + self.processes.lead_ns // 4)
        self._begun |= begins_ns
        return begins_ns

    def _notice_done(self) -> None:
        for name in [member.name for member in self.members if member.name not in self._done]:
            if all(state >= DONE for state in self.shared_counters.states(name)):
                self._done[name] = time.monotonic_ns()
        ended = {action.table.name for action in self.actions if action.ended_ns} | set(self._done)
        if self.table.until in ended and not self._ended:
            self._end_now()

    def _unfinished(self) -> list[str]:
        """Groups that are at work still, in a process that lives."""
        at_work = [member.name for member in self.members if member.name not in self._done]
        at_work += [action.table.name for action in self.actions if action.under_way()]
        return [name for name in at_work if name not in self.processes.seats or self.processes.lives(name)]

    def _over(self) -> bool:
        for worker in self.processes.workers:
            if not worker.runner.alive() and self.outcome.killed is None and not self.outcome.lost:
                self.outcome.lost = worker.runner.lost().text
        for action in self.actions:
            if action.table.name in self.processes.seats and not self.processes.lives(action.table.name):
                action.give_up("its client process exited")
        if self._unfinished():
            return False
        # Before the end a backup may still be to come, as long as a process is left that it could slow down.
        alive = any(worker.runner.alive() for worker in self.processes.workers)
        return not alive or time.monotonic_ns() >= self.end_ns or all(action.ended_ns for action in self.actions)

    def _end_now(self) -> None:
        """No operation begins any more."""
        if self._ended:
            return
        self.end_ns = min(self.end_ns, time.monotonic_ns())
        for action in self.actions:
            action.end_spans(self._path_status)
        self._ended = True
        # A group that was never let begin begins now, when nothing begins any more, and so is done.
        begun = {backup.name for action in self.actions for backup in action.made if backup.begun_ns} | set(self._begun)
        never = dict.fromkeys(self.shared_counters.client_groups.keys() - begun, self.end_ns)
        self.shared_counters.set_instants(never, self.end_ns)

    def _give_up(self, why: str) -> None:
        """End everything now; `why` is why a backup under way has no end of its own."""
        self._end_now()
        for action in self.actions:
            action.give_up(why)
        if not self.outcome.cut:
            self.outcome.lost = self.outcome.lost or why

    def _path_status(self) -> tuple[dict[str, Snapshot], Ledger | None]:
        """Every group now, and what the clients were promised so far."""
        ledger = self.ledger.copy() if self.ledger is not None else None
        for member in self.members:
            if ledger is not None and member.counted_rows:
                ledger.add(*self.shared_counters.acknowledged(member.name))
        now_ns = time.monotonic_ns()
        return {member.name: self.shared_counters.snapshot(member.name, now_ns) for member in self.members}, ledger

    def _look(self, now_ns: int) -> None:
        """The interval since the last look has ended."""
        snapshots = {member.name: self.shared_counters.snapshot(member.name, now_ns) for member in self.members}
        for name in snapshots if self.outcome.killed is None else ():
            self._stalls[name] = max(self._stalls.get(name, 0), self.shared_counters.stall_ns(name, now_ns))
        interval = self._interval(now_ns, snapshots) if self.second and now_ns > self._second_begin_ns else None
        with processes.signals_held():  # an interruption must not journal the interval twice
            if self.second and interval:
                self.second(*interval)
            self._last, self._second_begin_ns = snapshots, now_ns
        if self.enough is not None and not self._ended and self.enough(snapshots):
            self._end_now()
        self._look_next(now_ns)

    def _at_an_edge(self, now_ns: int) -> bool:
        """Whether a backup has begun or ended: an interval of the time line lies within it or outside of it."""
        made = [backup for action in self.actions for backup in action.made]
        edges = sum(bool(backup.begun_ns) + bool(backup.ended_ns) for backup in made)
        passed, self._edges = edges > self._edges, edges
        return passed and not self._ended and now_ns - self._second_begin_ns > self.look_ns // SLIVER

    def _look_next(self, now_ns: int) -> None:
        while self._next_look_ns <= now_ns + self.look_ns // SLIVER:
            self._next_look_ns += self.look_ns
        if abs(self._next_look_ns - self.end_ns) < self.look_ns // 2:  # the last operations end a little after it
            self._next_look_ns = self.end_ns + self.look_ns

    def _interval(self, now_ns: int, snapshots: dict[str, Snapshot]) -> tuple[SecondRecord, StageSecond]:
        """What was done since the last look, for the journal and for who watches."""
        ns = now_ns - self._second_begin_ns
        begun = (member for member in self.members if self._begun.get(member.name, now_ns) < now_ns)
        groups = {
            member.name: figures(snapshots[member.name], self._last.get(member.name), member.table.has_dues)
            for member in begun
            if self._done.get(member.name, now_ns) > self._second_begin_ns
        }
        record = SecondRecord(stage=self.table.name, at_ns=now_ns - self.zero_ns, ns=ns, client_groups=groups)
        if self.usage is not None:
            record.processes, record.connections = self.usage.since()
        shown = {
            name: GroupNow(second.operations * S / ns, second.p99_ns, second.failed, second.under_way_ns)
            for name, second in groups.items()
        }
        second = StageSecond(
            path_name=self.processes.planned.name,
            stage=self.table.name,
            at_s=(now_ns - self.begin_ns) / S,
            seconds=self.table.seconds,
            groups=shown,
            backup=any(action.under_way() for action in self.actions),
        )
        return record, second

    def _finish(self, repetitions: list[Repetition], timeout_s: float) -> None:
        """Take the totals of every group, from the processes that still reply and from the shared counters."""
        totals = self.processes.ended(timeout_s)
        now_ns = time.monotonic_ns()
        if self.outcome.cut:
            self._look(now_ns)
        for repetition in repetitions:
            repetition.learn(totals.get(repetition.name))
            if not repetition.begun_ns:
                repetition.give_up("it was not due before the stage ended")
            elif repetition.backup.afterwards:
                with contextlib.suppress(RunnerFailure):
                    self.processes.seats[repetition.group].worker.run(list(repetition.backup.afterwards))
            if self.outcome.cut or self.outcome.killed is not None:
                repetition.excuse(self.end_ns)
        cut = self.outcome.cut or bool(self.outcome.lost)
        for member in self.members:
            last = self.outcome.lasts[member.name] = self.shared_counters.snapshot(member.name, now_ns)
            if self.ledger is not None and member.counted_rows:
                self.ledger.add(*self.shared_counters.acknowledged(member.name))
            begun_ns = self._begun.get(member.name, self.end_ns)
            span = begun_ns, self.shared_counters.ended_ns(member.name) or begun_ns, self.end_ns
            record = group_record(member, totals.get(member.name), last, span, self.zero_ns)
            record.stage, record.hosts = self.table.name, self.processes.host_shares(member.name)
            record.cut = cut or any(share.lost for share in record.hosts)
            record.longest_stall_ns = max(self._stalls.get(member.name, 0), record.longest_stall_ns)
            self.outcome.records.append(record)
