"""Cells: what was measured of one path in one workload phase and regime, by set and round; how two cells compare."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from rowpath.analysis.statistics.intervals import ENOUGH, SETS_FOR_CLAIMS, Interval, difference, log_ratios, student
from rowpath.journal.reader import Records
from rowpath.journal.records import PathRecord, PrepareRecord, SampleRecord
from rowpath.model.grouping import grouped

COMPILING_SHARE = 0.1  # of a block: more of it in a set's middle block, and the set was not warmed up

CellKey = tuple[str, str, str, str]  # path id, workload, phase, regime
Where = tuple[str, str, str]  # workload, phase, regime
Costs = dict[int, dict[int, float]]  # ns per operation by set and round


@dataclass
class Cell:
    """All samples of one path, workload phase and regime."""

    path: PathRecord
    workload: str
    phase: str
    regime: str
    attempts: dict[int, dict[int, list[SampleRecord]]] = field(default_factory=dict)  # set → round → as they came
    cold_prepare_ns: dict[int, float] = field(default_factory=dict)  # by set, part of a cold pass
    stored_rows: int = 0  # that one operation stores, of a phase that loads

    @property
    def key(self) -> CellKey:
        """(path id, workload, phase, regime)."""
        return self.path.path_id, self.workload, self.phase, self.regime

    @cached_property
    def is_null(self) -> bool:
        """Whether the path reaches no engine: its cell is a floor."""
        return self.path.is_null

    @cached_property
    def served(self) -> bool:
        """Whether a server takes part."""
        return self.path.served

    @cached_property
    def used(self) -> dict[int, dict[int, SampleRecord]]:
        """The samples that figures are made of: undisturbed ones where they suffice, else all of a set's."""
        clean: dict[int, dict[int, SampleRecord]] = {}
        for number, rounds in self.attempts.items():
            quiet = {turn: next((one for one in tries if not one.disturbed), None) for turn, tries in rounds.items()}
            clean[number] = {turn: sample for turn, sample in quiet.items() if sample is not None}
        single = all(len(rounds) == 1 for rounds in self.attempts.values())
        quiet_sets = {number: rounds for number, rounds in clean.items() if rounds}
        if single and len(quiet_sets) >= SETS_FOR_CLAIMS:
            return quiet_sets
        return {
            number: rounds
            if rounds and len(rounds) >= ENOUGH * len(self.attempts[number])
            else {turn: tries[0] for turn, tries in self.attempts[number].items()}
            for number, rounds in clean.items()
        }

    @cached_property
    def disturbed_sets(self) -> int:
        """Sets whose undisturbed blocks do not suffice."""
        return sum(any(sample.disturbed for sample in rounds.values()) for rounds in self.used.values())

    @property
    def refused(self) -> bool:
        """Whether too few of its steady sets have enough undisturbed blocks for any figure to be right."""
        return self.regime == "steady" and 2 * (len(self.used) - self.disturbed_sets) < len(self.used)

    @property
    def compiling_sets(self) -> int:
        """Steady sets in which a runtime's compilers were still at work: their figure is not the settled one."""

        def share(sample: SampleRecord) -> float:
            helpers_ns = (sample.client_helpers_cpu_ns or 0) + (sample.server_helpers_cpu_ns or 0)
            return helpers_ns / max(1, sample.window_ns)

        sets = [rounds.values() for rounds in self.used.values() if rounds and self.regime == "steady"]
        return sum(statistics.median(map(share, samples)) > COMPILING_SHARE for samples in sets)

    @cached_property
    def costs(self) -> Costs:
        """ns per operation by set and round; a cold pass includes preparing."""
        return self._costs(self.used)

    @cached_property
    def unfiltered(self) -> Costs:
        """The costs of the first attempt of every block, disturbed or not."""
        first = {n: {turn: tries[0] for turn, tries in rounds.items()} for n, rounds in self.attempts.items()}
        return self._costs(first)

    def _costs(self, samples: dict[int, dict[int, SampleRecord]]) -> Costs:
        extra = self.cold_prepare_ns
        by_set = {
            n: {
                turn: (s.ns + extra.get(n, 0.0)) / s.operations
                for turn, s in rounds.items()
                if s.operations > 0 and s.ns > 0
            }
            for n, rounds in samples.items()
        }
        return {number: costs for number, costs in by_set.items() if costs}

    @cached_property
    def set_medians(self) -> dict[int, float]:
        """Median cost (ns/operation) by set."""
        return {number: statistics.median(costs.values()) for number, costs in sorted(self.costs.items())}

    @cached_property
    def set_means(self) -> dict[int, float]:
        """Mean cost (ns/operation) by set: all its time over all its operations."""
        return {
            number: statistics.fmean(costs.values(), [self.used[number][turn].operations for turn in costs])
            for number, costs in sorted(self.costs.items())
        }

    @property
    def median(self) -> float | None:
        """Median of the sets' medians (ns/operation)."""
        return statistics.median(self.set_medians.values()) if self.costs else None

    @cached_property
    def samples(self) -> tuple[SampleRecord, ...]:
        """The samples used, in order of sets and rounds."""
        return tuple(self.used[number][turn] for number in sorted(self.used) for turn in sorted(self.used[number]))

    @cached_property
    def delivered_rows(self) -> float:
        """Rows per operation that the samples used delivered."""
        operations = sum(sample.operations for sample in self.samples)
        return sum(sample.rows for sample in self.samples) / operations if operations else 0.0

    def every_sample(self) -> Iterator[SampleRecord]:
        """All samples, disturbed and repeated ones included."""
        return (sample for rounds in self.attempts.values() for tries in rounds.values() for sample in tries)


