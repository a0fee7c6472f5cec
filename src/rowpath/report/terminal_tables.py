"""Everything about a run in a terminal: all tables, published figures, claims, findings, verdict (`--tables`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rowpath import text as fmt
from rowpath.analysis.answer_model import Finding
from rowpath.analysis.model import Analysis
from rowpath.drawing.grid import Grid, Row
from rowpath.drawing.section import Section
from rowpath.model.grouping import grouped
from rowpath.report.terminal import SEVERITY
from rowpath.report.view import RankingView, view

GAP = 2


def render(analysis: Analysis, console: Console, report_path: Path | None = None) -> None:
    """Prints all that is known of a run; `report_path` is its HTML report, None when there is none."""
    shown = view(analysis)
    if shown.refusal:
        console.print(Text(shown.refusal, style="bold red"))
        console.print()
    left_out = [title for section in shown.first for title in show_grid(section.grid, console)]
    for operation in shown.operations if not shown.first else ():
        left_out += [title for ranking in operation.rankings for title in _ranking(ranking, console)]
        left_out += _leading(operation.sections, console)
    left_out += _leading((*shown.mixed_load, *shown.across), console)
    left_out += [title for published in shown.published for title in show_grid(published.grid, console)]
    marks = shown.marks if not shown.first else ()  # of rankings, which only the page shows then
    for mark in marks:
        console.print(Text(mark, style="dim"))
    if left_out:
        console.print(Text(f"Hidden columns (widen the terminal): {', '.join(dict.fromkeys(left_out))}.", style="dim"))
    if marks or left_out:
        console.print()
    if shown.dropped:
        count = len(shown.dropped.rows)
        console.print(Text(f"{count} path{'s' if count > 1 else ''} did not run:", style="bold"))
        remedies = (f" → {row.cells[3]}" if row.cells[3] else "" for row in shown.dropped.rows)
        reasons = zip(shown.dropped.rows, remedies, strict=True)
        _hanging(console, [(Text(row.cells[0]), Text(row.cells[2]).append(do, style="cyan")) for row, do in reasons])
    if shown.claims:
        _title(shown.claims.grid.caption, console)
        cells = (row.cells for row in shown.claims.grid.rows)
        _hanging(console, [(Text(who), Text(what).append(f"\n{more}", style="dim")) for what, who, more, *_ in cells])
    if shown.findings:
        _title("Findings", console)
        console.print(_findings(shown.findings))
    if shown.verdict:
        _title("Verdict", console)
        for sentence in shown.verdict:
            console.print(Text(sentence))
        console.print()
    for number, snippet in enumerate(shown.snippets):  # the first one whole, the others by what they are
        console.print(Text(f"{snippet.file}: {snippet.name}", style="bold"))
        console.print(Text(snippet.run, style="dim") if number else Text(snippet.text), soft_wrap=True)
    if shown.snippets:
        console.print()
    if report_path:
        console.print(Text("Report: ").append(str(report_path), style="bold"), soft_wrap=True)


def _ranking(ranking: RankingView, console: Console) -> list[str]:
    """Prints one ranking; returns the titles of the columns that found no room."""
    grid = ranking.section.grid
    console.print(Text(grid.caption, style="bold"))
    ranked = [row for row in grid.rows if row.tier >= 0]
    left_out = _table(grid, ranked, console)
    named = [
        (
            Text(row.cells[1], style="" if row.status == "ok" else "red"),
            Text(f"{'' if row.cells[2] == fmt.MISSING else f'{row.cells[2]}, '}{row.reason}"),
        )
        for row in grid.rows
        if row.tier < 0
    ]
    if named:
        _hanging(console, named, marker=fmt.MISSING)
    doubtful = (row for row in ranked if row.reason)
    for reason, rows in grouped(doubtful, lambda row: row.reason).items():
        console.print(Text(f"{'; '.join(row.cells[1] for row in rows)}: {reason}", style="dim"))
    for remark in ranking.remarks:
        console.print(Text(remark, style="dim"))
    console.print()
    return left_out


def _leading(sections: Iterable[Section], console: Console) -> list[str]:
    """Prints the tables that the experiment is about; returns the titles of the columns that found no room."""
    return [title for section in sections if section.leading for title in show_grid(section.grid, console)]


def show_grid(grid: Grid, console: Console) -> list[str]:
    """Prints a table that belongs to no ranking; returns the titles of the columns that found no room."""
    console.print(Text(grid.caption, style="bold"))
    left_out = _table(grid, grid.rows, console, mark_first=False)
    if grid.note:
        console.print(Text(grid.note, style="dim"))
    console.print()
    return left_out


def _table(grid: Grid, rows: Sequence[Row], console: Console, mark_first: bool = True) -> list[str]:
    """Prints the columns that have room; returns the titles of those left out."""
    kept = list(range(len(grid.columns)))
    widths = [
        max(len(max(_two_lines(column.title).split("\n"), key=len)), *(len(row.cells[position]) for row in rows), 0)
        for position, column in enumerate(grid.columns)
    ]
    while sum(widths[position] + GAP for position in kept) - GAP > console.width:
        least = max(kept, key=lambda position: grid.columns[position].weight)
        if not grid.columns[least].weight:
            break
        kept.remove(least)
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="dim")
    for position in kept:
        column = grid.columns[position]
        table.add_column(
            Text(_two_lines(column.title)),
            justify="right" if column.number else "left",
            no_wrap=column.number,
            overflow="fold",
        )
    for row in rows:
        first = mark_first and row.tier == rows[0].tier
        table.add_row(*(Text(row.cells[position]) for position in kept), style="bold green" if first else None)
    console.print(table)
    return [column.title for position, column in enumerate(grid.columns) if position not in kept]


def _two_lines(title: str) -> str:
    """A heading broken where both lines are shortest."""
    words = title.split(" ")
    broken = [" ".join(words[:cut]) + "\n" + " ".join(words[cut:]) for cut in range(1, len(words))]
    return min(broken, key=lambda text: max(map(len, text.split("\n"))), default=title)


def _hanging(console: Console, lines: Sequence[tuple[Text, Text]], marker: str = " ") -> None:
    """Names with texts that wrap beside them; below them where names are too long for that."""
    beside = max(len(name) for name, _text in lines) <= console.width // 3
    table = Table.grid(padding=(0, GAP, 0, 0), pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=beside, overflow="fold")
    if beside:
        table.add_column(overflow="fold")
    for name, text in lines:
        table.add_row(marker, *((name, text) if beside else (name + Text("\n") + text,)))
    console.print(table)


def _title(text: str, console: Console) -> None:
    console.print()
    console.print(Text(text, style="bold"))


def _findings(findings: tuple[Finding, ...]) -> Table:
    table = Table.grid(padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in findings:
        sign, style = SEVERITY[finding.severity]
        text = Text(finding.text).append(f"  [{finding.id}]", style="dim")
        for detail in filter(None, (finding.evidence, finding.cause)):
            text.append(f"\n{detail}", style="dim")
        if finding.next_command:
            text.append(f"\n→ {finding.next_command}", style="cyan")
        table.add_row(Text(sign, style=style), text)
    return table
