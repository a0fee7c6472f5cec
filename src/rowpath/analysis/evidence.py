"""Everything that was worked out of a journal, for the rules and sentences that are derived from it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rowpath.analysis.cells import Cell, Cells
from rowpath.analysis.floors import AgainstFloor, against_floor
from rowpath.analysis.mixed_load.model import MixedLoadReport
from rowpath.analysis.mixed_load.values import GroupValues
from rowpath.analysis.model import RankedPath, Ranking
from rowpath.analysis.path_status import PathStatuses, path_statuses
from rowpath.analysis.statistics.intervals import CONFIDENCE, CONFIDENCE_STOPPED_ON_WIDTH
from rowpath.journal.reader import Records
from rowpath.journal.records import CountedRecord, PathRecord, SettleRecord


@dataclass
class Evidence:
    """A run's journal with its cells, path_statuses and (once made) rankings and what its groups did."""

    directory: Path
    journal: Records
    cells: Cells
    path_statuses: PathStatuses
    proofs: dict[tuple[str, str, str], CountedRecord]
    together: tuple[str, ...] = ()  # coordinates that part no comparison although they would
    rankings: tuple[Ranking, ...] = ()
    mixed_load: MixedLoadReport | None = None  # of groups at work at once
    group_values: tuple[GroupValues, ...] = ()
    _floors: dict[tuple[str, str, str, str], AgainstFloor | None] = field(default_factory=dict)

    @classmethod
    def of(cls, directory: Path, journal: Records) -> Evidence:
        """The evidence of a journal, still without rankings."""
        confidence = CONFIDENCE_STOPPED_ON_WIDTH if stops_on_width(journal) else CONFIDENCE
        proofs = {proof.where: proof for proof in journal.all(CountedRecord)}
        return cls(directory, journal, Cells(journal, confidence), path_statuses(journal), proofs)

    def floor(self, cell: Cell) -> AgainstFloor | None:
        """The cell held against its floor."""
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
        return [
            cell
            for cell in self.cells.cells.values()
            if self.path_statuses.of(*cell.key[:3]).status == "ok" and cell.costs
        ]

    def path(self, path_id: str) -> PathRecord | None:
        """The record of a path."""
        return self.journal.paths.get(path_id)

    def name(self, path_id: str) -> str:
        """The short name of a path; its id when it has none."""
        record = self.path(path_id)
        return record.name if record else path_id

    def definition(self, workload: str, phase: str) -> dict[str, Any]:
        """A phase as its workload defines it; empty when the journal does not say."""
        known = self.journal.run.workloads.get(workload)
        phases = known.get("phases", ()) if isinstance(known, dict) else ()
        return next((dict(each) for each in phases if each.get("name") == phase), {})

    def writes(self, workload: str, phase: str) -> bool:
        """Whether a phase writes: so defined, or settled after each pass."""
        settled = any(record.where[1:] == (workload, phase) for record in self.journal.all(SettleRecord))
        return settled or bool(self.definition(workload, phase).get("writes"))

    @property
    def experiment(self) -> str:
        """The experiment as it was named on the command line: a name or a file."""
        command = self.journal.run.command
        if "run" in command:
            for word in command[command.index("run") + 1 :]:
                if not word.startswith("-"):
                    return word
                break
        return str(self.journal.run.experiment.get("name", "EXPERIMENT"))

    def rerun(self, options: str = "") -> str:
        """The command that would measure this experiment again, with other options."""
        if self.journal.probe:
            return shlex.join(self.journal.run.command)
        return f"rowpath run {shlex.quote(self.experiment)} {options}".strip()


def stops_on_width(journal: Records) -> bool:
    """Whether the run was allowed further sets for wide intervals (its intervals are then at 97.5 %)."""
    measure = measuring(journal)
    return int(measure.get("max_sets") or 0) > int(measure.get("sets") or 0)


def measuring(journal: Records) -> dict[str, Any]:
    """How the run was to measure: the experiment's `measure`, options of the command line before it."""
    measure = journal.run.experiment.get("measure")
    known = dict(measure) if isinstance(measure, dict) else {}
    return known | {key: value for key, value in journal.run.options.items() if value is not None}
