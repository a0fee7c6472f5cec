"""The order of an experiment of groups: sets, in each every path once in random order, then the rate search."""

from __future__ import annotations

from collections.abc import Callable, Set

from rowpath.errors import RowpathError
from rowpath.execution.lost_hosts import LostHosts
from rowpath.execution.mixed_load.path_runner import PathRunner
from rowpath.execution.renewal import Renewal
from rowpath.execution.run_context import RunContext
from rowpath.execution.several_hosts import Hosts
from rowpath.execution.time_limit import TimeLimit
from rowpath.planning.estimate import RATE_SEARCH
from rowpath.planning.hosts import together
from rowpath.planning.plan import PlannedPath, block_order
from rowpath.runners.process import RunnerFailure


class MixedLoadSchedule:
    """Measures an experiment of groups, once its engines are up and its paths verified.

    A path in a set is journalled as `set` … `set-end` under the path's number; --resume repeats it or leaves it out.
    """

    def __init__(
        self,
        context: RunContext,
        renewal: Renewal,
        done: Set[tuple[int, int]],
        lost: LostHosts,
        hosts: Hosts | None = None,
    ) -> None:
        """`done`: (path number, set) pairs that are not repeated."""
        self.context = context
        self.renewal = renewal
        self.done = done
        self.lost = lost
        self.hosts = hosts

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
            self._measured(set_number, number, planned, measure, without)

    def _measured(
        self,
        set_number: int,
        position: int,
        planned: PlannedPath,
        measure: Callable[[PathRunner], None],
        without: frozenset[str],
    ) -> None:
        context = self.context
        self.renewal.renew([planned], first=set_number == 0)
        if not context.runnable(planned):
            return
        with context.one_set(set_number, position, [planned]):
            try:
                measure(PathRunner(context, self.renewal, set_number, planned, self.hosts, without))
            except RunnerFailure as failure:
                context.fail(set_number, planned, "", failure)
            except RowpathError as error:  # of the engine; a full disk ends the run
                context.fail(set_number, planned, "", RunnerFailure("connect", error.message))
