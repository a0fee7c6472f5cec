"""From a run directory to everything that the reports show: only the journal is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from rowpath.analysis import claims
from rowpath.analysis.answer import Spent, SpentBy, answer, pictures
from rowpath.analysis.answer_model import Sentence
from rowpath.analysis.bulk_retrieval import retrievals
from rowpath.analysis.bulk_retrieval import sentences as retrieval_sentences
from rowpath.analysis.chapters import CHAPTERS, mixed_load
from rowpath.analysis.core_users import refusal
from rowpath.analysis.cost_model import cost_models
from rowpath.analysis.diagnostics import diagnostics
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.findings import findings
from rowpath.analysis.link_prediction import across_links
from rowpath.analysis.long_form import results
from rowpath.analysis.model import Analysis
from rowpath.analysis.path_details import neighbours, path_details
from rowpath.analysis.probe_results import probe_of, probe_sentences
from rowpath.analysis.rankings import ranked
from rowpath.analysis.scaling import scalings
from rowpath.analysis.scaling import sentences as scaling_sentences
from rowpath.analysis.size_sweep import sweeps
from rowpath.analysis.verdict import leading_rankings, shares, verdict
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
    experiment = journal.run.experiment
    scaled = scalings(evidence)
    retrieved = retrievals(evidence)
    published = tuple(claims.published(evidence, experiment.published))
    figures = results(evidence)
    probe = probe_of(evidence, figures)
    if probe is not None and write_snippets is not None:
        probe = msgspec.structs.replace(probe, snippets=tuple(write_snippets(probe)))
    leading = leading_rankings(evidence)
    chapters = {chapter.key: chapter.made(evidence) for chapter in CHAPTERS.values()}
    sentences = (
        *probe_sentences(probe),
        *verdict(evidence, leading),
        *retrieval_sentences(retrieved),
        *_of_kind("parts", scaling_sentences(scaled)),
        *(sentence for key, chapter in CHAPTERS.items() for sentence in chapter.sentences(chapters[key])),
        *_of_kind("published", claims.order_sentences(published)),
    )
    analysis = Analysis(
        run=journal.run,
        names={path_id: path.name for path_id, path in journal.paths.items()},
        results=figures,
        rankings=evidence.rankings,
        findings=findings(evidence),
        verdict=tuple(each.text for each in sentences),
        refusal=refusal(evidence),
        claims=claims.check_claims(evidence, experiment.claims),
        published=published,
        dropped=tuple(_dropped(record) for record in journal.dropped),
        diagnostics=diagnostics(evidence),
        cost_models=cost_models(evidence),
        sweeps=sweeps(evidence),
        scalings=scaled,
        retrievals=retrieved,
        chapters=chapters,
        across_links=across_links(evidence),
        probe=probe,
        path_details=path_details(evidence),
        sources=journal.sources,
        neighbours=neighbours(evidence),
        explanations=tuple(journal.explanations.values()),
        lines_of_code={path.name: path.lines_of_code for path in journal.paths.values() if path.lines_of_code},
        lines_of_code_closure={
            path.name: path.lines_of_code_closure for path in journal.paths.values() if path.lines_of_code_closure
        },
    )
    spent = _spent(evidence)
    return msgspec.structs.replace(
        analysis, answer=answer(analysis, leading, sentences, spent), pictures=pictures(analysis, spent)
    )


def _of_kind(kind: str, texts: Iterable[str]) -> list[Sentence]:
    return [Sentence(kind, text) for text in texts]


def _spent(evidence: Evidence) -> SpentBy:
    """Where the time of every ranked path goes."""
    ranked_cells = (evidence.cell(row, each) for each in evidence.rankings for row in each.rows if row.rank)
    return {cell.key: Spent(*parts) for cell in ranked_cells if cell and (parts := shares(cell))}


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
