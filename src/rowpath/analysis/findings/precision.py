"""How far the figures carry: sets, widths, warm-up, hidden costs, clocks, placement."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator

from rowpath import text
from rowpath.analysis.answer_model import Finding, note, warning
from rowpath.analysis.cells import Cell
from rowpath.analysis.chapters.mixed_load import report_of
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.findings.noise import machine_speeds
from rowpath.analysis.rankings import half_width
from rowpath.analysis.statistics.intervals import SETS_FOR_CLAIMS
from rowpath.analysis.statistics.periodic import BlockCost, Excess, excess
from rowpath.analysis.wording import by_name, interval_text, phase_text, words
from rowpath.journal.records import SampleRecord, WarmRecord, WorkerRecord
from rowpath.model.grouping import grouped

UNSETTLED_MOST = 1 / 3  # of a path's warm-ups


def provisional(evidence: Evidence) -> Iterator[Finding]:
    """Fewer than 6 sets: figures without claims."""
    few: dict[str, int] = {}
    figures = [(cell.path.name, len(cell.costs)) for cell in evidence.sound()]
    for name, sets in (*figures, *((figure.name, figure.sets) for figure in report_of(evidence).figures)):
        if sets < SETS_FOR_CLAIMS:
            few[name] = min(sets, few.get(name, SETS_FOR_CLAIMS))
    if few:
        yield warning(
            f"provisional: {len(few)} of {len(evidence.journal.paths)} paths have fewer than {SETS_FOR_CLAIMS} sets, "
            "so no difference is claimed for them",
            by_name(few),
            "the run was short or was interrupted",
            evidence.rerun()
            if evidence.journal.outcome == "complete"
            else f"rowpath run --resume {evidence.directory}",
            tuple(few),
        )


def width_not_reached(evidence: Evidence) -> Iterator[Finding]:
    """Ratios with an interval wider than the run's target."""
    target = evidence.journal.run.experiment.measure.target_half_width
    wide: dict[str, float] = {}
    for ranking in evidence.rankings:
        for row in ranking.rows:
            half = half_width(row)
            # A cold pass is one sample per set; the target is for what can be repeated within one.
            if ranking.regime == "steady" and half is not None and target and half > target and not row.provisional:
                wide[row.name] = max(half, wide.get(row.name, 0))
    if wide:
        yield note(
            f"the interval is wider than the target of ±{text.share(target)} for {words(wide)}",
            by_name({name: f"±{text.share(half)}" for name, half in wide.items()}),
            "the machine's speed changed from set to set: more sets help, a steadier machine helps more"
            if machine_speeds(evidence)
            else "processes of these paths differ from each other: more sets help, more rounds do not",
            evidence.rerun("--rigorous"),
            tuple(wide),
            statistics.fmean(min(1.0, half) for half in wide.values()),
        )


def warm_up_not_reached(evidence: Evidence) -> Iterator[Finding]:
    """Paths of which many workers did not settle on one level before they were measured."""
    many: dict[str, str] = {}
    for path_id, warm_ups in grouped(evidence.journal.all(WarmRecord), lambda warm: warm.path_id).items():
        unsettled = sum(not _settled(warm) for warm in warm_ups)
        if unsettled > UNSETTLED_MOST * len(warm_ups):
            many[evidence.name(path_id)] = f"{unsettled} of {len(warm_ups)} warm-ups"
    if many:
        yield warning(
            f"{words(many)} did not reach a steady state while warming up",
            by_name(many),
            "the cap was too short, something disturbed the machine, or the path has no steady state",
            evidence.rerun("--rigorous"),
            tuple(many),
        )


def _settled(warm: WarmRecord) -> bool:
    return warm.shape not in ("slowdown", "no steady state") if warm.settled is None else warm.settled


def still_compiling(evidence: Evidence) -> Iterator[Finding]:
    """Paths whose runtime still compiled while they were measured: warmed up, they are faster than shown."""
    cells = [cell for cell in evidence.sound() if cell.compiling_sets > UNSETTLED_MOST * len(cell.used)]
    if cells:
        names = list(dict.fromkeys(cell.path.name for cell in cells))
        yield warning(
            f"compilers were still at work while {words(names)} {'was' if len(names) == 1 else 'were'} measured",
            "; ".join(
                f"{cell.path.name} in {phase_text(cell)}: {cell.compiling_sets} of {len(cell.used)} sets"
                for cell in cells
            ),
            "the warm-up was too short: the figures include code that was not compiled yet",
            evidence.rerun("--warmup 20"),
            tuple(names),
        )


