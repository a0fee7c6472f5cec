"""A comparison in a terminal: at most 40 lines, unless all rows are asked for."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rowpath.analysis.comparison.model import ComparedRow
from rowpath.model.grouping import grouped
from rowpath.report import comparison as words
from rowpath.report.comparison import ComparisonOutcome

MOST_ROWS = 12
MOST_LINES = 3  # of findings, of gates, of what was measured again
# Left out first where the terminal is narrow: base, head, change ÷ noise, noise.
LEAST_NEEDED = (2, 3, 7, 6)
NARROW = (90, 78, 68, 60)  # columns below which the next of them goes
STYLES = {"slower": "bold red", "more": "red", "faster": "bold green", "less": "green"}


def render(outcome: ComparisonOutcome, console: Console, every: bool = False, command: str = "") -> None:
    """Prints what changed; `command` is the one that prints every row."""
    comparison = outcome.comparison
    for name, text in words.sides(comparison):
        console.print(Text(f"{name:<8}", style="dim").append(text, style="default"), overflow="fold")
    if comparison.despite:
        console.print(Text("despite ", style="dim").append(", ".join(comparison.despite)))
    console.print()
    console.print(Text(words.verdict(outcome), style="bold"))
    shown = list(comparison.rows) if every else words.changed_rows(comparison)[:MOST_ROWS]
    compared = [row for row in shown if row.outcome != "not comparable"]
    if compared:
        _table(compared, console)
    for row in (row for row in shown if row.outcome == "not comparable"):
        console.print(Text(f"{row.name}, {words.place(row)}: not comparable: {row.reason}", style="dim"))
    if not every:
        left = words.hidden(comparison, len(shown))
        if left:
            console.print(Text(f"Hidden: {'; '.join(left)}.{f' All: {command}' if command else ''}", style="dim"))
    else:
        for names, side in ((comparison.only_base, "base"), (comparison.only_head, "head")):
            if names:
                console.print(Text(f"only in {side}: {', '.join(names)}", style="dim"))
    _listed(
        "Measured again, base and head in the same sets",
        [words.confirmed_line(each) for each in outcome.confirmed],
        console,
        every,
    )
    _findings(outcome, console, every)
    for gate in outcome.gates:
        style = "bold red" if gate.failed else "bold"
        console.print(Text(words.gate_line(gate, comparison), style=style))


def _table(compared: Sequence[ComparedRow], console: Console) -> None:
    gone = [column for column, width in zip(LEAST_NEEDED, NARROW, strict=True) if console.width < width]
    kept = [position for position in range(len(words.TITLES)) if position not in gone]
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for position in kept:
        number = position > 1
        table.add_column(Text(words.TITLES[position]), justify="right" if number else "left", no_wrap=True)
    for place, rows in grouped(compared, words.place).items():
        table.add_row(Text(place, style="dim"))
        for row in rows:
            cells = words.cells(row)
            table.add_row(*(Text(cells[position]) for position in kept), style=STYLES.get(row.outcome))
    console.print(table)


def _listed(title: str, lines: Sequence[str], console: Console, every: bool) -> None:
    if not lines:
        return
    console.print(Text(title, style="bold"))
    for line in lines if every else lines[: 2 * MOST_LINES]:
        console.print(Text(f"  {line}"))


def _findings(outcome: ComparisonOutcome, console: Console, every: bool) -> None:
    found = outcome.comparison.findings
    for finding in found if every else found[:MOST_LINES]:
        text = Text("! ", style="bold yellow").append(finding.text, style="default")
        console.print(text.append(f"  [{finding.id}]", style="dim"))
        if every:
            for detail in (finding.evidence, finding.cause):
                if detail:
                    console.print(Text(f"  {detail}", style="dim"))
        if finding.next_command:
            console.print(Text(f"  → {finding.next_command}", style="cyan"), soft_wrap=True)
