"""A comparison as sentences and cells, as its terminal, Markdown and page show it; and as JSON."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rowpath import text as fmt
from rowpath.analysis.comparison.model import ComparedRow, ComparedRun, Comparison, Confirmed, Gate
from rowpath.analysis.comparison.pairs import in_words
from rowpath.analysis.statistics.intervals import SETS_FOR_CLAIMS
from rowpath.model.grouping import grouped
from rowpath.model.metrics import title
from rowpath.report.json import export_of, schema_of, write_export

TITLES = ("path", "metric", "base", "head", "ratio", "95 % interval", "own noise", "change ÷ noise")
MOST_NAMES = 2
MOST_ROWS = 12  # in a terminal, unless all are requested
MOST_LINES = 3  # of findings; twice as many of what was measured again
# Left out first where the terminal is narrow: base, head, change ÷ noise, noise; below how many columns each goes.
NARROW = {2: 90, 3: 78, 7: 68, 6: 60}
STYLES = {"slower": "bold red", "more": "red", "faster": "bold green", "less": "green"}
SCHEMA_VERSION = 2


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
    return "; ".join(
        f"{run.directory}, {run.started[:16].replace('T', ' ')}, {fmt.counted(run.sets, 'set')}" for run in runs
    )


def sides(comparison: Comparison) -> tuple[tuple[str, str], ...]:
    """The lines above a comparison: what was compared, and what differs."""
    differs = "differs", what_differs(comparison)
    if comparison.paired:
        return ("run", f"{side(comparison.base)}; both versions in each set"), differs
    return ("base", side(comparison.base)), ("head", side(comparison.head)), differs


def what_differs(comparison: Comparison) -> str:
    """`driver version 3.2.1 → 3.2.3 (2 paths)`; that nothing does."""
    paths: dict[str, set[str]] = {}  # that have a difference, by its words
    for row in comparison.rows:
        for difference in row.differences:
            paths.setdefault(in_words(difference), set()).add(row.base_path)
    every = {row.base_path for row in comparison.rows}
    differences = (
        words if having == every else f"{words} ({fmt.counted(len(having), 'path')})" for words, having in paths.items()
    )
    return "; ".join(differences) or "nothing: same paths, versions and machine"


def verdict(outcome: ComparisonOutcome) -> str:
    """How many paths are slower or faster, or what would have been seen; then what measuring again says."""
    first = _by_runs(outcome.comparison)
    if all(row.outcome == "not possible" for row in outcome.confirmed):
        return first
    changed = [row for row in outcome.confirmed if row.outcome in ("slower", "faster")][:3]
    named = "; ".join(f"{row.name} is {row.outcome}, {fmt.ratio(row.ratio)} in {row.phase}" for row in changed)
    return f"{first} Measured again in the same sets: {named or 'no difference shown'}."


def _by_runs(comparison: Comparison) -> str:
    timed = [row for row in comparison.rows if row.metric == "time" and row.outcome != "not comparable"]
    every = len({row.base_path for row in timed})
    changed = []
    for outcome in ("slower", "faster"):
        of_paths = grouped((row for row in timed if row.outcome == outcome and row.ratio), lambda row: row.base_path)
        worst = [max(rows, key=lambda row: abs(math.log(row.ratio or 1.0))) for rows in of_paths.values()]
        named = [f"{row.name} up to {fmt.ratio(row.ratio)}" for row in worst[:MOST_NAMES]]
        named += [f"{len(worst) - MOST_NAMES} more"] if len(worst) > MOST_NAMES else []
        if worst:
            changed.append(f"{len(worst)} {'is' if len(worst) == 1 else 'are'} {outcome} in head ({', '.join(named)})")
    if changed:
        return f"Of {fmt.counted(every, 'path')} {' and '.join(changed)}."
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
    outcomes = Counter(row.outcome for row in comparison.rows)
    counts = {
        "more changed": len(changed_rows(comparison)) - shown,
        "without a shown difference": outcomes["no difference shown"],
        "not confirmed by measuring again": outcomes["not confirmed"],
    }
    only = (
        f"{fmt.counted(len(names), 'path')} only in {where}: {', '.join(names[:3])}{' …' if names[3:] else ''}"
        for where, names in _only(comparison)
    )
    return [*(f"{count} {what}" for what, count in counts.items() if count > 0), *not_comparable(comparison), *only]


def _only(comparison: Comparison) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Either side that has paths of its own, with their names."""
    return (one for one in (("base", comparison.only_base), ("head", comparison.only_head)) if one[1])


