"""A chapter that stands in one place outside src/ is on the terminal, on the page and in the JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from rowpath.analysis.analyse import analyse
from rowpath.analysis.answer_model import Sentence
from rowpath.analysis.chapter import Chapter
from rowpath.analysis.chapters import CHAPTERS
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.lookup import Lookup
from rowpath.drawing.grid import figure, line, of_lines, word
from rowpath.drawing.line_chart import Chart, Curve, Point, valued
from rowpath.drawing.section import Section, of_chart
from rowpath.model.base import Frozen
from rowpath.report import html, terminal_tables
from rowpath.report.json import schema, write_json
from tests.unit import journal_factory


class Letters(Frozen, frozen=True):
    """How long the name of a path is."""

    name: str
    letters: int


def letters(evidence: Evidence) -> tuple[Letters, ...]:
    """One per path."""
    return tuple(Letters(path.name, len(path.name)) for path in evidence.journal.paths.values())


def sections(figures: tuple[Letters, ...], _lookup: Lookup) -> Iterator[Section]:
    """A table, a sentence and a chart."""
    rows = (line(word("path", path.name), figure("letters", str(path.letters))) for path in figures)
    curve = Curve("names", tuple(Point(number, path.letters) for number, path in enumerate(figures, 1)))
    across = valued("paths", (point.x for point in curve.points), str)
    chart = Chart("Letters of the paths' names", "letters", across, (curve,), str, "A point is a path.")
    yield Section("letters", of_lines("Letters by path", rows), of_chart("Names have letters.", chart), leading=True)


def sentences(figures: tuple[Letters, ...]) -> Iterator[Sentence]:
    """What the verdict says of it."""
    yield Sentence("letters", f"{len(figures)} names were counted.")


def test_a_toy_chapter_is_seen_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CHAPTERS, "letters", Chapter("letters", letters, sections, sentences))
    analysis = analyse(journal_factory.write(tmp_path / "run", journal_factory.records(journal_factory.Run())))
    names = list(analysis.names.values())
    assert f"{len(names)} names were counted." in analysis.verdict
    text = io.StringIO()
    terminal_tables.render(analysis, Console(file=text, width=200))
    assert "Letters by path" in text.getvalue()
    page = html.page(analysis)
    assert "Names have letters." in page
    assert "Letters of the paths" in page
    file = io.StringIO()
    write_json(analysis, file)
    assert json.loads(file.getvalue())["letters"] == [{"name": name, "letters": len(name)} for name in names]
    assert "letters" in schema()["$defs"]["Export"]["required"]
