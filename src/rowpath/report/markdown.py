"""The Markdown exports, to paste into a document or a pull request: of a run, a projection, a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TextIO

from rowpath import text as fmt
from rowpath.analysis.answer_model import Finding
from rowpath.analysis.model import Analysis
from rowpath.analysis.projection import Projection
from rowpath.drawing.grid import Grid
from rowpath.model.metrics import title
from rowpath.report import comparison as comparisons
from rowpath.report import projection as projections
from rowpath.report.comparison import ComparisonOutcome
from rowpath.report.view import view

MOST_ROWS = 30  # of a comparison
# Characters of a text that Markdown or HTML would take for markup.
SPECIAL = {ord(character): f"\\{character}" for character in r"\`*_[]<>|#~"} | {ord("&"): "&amp;"}


def write_markdown(analysis: Analysis, file: TextIO) -> None:
    """Writes the answer, findings, rankings, the tables behind them and what else is to be said."""
    shown = view(analysis)
    parts = [f"# {escaped(shown.title)}", " · ".join(map(escaped, shown.facts))]
    parts += [f"**{escaped(shown.refusal)}**"] if shown.refusal else []
    answer = [fmt.clean(sentence) for sentence in analysis.answer.sentences]
    parts += [escaped(fmt.clean(analysis.answer.trust.line)), *_listed(answer)]
    parts += [table(section.grid) for section in shown.first]
    if shown.findings:
        parts += ["## Findings", "\n".join(map(_finding, shown.findings))]
    parts += ["## Client groups", *(table(section.grid) for section in shown.mixed_load)] if shown.mixed_load else []
    for operation in shown.operations:
        parts.append(f"## {escaped(operation.title)}")
        for ranking in operation.rankings:
            parts.append(table(ranking.section.grid))
            parts += _listed(ranking.remarks)
        parts += [table(section.grid) for section in operation.sections]
    parts += [table(section.grid) for section in shown.across]
    for snippet in shown.snippets:
        parts.append(
            f"**{escaped(snippet.file)}: {escaped(snippet.name)}**\n\n```{snippet.language}\n{snippet.text}```"
        )
    further = [sentence for sentence in shown.verdict if sentence not in answer]
    parts += ["## Further sentences", *_listed(further)] if further else []
    parts += _listed(shown.marks)
    if shown.published or shown.claims:
        parts.append("## Published figures and claims")
        parts += [table(section.grid) for section in (*shown.published, *((shown.claims,) if shown.claims else ()))]
    if shown.dropped:
        parts += ["## Paths that did not run", table(shown.dropped)]
    parts += ["## Trust", *(table(section.grid) for section in shown.diagnostics)] if shown.diagnostics else []
    parts += ["## Environment", *map(table, shown.environment)] if shown.environment else []
    if shown.commands:
        parts += ["## To reproduce", "\n".join(["```sh", *shown.commands, "```"])]
    file.write("\n\n".join(part for part in parts if part) + "\n")


def write_projection(projection: Projection, file: TextIO) -> None:
    """Writes every matrix as a table, then why cells are empty and what they do not show."""
    reasons = projections.Reasons()
    parts = [f"**{escaped(projections.headline(projection))}**"]
    for matrix in projection.matrices:
        columns = [" · ".join(values) or title(projection.metric) for values in matrix.columns]
        titles = [*map(title, projection.rows), *map(fmt.clean, columns)]
        lines = [titles, [":--"] * len(projection.rows) + ["--:"] * len(columns)]
        for row in matrix.rows:
            cells = (
                " ".join(filter(None, projections.cell_lines(entry, projection.unit, reasons))) for entry in row.entries
            )
            lines.append([*map(fmt.clean, row.values), *cells])
        parts += [*([escaped(projections.caption(matrix))] if matrix.title else []), "\n".join(map(_line, lines))]
    parts += _listed([*reasons.lines(), *projections.notes(projection)])
    file.write("\n\n".join(parts) + "\n")


def write_comparison(outcome: ComparisonOutcome, file: TextIO) -> None:
    """Writes the verdict, a table of the changed rows, what was measured again or not compared, and each gate."""
    comparison = outcome.comparison
    rows = comparisons.changed_rows(comparison)
    parts = [f"**{escaped(comparisons.verdict(outcome))}**"]
    if rows:
        lines = [["where", *comparisons.TITLES, ""], [*[":--"] * 3, *["--:"] * (len(comparisons.TITLES) - 2), ":--"]]
        lines += [[comparisons.place(row), *comparisons.cells(row), row.outcome] for row in rows[:MOST_ROWS]]
        parts.append("\n".join(map(_line, lines)))
    parts += _listed([f"measured again: {comparisons.confirmed_line(row)}" for row in outcome.confirmed])
    parts += _listed(comparisons.not_comparable(comparison))
    parts += [escaped(comparisons.gate_line(gate, comparison)) for gate in outcome.gates]
    file.write("\n\n".join(parts) + "\n")


def _listed(sentences: Sequence[str]) -> list[str]:
    return ["\n".join(f"- {escaped(sentence)}" for sentence in sentences)] if sentences else []


def escaped(text: str) -> str:
    """Text in which nothing is markup."""
    return text.translate(SPECIAL)


def _line(cells: Iterable[str]) -> str:
    """A line of a table, nothing in it markup."""
    return f"| {' | '.join(map(escaped, cells))} |"


def _code(text: str) -> str:
    """Text in code marks; a table's cell may hold no bar even there."""
    fence = "``" if "`" in text else "`"
    return f"{fence} {text} {fence}" if "`" in text else f"{fence}{text}{fence}"


def _finding(finding: Finding) -> str:
    lines = [f"- **{finding.severity}** {_code(finding.id)}: {escaped(finding.text)}"]
    lines += [f"  {escaped(detail)}" for detail in (finding.evidence, finding.cause) if detail]
    lines += [f"  → {_code(finding.next_command)}"] if finding.next_command else []
    return "  \n".join(lines)


def table(grid: Grid) -> str:
    """The grid as a table: its caption above, its note below."""
    reasons = any(row.reason for row in grid.rows)
    titles = [*(column.title for column in grid.columns), *(["remark"] if reasons else [])]
    rules = ["--:" if column.number else ":--" for column in grid.columns] + ([":--"] if reasons else [])
    lines = [f"**{escaped(grid.caption)}**", "", _line(titles), _line(rules)]
    for row in grid.rows:
        cells = [
            _code(cell).replace("|", "\\|") if column.code and cell else escaped(cell)
            for column, cell in zip(grid.columns, row.cells, strict=True)
        ]
        lines.append(f"| {' | '.join([*cells, *([escaped(row.reason)] if reasons else [])])} |")
    return "\n".join(lines) + (f"\n\n{escaped(grid.note)}" if grid.note else "")
