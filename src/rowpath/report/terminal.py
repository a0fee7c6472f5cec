"""The end of a run in a terminal: trust, rankings as bars, a few sentences, findings; never over 40 lines."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from rich.console import Console
from rich.text import Text

from rowpath import text as fmt
from rowpath.analysis import several_hosts
from rowpath.analysis.answer_model import Answer, GroupAnswer, Hidden, MergedFinding, PhaseAnswer
from rowpath.analysis.chapters.mixed_load import report_of
from rowpath.analysis.chapters.probe import CHAPTER as PROBE
from rowpath.analysis.chapters.sizing import CHAPTER as SIZING
from rowpath.analysis.model import Analysis
from rowpath.report import bars, size_bars

LINES = 40
WIDTH = 100  # where there is no terminal
WIDEST = 200
INDENT = "  "
SEVERITY = {"error": ("✗", "bold red"), "warning": ("!", "bold yellow"), "note": ("·", "bold")}
TRUST = {"proven and quiet": ("✓", "bold green"), "refused": ("✗", "bold red"), "unproven": ("✗", "bold red")}
PICTURES = 4  # with bars
ENOUGH_ROWS = 4  # of a picture
SAID_ELSEWHERE = {("provisional", "warning"), ("missing-path", "note")}  # by a sentence; by a count of paths
# What goes first where the lines do not suffice.
LESS = (
    {"others": 3}, {"rows": 10}, {"not_ranked": 2}, {"others": 1}, {"rows": 8}, {"sentences": 4}, {"of_sentence": 4},
    {"question": 1}, {"not_ranked": 1}, {"rows": 6}, {"sentences": 3}, {"findings": 2}, {"of_sentence": 3},
    {"others": 0}, {"sentences": 2}, {"rows": 4}, {"findings": 1}, {"rows": 2}, {"sentences": 1},
)  # fmt: skip


@dataclass(frozen=True)
class Room:
    """How much of each part is shown."""

    rows: int = 12  # of all pictures together
    others: int = 6  # rankings without bars, one line each
    sentences: int = 5
    findings: int = 3
    not_ranked: int = 4  # reasons, with two lines each
    of_sentence: int = 6  # lines of one sentence
    question: int = 2  # lines


def render(analysis: Analysis, console: Console, directory: Path, report_path: Path | None = None) -> None:
    """Prints a run's answer; `report_path` is its HTML report, None when there is none."""
    width = min(console.width, WIDEST)
    room = Room()
    lines = screen(analysis, width, directory, report_path, room)
    for less in LESS:
        if sum(max(1, -(-len(line) // width)) for line in lines) <= LINES:
            break
        room = dataclasses.replace(room, **less)
        lines = screen(analysis, width, directory, report_path, room)
    for line in lines:
        console.print(line, soft_wrap=True)


def screen(analysis: Analysis, width: int, directory: Path, report_path: Path | None, room: Room) -> list[Text]:
    """The lines of the answer."""
    answer = analysis.answer
    lines: list[Text] = []
    if analysis.refusal:
        lines += _wrapped(analysis.refusal, width, room.of_sentence, style="bold red")
    elif answer.question:
        lines += _wrapped(answer.question, width, room.question, style="bold")
    sign, style = TRUST.get(answer.trust.level, ("!", "bold yellow"))
    for at, trust in enumerate(_wrapped(answer.trust.line, width - 2, 2)):
        lines.append(Text(INDENT if at else f"{sign} ", style=style).append(trust))
    ways = several_hosts.line(analysis.diagnostics.get("ways", []))
    for words in filter(None, (ways, several_hosts.starts_line(report_of(analysis)))):
        lines += _wrapped(words, width, 2, INDENT)
    if sizing := SIZING.of(analysis):
        lines += [Text(""), *bars.drawn([size_bars.picture(sizing, room.rows)], width)[0]]
    lines += _pictures(answer, width, room)
    lines += _not_ranked(answer, width, room.not_ranked)
    if answer.sentences:
        # The last one says what is not certain.
        few = answer.sentences[: room.sentences - 1] + answer.sentences[room.sentences - 1 :][-1:]
        lines += [Text(""), *(line for text in few for line in _wrapped(text, width, room.of_sentence, INDENT))]
    findings = _findings(answer)[: room.findings]
    if findings:
        lines += [Text(""), *(_finding(finding, width) for finding in findings)]
    lines += _end(analysis, width, directory, report_path, room)
    return lines


def _pictures(answer: Answer, width: int, room: Room) -> list[Text]:
    """The leading rankings as bars, some others in a line each, the rest counted."""
    answers: tuple[PhaseAnswer | GroupAnswer, ...] = (*_without_common(answer.phases), *answer.groups)
    every = [one for one in answers if one.bars]
    # The most important ones, as many as have room for a few bars each.
    leading: list[PhaseAnswer | GroupAnswer] = []
    left = room.rows
    for one in sorted(every, key=bars.importance, reverse=True)[:PICTURES]:
        left -= min(len(one.bars), ENOUGH_ROWS)
        if leading and left < 0:
            break
        leading.append(one)
    with_bars = [one for one in every if one in leading]
    rows = shared([len(one.bars) for one in with_bars], room.rows)
    lines: list[Text] = []
    for drawn in bars.drawn([bars.picture(one, most) for one, most in zip(with_bars, rows, strict=True)], width):
        lines += [Text(""), *drawn]
    others = [one for one in every if one not in leading]
    more = len(others[room.others :])
    lines += [Text("")] if others else []
    lines += [Text(bars.shorten_end(bars.one_line(one), width)) for one in others[: room.others]]
    if more:
        lines.append(Text(f"+ {more} more {'rankings' if more > 1 else 'ranking'} like these", style="dim"))
    return lines


def _not_ranked(answer: Answer, width: int, most: int) -> list[Text]:
    """Why paths have no bar, the reason of most first."""
    lines = [Text("")] if answer.not_ranked else []
    for one in answer.not_ranked[:most]:
        for at, line in enumerate(_wrapped(one.line, width - 2, 2)):
            lines.append(Text(INDENT if at else "✗ ", style="bold red").append(line.plain, style="not bold default"))
    if more := len(answer.not_ranked[most:]):
        lines.append(Text(f"+ {fmt.counted(more, 'further reason')}: rowpath show … --tables", style="dim"))
    return lines


def _without_common(phases: Sequence[PhaseAnswer]) -> list[PhaseAnswer]:
    """The rankings without what all comparisons have in common."""
    comparisons = [phase.comparison.split(", ") for phase in phases]
    common = set.intersection(*map(set, comparisons)) if len(comparisons) > 1 else set()
    own = [", ".join(part for part in parts if part not in common) for parts in comparisons]
    return [msgspec.structs.replace(phase, comparison=words) for phase, words in zip(phases, own, strict=True)]


def shared(counts: Sequence[int], rows: int) -> list[int]:
    """`rows` split among pictures of these many bars: equal parts, and what one does not need goes to the others."""
    given = [0] * len(counts)
    while sum(given) < rows and any(have < count for have, count in zip(given, counts, strict=True)):
        wanting = [at for at, count in enumerate(counts) if given[at] < count]
        given[min(wanting, key=lambda at: given[at])] += 1
    return given


def _findings(answer: Answer) -> list[MergedFinding]:
    """The findings that nothing else on the screen says already."""
    unsaid = (finding for finding in answer.findings if finding.text not in answer.trust.line)
    return [finding for finding in unsaid if (finding.id, finding.severity) not in SAID_ELSEWHERE]


def _finding(finding: MergedFinding, width: int) -> Text:
    sign, style = SEVERITY[finding.severity]
    words, mark = bars.shorten_end(fmt.clean(finding.text), width - 2), f"  [{finding.id}]"
    line = Text(f"{sign} ", style=style).append(words, style="not bold default")
    return line.append(mark, style="not bold dim default") if 2 + len(words) + len(mark) <= width else line


def _end(analysis: Analysis, width: int, directory: Path, report_path: Path | None, room: Room) -> list[Text]:
    """What is not shown, where programs are, where the report is."""
    answer = analysis.answer
    left = max(0, len(_findings(answer)) - room.findings)
    missing = max(0, len(answer.sentences) - room.sentences)
    hidden = [Hidden("findings", left)] if left else []
    hidden += [Hidden(one.what, one.count + (missing if one.what == "sentences" else 0)) for one in answer.hidden]
    lines = [Text("")]
    files = [program.file for program in probe.snippets] if (probe := PROBE.of(analysis)) else []
    if files:
        lines.append(Text(bars.shorten_end(f"Programs in {directory}: {', '.join(files)}", width)))
    if hidden:
        counted = ", ".join(f"{one.count} {singular(one)}" for one in hidden)
        lines += _wrapped(f"Not shown: {counted}.", width, 2, INDENT, style="dim")
    lines.append(Text("All tables: ").append(f"rowpath show {shlex.quote(str(directory))} --tables", style="cyan"))
    if report_path:
        lines.append(Text("Report: ").append(str(report_path), style="bold"))
    return lines


def singular(hidden: Hidden) -> str:
    """`1 ranking`, `2 rankings`."""
    first, _, rest = hidden.what.partition(" that ")
    one = first.removesuffix("s") if hidden.count == 1 else first
    return f"{one} that {rest}" if rest else one


def _wrapped(text: str, width: int, most: int, indent: str = "", style: str = "") -> list[Text]:
    """The text in at most `most` lines, the further ones indented; what does not fit ends in an ellipsis."""
    lines = [""]
    for word in fmt.clean(text).split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width - (len(indent) if lines[1:] else 0):
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".lstrip()
    if len(lines) > most:
        lines = [*lines[: most - 1], bars.shorten_end(f"{lines[most - 1]} {bars.CUT}", width - len(indent))]
    return [Text(f"{indent if at else ''}{line}", style=style) for at, line in enumerate(lines)]
