"""A chapter: one topic of a report in one file, with its figures, sentence, table and chart."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, get_type_hints

from rowpath.analysis.answer_model import Sentence
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.model import Analysis
from rowpath.drawing.section import Section

Figures = TypeVar("Figures")


def no_sentences(_figures: Any) -> Iterable[Sentence]:
    """Of a chapter that adds nothing to the verdict."""
    return ()


@dataclass(frozen=True)
class Chapter(Generic[Figures]):
    """A topic: `analysis.chapters.CHAPTERS` names them all, and terminal, page and JSON show each of those.

    `key`: of its figures in the JSON, whose schema describes the type that `figures` returns.
    `sections`: tables, each begun with the sentence that answers and a picture; those without rows are left out.
    `place`: where reports show them: with the client groups, or with what goes over several phases.
    """

    key: str
    figures: Callable[[Evidence], Figures]
    sections: Callable[[Figures, Lookup], Iterable[Section]]
    sentences: Callable[[Figures], Iterable[Sentence]] = no_sentences
    place: Literal["across", "mixed_load"] = "across"
    nothing: Any = ()  # its figures in an analysis that was made without

    @property
    def figures_type(self) -> Any:
        """What `figures` returns."""
        return get_type_hints(self.figures)["return"]

    def of(self, source: Analysis | Evidence) -> Figures:
        """Its figures in an analysis, or in evidence of which they are made."""
        figures: Figures = source.chapters.get(self.key, self.nothing)
        return figures

    def made(self, evidence: Evidence) -> Figures:
        """Its figures of this evidence, which keeps them: findings use some too."""
        if self.key not in evidence.chapters:
            evidence.chapters[self.key] = self.figures(evidence)
        return self.of(evidence)

    def shown(self, analysis: Analysis, lookup: Lookup) -> list[Section]:
        """Its sections with rows."""
        return [section for section in self.sections(self.of(analysis), lookup) if section.grid.rows]
