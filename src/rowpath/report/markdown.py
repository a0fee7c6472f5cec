"""The Markdown export: the report's text and tables, to paste into a document."""

from __future__ import annotations

from typing import TextIO

from rowpath import text as fmt
from rowpath.analysis.answer_model import Finding
from rowpath.analysis.model import Analysis
from rowpath.drawing.grid import Grid, Row
from rowpath.report.view import view

# Characters of a text that Markdown or HTML would take for markup.
SPECIAL = {ord(character): f"\\{character}" for character in r"\`*_[]<>|#~"} | {ord("&"): "&amp;"}


def write_markdown(analysis: Analysis, file: TextIO) -> None:
    """Writes the answer, findings, rankings, the tables behind them and what else is to be said."""
    shown = view(analysis)
    parts = [f"# {escaped(shown.title)}", " · ".join(map(escaped, shown.facts))]
    parts += [f"**{escaped(shown.refusal)}**"] if shown.refusal else []
    answer = [fmt.clean(sentence) for sentence in analysis.answer.sentences]
    parts += [escaped(fmt.clean(analysis.answer.trust.line)), *_listed(answer)]
    parts += [_table(section.grid) for section in shown.first]
    if shown.findings:
        parts += ["## Findings", "\n".join(map(_finding, shown.findings))]
    parts += ["## Client groups", *(_table(section.grid) for section in shown.mixed_load)] if shown.mixed_load else []
    for operation in shown.operations:
        parts.append(f"## {escaped(operation.title)}")
        for ranking in operation.rankings:
            parts.append(_table(ranking.section.grid))
            parts += ["\n".join(f"- {escaped(remark)}" for remark in ranking.remarks)] if ranking.remarks else []
        parts += [_table(section.grid) for section in operation.sections]
    parts += [_table(section.grid) for section in shown.across]
    for each in shown.snippets:
        parts.append(f"**{escaped(each.file)}: {escaped(each.name)}**\n\n```{each.language}\n{each.text}```")
    further = [sentence for sentence in shown.verdict if sentence not in answer]
    parts += ["## Further sentences", *_listed(further)] if further else []
    if shown.marks:
        parts.append("\n".join(f"- {escaped(mark)}" for mark in shown.marks))
    if shown.published or shown.claims:
        parts.append("## Published figures and claims")
        parts += [_table(each.grid) for each in (*shown.published, *((shown.claims,) if shown.claims else ()))]
    if shown.dropped:
        parts += ["## Paths that did not run", _table(shown.dropped)]
    parts += ["## Trust", *(_table(section.grid) for section in shown.diagnostics)] if shown.diagnostics else []
    parts += ["## Environment", *map(_table, shown.environment)] if shown.environment else []
    if shown.commands:
        parts += ["## To reproduce", "\n".join(["```sh", *shown.commands, "```"])]
    file.write("\n\n".join(part for part in parts if part) + "\n")


def _listed(sentences: list[str]) -> list[str]:
    return ["\n".join(f"- {escaped(sentence)}" for sentence in sentences)] if sentences else []


def escaped(text: str) -> str:
    """Text in which nothing is markup."""
    return text.translate(SPECIAL)


def _code(text: str) -> str:
    """Text in code marks; a table's cell may hold no bar even there."""
    fence = "``" if "`" in text else "`"
    return f"{fence} {text} {fence}" if "`" in text else f"{fence}{text}{fence}"


def _finding(finding: Finding) -> str:
    lines = [f"- **{finding.severity}** {_code(finding.id)}: {escaped(finding.text)}"]
    lines += [f"  {escaped(detail)}" for detail in (finding.evidence, finding.cause) if detail]
    lines += [f"  → {_code(finding.next_command)}"] if finding.next_command else []
    return "  \n".join(lines)


def _table(grid: Grid) -> str:
    reasons = any(row.reason for row in grid.rows)
    titles = [*(column.title for column in grid.columns), *(["remark"] if reasons else [])]
    rules = ["--:" if column.number else ":--" for column in grid.columns] + ([":--"] if reasons else [])
    lines = [f"**{escaped(grid.caption)}**", "", _line([escaped(title) for title in titles]), _line(rules)]
    lines += [_line(_cells(grid, row) + ([escaped(row.reason)] if reasons else [])) for row in grid.rows]
    return "\n".join(lines) + (f"\n\n{escaped(grid.note)}" if grid.note else "")


def _cells(grid: Grid, row: Row) -> list[str]:
    return [
        _code(cell).replace("|", "\\|") if column.code and cell else escaped(cell)
        for column, cell in zip(grid.columns, row.cells, strict=True)
    ]


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