def not_comparable(comparison: Comparison) -> list[str]:
    """How many rows are not comparable, by reason: `2 not comparable: both: the machine was too busy`."""
    reasons = Counter(row.reason for row in comparison.rows if row.outcome == "not comparable")
    return [f"{number} not comparable: {reason}" for reason, number in reasons.items()]


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


def confirmed_line(row: Confirmed) -> str:
    """What measuring base and head in the same sets gave."""
    where = f"{row.name} {place(row)}"
    if row.outcome == "not possible":
        return f"{where}: not possible: {row.reason}"
    ends = fmt.interval(row.low, row.high)
    return f"{where}: {row.outcome}, {fmt.ratio(row.ratio)} ({ends}) in {row.sets} sets"


def changed_rows(comparison: Comparison) -> list[ComparedRow]:
    """The rows that are shown by default."""
    return [row for row in comparison.rows if row.changed]


def render(outcome: ComparisonOutcome, console: Console, every: bool = False, command: str = "") -> None:
    """Prints what changed in at most 40 lines, unless `every` row is requested; `command` prints all of them."""
    comparison = outcome.comparison
    for name, text in sides(comparison):
        console.print(Text(f"{name:<8}", style="dim").append(text, style="default"), overflow="fold")
    if comparison.despite:
        console.print(Text("despite ", style="dim").append(", ".join(comparison.despite)))
    console.print()
    console.print(Text(verdict(outcome), style="bold"))
    shown = list(comparison.rows) if every else changed_rows(comparison)[:MOST_ROWS]
    compared = [row for row in shown if row.outcome != "not comparable"]
    if compared:
        console.print(_table(compared, console.width))
    for row in (row for row in shown if row.outcome == "not comparable"):
        console.print(Text(f"{row.name}, {place(row)}: not comparable: {row.reason}", style="dim"))
    if not every and (left := hidden(comparison, len(shown))):
        console.print(Text(f"Hidden: {'; '.join(left)}.{f' All: {command}' if command else ''}", style="dim"))
    if every:
        for where, names in _only(comparison):
            console.print(Text(f"only in {where}: {', '.join(names)}", style="dim"))
    if outcome.confirmed:
        console.print(Text("Measured again, base and head in the same sets", style="bold"))
        for confirmed in outcome.confirmed if every else outcome.confirmed[: 2 * MOST_LINES]:
            console.print(Text(f"  {confirmed_line(confirmed)}"))
    for finding in comparison.findings if every else comparison.findings[:MOST_LINES]:
        line = Text("! ", style="bold yellow").append(finding.text, style="default")
        console.print(line.append(f"  [{finding.id}]", style="dim"))
        for detail in filter(None, (finding.evidence, finding.cause) if every else ()):
            console.print(Text(f"  {detail}", style="dim"))
        if finding.next_command:
            console.print(Text(f"  → {finding.next_command}", style="cyan"), soft_wrap=True)
    for gate in outcome.gates:
        console.print(Text(gate_line(gate, comparison), style="bold red" if gate.failed else "bold"))


def _table(compared: Sequence[ComparedRow], width: int) -> Table:
    kept = [position for position in range(len(TITLES)) if width >= NARROW.get(position, 0)]
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for position in kept:
        table.add_column(Text(TITLES[position]), justify="right" if position > 1 else "left", no_wrap=True)
    for where, rows in grouped(compared, place).items():
        table.add_row(Text(where, style="dim"))
        for row in rows:
            texts = cells(row)
            table.add_row(*(Text(texts[position]) for position in kept), style=STYLES.get(row.outcome))
    return table


class ComparisonExport(Comparison, frozen=True):
    """Two sides of runs. Ratios are head ÷ base; times are in ns, sizes in bytes, as each row's `unit` names them."""

    schema_version: int
    verdict: str
    failed: bool
    gates: tuple[Gate, ...]
    confirmed: tuple[Confirmed, ...]


def write_json(outcome: ComparisonOutcome, file: TextIO) -> None:
    """Writes the export as schemas/comparison.schema.json describes it."""
    own = {"verdict": verdict(outcome), "failed": outcome.failed, "gates": outcome.gates}
    own |= {"schema_version": SCHEMA_VERSION, "confirmed": outcome.confirmed}
    write_export(export_of(ComparisonExport, outcome.comparison, own), file)


def schema() -> dict[str, Any]:
    """The JSON Schema of the export: every field is always there, none but those described."""
    return schema_of(ComparisonExport, "Rowpath comparison", SCHEMA_VERSION)
