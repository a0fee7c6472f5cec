"""Which path for which work: of each phase one run by a stated rule, its paths by engine and language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rowpath.analysis.answer_model import Bar, GroupAnswer, PhaseAnswer
from rowpath.analysis.statistics.intervals import SETS_FOR_CLAIMS
from rowpath.model.grouping import grouped
from rowpath.site.model import SitePath, SiteRun

ENOUGH_PATHS = 0.5  # of the most that one run ranks there
RULE = (
    f"Each picture shows the newest run that has {SETS_FOR_CLAIMS} sets and ranks at least half as many paths as any "
    "other run of that work. Where no run has that many sets, fewer suffice."
)


@dataclass(frozen=True)
class Standing:
    """The ranking of one phase, from one run."""

    run: SiteRun
    phase: PhaseAnswer
    runs: int  # that rank it

    @property
    def experiment(self) -> str:
        """The experiment's name."""
        return self.run.experiment

    def path(self, bar: Bar) -> SitePath:
        """The path of a bar."""
        return self.run.paths[bar.path_id]


def standings(runs: Sequence[SiteRun]) -> list[Standing]:
    """One for each experiment, phase and comparison, in the order of the experiments' names and of their phases."""
    every = [(run, phase) for run in runs for phase in run.phases if phase.bars]
    found = []
    by_experiment = grouped(every, lambda each: each[0].experiment)
    for _experiment, listed in sorted(by_experiment.items()):
        for ranked in grouped(listed, lambda each: _where(each[1])).values():
            run, phase = _chosen(ranked)
            found.append(Standing(run, phase, len(ranked)))
    return found


def _where(phase: PhaseAnswer) -> tuple[str, str, str, str]:
    return phase.workload, phase.phase, phase.regime, phase.comparison


def _chosen(ranked: Sequence[tuple[SiteRun, PhaseAnswer]]) -> tuple[SiteRun, PhaseAnswer]:
    most = max(len(phase.bars) for _run, phase in ranked)
    full = [each for each in ranked if len(each[1].bars) >= ENOUGH_PATHS * most]
    return max(full, key=lambda each: (each[0].sets >= SETS_FOR_CLAIMS, each[0].started))


def fastest_of_each(standing: Standing) -> list[Bar]:
    """The fastest path of every engine and language, fastest first; what reaches no engine left out."""
    found: dict[tuple[str, str], Bar] = {}
    for bar in standing.phase.bars:
        path = standing.path(bar)
        if not path.is_null:
            found.setdefault((path.engine, path.language), bar)
    return list(found.values())


def newest_groups(runs: Sequence[SiteRun]) -> list[tuple[SiteRun, GroupAnswer]]:
    """What client groups reached, of each experiment's newest run that has such."""
    newest = {run.experiment: run for run in sorted(runs, key=lambda run: run.started) if run.groups}
    return [(run, group) for _name, run in sorted(newest.items()) for group in run.groups]
