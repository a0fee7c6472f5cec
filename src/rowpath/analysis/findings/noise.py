"""What the neighbourhood did: disturbed blocks, stolen time, gaps, changes of speed."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from rowpath import text
from rowpath.analysis.answer_model import Finding, error, note, warning
from rowpath.analysis.core_users import NAMES, shares, shares_text
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.model import Ranking
from rowpath.journal.records import NoiseRecord, SampleRecord
from rowpath.model.grouping import grouped

_FIGURE = re.compile(r"\d+(?:\.\d+)?")

MANY = 0.05  # share of disturbed blocks that is a warning
OURS_MOST = 0.01  # of the time of all blocks, had by processes of ours: more is a defect
STEAL_SHARE = 0.01
SPIN_GAP_NS = 5_000_000
SPIN_GAP_SHARE = 0.02
TICK_NS = 10_000_000
SPEED_CHANGED = 1.1  # from the fastest set to the slowest
SPEED_PATHS, SPEED_ENGINES, SPEED_SETS = 4, 2, 3  # fewer do not tell a machine's change from a path's
SPEED_AGREE = 0.75  # of the paths
STOLEN = "of one core's time stolen by the host"


def disturbed_blocks(evidence: Evidence) -> Iterator[Finding]:
    """Blocks in which another process had the measured cores: which, how long, and what leaving them out changed."""
    samples = evidence.journal.all(SampleRecord)
    hit = [sample for sample in samples if sample.disturbed]
    if not hit:
        return
    share = len(hit) / len(samples)
    users = shares(samples)
    by_kind = {kind: sum(user.share for user in same) for kind, same in grouped(users, lambda user: user.kind).items()}
    ours = by_kind.get("ours", 0.0)
    greatest = NAMES[max(by_kind, key=lambda kind: by_kind[kind], default="program")]
    moved = _moved(evidence)
    yield (error if ours > OURS_MOST else warning if share > MANY else note)(
        f"{len(hit)} of {len(samples)} blocks ({text.share(share)}) were disturbed",
        (f"of the time of all blocks: {shares_text(users)}" if users else _reasons(hit))
        + (f". {moved}" if moved else ""),
        "Rowpath's own processes ran on the measured cores: a defect, please report it"
        if ours > OURS_MOST
        else f"{greatest} had the measured cores; figures use undisturbed blocks where there are enough",
        "rowpath doctor",
        tuple(dict.fromkeys(evidence.name(sample.path_id) for sample in hit)),
        share,
    )


def _reasons(hit: list[SampleRecord]) -> str:
    """The commonest reasons, of a journal that names no users; reasons that differ only in their figures are one."""
    reasons = grouped((sample.disturbed for sample in hit), lambda reason: _FIGURE.sub("", reason))
    common = sorted(reasons.values(), key=len, reverse=True)[:3]
    return "; ".join(f"{len(alike)}× such as: {alike[0]}" for alike in common)


@dataclass(frozen=True)
class Unfiltered:
    """A ranked ratio to the fastest beside the one with every disturbed block left in."""

    workload: str
    phase: str
    regime: str
    name: str
    ratio: float
    unfiltered: float


def unfiltered_ratios(evidence: Evidence) -> Iterator[Unfiltered]:
    """Both ratios of every ranked path but the fastest."""
    for ranking in evidence.rankings:
        rows = [row for row in ranking.rows if row.rank]
        cells = [evidence.cell(row, ranking) for row in rows]
        for row, cell in list(zip(rows, cells, strict=True))[1:]:
            unfiltered = evidence.cells.unfiltered_ratio(cell, cells[0]) if cell and cells[0] else None
            if unfiltered is not None and row.ratio is not None:
                where = ranking.workload, ranking.phase, ranking.regime
                yield Unfiltered(*where, row.name, row.ratio, unfiltered)


def _moved(evidence: Evidence) -> str:
    """The ratio that leaving out disturbed blocks moved most."""
    most = max(unfiltered_ratios(evidence), key=lambda pair: abs(math.log(pair.ratio / pair.unfiltered)), default=None)
    if most is None:
        return ""
    return (
        f"Excluding them changed the ratio of {most.name} most, in {most.workload}.{most.phase}: "
        f"{text.ratio(most.ratio)}, unfiltered {text.ratio(most.unfiltered)}"
    )


def neighbour_noise(evidence: Evidence) -> Iterator[Finding]:
    """Stolen time, and gaps in a spinning loop before or after a set."""
    noises = grouped(evidence.journal.all(NoiseRecord), lambda record: record.set)
    samples = grouped(evidence.journal.all(SampleRecord), lambda sample: sample.set)
    numbers = (number for number, _group in sorted(evidence.journal.sets))
    lines = [line for number in numbers if (line := _noise_of(number, noises.get(number, []), samples.get(number, [])))]
    if lines:
        host = all(STOLEN in line for line in lines)
        who = "the virtual machine's host" if host else "something else"
        yield warning(
            f"{who} used the machine's cores during {len(lines)} of {len(evidence.journal.sets)} sets",
            "; ".join(lines[:4]) + ("; …" if len(lines) > 4 else ""),
            "other guests of the host" if host else "other programs, or other guests of a virtual machine's host",
            "rowpath doctor",
        )


def machine_speed_changed(evidence: Evidence) -> Iterator[Finding]:
    """Sets in which nearly all paths, whatever their engine, were faster or slower than in others."""
    speeds = machine_speeds(evidence)
    if speeds:
        most = max(speed.change for speed in speeds)
        yield warning(
            f"the machine's speed changed by {text.share(most)} from set to set",
            "; ".join(speed.text() for speed in speeds),
            "clock frequency, heat or other guests of the host: it affects paths differently, so intervals widen",
            evidence.rerun("--rigorous"),
        )


@dataclass(frozen=True)
class MachineSpeed:
    """How the times of a phase's paths moved together from set to set."""

    where: str
    paths: int
    by_set: dict[int, float]  # ln of the paths' median time over their mean of all sets

    @property
    def change(self) -> float:
        """How much longer the slowest set took than the fastest."""
        return math.exp(max(self.by_set.values()) - min(self.by_set.values())) - 1

    def text(self) -> str:
        """`keyed.read, median of 9 paths: set 1 −32 %, set 2 +6 %`."""
        moved = ", ".join(f"set {number + 1} {100 * math.expm1(log):+.0f} %" for number, log in self.by_set.items())
        return f"{self.where}, median of {self.paths} paths: {moved}"


