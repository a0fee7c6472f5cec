"""A comparison as Markdown for a pull request: verdict, what changed, what was not compared, thresholds."""

from __future__ import annotations

from typing import TextIO

from rowpath.report import comparison as words
from rowpath.report.comparison import ComparisonOutcome
from rowpath.report.markdown import escaped

MOST_ROWS = 30


def write_markdown(outcome: ComparisonOutcome, file: TextIO) -> None:
    """Writes the verdict, a table of the changed rows, what was measured again or not compared, and each gate."""
    comparison = outcome.comparison
    rows = words.changed_rows(comparison)
    parts = [f"**{escaped(words.verdict(outcome))}**"]
    if rows:
        titles = ["where", *words.TITLES, ""]
        lines = [_line(titles), _line([":--", ":--", ":--", *["--:"] * (len(words.TITLES) - 2), ":--"])]
        lines += [_line([words.place(row), *words.cells(row), row.outcome]) for row in rows[:MOST_ROWS]]
        parts.append("\n".join(lines))
    if outcome.confirmed:
        parts.append(
            "\n".join(f"- measured again: {escaped(words.confirmed_line(each))}" for each in outcome.confirmed)
        )
    if refused := words.not_comparable(comparison):
        parts.append("\n".join(f"- {escaped(line)}" for line in refused))
    parts += [escaped(words.gate_line(gate, comparison)) for gate in outcome.gates]
    file.write("\n\n".join(parts) + "\n")


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(map(escaped, cells))} |"
