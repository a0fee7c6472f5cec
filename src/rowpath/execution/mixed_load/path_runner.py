"""One path in one set: its processes made ready, every stage in the order of the file, then durability checked."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec

from rowpath.execution.mixed_load import rate_search
from rowpath.execution.mixed_load.backup_action import Repetition, Repetitions
from rowpath.execution.mixed_load.client_processes import Processes
from rowpath.execution.mixed_load.durability_checks import DurabilityChecks
from rowpath.execution.mixed_load.group_totals import Member, seed_of
from rowpath.execution.mixed_load.path_context import PathContext
from rowpath.execution.mixed_load.stage import Stage, StageOutcome
from rowpath.execution.mixed_load.warm_up import LOOK_NS, Warming
from rowpath.execution.quiet import wait_for_compilers
from rowpath.execution.renewal import Renewal
from rowpath.execution.run_context import RunContext
from rowpath.execution.several_hosts import Hosts
from rowpath.journal.mixed_load_records import AtWork, RateTryRecord, SecondRecord, StageRecord
from rowpath.model import histogram
from rowpath.model.experiment import ClientGroupTable, StageTable
from rowpath.model.progress import StageSecond
from rowpath.model.workload import PhaseName
from rowpath.planning.estimate import RATE_SEARCH, lead_in_s, least_s
from rowpath.planning.plan import PlannedPath, key_of
from rowpath.runners.process import RunnerFailure

WARM_UP = "warm-up"


class PathRunner:
    """Runs once, one of its two ways. Errors: RunnerFailure (a client process), RowpathError (the engine)."""

    def __init__(
        self,
        run: RunContext,
        renewal: Renewal,
        set_number: int,
        planned: PlannedPath,
        hosts: Hosts | None = None,
        without: frozenset[str] = frozenset(),
    ) -> None:
        """`without`: stages that are left out."""
        self.context = PathContext(run, set_number, planned, hosts)
        self._without = without
        self.renewal = renewal
        self.durability = DurabilityChecks(self.context)
        self.processes: Processes | None = None

    def all_stages(self) -> None:
        """Every stage that this path can run; then whether all that was acknowledged is there."""
        tables = [table for table in self._stages() if self.context.can_run(table)]
        with self._cleaned_up():
            for position, table in enumerate(tables):
                if self.processes is None:
                    self.processes = self._ready(tables[position:], first=position == 0)
                if not self._stage(table, self.processes):
                    break
            if tables:
                self.durability.check(self.processes, tables[-1].name)

    def _stages(self) -> list[StageTable]:
        return [table for table in self.context.experiment.stages if table.name not in self._without]

    def rate_search(self) -> None:
        """The search for the highest rate of one group, with no other at work."""
        search = self.context.experiment.rate_search
        assert search is not None
        group = self.context.client_groups[search.client_group]
        group = msgspec.structs.replace(
            group, pacing="poisson" if group.pacing == "closed" else group.pacing, after="", begin_s=0.0, times=0
        )
        table = StageTable(name=RATE_SEARCH, client_groups=(search.client_group,), seconds=search.seconds)
        if not self.context.can_run(table):
            return
        with self._cleaned_up():
            processes = self.processes = self._ready([table], first=True)

            def attempt(rate_per_s: float) -> RateTryRecord:
                rates = {group.name: rate_per_s}
                tried = self._tried(msgspec.structs.replace(table, rates=rates), group, processes)
                tried.bound_ns = round(search.p99_ms * 1e6)
                self.context.write(tried)
                return tried

            rate_search.search(search, attempt)
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
                connections[group.name] = max(connections.get(group.name, 0), self._connections(table, group))
        processes = self.processes = self.context.open({name: count for name, count in connections.items() if count})
        groups = [self.context.client_groups[name] for name in connections if self.context.client_groups[name].phase]
        if first and self.context.planned.path.served:  # an embedded path has a fresh copy
            for work in (self.context.work(name) for name in dict.fromkeys(group.phase for group in groups)):
                if work.phase.writes:
                    processes.workers[0].reset(work)
            processes.workers[0].settle()
        for group in groups:
            processes.prepare(group.name, self.context.work(group.phase))
        self._warm_up([self._member(tables, group) for group in groups], processes)
        return processes

    def _connections(self, table: StageTable, group: ClientGroupTable) -> int:
        if group.phase:
            return table.clients.get(group.name, group.clients)
        probe = self._repetition("connections", group, 0)
        probe.site.remove()
        return max(1, group.times) if probe.backup.statement else 0  # a program connects by itself

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
            hosts=len(context.hosts.of_group(context.planned, group)) if context.hosts else 1,
        )

    def _warm_up(self, members: list[Member], processes: Processes) -> None:
        """All groups at once in closed loop, until the time of their operations no longer changes."""
        cap_s = self.context.experiment.measure.warm_cap_s
        least = least_s(self.context.planned, cap_s)
        members = [
            replace(each, table=msgspec.structs.replace(each.table, pacing="closed"), rate_per_s=0.0)
            for each in members
        ]
        self._unmeasured(members, processes, least, max(cap_s, least))

    def _lead_in(self, members: list[Member], processes: Processes) -> None:
        """The groups of a stage as it has them, until the time of their operations no longer changes."""
        self._unmeasured(
            members, processes, *lead_in_s(self.context.planned, self.context.experiment.measure.warm_cap_s)
        )

    def _unmeasured(self, members: list[Member], processes: Processes, least: float, most: float) -> None:
        if not members or most <= 0:
            return
        endless = {"times": 0, "after": "", "begin_s": 0.0, "pause_s": 0.0}
        members = [
            replace(each, table=msgspec.structs.replace(each.table, **endless), touches=None) for each in members
        ]
        table = StageTable(name=WARM_UP, client_groups=tuple(each.name for each in members), seconds=most)
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
        actions = [self._repetitions(table, group) for group in groups if group.action]
        repetitions = [each for action in actions for each in action.made]
        for each in repetitions:
            if each.backup.statement:
                processes.prepare_backup(each.group, each.number, each.name, each.backup)
        self._lead_in(members, processes)
        self._announce(table, members, actions, processes)

        def program_pids() -> list[int]:
            return [pid for each in repetitions for pid in each.site.pids()]

        usage = processes.usage(program_pids, self._port())
        processes.before_stage()
        stage = self._new(table, members, actions, processes, usage=usage, second=self._second)
        try:
            stage.run()
        finally:
            self._keep(stage.outcome)
            if (start := processes.start_record()) is not None:
                start.stage = table.name
                context.write(start)
            if stage.outcome.cut:
                for each in repetitions:
                    context.write(each.record(table.name, context.run.started_ns))
        outcome = stage.outcome
        if outcome.killed is not None:
            self._close()
            self.durability.recover(outcome.killed, outcome.killed_ns - context.run.started_ns, table.name)
        for each in repetitions:
            self.durability.restore(each, table.name)
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
                process=processes.seats[member.name].process,
                hosts=processes.hosts_of(member.name, member.clients),
            )
            for member in members
        ]
        at_work += [AtWork(client_group=action.table.name, action=action.table.action) for action in actions]
        at_ns = self.context.run.now_ns()
        self.context.write(StageRecord(stage=table.name, at_ns=at_ns, seconds=table.seconds, client_groups=at_work))

    def _port(self) -> int:
        path = self.context.planned.path
        options = self.context.instance.options(path) | self.context.run.engine_instances.way_to(path)
        return int(options.get("port") or 0) if self.context.planned.path.served else 0

    def _second(self, record: SecondRecord, shown: StageSecond) -> None:
        self.context.write(record)
        self.context.run.progress.second(shown)

    def _keep(self, outcome: StageOutcome) -> None:
        for record in outcome.records:
            self.context.write(record)
        for record in outcome.records:
            for failure in record.failures:
                self.context.run.stop_when_full(failure.text)

    def _tried(self, table: StageTable, group: ClientGroupTable, processes: Processes) -> RateTryRecord:
        outcome = self._new(table, [self._member([table], group)], [], processes).run()
        if outcome.lost:
            raise RunnerFailure("crashed", outcome.lost)
        reached, counts = outcome.records[0].reached, outcome.lasts[group.name].latency
        p50_ns, p99_ns, p999_ns = (histogram.percentile(counts, each) if reached else None for each in (50, 99, 99.9))
        return RateTryRecord(
            client_group=group.name,
            rate_per_s=table.rates[group.name],
            seconds=table.seconds,
            reached=reached,
            p50_ns=p50_ns,
            p99_ns=p99_ns,
            p999_ns=p999_ns,
        )

    def _repetitions(self, table: StageTable, group: ClientGroupTable) -> Repetitions:
        numbers = range(1, max(1, group.times) + 1)
        return Repetitions(group, [self._repetition(f"{table.name}-{group.name}-{n}", group, n) for n in numbers])

    def _repetition(self, place: str, group: ClientGroupTable, number: int) -> Repetition:
        name = place.replace(os.sep, "-").replace(" ", "-")
        return Repetition(group.name, number, self.context.backup_site(name))
