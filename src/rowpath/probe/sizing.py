"""How many connections a program with so many callers needs: blocks of several sizes on a database that is not ours."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from typing_extensions import override

from rowpath import text as fmt
from rowpath.engines import ENGINES
from rowpath.errors import TimedOut, UsageError
from rowpath.execution.mixed_load.client_processes import Processes, Seat
from rowpath.execution.mixed_load.group_totals import Member, due_before, seed_of
from rowpath.execution.mixed_load.shared_counters import Snapshot
from rowpath.execution.mixed_load.stage import Stage, StageOutcome
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.run import write_head
from rowpath.journal.mixed_load_records import ClientGroupRecord
from rowpath.journal.records import NoteRecord, SizingRecord
from rowpath.journal.writer import Journal
from rowpath.model import histogram
from rowpath.model.experiment import ClientGroupTable, StageTable
from rowpath.model.progress import Progress
from rowpath.model.sizing import SizeBlock, SizingQuestion, SizingStop
from rowpath.model.workload import Column, Phase
from rowpath.own_database.candidates import NAME, Candidates, in_words
from rowpath.own_database.free_connections import FreeConnections, allowed, free_connections
from rowpath.own_database.probed_query import BUSY_SHARE, GRACE_S, ProbedQuery
from rowpath.own_database.question import ProbeOptions
from rowpath.own_database.refusals import error_of
from rowpath.own_database.throttled_worker import ThrottledWorker
from rowpath.planning.client_groups import not_shared
from rowpath.planning.plan import PlannedPath
from rowpath.probe import full_sets
from rowpath.probe.run import redacted
from rowpath.probe.sentinel import PAUSE_S, Sentinel
from rowpath.probe.sizes import SizeSearch
from rowpath.runners.manifest import language
from rowpath.runners.process import RunnerFailure

LOAD, WATCH = "load", "watch"
BLOCKS = 40  # that the budget should have room for
SHORTEST_S, LONGEST_S = 1.0, 10.0  # of a block: it has a window of the sentinel's, and more
EXECUTIONS = 20  # of each connection that a block has room for at least
ALONE = 5  # executions by one connection, to know what one takes
SETTLING = {True: 6, False: 2}  # executions on each connection before blocks, with and without parameters
SETTLING_SHARE = 1 / 20  # of the budget, at most
BEFORE_S, WARM_S = 1.0, 0.3  # what the empty query takes before the load; and until it takes what it usually does
LOOK_NS = 100_000_000
OVER = "The time was over before the search was decided. A larger --budget allows more blocks."
UNSETTLED = "Executing the query on each connection before the first block took too long: plans may change later."


@dataclass(frozen=True)
class SizedPaths:
    """The path that carries the load, the one that watches, and why the load's is not the user's own."""

    load: PlannedPath
    watch: PlannedPath
    yours: bool
    instead: str = ""


def sized_paths(candidates: Candidates, options: ProbeOptions) -> SizedPaths:
    """The user's own path where its runner can share arrivals among clients, else the usual one in C.

    Errors: UsageError.
    """
    given = [f"--{name}" for name in ("layer", "language", "driver") if getattr(options, f"{name}s")]
    if given:
        raise UsageError(f"{given[0]}: not available with --clients", "name your driver by --mine DRIVER")
    can = [planned for planned in candidates.paths if not _why_not(planned)]
    in_c = [planned for planned in can if planned.adapter.language == "c"]
    if not in_c:
        raise UsageError("--clients: no driver in C can watch this database", "rowpath list drivers language=c")
    watch = min(in_c, key=lambda planned: planned.path.engine not in planned.adapter.usual)
    mine = next((planned for planned in candidates.paths if candidates.baselines.get(planned.path.id) == "yours"), None)
    if mine is None:
        return SizedPaths(watch, watch, yours=False)
    why = _why_not(mine)
    return SizedPaths(watch if why else mine, watch, not why, f"{in_words(mine)}: {why}" if why else "")


def _why_not(planned: PlannedPath) -> str:
    """Why a path cannot share arrivals among its clients; empty when it can."""
    adapter = planned.adapter
    if why := not_shared(adapter, planned.path):
        return why
    if len(adapter.coordinates.get("clients", ())) < 2:
        return f"{adapter.driver} has only one connection"
    return "" if planned.path.fetch_form == "row" else f"{adapter.driver} delivers no rows"


class SizingProcesses(Processes):
    """The load's clients in one process, the connection that watches in another."""

    def __init__(self, load: ThrottledWorker, watch: ThrottledWorker) -> None:
        super().__init__(load.planned, load.instance, {}, workers=[load, watch])
        self.seats = {LOAD: Seat(load, 0, 0), WATCH: Seat(watch, 0, 1)}

    @override
    def spin_ns(self) -> int:
        """0: the server may be on this machine."""
        return 0


