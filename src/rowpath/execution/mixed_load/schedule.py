"""The order of an experiment of groups: sets, in each every path once in random order, then the rate search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

from rowpath.errors import RowpathError
from rowpath.execution.mixed_load.path_runner import PathRunner
from rowpath.machine import cpus
from rowpath.machine.counters import noise
from rowpath.planning.plan import PlannedPath, block_order
from rowpath.runners.process import RunnerFailure

if TYPE_CHECKING:
    from rowpath.execution.schedule import Schedule


class MixedLoadSchedule:
    """Measures an experiment of groups, once the schedule has its engines up and its paths proven.

    A path in a set is one unit, journalled as `set` … `set-end` under the path's number: what --resume runs anew or
    leaves out.
    """

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule

    def run(self) -> None:
        """Every set, then the rate search of each path where the experiment has one."""
        plan = self.schedule.plan
        sets = plan.experiment.measure.sets
        for set_number in range(sets):
            for position in block_order(plan.seed, f"{set_number}/paths", len(plan.paths)):
                self._unit(set_number, position, PathRunner.all_stages)
        if plan.experiment.rate_search is not None:
            for position in block_order(plan.seed, "rate search", len(plan.paths)):
                self._unit(sets, position, PathRunner.rate_search)

    def _unit(self, set_number: int, position: int, what: Callable[[PathRunner], None]) -> None:
        schedule = self.schedule
        planned = schedule.plan.paths[position]
        if (position, set_number) in schedule.done.sets or not schedule.runnable(planned):
            return
        schedule.renew([planned], first=set_number == 0)
        if not schedule.runnable(planned):
            return
        schedule.journal.write("set", set=set_number, group=position, path_ids=[planned.path.id], anchors=[])
        self._noise(set_number, position, "before")
        try:
            what(PathRunner(schedule, set_number, planned))
        except RunnerFailure as failure:
            schedule.fail(set_number, planned, "", failure)
        except RowpathError as error:  # of the engine; a full disk ends the run
            self._failed(set_number, planned, error)
        self._noise(set_number, position, "after")
        schedule.journal.write("set-end", set=set_number, group=position)

    def _failed(self, set_number: int, planned: PlannedPath, error: RowpathError) -> None:
        self.schedule.fail(set_number, planned, "", RunnerFailure("connect", error.message))

    def _noise(self, set_number: int, position: int, when: str) -> None:
        read = asdict(noise.read(cpus.server_cpus()[0]))
        self.schedule.journal.write("noise", set=set_number, group=position, when=when, **read)
