"""From a run directory to everything that the reports show: only the journal is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from rowpath.analysis import metrics
from rowpath.analysis.answer import SpentBy, TimeShares, answer, pictures
from rowpath.analysis.answer_model import Sentence
from rowpath.analysis.chapter import Place
from rowpath.analysis.chapters import CHAPTERS, mixed_load
from rowpath.analysis.core_users import refusal
from rowpath.analysis.diagnostics import diagnostics
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.findings import findings
from rowpath.analysis.long_form import results
from rowpath.analysis.model import Analysis
from rowpath.analysis.path_details import neighbours, path_details
from rowpath.analysis.rankings import ranked
from rowpath.analysis.verdict import leading_rankings, verdict
from rowpath.journal import reader
from rowpath.journal.records import DroppedRecord
from rowpath.model.base import Status
from rowpath.model.path import AccessPath, Dropped
from rowpath.model.probe import Probe, Snippet

WriteSnippets = Callable[[Probe], Iterable[Snippet]]


def analyse(
    run_directory: Path, together: tuple[str, ...] = (), write_snippets: WriteSnippets | None = None
) -> Analysis:
    """Results, rankings, findings, verdict, claims of a run; UsageError when the directory holds none.

    `together`: coordinates whose values are ranked in one list although they do not do the same work (`fetch`).
    `write_snippets`: writes the programs for a probe's fastest paths, which the journal does not have yet.
    """
    return analysis_of(gather(run_directory, together), write_snippets)


def analysis_of(evidence: Evidence, write_snippets: WriteSnippets | None = None) -> Analysis:
    """The analysis of evidence that is gathered already."""
    journal = evidence.journal
    evidence.results = results(evidence)
    figures = {key: chapter.made(evidence) for key, chapter in CHAPTERS.items() if chapter.figures}
    if (probe := figures.get("probe")) is not None and write_snippets is not None:
        figures["probe"] = msgspec.structs.replace(probe, snippets=tuple(write_snippets(probe)))
    leading = leading_rankings(evidence)
    sentences = (
        *_spoken(figures, "first"),
        *verdict(evidence, leading),
        *_spoken(figures, "across"),
        *_spoken(figures, "mixed_load", "time", "claims", "published"),
    )
    analysis = Analysis(
        run=journal.run,
        names={path_id: path.name for path_id, path in journal.paths.items()},
        results=evidence.results,
        rankings=evidence.rankings,
        findings=findings(evidence),
        verdict=tuple(sentence.text for sentence in sentences),
        refusal=refusal(evidence),
        dropped=tuple(_dropped(record) for record in journal.dropped),
        diagnostics=diagnostics(evidence),
        chapters=figures,
        path_details=path_details(evidence),
        sources=journal.sources,
        neighbours=neighbours(evidence),
        lines_of_code={path.name: path.lines_of_code for path in journal.paths.values() if path.lines_of_code},
        lines_of_code_closure={
            path.name: path.lines_of_code_closure for path in journal.paths.values() if path.lines_of_code_closure
        },
    )
    spent = _spent(evidence)
    return msgspec.structs.replace(
        analysis, answer=answer(analysis, leading, sentences, spent), pictures=pictures(analysis, spent)
    )


def _spoken(figures: dict[str, Any], *places: Place) -> Iterator[Sentence]:
    """The sentences of the chapters in these places."""
    for key, chapter in CHAPTERS.items():
        if chapter.place in places:
            yield from chapter.sentences(figures.get(key, chapter.nothing))


def _spent(evidence: Evidence) -> SpentBy:
    """Where the time of every ranked path goes."""
    ranked_cells = (evidence.cell(row, ranking) for ranking in evidence.rankings for row in ranking.rows if row.rank)
    return {
        cell.key: TimeShares(*parts, metrics.pooler_share(cell))
        for cell in ranked_cells
        if cell and (parts := metrics.cpu_shares(cell))
    }


def gather(run_directory: Path, together: tuple[str, ...] = ()) -> Evidence:
    """The evidence of a run with its rankings and what its groups did."""
    evidence = ranked(run_directory, reader.read(run_directory), together)
    mixed_load.CHAPTER.made(evidence)
    return evidence


def _dropped(record: DroppedRecord) -> Dropped:
    coordinates = dict(record.coordinates)
    label = coordinates.pop("label", "")
    path = AccessPath.of(coordinates, label)
    statuses: dict[str, Status] = {"failed": "failed", "wrong": "wrong"}
    return Dropped(path, record.reason, record.remedy, statuses.get(record.status, "unsupported"))
