"""A matrix of faults in a terminal and as one HTML file: drivers by faults, each cell with its time line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from rowpath import text as fmt
from rowpath.analysis.faults import findings, shown
from rowpath.drawing.grid import Grid, Heading, Row
from rowpath.model.fault import WORKS, Cell, Fault
from rowpath.model.grouping import grouped
from rowpath.report.self_contained import rendered
from rowpath.report.terminal_tables import show_grid

FOLDER = Path(__file__).parent
HOW = "Time from the fault to the operation's end, one observation each; docs/faults.md explains the words."
TITLES = {"scan": "In a scan", "read": "In a read by key", "write": "In a write", "transaction": "In a transaction"}


def show(cells: Sequence[Cell], faults: Sequence[Fault], left_out: Sequence[str], console: Console) -> None:
    """Print the findings, then a table for each kind of work."""
    found = findings(cells)
    for finding in found:
        console.print(Text.assemble((finding.id, "yellow"), f": {fmt.clean(finding.statement)}"), soft_wrap=True)
    if found:
        console.print()
    for grid in grids(cells, faults):
        show_grid(grid, console)
    console.print(Text(HOW, style="dim"))
    for reason in left_out:
        console.print(Text(f"not here: {fmt.clean(reason)}", style="dim"), soft_wrap=True)


def grids(cells: Sequence[Cell], faults: Sequence[Fault]) -> list[Grid]:
    """A row for each driver, a column for each fault of which there is a cell."""
    tables = []
    for work in WORKS:
        columns, rows = _table(cells, faults, work)
        heads = (Heading("driver"), *(Heading(f"{one.number} {one.name}") for one in columns))
        words = [Row((name, *(shown(cell).words if cell else "" for cell in row))) for name, row in rows]
        if words:
            tables.append(Grid(TITLES[work], heads, tuple(words)))
    return tables


def _table(
    cells: Sequence[Cell], faults: Sequence[Fault], work: str
) -> tuple[list[Fault], list[tuple[str, list[Cell | None]]]]:
    """The faults of which there is a cell, and each driver's cells in their order."""
    of_work = [cell for cell in cells if cell.work == work]
    columns = [fault for fault in faults if any(cell.fault == fault.number for cell in of_work)]
    rows = []
    for name, own in grouped(of_work, _row_name).items():
        by_fault = {cell.fault: cell for cell in own}
        rows.append((name, [by_fault.get(fault.number) for fault in columns]))
    return columns, rows


def _row_name(cell: Cell) -> str:
    return f"{cell.path} {' '.join(cell.settings.split())}".strip()


def command(cell: Cell) -> str:
    """What repeats the cell."""
    return f"rowpath faults driver={cell.driver} language={cell.language} engine={cell.engine} --fault {cell.fault}"


def write(cells: Sequence[Cell], faults: Sequence[Fault], left_out: Sequence[str], file: Path) -> None:
    """Write the page."""
    numbered = {cell.key: number for number, cell in enumerate(cells)}
    works = [(TITLES[work], *_table(cells, faults, work)) for work in WORKS]
    file.write_text(
        rendered(
            FOLDER,
            "faults.html.j2",
            "faults.css",
            findings=[(one, numbered[one.cells[0].key]) for one in findings(cells)],
            works=[work for work in works if work[2]],
            shown=shown,
            number=lambda cell: numbered[cell.key],
            details=[_details(cell, faults, number) for number, cell in enumerate(cells)],
            reasons=left_out,
            count=sum(cell.end != "not applicable" for cell in cells),
            drivers=len({cell.path for cell in cells}),
        ),
        encoding="utf-8",
        newline="\n",
    )


def _details(cell: Cell, faults: Sequence[Fault], number: int) -> dict[str, object]:
    title = next((fault.title for fault in faults if fault.number == cell.fault), cell.fault)
    return {
        "number": number,
        "title": f"{_row_name(cell)} · {title} · {TITLES[cell.work].lower()}",
        "words": cell.reason or shown(cell).words,
        "facts": [fmt.clean(fact) for fact in facts(cell)],
        "events": [(fmt.duration(max(0, event.ns)), fmt.clean(event.text)) for event in cell.events],
        "command": command(cell),
    }


def facts(cell: Cell) -> list[str]:
    """What was seen, a sentence each."""
    said = []
    if cell.text:
        said.append(f"The driver says: {f'[{cell.code}] ' if cell.code else ''}{cell.text}")
    if cell.rows is not None and cell.expected_rows is not None:
        said.append(f"{fmt.count(cell.rows)} of {fmt.count(cell.expected_rows)} rows came before the end.")
    if cell.connection:
        said.append(f"The same connection is {cell.connection} afterwards.")
    if cell.first_row_ns is not None:
        since = fmt.duration(cell.first_row_ns)
        said.append(f"The first good row came {since} after the server could serve again, by the {cell.by}.")
    if cell.stored is not None:
        said.append(f"Acknowledged: {cell.acknowledged}; stored: {cell.stored}.")
    if cell.server_goes_on is not None:
        said.append("The server went on working." if cell.server_goes_on else "The server stopped working on it.")
    if cell.leaked_descriptors is not None:
        left = fmt.size(abs(cell.leaked_bytes or 0))
        said.append(
            f"After 100 more faults: {cell.leaked_descriptors:+} descriptors, {cell.leaked_threads:+} threads, {left} "
            f"{'more' if (cell.leaked_bytes or 0) >= 0 else 'less'} memory."
        )
    return said