@dataclass(kw_only=True)
class SizingRun(ProbedQuery):
    """What one sizing has besides: the paths, where to write what it finds, and whom it tells what is to come."""

    paths: SizedPaths
    journal: Journal
    progress: Progress
    seed: int
    say: Callable[[str], None]
    proves_rows: ClassVar[bool] = False
    sentinel_kind: ClassVar[type[Sentinel]] = Sentinel
    search_kind: ClassVar[type[SizeSearch]] = SizeSearch
    _processes: SizingProcesses = field(init=False)
    _works: dict[str, PreparedPhase] = field(default_factory=dict)

    def run(self, command: list[str]) -> bool:
        """The whole sizing; whether it was interrupted. Errors: RowpathError."""
        free = free_connections(self.access, self.directory.work / "limits.kept")
        agreed, asked = self.options.yes, self.options.clients
        most = allowed(free, asked, self.options.connections, agreed=agreed)
        self.say(self._connections_to_come(free, most))
        self._works = {LOAD: self.work(), WATCH: self._empty_query()}
        self._head(free, most, command)
        try:
            with self._connected(most):
                return self._size(most)
        except RunnerFailure as failure:
            raise error_of(failure, self.access.target) from None

    def _connections_to_come(self, free: FreeConnections, most: int) -> str:
        callers = fmt.counted(self.options.clients, "caller")
        others = f"; {fmt.counted(free.others, 'other session')} active" if free.others else ""
        taken = f"up to {most} for {callers} and 1 that watches, at most half of the free ones"
        return f"sizing {self.access.target.shown}: {free.shown}: {taken}{others}"

    def _executions_to_come(self, most: int, execution_s: float) -> str:
        busy_s = self.budget.total_s * BUSY_SHARE
        rate = self.options.rate_per_s
        count = busy_s * (rate or most / execution_s)
        at = f"{fmt.count(rate)} a second" if rate else f"{fmt.duration(execution_s * 1e9)} each"
        return (
            f"read only, about {fmt.count(round(count))} executions ({at}), "
            f"within {fmt.clock(self.budget.total_s)}, busy for at most half of it"
        )

    def _empty_query(self) -> PreparedPhase:
        sql, columns = ENGINES[self.access.target.engine].probe.empty_query, (Column("one", "integer"),)
        return PreparedPhase(f"probe.{WATCH}", Phase(WATCH, "query", sql, columns=columns), sql, columns)

    def _head(self, free: FreeConnections, most: int, command: list[str]) -> None:
        options, load = self.options, self.paths.load
        work = redacted(self._works[LOAD]) if options.redact_query else self._works[LOAD]
        title = f"how many connections {self.access.target.shown} needs{options.from_words}"
        plan = full_sets.plan_of(title, work, full_sets.FullSetsBudget(0, full_sets.FULL_SETS, 0), seed=self.seed)
        shown = {
            "budget_s": self.budget.total_s,
            "url": self.access.target.shown,
            "clients": options.clients,
            "path": load.path.as_dict(),
        }
        write_head(self.journal, plan, shown | {"engine_version": self.access.engine_version}, command)
        for note in self.access.notes:
            self.progress.note(note)
            self.journal.write(NoteRecord(note))
        question = SizingQuestion(
            callers=options.clients,
            rate_per_s=options.rate_per_s,
            most=most,
            path=in_words(load, options.has_parameters),
            title=language(load.adapter.language).title,
            yours=self.paths.yours,
            instead=self.paths.instead,
            free=free.shown,
            others=free.others,
        )
        self.journal.write(SizingRecord(question=question))

    @contextlib.contextmanager
    def _connected(self, most: int) -> Iterator[None]:
        """Every session is read only before anything is executed in it."""
        with contextlib.ExitStack() as stack:
            started = []
            for planned, clients in ((self.paths.load, most), (self.paths.watch, 1)):
                started.append(self.start(planned, clients=clients))
                stack.callback(started[-1].close)
            load, watch = started
            for name, worker in ((LOAD, load), (WATCH, watch)):
                worker.open()
                worker.prepare(self._works[name])
            self._processes = SizingProcesses(load, watch)
            yield

    def _size(self, most: int) -> bool:
        execution_s = self._execution_s()
        self.say(self._executions_to_come(most, execution_s))
        self.progress.begin(self.budget.total_s, [self.paths.load.name])
        self.budget.begin()
        try:
            self._settle(most, execution_s)
            self._search(most, execution_s)
        except KeyboardInterrupt:
            return True
        finally:
            for text in self.caveats:
                self.journal.write(SizingRecord(caveat=text))
        return False

    def _search(self, most: int, execution_s: float) -> None:
        """Rounds of one block of each size, in random order, until it is decided, stopped or the time is over."""
        seconds = self.block_s(execution_s)
        sentinel, search = self.sentinel_kind(self._before_ns()), self.search_kind(most)
        shuffle = random.Random(self.seed)
        while sizes := search.next_sizes():
            shuffle.shuffle(sizes)
            for size in sizes:
                if search.blocks and self.budget.left_s < 2 * seconds:  # a rest is before it
                    self.caveats.append(OVER)
                    return
                block = self._block(size, seconds, len(search.blocks), sentinel)
                if block is None:
                    stop = SizingStop(size, sentinel.before_ns, sentinel.took_ns)
                    self.journal.write(SizingRecord(stopped=stop))
                    took = f"{fmt.duration(stop.took_ns)} instead of {fmt.duration(stop.before_ns)}"
                    self.progress.note(f"stopped with {size} connections: an empty query took {took}")
                    return
                search.blocks.append(block)
                self.journal.write(SizingRecord(block=block))
                p99 = fmt.duration(block.p99_ns)
                self.progress.note(f"{fmt.counted(size, 'connection')}: 99th percentile {p99}, {block.operations} done")

    def block_s(self, execution_s: float) -> float:
        """How long each block lasts."""
        room_s = self.budget.total_s * BUSY_SHARE / BLOCKS
        return min(LONGEST_S, max(SHORTEST_S, room_s, EXECUTIONS * execution_s))

    def _block(self, size: int, seconds: float, number: int, sentinel: Sentinel) -> SizeBlock | None:
        """One block under load; None: the sentinel ended it."""
        rate, seed = self.options.rate_per_s, seed_of(self.seed, f"{size}/{number}")
        pacing: Any = "poisson" if rate else "closed"
        population = 0 if rate else self.options.clients
        group = ClientGroupTable(LOAD, NAME, pacing=pacing, dispatch="shared", population=population)
        half: list[Snapshot] = []
        begun_ns: list[int] = []

        def look(snapshots: dict[str, Snapshot]) -> bool:
            now = snapshots[LOAD]
            begun_ns.append(now.at_ns)
            if not half and now.at_ns - stage.begin_ns >= seconds * 5e8:
                half.append(now)
            return sentinel.too_long(snapshots[WATCH])

        sentinel.begin()
        stage = self._stage([self._member(group, size, rate, seed), self._watching()], seconds, look)
        outcome = self._run(stage)
        if sentinel.took_ns:
            return None
        record, last = _of_load(outcome), outcome.lasts[LOAD]
        due = due_half = 0
        if rate:
            due = due_before("poisson", rate, 1, seed, round(seconds * 1e9))
            at_half_ns = half[0].at_ns - stage.begin_ns if half else 0
            due_half = due_before("poisson", rate, 1, seed, at_half_ns)
        self._refuse_failures(record)
        return SizeBlock(
            size,
            seconds,
            record.operations,
            record.failed,
            due,
            max(0, due_half - half[0].arrivals) if half and rate else 0,
            max(0, due - last.arrivals),
            record.latency,
        )

    def _refuse_failures(self, record: ClientGroupRecord) -> None:
        """Errors: UsageError where nothing but failures came of a block."""
        if record.failed and not record.operations:
            words = record.failures[0].text if record.failures else "every operation failed"
            raise UsageError(f"{self.access.target.shown} refused: {words}", "fix the query, or read fewer rows")

    def _execution_s(self) -> float:
        """What one execution takes on one connection. Errors: TimedOut where it is too long for blocks."""
        group = ClientGroupTable(LOAD, NAME, times=ALONE)
        outcome = self._run(self._stage([self._member(group, 1)], self.budget.total_s / ALONE))
        record = _of_load(outcome)
        self._refuse_failures(record)
        execution_s = (histogram.percentile(outcome.lasts[LOAD].service, 50) or 1) / 1e9
        if EXECUTIONS * execution_s > LONGEST_S or not record.operations:
            what = f"one execution takes {fmt.duration(execution_s * 1e9)}: too long to be sized"
            raise TimedOut(what, "read fewer rows, or size with a shorter query")
        return execution_s

    def _settle(self, most: int, execution_s: float) -> None:
        """Execute on each connection what it takes to get its lasting plan, about one at a time."""
        times = SETTLING[self.keyed is not None]
        seconds = 2 * times * most * execution_s
        if seconds > self.budget.total_s * SETTLING_SHARE:
            self.caveats.append(UNSETTLED)
            return
        group = ClientGroupTable(LOAD, NAME, pacing="fixed", times=times)
        self._run(self._stage([self._member(group, most, 1 / execution_s)], max(1.0, 2 * seconds)))

    def _before_ns(self) -> int:
        """What an empty query takes without our load."""
        self._run(self._stage([self._watching()], WARM_S))
        counts = self._run(self._stage([self._watching()], BEFORE_S)).lasts[WATCH].service
        return histogram.percentile(counts, 50) or 1

    def _watching(self) -> Member:
        return Member(ClientGroupTable(WATCH, f"probe.{WATCH}", pause_s=PAUSE_S), self._works[WATCH], 1)

    def _member(self, group: ClientGroupTable, clients: int, rate_per_s: float = 0.0, seed: int = 0) -> Member:
        return Member(group, self._works[LOAD], clients, rate_per_s, seed)

    def _stage(
        self, members: list[Member], seconds: float, enough: Callable[[dict[str, Snapshot]], bool] | None = None
    ) -> Stage:
        table = StageTable("sizing", tuple(member.name for member in members), seconds, until=members[0].name)
        timeout_s = self.budget.total_s + GRACE_S
        return Stage(
            table, members, [], self._processes, None, time.monotonic_ns(), timeout_s, enough=enough, look_ns=LOOK_NS
        )

    def _run(self, stage: Stage) -> StageOutcome:
        """One stage, once the rest after the one before is over; the next rest is as long as it took."""
        self._rest.wait()
        began_s = time.monotonic()
        outcome = stage.run()
        ended_s = time.monotonic()
        if outcome.lost:
            raise RunnerFailure("crashed", outcome.lost)
        if LOAD in outcome.lasts:
            self._rest.after(self.paths.load.path, ended_s, ended_s - began_s, outcome.lasts[LOAD].operations)
        return outcome


def _of_load(outcome: StageOutcome) -> ClientGroupRecord:
    return next(record for record in outcome.records if record.client_group == LOAD)