@dataclass(frozen=True)
class Compared:
    """ln(cost a / cost b), and whether the two met only through anchors."""

    interval: Interval
    through_anchor: bool = False


class Cells:
    """Every cell of a run, and their comparisons at the confidence that the run's way of stopping asks for."""

    def __init__(self, journal: Records, confidence: float) -> None:
        self.confidence = confidence
        self.cells: dict[CellKey, Cell] = {}
        self._compared: dict[tuple[CellKey, CellKey], Compared | None] = {}
        self._to_anchors: dict[tuple[CellKey, ...], Interval | None] = {}  # by the keys of a cell and of its anchors
        self._anchors = list(dict.fromkeys(path for record in journal.sets.values() for path in record.anchors))
        self.batches = len({record.batch for record in journal.sets.values()})  # that the comparison was split into
        for sample in journal.all(SampleRecord):
            path = journal.paths.get(sample.path_id)
            if path is None:
                continue
            key = (*sample.where, sample.regime)
            if key not in self.cells:
                defined = journal.run.phase(sample.workload, sample.phase)
                stored = defined.rows_per_operation if defined is not None and defined.kind == "load" else 0
                self.cells[key] = Cell(path, sample.workload, sample.phase, sample.regime, stored_rows=stored)
            cell = self.cells[key]
            turn = sample.round if sample.round is not None else 0
            cell.attempts.setdefault(sample.set, {}).setdefault(turn, []).append(sample)
        for prepare in journal.all(PrepareRecord):
            cold = self.cells.get((*prepare.where, "cold"))
            if prepare.cold and cold is not None:
                # A write phase prepares again for its steady pass; the first one was the cold pass's.
                cold.cold_prepare_ns.setdefault(prepare.set, prepare.prepare_ns)

    def get(self, path_id: str, workload: str, phase: str, regime: str) -> Cell | None:
        """The cell, None when nothing was measured there."""
        return self.cells.get((path_id, workload, phase, regime))

    def compare(self, a: Cell, b: Cell) -> Compared | None:
        """ln(cost a / cost b) over the sets they share, or through anchors; None when they never met.

        Through anchors where those sets are too few for a claim and that way has more: paths of different batches may
        meet in the few sets that wide intervals asked for.
        """
        key = a.key, b.key
        if key not in self._compared:
            values = log_ratios(a.costs, b.costs, a.key[1:] == b.key[1:])
            direct = student(list(values.values()), self.confidence)
            met = direct.sets if direct else 0
            through = self._through_anchors(a, b) if met < SETS_FOR_CLAIMS else None
            through = through if through and through.interval.sets > met else None
            self._compared[key] = through or (Compared(direct) if direct else None)
        return self._compared[key]

    def interval(self, a: Cell, b: Cell) -> Interval | None:
        """The interval of `compare`."""
        compared = self.compare(a, b)
        return compared.interval if compared else None

    def unfiltered_ratio(self, a: Cell, b: Cell) -> float | None:
        """The ratio of costs with every disturbed block left in."""
        values = log_ratios(a.unfiltered, b.unfiltered, a.key[1:] == b.key[1:])
        return math.exp(statistics.fmean(values.values())) if values else None

    def _through_anchors(self, a: Cell, b: Cell) -> Compared | None:
        """ln(a / anchor) of a's sets minus ln(b / anchor) of b's sets, the anchors of both weighing the same."""
        anchors = [pair for path in self._anchors for pair in self._anchor_cells(path, a, b)]
        chosen = [pair for pair in anchors if not pair[0].is_null] or anchors
        one, other = self._to(a, [pair[0] for pair in chosen]), self._to(b, [pair[1] for pair in chosen])
        return Compared(difference(one, other, self.confidence), through_anchor=True) if one and other else None

    def _to(self, cell: Cell, anchors: list[Cell]) -> Interval | None:
        """ln(cell / anchors), by set the mean over those in it: the same for every cell that it is compared with."""
        key = (cell.key, *(anchor.key for anchor in anchors))
        if key not in self._to_anchors:
            ratios = [log_ratios(cell.costs, anchor.costs, cell.key[1:] == anchor.key[1:]) for anchor in anchors]
            by_set = ([ratio[number] for ratio in ratios if number in ratio] for number in sorted(set().union(*ratios)))
            self._to_anchors[key] = student([statistics.fmean(present) for present in by_set], self.confidence)
        return self._to_anchors[key]

    def _anchor_cells(self, path: str, a: Cell, b: Cell) -> list[tuple[Cell, Cell]]:
        """The anchor's cell for each side: of the same phase, or one steady cell of null, which has its own phases."""
        same = self.get(path, *a.key[1:]), self.get(path, *b.key[1:])
        if same[0] is not None and same[1] is not None:
            return [(same[0], same[1])]
        steady = next((cell for cell in self.by_path.get(path, ()) if cell.regime == "steady"), None)
        return [(steady, steady)] if steady is not None and steady.is_null else []

    @cached_property
    def by_path(self) -> dict[str, list[Cell]]:
        """The cells of each path."""
        return grouped(self.cells.values(), lambda cell: cell.path.path_id)

    @cached_property
    def by_phase(self) -> dict[tuple[str, str], list[Cell]]:
        """The cells of each workload and phase."""
        return grouped(self.cells.values(), lambda cell: (cell.workload, cell.phase))

    @cached_property
    def floors(self) -> list[Cell]:
        """The steady cells of the null engine, except those that were disturbed too often."""
        return [
            cell
            for cell in self.cells.values()
            if cell.is_null and cell.regime == "steady" and cell.costs and not cell.refused
        ]

    def phases(self) -> list[Where]:
        """(workload, phase, regime) as they first appeared, cold before steady."""
        order = {"cold": 0, "warm": 1, "steady": 2}
        seen = {phase: at for at, phase in enumerate(self.by_phase)}
        measured = {key[1:] for key in self.cells if key[3] != "warm"}
        return sorted(measured, key=lambda item: (seen[item[0], item[1]], order.get(item[2], 3)))