def machine_speeds(evidence: Evidence) -> list[MachineSpeed]:
    """The steady phases in which the machine's speed changed."""
    return [speed for ranking in evidence.rankings if (speed := _machine_speed(evidence, ranking))]


def _machine_speed(evidence: Evidence, ranking: Ranking) -> MachineSpeed | None:
    """None where too few paths can tell, or where they do not agree."""
    steady = [row for row in ranking.rows if row.rank and ranking.regime == "steady"]
    cells = [cell for row in steady if (cell := evidence.cell(row, ranking))]
    sets = sorted(set().union(*(cell.costs for cell in cells)))
    cells = [cell for cell in cells if set(cell.costs) == set(sets)]
    engines = {cell.path.engine for cell in cells}
    if len(cells) < SPEED_PATHS or len(engines) < SPEED_ENGINES or len(sets) < SPEED_SETS:
        return None
    logs = [{number: math.log(cost) for number, cost in cell.set_medians.items()} for cell in cells]
    means = [statistics.fmean(log.values()) for log in logs]
    by_set = {
        number: statistics.median(each[number] - mean for each, mean in zip(logs, means, strict=True))
        for number in sets
    }
    slow, fast = max(by_set, key=lambda number: by_set[number]), min(by_set, key=lambda number: by_set[number])
    agree = sum(log[slow] > log[fast] for log in logs)
    speed = MachineSpeed(f"{ranking.workload}.{ranking.phase}", len(cells), by_set)
    return speed if speed.change >= SPEED_CHANGED - 1 and agree >= SPEED_AGREE * len(cells) else None


def _noise_of(number: int, records: list[NoiseRecord], samples: list[SampleRecord]) -> str:
    parts = []
    longest = max((record.spin_gap_max_ns or 0 for record in records), default=0)
    share = max((record.spin_gap_share or 0 for record in records), default=0)
    if longest > SPIN_GAP_NS or share > SPIN_GAP_SHARE:
        parts.append(f"gaps of up to {text.duration(longest)}, {text.share(share)} of a spinning loop")
    wall_ns = max((s.at_ns + s.window_ns for s in samples), default=0) - min((s.at_ns for s in samples), default=0)
    ticks = {record.when: record.steal_ticks for record in records}
    before, after = ticks.get("before"), ticks.get("after")
    stolen = (after - before) * TICK_NS if before is not None and after is not None else 0
    if wall_ns > 0 and stolen > STEAL_SHARE * wall_ns:
        parts.append(f"{text.share(stolen / wall_ns)} {STOLEN}")
    return f"set {number}: {', '.join(parts)}" if parts else ""
