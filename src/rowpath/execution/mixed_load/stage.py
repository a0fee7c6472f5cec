"""One stretch: groups begun and ended through the board, watched second by second, a backup among them, a kill."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rowpath.execution.mixed_load import crash_recovery
from rowpath.execution.mixed_load.acknowledged_writes import Ledger
from rowpath.execution.mixed_load.backup_action import Repetition, Repetitions
from rowpath.execution.mixed_load.client_processes import Processes
from rowpath.execution.mixed_load.group_totals import Member, figures, group_record, stall_ns
from rowpath.execution.mixed_load.resource_usage import Usage
from rowpath.execution.mixed_load.shared_counters import DONE, Board, Snapshot
from rowpath.model.mixed_load import StretchTable
from rowpath.model.progress import GroupNow, GroupsSecond
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import GroupSpec, GroupTotal

S = 1_000_000_000
LEAD_NS = 20_000_000  # from the words to begin to the begin: waiting clients look for them once a millisecond
CLOSE_NS = 20_000_000  # between two looks while something may happen at any moment
DRAIN_NS = 5_000_000  # between two looks while last operations end
SLIVER = 20  # no look within the 20th part of an interval after another one
CUT_S = 10.0  # for which an interrupted stretch's last operations are waited for

Enough = Callable[[dict[str, Snapshot]], bool]


@dataclass
class Outcome:
    """What came of a stretch."""

    records: list[dict[str, Any]] = field(default_factory=list)  # `group`
    lasts: dict[str, Snapshot] = field(default_factory=dict)
    lost: str = ""  # why a client process is gone that nobody killed on purpose
    killed: list[int] | None = None  # pids
    killed_ns: int = 0
    cut: bool = False


@dataclass
class Stretch:
    """Runs once. `second` and `done` tell of it (a warm-up tells nobody); `zero_ns`: when the run began."""

    table: StretchTable
    members: Sequence[Member]
    verbs: Sequence[Repetitions]
    processes: Processes
    ledger: Ledger | None
    zero_ns: int
    timeout_s: float
    usage: Usage | None = None
    second: Callable[[dict[str, Any], GroupsSecond], None] | None = None
    enough: Enough | None = None  # asked at every look: the stretch ends when it says so
    look_ns: int = S
    outcome: Outcome = field(default_factory=Outcome)

    def run(self) -> Outcome:
        """From the clients' readiness to the totals. Errors: RunnerFailure before anything began.

        An interruption ends the groups, keeps what they did in `outcome` and goes on as what it is.
        """
        repetitions = [each for verb in self.verbs for each in verb.made]
        boarded = [(each.name, each.clients, each.counted_rows) for each in self.members]
        boarded += [(each.name, 1, 0) for each in repetitions if each.backup.statement]
        with contextlib.closing(Board(boarded)) as self.board:
            self.processes.ready(self.board, self._asked(repetitions))
            self._begin()
            try:
                self._watch()
            except KeyboardInterrupt:
                self.outcome.cut = True
                self._give_up("the run was interrupted")
                self._finish(repetitions, CUT_S)
                raise
            self._finish(repetitions, self.timeout_s)
        return self.outcome

    def _asked(self, repetitions: list[Repetition]) -> list[tuple[int, GroupSpec]]:
        asked = []
        for member in self.members:
            table = member.table
            spec = self._spec(member.name, member.work.name, self.processes.seats[member.name].first_client)
            spec.clients, spec.pacing, spec.rate_per_s, spec.seed = (
                member.clients,
                table.pacing,
                member.rate_per_s,
                member.seed,
            )
            spec.operations, spec.pause_ns = table.times, round(table.pause_s * S)
            spec.spin_ns = self.processes.spin_ns() if member.open_loop else 0
            asked.append((self.processes.seats[member.name].process, spec))
        for each in repetitions:
            if each.backup.statement:
                seat = self.processes.seats[each.group]
                spec = self._spec(each.name, each.name, seat.first_client + each.number - 1)
                spec.operations = 1
                asked.append((seat.process, spec))
        return asked

    def _spec(self, name: str, phase: str, first_client: int) -> GroupSpec:
        place = self.board.places[name]
        return GroupSpec(
            name=name,
            phase=phase,
            first_client=first_client,
            clients=1,
            pacing="closed",
            control=place.control,
            slots=place.slots,
            slot_bytes=place.slot_bytes,
            acknowledged=place.acknowledged,
        )

    def _begin(self) -> None:
        now_ns = time.monotonic_ns()
        self.begin_ns = now_ns + LEAD_NS
        self.end_ns = self.begin_ns + round(self.table.seconds * S)
        self._begun: dict[str, int] = {}  # by group: when its clients were told to begin
        self._done: dict[str, int] = {}
        self._ended = False
        self._last: dict[str, Snapshot] = {}
        self._stalls: dict[str, int] = {}
        self._edges = 0  # of backups: begins and ends so far
        self._second_begin_ns = self.begin_ns
        self._next_look_ns = self.begin_ns
        self._look_next(self.begin_ns)
        for name in self.board.places:
            self.board.end(name, self.end_ns)
        if self.usage:
            self.usage.since()
        self._let_begin()

    def _watch(self) -> None:
        """Until every client is done, or was given up."""
        while True:
            self._sleep()
            for invocation in self.processes.invocations:
                invocation.runner.listen()
            for verb in self.verbs:
                due_ns = self._due_ns(verb.table.after, verb.table.begin_s)
                verb.look(self.board, None if self._ended else due_ns, self._standing)
            self._let_begin()
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
                self.outcome.killed_ns = self.end_ns = now_ns
                self.outcome.killed = crash_recovery.kill(self.processes.instance, self.processes.invocations)
                self._end_now()
            if now_ns >= self.end_ns + self.timeout_s * S:
                self._give_up(f"an operation did not return within {self.timeout_s:g} s of the stretch's end")
                for name in self._unfinished():
                    self.processes.seats[name].invocation.runner.kill()

    def _sleep(self) -> None:
        now_ns = time.monotonic_ns()
        wake_ns = self._next_look_ns
        if self.table.kill_s and self.outcome.killed is None:
            wake_ns = min(wake_ns, self.begin_ns + round(self.table.kill_s * S))
        if now_ns < self.end_ns:
            wake_ns = min(wake_ns, self.end_ns)
            if self.verbs or self.table.until or len(self._begun) < len(self.members):
                wake_ns = min(wake_ns, now_ns + CLOSE_NS)
        else:
            wake_ns = min(wake_ns, now_ns + (CLOSE_NS if now_ns > self.end_ns + S else DRAIN_NS))
        time.sleep(max(0, wake_ns - now_ns) / S)

    def _due_ns(self, after: str, begin_s: float) -> int | None:
        """When something is to begin; None: what it waits for has not happened."""
        since_ns: int | None = self.begin_ns
        if after:
            awaited, _, event = after.rpartition(".")
            verb = next((verb for verb in self.verbs if verb.table.name == awaited), None)
            if verb is not None:
                since_ns = verb.begun_ns if event == "begin" else verb.ended_ns
            else:
                since_ns = (self._begun if event == "begin" else self._done).get(awaited)
        return since_ns + round(begin_s * S) if since_ns else None

    def _let_begin(self) -> None:
        for member in self.members:
            due = self._due_ns(member.table.after, member.table.begin_s)
            if member.name not in self._begun and due is not None:
                self._begun[member.name] = max(due, time.monotonic_ns() + LEAD_NS // 4)
                self.board.begin(member.name, self._begun[member.name])

    def _notice_done(self) -> None:
        for member in self.members:
            if member.name not in self._done and all(state >= DONE for state in self.board.states(member.name)):
                self._done[member.name] = time.monotonic_ns()
        ended = {verb.table.name for verb in self.verbs if verb.ended_ns} | set(self._done)
        if self.table.until in ended and not self._ended:
            self._end_now()

    def _unfinished(self) -> list[str]:
        """Groups that are at work still, in a process that lives."""
        at_work = [member.name for member in self.members if member.name not in self._done]
        at_work += [verb.table.name for verb in self.verbs if verb.under_way()]
        seats = self.processes.seats
        return [name for name in at_work if name not in seats or seats[name].invocation.runner.alive()]

    def _over(self) -> bool:
        for invocation in self.processes.invocations:
            if not invocation.runner.alive() and self.outcome.killed is None and not self.outcome.lost:
                self.outcome.lost = invocation.runner.lost().text
        for verb in self.verbs:
            seat = self.processes.seats.get(verb.table.name)
            if seat is not None and not seat.invocation.runner.alive():
                verb.give_up("its client process is gone")
        if self._unfinished():
            return False
        # Before the end a backup may still be to come, as long as there is anybody left to be slowed down by it.
        alive = any(invocation.runner.alive() for invocation in self.processes.invocations)
        return not alive or time.monotonic_ns() >= self.end_ns or all(verb.ended_ns for verb in self.verbs)

    def _end_now(self) -> None:
        """No operation begins any more."""
        if self._ended:
            return
        self.end_ns = min(self.end_ns, time.monotonic_ns())
        for verb in self.verbs:
            verb.alone(self._standing)
        for name in self.board.places:
            self.board.end(name, self.end_ns)
        self._ended = True
        # What was never told to begin begins where nothing begins any more, and so is done.
        begun = {each.name for verb in self.verbs for each in verb.made if each.begun_ns} | set(self._begun)
        for name in self.board.places:
            if name not in begun:
                self.board.begin(name, self.end_ns)

    def _give_up(self, why: str) -> None:
        """End everything now; `why` is why a backup under way has no end of its own."""
        self._end_now()
        for verb in self.verbs:
            verb.give_up(why)
        if not self.outcome.cut:
            self.outcome.lost = self.outcome.lost or why

    def _standing(self) -> tuple[dict[str, Snapshot], Ledger | None]:
        """Every group now, and what the clients were promised so far."""
        ledger = self.ledger.copy() if self.ledger is not None else None
        for member in self.members:
            if ledger is not None and member.counted_rows:
                ledger.add(*self.board.acknowledged(member.name))
        now_ns = time.monotonic_ns()
        return {member.name: self.board.snapshot(member.name, now_ns) for member in self.members}, ledger

    def _look(self, now_ns: int) -> None:
        """The interval since the last look has ended."""
        snapshots = {member.name: self.board.snapshot(member.name, now_ns) for member in self.members}
        for name in snapshots if self.outcome.killed is None else ():
            self._stalls[name] = max(self._stalls.get(name, 0), stall_ns(self.board, name, now_ns))
        if self.second is not None and now_ns > self._second_begin_ns:
            self._tell(now_ns, snapshots)
        if self.enough is not None and not self._ended and self.enough(snapshots):
            self._end_now()
        self._last, self._second_begin_ns = snapshots, now_ns
        self._look_next(now_ns)

    def _at_an_edge(self, now_ns: int) -> bool:
        """Whether a backup has begun or ended: an interval of the time line lies within it or outside of it."""
        edges = sum(bool(each.begun_ns) + bool(each.ended_ns) for verb in self.verbs for each in verb.made)
        passed, self._edges = edges > self._edges, edges
        return passed and not self._ended and now_ns - self._second_begin_ns > self.look_ns // SLIVER

    def _look_next(self, now_ns: int) -> None:
        while self._next_look_ns <= now_ns + self.look_ns // SLIVER:
            self._next_look_ns += self.look_ns
        if abs(self._next_look_ns - self.end_ns) < self.look_ns // 2:  # the last operations end a little after it
            self._next_look_ns = self.end_ns + self.look_ns

    def _tell(self, now_ns: int, snapshots: dict[str, Snapshot]) -> None:
        assert self.second is not None
        ns = now_ns - self._second_begin_ns
        at_work = [
            member
            for member in self.members
            if self._begun.get(member.name, now_ns) < now_ns
            and self._done.get(member.name, now_ns) > self._second_begin_ns
        ]
        groups = {
            each.name: figures(snapshots[each.name], self._last.get(each.name), each.open_loop) for each in at_work
        }
        record = {"stretch": self.table.name, "at_ns": now_ns - self.zero_ns, "ns": ns, "groups": groups}
        shown = {
            name: GroupNow(each["operations"] * S / ns, each["p99_ns"], each["failed"], each["under_way_ns"])
            for name, each in groups.items()
        }
        told = GroupsSecond(
            path_name=self.processes.planned.name,
            stretch=self.table.name,
            at_s=(now_ns - self.begin_ns) / S,
            seconds=self.table.seconds,
            groups=shown,
            backup=any(verb.under_way() for verb in self.verbs),
        )
        self.second(record | (self.usage.since() if self.usage else {"processes": {}, "connections": None}), told)

    def _finish(self, repetitions: list[Repetition], timeout_s: float) -> None:
        """Totals of every group, from the processes that can still tell and from the board."""
        totals = self.processes.ended(timeout_s)
        now_ns = time.monotonic_ns()
        if self.outcome.cut:
            self._look(now_ns)
        for each in repetitions:
            each.learn(totals.get(each.name))
            if not each.begun_ns:
                each.give_up("it was not due before the stretch ended")
            elif each.backup.afterwards:
                with contextlib.suppress(RunnerFailure):
                    self.processes.seats[each.group].invocation.run(list(each.backup.afterwards))
            if self.outcome.cut or self.outcome.killed is not None:
                each.excuse(self.end_ns)
        cut = self.outcome.cut or bool(self.outcome.lost)
        for member in self.members:
            last = self.outcome.lasts[member.name] = self.board.snapshot(member.name, now_ns)
            if self.ledger is not None and member.counted_rows:
                self.ledger.add(*self.board.acknowledged(member.name))
            self.outcome.records.append(self._record(member, totals.get(member.name), last, cut))

    def _record(self, member: Member, total: GroupTotal | None, last: Snapshot, cut: bool) -> dict[str, Any]:
        begun_ns = self._begun.get(member.name, self.end_ns)
        ended_ns = max(ended for _begun, ended in self.board.spans(member.name))
        record = group_record(member, total, last, (begun_ns, ended_ns or begun_ns, self.end_ns), self.zero_ns)
        longest = max(self._stalls.get(member.name, 0), record["longest_stall_ns"])
        return {"stretch": self.table.name} | record | {"longest_stall_ns": longest, "cut": cut}
