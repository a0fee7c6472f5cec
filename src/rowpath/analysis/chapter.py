"""A chapter: one topic of a report in one file, with its figures, sentence, table and chart."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, get_type_hints

from rowpath.analysis.answer_model import Sentence
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.lookup import Lookup, PhaseFigures
from rowpath.analysis.model import Analysis
from rowpath.drawing.section import Section

Figures = TypeVar("Figures")
Place = Literal["first", "across", "time", "mixed_load", "claims", "published"]


@dataclass(frozen=True)
class RankedPhase:
    """A phase with rankings, for the tables that stand below them.

    `key`: what the keys of its sections begin with; `names`: of its ranked paths, each ranking's fastest first.
    `measured`: its figures in the regime of its first ranking.
    """

    key: str
    names: list[str]
    measured: PhaseFigures
    lookup: Lookup

    def in_regime(self, regime: str) -> PhaseFigures:
        """Its figures in another regime."""
        return self.lookup.measured(self.measured.workload, self.measured.phase, regime)


def nothing_there(*_: object) -> tuple[()]:
    """Of a chapter that has no tables there, or adds nothing to the verdict."""
    return ()


@dataclass(frozen=True)
class Chapter(Generic[Figures]):
    """A topic: `analysis.chapters.CHAPTERS` names them all, and terminal, page and JSON show each of those.

    `key`: of its figures in the JSON, whose schema describes the type that `figures` returns; a chapter without
    `figures` is made of the results, by the lookup, and adds nothing to the JSON.
    `sections`: tables, each begun with the sentence that answers and a picture; those without rows are left out.
    `of_phase`: such tables of one phase, below its rankings.
    `place`: where reports show `sections`: before all rankings (and the sentences before those about rankings), with
    what goes over several phases, with the client groups, or under where time goes, claims or published figures.
    """

    key: str
    figures: Callable[[Evidence], Figures] | None = None
    sections: Callable[[Figures, Lookup], Iterable[Section]] = nothing_there
    sentences: Callable[[Figures], Iterable[Sentence]] = nothing_there
    place: Place = "across"
    nothing: Any = ()  # its figures in an analysis that was made without
    of_phase: Callable[[RankedPhase], Iterable[Section]] = nothing_there

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
        if self.figures and self.key not in evidence.chapters:
            evidence.chapters[self.key] = self.figures(evidence)
        return self.of(evidence)
