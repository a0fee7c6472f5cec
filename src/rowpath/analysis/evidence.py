"""Everything that was derived from a journal, for the rules and sentences that use it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from rowpath.analysis import metrics
from rowpath.analysis.cells import Cell, Cells, Where
from rowpath.analysis.client_groups import GroupValues, StageRun, group_values, stage_runs
from rowpath.analysis.floors import AgainstFloor, against_floor
from rowpath.analysis.model import Against, RankedPath, Ranking, Result
from rowpath.analysis.path_status import PathStatuses, path_statuses
from rowpath.analysis.statistics.intervals import CONFIDENCE, CONFIDENCE_STOPPED_ON_WIDTH, Interval
from rowpath.journal.reader import Records
from rowpath.journal.record_base import InSet
from rowpath.journal.records import CountedRecord, FailureRecord, PathRecord, SettleRecord
from rowpath.model.grouping import grouped
from rowpath.model.workload import Phase


@dataclass
class Evidence:
    """A run's journal with its cells, path statuses and, once made, its rankings and what its groups did."""

    directory: Path
    journal: Records
    cells: Cells
    path_statuses: PathStatuses
    counted: dict[tuple[str, str, str], CountedRecord]
    together: tuple[str, ...] = ()  # coordinates that split no comparison although they would
    rankings: tuple[Ranking, ...] = ()
    results: tuple[Result, ...] = ()  # in long form, once made
    chapters: dict[str, Any] = field(default_factory=dict)  # the figures of those that are made
    _floors: dict[tuple[str, str, str, str], AgainstFloor | None] = field(default_factory=dict)

    @classmethod
    def of(cls, directory: Path, journal: Records) -> Evidence:
        """The evidence of a journal, still without rankings."""
        confidence = CONFIDENCE_STOPPED_ON_WIDTH if stops_on_width(journal) else CONFIDENCE
        counted = {record.where: record for record in journal.all(CountedRecord)}
        return cls(directory, journal, Cells(journal, confidence), path_statuses(journal), counted)

    def floor(self, cell: Cell) -> AgainstFloor | None:
        """The cell compared with its floor."""
        if cell.key not in self._floors:
            self._floors[cell.key] = against_floor(self.cells, cell)
        return self._floors[cell.key]

    def comparison(self, path: PathRecord) -> str:
        """What the paths that are ranked with this one have in common."""
        parts = [part for part in path.comparison.split(", ") if part.partition("=")[0] not in self.together]
        return ", ".join(parts) or "all paths"

    def cell(self, row: RankedPath, ranking: Ranking) -> Cell | None:
        """The cell behind a row of a ranking."""
        return self.cells.get(row.path_id, ranking.workload, ranking.phase, ranking.regime)

    def sound(self) -> list[Cell]:
        """Cells that delivered what they should."""
        return [cell for key in self.cells.cells if (cell := self.sound_cell(*key))]

    @cached_property
    def sound_in(self) -> dict[Where, list[Cell]]:
        """The sound cells by workload, phase and regime."""
        return grouped(self.sound(), lambda cell: cell.key[1:])

    def sound_cell(self, path_id: str, workload: str, phase: str, regime: str) -> Cell | None:
        """The cell if it delivered what it should, undisturbed often enough."""
        cell = self.cells.get(path_id, workload, phase, regime)
        right = self.path_statuses.of(path_id, workload, phase).status == "ok"
        return cell if cell is not None and cell.costs and right and not cell.refused else None

    def per_operation(self, cell: Cell, name: str) -> float | None:
        """A count of the cell's verification pass, per operation; None when it is not known."""
        counted = self.counted.get(cell.key[:3])
        return counted.each(name) if counted is not None else None

    def against(self, cell: Cell, other: Cell | None) -> Against | None:
        """The ratio of the cell's cost to another one's with its interval; None when the two never met."""
        interval = self.cells.interval(cell, other) if other is not None else None
        return Against(*interval.ratios) if interval else None

    def named_interval(self, name: str, other: str) -> Interval | None:
        """The ratio of the costs of two ranked paths, by their names; None where one has none or they never met."""
        for cells in self._ranked_cells:
            if name in cells and other in cells:
                return self.cells.interval(cells[name], cells[other])
        return None

    @cached_property
    def _ranked_cells(self) -> list[dict[str, Cell]]:
        """The cells of each ranking by the names of its ranked paths."""
        return [
            {row.name: cell for row in ranking.rows if row.rank and (cell := self.cell(row, ranking))}
            for ranking in self.rankings
        ]

    def path(self, path_id: str) -> PathRecord | None:
        """The record of a path."""
        return self.journal.paths.get(path_id)

    def coordinate(self, path_id: str, key: str) -> str:
        """A coordinate of a path; `none` where it has none."""
        record = self.path(path_id)
        return record.get(key) if record else "none"

    def sync_cost_ns(self, path_id: str) -> float | None:
        """What one sync costs on the disk of the path's engine; None when it was not measured."""
        hosts = [self.coordinate(path_id, key) for key in ("server_host", "client_host")]
        sync = self.journal.sync_costs.get(next((host for host in hosts if host != "none"), ""))
        return sync.ns if sync else None

    def name(self, path_id: str) -> str:
        """The short name of a path; its id when it has none."""
        record = self.path(path_id)
        return record.name if record else path_id

    def phase(self, record: InSet) -> Phase | None:
        """The phase of a record as its workload defines it; None when the journal does not have it."""
        return self.journal.run.phase(record.workload, record.phase)

    @cached_property
    def _settled(self) -> set[tuple[str, str]]:
        return {(record.workload, record.phase) for record in self.journal.all(SettleRecord)}

    def writes(self, workload: str, phase: str) -> bool:
        """Whether a phase writes: so defined, or settled after each pass."""
        defined = self.journal.run.phase(workload, phase)
        return (workload, phase) in self._settled or (defined is not None and defined.writes)

    def has_rows(self, workload: str, phase: str) -> bool:
        """Whether a phase delivers or stores rows, which then must be proven."""
        defined = self.journal.run.phase(workload, phase)
        return defined is None or defined.kind != "execute" or defined.writes

    @cached_property
    def stage_runs(self) -> list[StageRun]:
        """The stages of groups at work at once, each as one path went through it in one set."""
        return stage_runs(self.journal)

    @cached_property
    def group_values(self) -> tuple[GroupValues, ...]:
        """Every metric of groups at work at once, by set."""
        return group_values(self.journal, self.stage_runs)

    @cached_property
    def of_phases(self) -> dict[metrics.Where, dict[str, metrics.Values]]:
        """The metrics of each path's phases that belong to no sample, by name."""
        return metrics.of_phases(self.journal)

    def of_phase(self, cell: Cell) -> dict[str, metrics.Values]:
        """The metrics of the phase that a cell is of, by name."""
        return self.of_phases.get(cell.key[:3], {})

    @cached_property
    def failures(self) -> dict[str, list[FailureRecord]]:
        """The failures of each path, in order."""
        return grouped(self.journal.all(FailureRecord), lambda record: record.path_id)

    @property
    def experiment(self) -> str:
        """The experiment as it was named on the command line: a name or a file."""
        return self._named() or self.journal.run.experiment.name or "EXPERIMENT"

    def _named(self) -> str:
        command = self.journal.run.command
        following = command[command.index("run") + 1 :] if "run" in command else []
        return following[0] if following and not following[0].startswith("-") else ""

    def rerun(self, options: str = "") -> str:
        """The command that would measure this experiment again, with other options."""
        if self.journal.of_own_database:
            return shlex.join(self.journal.run.command)
        source = _given(self.journal.run.command)
        name = self._named() if "--tape" in source else self.experiment  # a tape holds an experiment
        return f"rowpath run {shlex.join([*([name] if name else []), *source])} {options}".strip()


def _given(command: Sequence[str]) -> list[str]:
    """The options of a command that say where its rows come from."""
    given: list[str] = []
    for option in ("--tape", "--hosts", "--cluster"):
        for at, word in enumerate(command):
            if word == option:
                given += command[at : at + 2]
            elif word.startswith(f"{option}="):
                given += [option, word.partition("=")[2]]
    return given


def stops_on_width(journal: Records) -> bool:
    """Whether the run was allowed further sets for wide intervals (its intervals are then at 97.5 %)."""
    measure = journal.run.experiment.measure
    return measure.max_sets > measure.sets