def periodic_cost(evidence: Evidence) -> Iterator[Finding]:
    """A cost of the path's own that its median hides."""
    for cell in evidence.sound():
        means = hidden(cell)
        worst = means.found
        if worst is None:
            continue
        parts = [
            f"{label} {text.share(math.expm1(interval.mean))} above the median"
            for label, interval in (("mean over undisturbed blocks", means.wall), ("mean CPU per operation", means.cpu))
            if interval is not None
        ]
        yield warning(
            f"{cell.path.name} has a cost in {phase_text(cell)} that its median hides",
            "; ".join(parts) + f" ({worst.sets} sets)",
            "a garbage collection, a checkpoint or another pause of the path",
            evidence.rerun("--rigorous"),
            (cell.path.name,),
            -math.expm1(-worst.mean),
        )


def hidden(cell: Cell) -> Excess:
    """Mean over median of a cell's undisturbed blocks."""
    return excess(
        [[_block_cost(sample) for sample in rounds.values() if not sample.disturbed] for rounds in cell.used.values()]
    )


def _block_cost(sample: SampleRecord) -> BlockCost:
    known = [spent for spent in (sample.client_cpu_ns, sample.server_cpu_ns, sample.pooler_cpu_ns) if spent is not None]
    operations = max(1, sample.operations)
    return BlockCost(
        sample.ns / operations,
        (sample.wait_ns or 0.0) / operations,
        math.fsum(known) / max(1, sample.in_window) if known else None,
        operations,
    )


def clock_too_coarse(evidence: Evidence) -> Iterator[Finding]:
    """Operations so short that reading the clock is over 2 % of them."""
    clocks = {record.path_id: record.hello.get("clock_read_ns") for record in evidence.journal.all(WorkerRecord)}
    short: dict[str, str] = {}
    for cell in evidence.sound():
        smallest, cost = cell.path.shortest_operation_ns, cell.median
        # The clock is read once a pipeline.
        if not smallest or cost is None or cell.is_null or cost * cell.path.pipeline >= smallest:
            continue
        clock = clocks.get(cell.path.path_id)
        short.setdefault(
            cell.path.name,
            f"{cell.path.name} in {phase_text(cell)}: {text.duration(cost)} (least: {text.duration(smallest)}"
            + (f", a clock read costs {text.duration(float(clock))})" if clock else ")"),
        )
    if short:
        yield note(
            f"operations of {words(short)} are too short for their language's clock to time within 2 %",
            "; ".join(short.values()),
            "the figure includes the clock's own cost",
            evidence.rerun(),
            tuple(short),
        )


def placement_flips_ranking(evidence: Evidence) -> Iterator[Finding]:
    """Pairs of paths in an order that depends on where client and server are pinned."""
    flips: dict[tuple[str, str, str], list[tuple[str, str, str]]] = {}
    for a_same, a_split, b_same, b_split in _twins(evidence):
        same = evidence.cells.interval(a_same, b_same)
        if same is None or same.sets < SETS_FOR_CLAIMS or same.low <= 0 <= same.high:
            continue
        split = evidence.cells.interval(a_split, b_split)
        if split is None or split.sets < SETS_FOR_CLAIMS:
            continue
        if (same.low > 0 and split.high < 0) or (same.high < 0 and split.low > 0):
            a, b = a_same.path.name, b_same.path.name
            ratios = f"{interval_text(same)} on the same core and {interval_text(split)} on split cores"
            flips.setdefault(a_same.key[1:], []).append((f"{a} relative to {b}: {ratios}", a, b))
    for (workload, phase, regime), pairs in flips.items():
        names = dict.fromkeys(name for _text, *both in pairs for name in both)
        yield warning(
            f"{workload}.{phase} ({regime}): the faster path depends on the placement for {len(pairs)} pairs of paths",
            "; ".join(stated for stated, _a, _b in pairs[:3]) + ("; …" if len(pairs) > 3 else ""),
            "a wake-up across cores costs some paths more than others",
            evidence.rerun("placement=same,split"),
            tuple(names),
        )


def _twins(evidence: Evidence) -> Iterator[tuple[Cell, Cell, Cell, Cell]]:
    """Pairs of paths that were measured at both placements: a and b on the same core, a and b on split cores.

    Each pair may flip, so the work grows with the square of the paths at both placements.
    """
    where: dict[tuple[object, ...], dict[str, Cell]] = {}
    for cell in evidence.sound():
        if not cell.is_null:
            rest = tuple(sorted((k, v) for k, v in cell.path.coordinates.items() if k != "placement"))
            where.setdefault((cell.key[1:], rest), {})[cell.path.placement] = cell
    both = [
        (key[0], cells["same"], cells["split"]) for key, cells in where.items() if {"same", "split"} <= cells.keys()
    ]
    later = grouped(both, lambda pair: pair[0])
    for phase, a_same, a_split in both:
        later[phase].pop(0)
        for _phase, b_same, b_split in later[phase]:
            yield a_same, a_split, b_same, b_split
