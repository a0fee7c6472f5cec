"""The order of an experiment of groups: sets, in each every path once, of each path its stages; the rate search."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from rowpath.errors import RowpathError
from rowpath.execution.instances import Renewal
from rowpath.execution.mixed_load.backups import Repetition, Repetitions
from rowpath.execution.mixed_load.client_processes import Processes
from rowpath.execution.mixed_load.group_totals import Member, seed_of
from rowpath.execution.mixed_load.path_context import DurabilityChecks, PathContext
from rowpath.execution.mixed_load.stage import Stage
from rowpath.execution.run_context import RunContext
from rowpath.execution.run_options import TimeLimit
from rowpath.execution.several_hosts import Hosts, LostHosts
from rowpath.execution.warm_up import LOOK_NS, Warming, wait_for_compilers
from rowpath.journal.mixed_load_records import AtWork, RateTryRecord, SecondRecord, StageRecord
from rowpath.model import histogram
from rowpath.model.experiment import ClientGroupTable, RateSearchTable, StageTable
from rowpath.model.progress import StageSecond
from rowpath.model.workload import PhaseName
from rowpath.planning.estimate import RATE_SEARCH, lead_in_s, least_s
from rowpath.planning.hosts import together
from rowpath.planning.plan import block_order, key_of
from rowpath.runners.process import RunnerFailure

CLOSE_ENOUGH = 1.05  # a rate that fails over one that holds


def search_rate(table: RateSearchTable, attempt: Callable[[float], RateTryRecord]) -> float | None:
    """The highest rate that held; None when not even the lowest did.

    The rate doubles (or halves, when the first fails) until one holds and one fails. Then it is the geometric middle
    between them, until they are within 5 % or the tries are used up. A rate is tried once: a machine that is not quiet
    makes the answer lower, never higher than what held.
    """
    holds: float | None = None
    fails: float | None = None
    rate = table.begin_per_s
    for _ in range(table.tries):
        if attempt(rate).held:
            holds = rate
        else:
            fails = rate
        if holds is None:
            rate /= 2
        elif fails is None:
            rate *= 2
        elif fails / holds <= CLOSE_ENOUGH:
            break
        else:
            rate = math.sqrt(holds * fails)
    return holds


WARM_UP = "warm-up"


@dataclass
class PathRunner:
    """Runs once, one of its two ways. Errors: RunnerFailure (a client process), RowpathError (the engine)."""

    context: PathContext
    renewal: Renewal
    without: frozenset[str]  # stages that are left out
    processes: Processes | None = None

    def __post_init__(self) -> None:
        self.durability = DurabilityChecks(self.context)

    def all_stages(self) -> None:
        """Every stage that this path can run; then whether all that was acknowledged is there."""
        stages = (table for table in self.context.experiment.stages if table.name not in self.without)
        tables = [table for table in stages if self.context.can_run(table)]
        with self._cleaned_up():
            for position, table in enumerate(tables):
                if self.processes is None:
                    self.processes = self._ready(tables[position:], first=position == 0)
                if not self._stage(table, self.processes):
                    break
            if tables:
                self.durability.check(self.processes, tables[-1].name)

    def rate_search(self) -> None:
        """The search for the highest rate of one group, with no other at work."""
        search = self.context.experiment.rate_search
        assert search is not None
        group = self.context.client_groups[search.client_group]
        pacing = "poisson" if group.pacing == "closed" else group.pacing
        group = msgspec.structs.replace(group, pacing=pacing, population=0, after="", begin_s=0.0, times=0)
        table = StageTable(name=RATE_SEARCH, client_groups=(search.client_group,), seconds=search.seconds)
        if not self.context.can_run(table):
            return
        with self._cleaned_up():
            processes = self.processes = self._ready([table], first=True)

            def attempt(rate_per_s: float) -> RateTryRecord:
                tried_table = msgspec.structs.replace(table, rates={group.name: rate_per_s})
                outcome = self._new(tried_table, [self._member([tried_table], group)], [], processes).run()
                if outcome.lost:
                    raise RunnerFailure("crashed", outcome.lost)
                tried = RateTryRecord(
                    client_group=group.name,
                    rate_per_s=rate_per_s,
                    seconds=table.seconds,
                    reached=outcome.records[0].reached,
                    bound_ns=round(search.p99_ms * 1e6),
                )
                if tried.reached:
                    counts = outcome.lasts[group.name].latency
                    percentiles = (histogram.percentile(counts, percent) for percent in (50, 99, 99.9))
                    tried.p50_ns, tried.p99_ns, tried.p999_ns = percentiles
                self.context.write(tried)
                return tried

            search_rate(search, attempt)
            self.durability.check(processes, RATE_SEARCH)

    @contextlib.contextmanager
    def _cleaned_up(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._close()
            shutil.rmtree(self.context.folder, ignore_errors=True)

    def _close(self) -> None:
        if self.processes is not None:
            self.processes.close()
            self.processes = None

    def _ready(self, tables: list[StageTable], first: bool) -> Processes:
        """Processes with connections for these stages, prepared and warmed up; `first`: what is written again too."""
        connections: dict[str, int] = {}
        for table in tables:
            for group in (self.context.client_groups[name] for name in table.client_groups):
                needed = table.clients.get(group.name, group.clients)
                if not group.phase:
                    probe = self._repetition("connections", group, 0)
                    probe.site.remove()
                    needed = max(1, group.times) if probe.backup.statement else 0  # a program connects by itself
                connections[group.name] = max(connections.get(group.name, 0), needed)
        processes = self.processes = self.context.open({name: count for name, count in connections.items() if count})
        groups = [self.context.client_groups[name] for name in connections if self.context.client_groups[name].phase]
        if first and self.context.planned.path.served:  # an embedded path has a fresh copy
            for work in (self.context.work(name) for name in dict.fromkeys(group.phase for group in groups)):
                if work.phase.writes:
                    processes.workers[0].reset(work)
            processes.workers[0].settle()
        for group in groups:
            processes.prepare(group.name, self.context.work(group.phase))
        # All groups at once in closed loop.
        own: dict[str, Any] = {"pacing": "closed", "dispatch": "own", "population": 0}
        closed = [msgspec.structs.replace(group, **own) for group in groups]
        members = [replace(self._member(tables, group), rate_per_s=0.0) for group in closed]
        cap_s = self.context.experiment.measure.warm_cap_s
        least = least_s(self.context.planned, cap_s)
        self._warm_up(members, processes, least, max(cap_s, least))
        return processes

    def _member(self, tables: list[StageTable], group: ClientGroupTable) -> Member:
        """The group as the largest of these stages that name it has it."""
        context, named = self.context, [table for table in tables if group.name in table.client_groups]
        prepared_workload = context.works[PhaseName.of(group.phase).workload]
        work = prepared_workload.phases[group.phase]
        where = f"{context.set_number}/{context.planned.path.id}/{named[0].name}/{group.name}"
        return Member(
            table=group,
            work=work,
            clients=max(table.clients.get(group.name, group.clients) for table in named),
            rate_per_s=named[0].rates.get(group.name, group.rate_per_s),
            seed=seed_of(context.run.plan.seed, where),
            touches=None if context.planned.adapter.floor else prepared_workload.expected.touches(work.phase),
            hosts=len(context.hosts.of_group(context.planned, group)),
        )

    def _warm_up(self, members: list[Member], processes: Processes, least: float, most: float) -> None:
        """Groups at work until the time of their operations no longer changes."""
        if not members or most <= 0:
            return
        endless = {"times": 0, "after": "", "begin_s": 0.0, "pause_s": 0.0}
        members = [
            replace(member, table=msgspec.structs.replace(member.table, **endless), touches=None) for member in members
        ]
        table = StageTable(name=WARM_UP, client_groups=tuple(member.name for member in members), seconds=most)
        outcome = self._new(table, members, [], processes, enough=Warming(least), look_ns=LOOK_NS).run()
        if outcome.lost:
            raise RunnerFailure("crashed", outcome.lost)
        wait_for_compilers(processes.helpers_cpu_ns)
        processes.take_cores()  # threads that have started since

    def _new(
        self, table: StageTable, members: list[Member], actions: list[Repetitions], processes: Processes, **more: Any
    ) -> Stage:
        run = self.context.run
        ledger = self.durability.ledger
        return Stage(table, members, actions, processes, ledger, run.started_ns, run.timeout_s, **more)

    def _stage(self, table: StageTable, processes: Processes) -> bool:
        """One stage; whether this path can go on in this set."""
        context = self.context
        groups = [context.client_groups[name] for name in table.client_groups]
        members = [self._member([table], group) for group in groups if group.phase]
        actions = []
        for group in (group for group in groups if group.action):
            numbers = range(1, max(1, group.times) + 1)
            made = [self._repetition(f"{table.name}-{group.name}-{number}", group, number) for number in numbers]
            actions.append(Repetitions(group, made))
        repetitions = [repetition for action in actions for repetition in action.made]
        for repetition in repetitions:
            if repetition.backup.statement:
                processes.prepare_backup(repetition.group, repetition.number, repetition.name, repetition.backup)
        # The groups as the stage has them.
        self._warm_up(members, processes, *lead_in_s(context.planned, context.experiment.measure.warm_cap_s))
        self._announce(table, members, actions, processes)
        path, port = context.planned.path, 0
        if path.served:
            options = context.instance.options(path) | context.run.engine_instances.way_to(path)
            port = int(options.get("port") or 0)

        def second(record: SecondRecord, shown: StageSecond) -> None:
            context.write(record)
            context.run.progress.second(shown)

        usage = processes.usage(lambda: [pid for repetition in repetitions for pid in repetition.site.pids()], port)
        processes.before_stage()
        stage = self._new(table, members, actions, processes, usage=usage, second=second)
        try:
            stage.run()
        finally:
            for record in stage.outcome.records:
                context.write(record)
            for failure in [failure for record in stage.outcome.records for failure in record.failures]:
                context.run.stop_when_full(failure.text)
            if (start := processes.start_record()) is not None:
                start.stage = table.name
                context.write(start)
            if stage.outcome.cut:
                for repetition in repetitions:
                    context.write(repetition.record(table.name, context.run.started_ns))
        outcome = stage.outcome
        if outcome.killed is not None:
            self._close()
            self.durability.recover(outcome.killed, outcome.killed_ns - context.run.started_ns, table.name)
        for repetition in repetitions:
            self.durability.restore(repetition, table.name)
        if outcome.lost:
            context.run.fail(context.set_number, context.planned, "", RunnerFailure("crashed", outcome.lost))
        gone = context.planned.path.served and self.renewal.revive(key_of(context.planned.path))
        if outcome.lost or gone:
            self._close()
        return not (outcome.lost or gone)

    def _announce(
        self, table: StageTable, members: list[Member], actions: list[Repetitions], processes: Processes
    ) -> None:
        at_work = [
            AtWork(
                client_group=member.name,
                phase=member.table.phase,
                clients=member.clients,
                pacing=member.table.pacing,
                rate_per_s=member.rate_per_s or None,
                dispatch=member.table.dispatch,
                population=member.table.population,
                process=processes.seats[member.name].process,
                hosts=processes.hosts_of(member.name, member.clients),
            )
            for member in members
        ]
        at_work += [AtWork(client_group=action.table.name, action=action.table.action) for action in actions]
        at_ns = self.context.run.now_ns()
        self.context.write(StageRecord(stage=table.name, at_ns=at_ns, seconds=table.seconds, client_groups=at_work))

    def _repetition(self, place: str, group: ClientGroupTable, number: int) -> Repetition:
        name = place.replace(os.sep, "-").replace(" ", "-")
        return Repetition(group.name, number, self.context.backup_site(name))


@dataclass(frozen=True)
class MixedLoadSchedule:
    """Measures an experiment of groups, once its engines are up and its paths verified.

    A path in a set is journalled as `set` … `set-end` under the path's number; --resume repeats it or leaves it out.
    """

    context: RunContext
    renewal: Renewal
    done: Set[tuple[int, int]]  # (path number, set) pairs that are not repeated
    lost: LostHosts
    hosts: Hosts

    def run(self, time_limit: TimeLimit) -> None:
        """Every set, then the rate search of each path where the experiment has one."""
        plan = self.context.plan
        sets = plan.experiment.measure.sets
        for set_number in time_limit.sets(sets, self.context.note):
            for position in block_order(plan.seed, f"{set_number}/paths", len(plan.paths)):
                self._path_in_set(set_number, position, PathRunner.all_stages)
        if plan.experiment.rate_search is not None:
            for position in block_order(plan.seed, RATE_SEARCH, len(plan.paths)):
                self._path_in_set(sets, position, PathRunner.rate_search)

    def _path_in_set(self, set_number: int, position: int, measure: Callable[[PathRunner], None]) -> None:
        context, experiment = self.context, self.context.plan.experiment
        planned = context.plan.paths[position]
        if (position, set_number) in self.done:
            return
        searches = set_number == experiment.measure.sets
        self.lost.look(RATE_SEARCH if searches else f"set {set_number + 1}")
        if not context.runnable(planned) or self.lost.needed_by(planned):
            return
        names = [RATE_SEARCH] if searches else [stage.name for stage in experiment.stages]
        groups = together(experiment)
        without = frozenset(name for name in names if self.lost.load(planned, groups[name]))
        if without == set(names):
            return
        # One without some stages is no set that --resume may leave out.
        number = position + len(context.plan.paths) if without else position
        with self.lost.left_out():
            self.renewal.renew([planned], first=set_number == 0)
            if not context.runnable(planned):
                return
            with context.one_set(set_number, number, [planned]):
                try:
                    path_context = PathContext(context, set_number, planned, self.hosts)
                    measure(PathRunner(path_context, self.renewal, without))
                except RunnerFailure as failure:
                    context.fail(set_number, planned, "", failure)
                except RowpathError as error:  # of the engine; a full disk ends the run
                    context.fail(set_number, planned, "", RunnerFailure("connect", error.message))
