"""A comparison as sentences and cells: what its terminal, Markdown and page have in common."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rowpath import text as fmt
from rowpath.analysis.comparison.compare import reasons
from rowpath.analysis.comparison.differences import in_words
from rowpath.analysis.comparison.model import ComparedRow, ComparedRun, Comparison, Confirmed, Gate
from rowpath.analysis.statistics.intervals import SETS_FOR_CLAIMS
from rowpath.model.grouping import grouped
from rowpath.model.metrics import title

TITLES = ("path", "metric", "base", "head", "ratio", "95 % interval", "own noise", "change ÷ noise")
MOST_NAMES = 2


@dataclass(frozen=True)
class ComparisonOutcome:
    """A comparison with its gates and what was measured again."""

    comparison: Comparison
    gates: tuple[Gate, ...] = ()
    confirmed: tuple[Confirmed, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether a gate fails."""
        return any(gate.failed for gate in self.gates)


def place(row: ComparedRow | Confirmed) -> str:
    """`scan.read · steady`."""
    regime = "" if row.regime == "none" else f" · {row.regime}"
    return f"{row.workload}.{row.phase}{regime}"


def cells(row: ComparedRow) -> tuple[str, ...]:
    """The row's cells under TITLES."""
    return (
        row.name,
        title(row.metric),
        fmt.figure(row.base, row.unit),
        fmt.figure(row.head, row.unit),
        fmt.ratio(row.ratio),
        "counted" if row.counted else fmt.interval(row.low, row.high) or fmt.MISSING,
        f"±{fmt.share(row.noise)}" if row.noise is not None else fmt.MISSING,
        f"{row.factor:.1f}" if row.factor is not None else fmt.MISSING,
    )


def side(runs: Sequence[ComparedRun]) -> str:
    """The runs of a side: directory, begin, sets."""
    shown = []
    for run in runs:
        sets = f"{run.sets} set{'' if run.sets == 1 else 's'}"
        shown.append(f"{run.directory}, {run.started[:16].replace('T', ' ')}, {sets}")
    return "; ".join(shown)


def sides(comparison: Comparison) -> tuple[tuple[str, str], ...]:
    """The lines above a comparison: what was compared, and what differs."""
    if comparison.paired:
        compared: tuple[tuple[str, str], ...] = (("run", f"{side(comparison.base)}; both versions in each set"),)
    else:
        compared = (("base", side(comparison.base)), ("head", side(comparison.head)))
    return (*compared, ("differs", what_differs(comparison)))


def what_differs(comparison: Comparison) -> str:
    """`driver version 3.2.1 → 3.2.3 (2 paths)`; that nothing does."""
    found: dict[str, dict[str, None]] = {}
    for row in comparison.rows:
        for each in row.differences:
            found.setdefault(in_words(each), {})[row.base_path] = None
    paths = {row.base_path for row in comparison.rows}
    if not found:
        return "nothing: same paths, versions and machine"
    return "; ".join(
        words if len(having) == len(paths) else f"{words} ({_paths(len(having))})" for words, having in found.items()
    )


def verdict(outcome: ComparisonOutcome) -> str:
    """How many paths are slower or faster, or what would have been seen; then what measuring again says."""
    first = _by_runs(outcome.comparison)
    again = [each for each in outcome.confirmed if each.outcome != "not possible"]
    if not again:
        return first
    words = [f"{each.name} is {each.outcome}, {fmt.ratio(each.ratio)} in {each.phase}" for each in again
             if each.outcome in ("slower", "faster")]  # fmt: skip
    said = "; ".join(words[:3]) if words else "no difference shown"
    return f"{first} Measured again in the same sets: {said}."


