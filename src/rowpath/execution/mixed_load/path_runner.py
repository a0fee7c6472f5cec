"""One path in one set: its processes made ready, every stage in the order of the file, then the promises checked."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from rowpath.analysis.mixed_load.model import RateTry
from rowpath.engines.base import BackedUp
from rowpath.execution.mixed_load import rate_search
from rowpath.execution.mixed_load.backup_action import Repetition, Repetitions
from rowpath.execution.mixed_load.client_processes import Processes
from rowpath.execution.mixed_load.durability_checks import DurabilityChecks
from rowpath.execution.mixed_load.group_totals import Member, seed_of
from rowpath.execution.mixed_load.path_context import PathContext
from rowpath.execution.mixed_load.resource_usage import Usage
from rowpath.execution.mixed_load.stage import Outcome, Stage
from rowpath.execution.mixed_load.warm_up import LOOK_NS, Warming
from rowpath.execution.set_phase import wait_until_quiet
from rowpath.machine import cpus
from rowpath.model import histogram
from rowpath.model.mixed_load import ClientGroupTable, StageTable
from rowpath.model.progress import GroupsSecond
from rowpath.planning.instance_key import key_of
from rowpath.planning.mixed_load.lead_in import lead_in_s, least_s
from rowpath.planning.plan import PlannedPath
from rowpath.runners.process import RunnerFailure

if TYPE_CHECKING:
    from rowpath.execution.schedule import Schedule

SWEEP = "rate search"
WARM_UP = "warm-up"


class PathRunner:
    """Runs once, one of its two ways. Errors: RunnerFailure (a client process), RowpathError (the engine)."""

    def __init__(self, schedule: Schedule, set_number: int, planned: PlannedPath) -> None:
        self.unit = PathContext(schedule, set_number, planned)
        self.promises = DurabilityChecks(self.unit)
        self.processes: Processes | None = None

    def all_stages(self) -> None:
        """Every stage that this path can run; then whether all that was acknowledged is there."""
        tables = [table for table in self.unit.experiment.stages if self.unit.can_run(table)]
        with self._cleaned_up():
            for position, table in enumerate(tables):
                if self.processes is None:
                    self.processes = self._ready(tables[position:], first=position == 0)
                if not self._stage(table, self.processes):
                    break
            if tables:
                self.promises.check(self.processes, tables[-1].name)

    def rate_search(self) -> None:
        """The search for the highest rate of one group, which works alone."""
        sweep = self.unit.experiment.rate_search
        assert sweep is not None
        group = self.unit.client_groups[sweep.client_group]
        group = msgspec.structs.replace(
            group, pacing="poisson" if group.pacing == "closed" else group.pacing, after="", begin_s=0.0, times=0
        )
        table = StageTable(name=SWEEP, client_groups=(sweep.client_group,), seconds=sweep.seconds)
        told = {"group": sweep.client_group, "seconds": sweep.seconds, "bound_ns": round(sweep.p99_ms * 1e6)}
        if not self.unit.can_run(table):
            return
        with self._cleaned_up():
            processes = self.processes = self._ready([table], first=True)

            def attempt(rate_per_s: float) -> RateTry:
                tried = self._tried(msgspec.structs.replace(table, rates={group.name: rate_per_s}), group, processes)
                self.unit.write("rate-try", **told, **msgspec.structs.asdict(tried))
                return tried

            rate_search.search(sweep, attempt)
            self.promises.check(processes, SWEEP)

    @contextlib.contextmanager
    def _cleaned_up(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._close()
            shutil.rmtree(self.unit.folder, ignore_errors=True)

    def _close(self) -> None:
        if self.processes is not None:
            self.processes.close()
            self.processes = None

    def _ready(self, tables: list[StageTable], first: bool) -> Processes:
        """Processes with connections for these stages, prepared and warmed up; `first`: what is written anew too."""
        connections: dict[str, int] = {}
        for table in tables:
            for group in (self.unit.client_groups[name] for name in table.client_groups):
                connections[group.name] = max(connections.get(group.name, 0), self._connections(table, group))
        processes = self.processes = self.unit.open({name: count for name, count in connections.items() if count})
        groups = [self.unit.client_groups[name] for name in connections if self.unit.client_groups[name].phase]
        if first and self.unit.served:  # an embedded path has a fresh copy
            for work in (self.unit.work(name) for name in dict.fromkeys(group.phase for group in groups)):
                if work.phase.writes:
                    processes.workers[0].reset(work)
            processes.workers[0].settle()
        for group in groups:
            processes.prepare(group.name, self.unit.work(group.phase))
        self._warm_up([self._member(tables, group) for group in groups], processes)
        return processes

    def _connections(self, table: StageTable, group: ClientGroupTable) -> int:
        if group.phase:
            return table.clients.get(group.name, group.clients)
        probe = self._repetition("connections", group, 0)
        probe.remove()
        return max(1, group.times) if probe.backup.statement else 0  # a program connects by itself

    def _member(self, tables: list[StageTable], group: ClientGroupTable) -> Member:
        """The group as the largest of these stages that name it has it."""
        unit, named = self.unit, [table for table in tables if group.name in table.client_groups]
        prepared_workload = unit.works[group.phase.partition(".")[0]]
        work = prepared_workload.phases[group.phase]
        where = f"{unit.set_number}/{unit.planned.path.id}/{named[0].name}/{group.name}"
        return Member(
            table=group,
            work=work,
            clients=max(table.clients.get(group.name, group.clients) for table in named),
            rate_per_s=named[0].rates.get(group.name, group.rate_per_s),
            seed=seed_of(unit.schedule.plan.seed, where),
            touches=None if unit.planned.adapter.floor else prepared_workload.truth.touches(work.phase),
        )

    def _warm_up(self, members: list[Member], processes: Processes) -> None:
        """All groups at once in closed loop, until the time of their operations no longer changes."""
        cap_s = self.unit.experiment.measure.warm_cap_s
        least = least_s(self.unit.planned, cap_s)
        members = [
            replace(each, table=msgspec.structs.replace(each.table, pacing="closed"), rate_per_s=0.0)
            for each in members
        ]
        self._unmeasured(members, processes, least, max(cap_s, least))

    def _lead_in(self, members: list[Member], processes: Processes) -> None:
        """The groups of a stage as it has them, until the time of their operations no longer changes."""
        self._unmeasured(members, processes, *lead_in_s(self.unit.planned, self.unit.experiment.measure.warm_cap_s))

    def _unmeasured(self, members: list[Member], processes: Processes, least: float, most: float) -> None:
        if not members or most <= 0:
            return
        endless = {"times": 0, "after": "", "begin_s": 0.0, "pause_s": 0.0}
        members = [
            replace(each, table=msgspec.structs.replace(each.table, **endless), touches=None) for each in members
        ]
        for worker in processes.workers:
            worker.free_helpers()
        table = StageTable(name=WARM_UP, client_groups=tuple(each.name for each in members), seconds=most)
        outcome = self._new(table, members, [], processes, enough=Warming(least), look_ns=LOOK_NS).run()
        if outcome.lost:
            raise RunnerFailure("crashed", outcome.lost)
        wait_until_quiet(lambda: processes.workers)
        for worker in processes.workers:
            worker.pin_all()

    def _new(
        self, table: StageTable, members: list[Member], actions: list[Repetitions], processes: Processes, **more: Any
    ) -> Stage:
        schedule = self.unit.schedule
        timeout_s, ledger = schedule.timeout_s, self.promises.ledger
        return Stage(table, members, actions, processes, ledger, schedule.started_ns, timeout_s, **more)

    def _stage(self, table: StageTable, processes: Processes) -> bool:
        """One stage; whether this path can go on in this set."""
        unit = self.unit
        groups = [unit.client_groups[name] for name in table.client_groups]
        members = [self._member([table], group) for group in groups if group.phase]
        actions = [self._repetitions(table, group) for group in groups if group.action]
        repetitions = [each for action in actions for each in action.made]
        for each in repetitions:
            if each.backup.statement:
                each.prepare(processes.seats[each.group].worker)
        self._lead_in(members, processes)
        self._announce(table, members, actions, processes)

        def program_pids() -> list[int]:
            return [pid for each in repetitions for pid in each.pids()]

        usage = Usage(processes.pids, unit.instance.pids, program_pids, self._port())
        stage = self._new(table, members, actions, processes, usage=usage, second=self._second)
        try:
            stage.run()
        finally:
            self._keep(stage.outcome)
            if stage.outcome.cut:
                for each in repetitions:
                    unit.write("backup", stage=table.name, **each.record(unit.schedule.started_ns))
        outcome = stage.outcome
        if outcome.killed is not None:
            self._close()
            self.promises.recover(outcome.killed, outcome.killed_ns - unit.schedule.started_ns, table.name)
        for each in repetitions:
            self.promises.restore(each, table.name)
        if outcome.lost:
            unit.schedule.fail(unit.set_number, unit.planned, "", RunnerFailure("crashed", outcome.lost))
        gone = unit.served and unit.schedule.revive(key_of(unit.planned.path))
        if outcome.lost or gone:
            self._close()
        return not (outcome.lost or gone)

    def _announce(
        self, table: StageTable, members: list[Member], actions: list[Repetitions], processes: Processes
    ) -> None:
        told = [
            {
                "group": member.name,
                "phase": member.table.phase,
                "action": "",
                "clients": member.clients,
                "pacing": member.table.pacing,
                "rate_per_s": member.rate_per_s or None,
                "process": processes.seats[member.name].process,
            }
            for member in members
        ]
        told += [{"group": action.table.name, "phase": "", "action": action.table.action} for action in actions]
        at_ns = self.unit.schedule.now_ns()
        self.unit.write("stage", stage=table.name, at_ns=at_ns, seconds=table.seconds, groups=told)

    def _port(self) -> int:
        path = self.unit.planned.path
        options = self.unit.instance.options(path) | self.unit.schedule.engine_instances.way_to(path)
        return int(options.get("port") or 0) if self.unit.served else 0

    def _second(self, record: dict[str, Any], told: GroupsSecond) -> None:
        self.unit.write("second", **record)
        self.unit.schedule.progress.second(told)

    def _keep(self, outcome: Outcome) -> None:
        for record in outcome.records:
            self.unit.write("group", **record)
        for record in outcome.records:
            for failure in record["failures"]:
                self.unit.schedule.stop_when_full(failure["text"])

    def _tried(self, table: StageTable, group: ClientGroupTable, processes: Processes) -> RateTry:
        outcome = self._new(table, [self._member([table], group)], [], processes).run()
        if outcome.lost:
            raise RunnerFailure("crashed", outcome.lost)
        reached, counts = outcome.records[0]["reached"], outcome.lasts[group.name].latency
        each = [histogram.percentile(counts, percent) if reached else None for percent in (50, 99, 99.9)]
        return RateTry(table.rates[group.name], reached, *each)

    def _repetitions(self, table: StageTable, group: ClientGroupTable) -> Repetitions:
        numbers = range(1, max(1, group.times) + 1)
        return Repetitions(group, [self._repetition(f"{table.name}-{group.name}-{n}", group, n) for n in numbers])

    def _repetition(self, place: str, group: ClientGroupTable, number: int) -> Repetition:
        unit = self.unit
        assert isinstance(unit.instance, BackedUp)
        folder = unit.folder / place.replace(os.sep, "-").replace(" ", "-")
        folder.mkdir(parents=True, exist_ok=True)
        backup = unit.instance.backup(unit.planned.path.get("backup"), unit.planned.path, folder)
        return Repetition(group.name, number, backup, folder, cpus.server_cpus(unit.planned.path.get("placement")))