def _by_runs(comparison: Comparison) -> str:
    timed = [row for row in comparison.rows if row.metric == "time" and row.outcome != "not comparable"]
    every = len({row.base_path for row in timed})
    changed = [
        f"{len(worst)} {'is' if len(worst) == 1 else 'are'} {outcome} in head ({_named(worst)})"
        for outcome in ("slower", "faster")
        if (worst := _worst(timed, outcome))
    ]
    if changed:
        return f"Of {_paths(every)} {' and '.join(changed)}."
    if timed and all(min(row.base_sets, row.head_sets) < SETS_FOR_CLAIMS for row in timed):
        return f"Nothing is claimed: a claim needs {SETS_FOR_CLAIMS} sets a side."
    noises = [row.noise for row in timed if row.noise is not None]
    if not noises:
        return f"No path of {every} is shown to be slower or faster: the noise between the runs is unknown."
    return (
        f"No path of {every} is shown to be slower or faster. A change must exceed {fmt.share(min(noises))} on the "
        f"quietest path to be seen, {fmt.share(statistics.median(noises))} on half of them."
    )


def hidden(comparison: Comparison, shown: int) -> list[str]:
    """How many rows are not shown, and why."""
    same = sum(1 for row in comparison.rows if row.outcome == "no difference shown")
    changed = sum(1 for row in comparison.rows if row.changed)
    lines = [f"{changed - shown} more changed"] if changed > shown else []
    lines += [f"{same} without a shown difference"] if same else []
    refuted = sum(1 for row in comparison.rows if row.outcome == "not confirmed")
    lines += [f"{refuted} not confirmed by measuring again"] if refuted else []
    lines += not_comparable(comparison)
    for names, where in ((comparison.only_base, "base"), (comparison.only_head, "head")):
        if names:
            lines.append(f"{_paths(len(names))} only in {where}: {', '.join(names[:3])}{' …' if names[3:] else ''}")
    return lines


def not_comparable(comparison: Comparison) -> list[str]:
    """How many rows are not comparable, by reason: `2 not comparable: both: the machine was too busy`."""
    return [f"{number} not comparable: {reason}" for reason, number in reasons(comparison).items()]


def gate_line(gate: Gate, comparison: Comparison) -> str:
    """Which paths fail a gate, or how much of it is decided."""
    words = gate.words
    beyond = f"above {1 + words.threshold:g}×" if words.more else f"below {1 - words.threshold:g}×"
    if gate.failed:
        by_name = grouped((comparison.rows[position] for position in gate.failed), lambda row: row.name)
        named = (f"{name} ({', '.join(dict.fromkeys(map(place, rows)))})" for name, rows in by_name.items())
        return f"failed {words.text}: {'; '.join(named)}"
    noisy = f"; {gate.undecided} too noisy to exclude it" if gate.undecided else ""
    return f"passed {words.text}: none of {gate.compared} rows is surely {beyond}{noisy}"


def confirmed_line(each: Confirmed) -> str:
    """What measuring base and head in the same sets gave."""
    where = f"{each.name} {place(each)}"
    if each.outcome == "not possible":
        return f"{where}: not possible: {each.reason}"
    ends = fmt.interval(each.low, each.high)
    return f"{where}: {each.outcome}, {fmt.ratio(each.ratio)} ({ends}) in {each.sets} sets"


def changed_rows(comparison: Comparison) -> list[ComparedRow]:
    """The rows that are shown by default."""
    return [row for row in comparison.rows if row.changed]


def _worst(rows: Iterable[ComparedRow], outcome: str) -> list[ComparedRow]:
    """The row that changed most, of each path with that outcome."""
    found: dict[str, ComparedRow] = {}
    for row in rows:
        if row.outcome == outcome and row.ratio:
            before = found.get(row.base_path)
            if before is None or abs(math.log(row.ratio)) > abs(math.log(before.ratio or 1.0)):
                found[row.base_path] = row
    return list(found.values())


def _named(rows: Sequence[ComparedRow]) -> str:
    """`psycopg tcp up to 1.26×, …`."""
    words = [f"{row.name} up to {fmt.ratio(row.ratio)}" for row in rows[:MOST_NAMES]]
    return ", ".join([*words, *([f"{len(rows) - MOST_NAMES} more"] if len(rows) > MOST_NAMES else [])])


def _paths(count: int) -> str:
    return f"{count} path{'' if count == 1 else 's'}"
