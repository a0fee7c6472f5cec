"""The chapters of a report beside its rankings: each a table, begun with the sentence that answers and its picture."""

from __future__ import annotations

from rowpath.analysis.chapters import CHAPTERS
from rowpath.analysis.curves_model import Sweep
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.model import Analysis
from rowpath.drawing.line_chart import Chart
from rowpath.drawing.section import Opening, Section, of_bars, of_chart, section_key
from rowpath.model.grouping import grouped
from rowpath.report import probe
from rowpath.report.cross_phase import (
    cost_model_chart,
    cost_model_grid,
    cost_model_sentence,
    link_grid,
    link_picture,
    link_sentence,
    loading_chart,
    loading_grid,
    loading_sentence,
)
from rowpath.report.growth import many_grid, sweep_chart, sweep_grid, sweep_sentence
from rowpath.report.published import claims_grid, claims_sentence, published_grid, published_picture, published_sentence
from rowpath.report.retrieval import (
    retrieval_grid,
    retrieval_picture,
    retrieval_sentence,
)
from rowpath.report.scaling import scaling_chart, scaling_grid, scaling_sentence


def across(analysis: Analysis, lookup: Lookup) -> tuple[Section, ...]:
    """The chapters over several phases; of a probe, its own first."""
    workloads = dict.fromkeys(ranking.workload for ranking in analysis.rankings)
    sections = [
        Section(
            section_key(workload, "loading"),
            loading_grid(analysis, workload, lookup),
            of_chart(loading_sentence(analysis, workload, lookup), loading_chart(analysis, workload, lookup)),
            leading=True,
        )
        for workload in workloads
    ]
    links = of_bars(link_sentence(analysis.across_links), link_picture(analysis.across_links))
    sections.append(Section("links", link_grid(analysis.across_links), links, leading=True))
    many = analysis.run.experiment.per_operations
    together = grouped(analysis.rankings if many else (), lambda ranking: (ranking.workload, ranking.phase))
    for (workload, phase), rankings in together.items():
        # Published figures are of fresh programs: the cold ones are what stands beside them.
        regime = "cold" if any(each.regime == "cold" for each in rankings) else "steady"
        names = dict.fromkeys(row.name for each in rankings for row in each.rows if row.is_ranked)
        grid = many_grid(lookup.measured(workload, phase, regime), names, lookup, many)
        sections.append(Section(section_key(workload, phase, "many"), grid, leading=True))
    for number, sweep in enumerate(analysis.sweeps):
        chart = _sweep_chart(analysis, sweep, lookup)
        opening = of_chart(sweep_sentence(sweep), chart)
        sections.append(Section(f"sweep-{number}", sweep_grid(sweep), opening, leading=True))
    for number, retrieval in enumerate(analysis.retrievals):
        opening = of_bars(retrieval_sentence(retrieval), retrieval_picture(retrieval))
        sections.append(Section(f"retrieval-{number}", retrieval_grid(retrieval), opening, leading=True))
    for chapter in CHAPTERS.values():
        sections += chapter.shown(analysis, lookup) if chapter.place == "across" else []
    sections += _scalings(analysis)
    costs = of_chart(cost_model_sentence(analysis.cost_models), cost_model_chart(analysis.cost_models))
    sections.append(Section("cost-model", cost_model_grid(analysis.cost_models), costs, leading=True))
    probed = (Section(f"probe-{key}", grid, leading=key != "tried") for key, grid in probe.grids(analysis))
    return (*probed, *(section for section in sections if section.grid.rows))


def mixed_load_chapters(analysis: Analysis, lookup: Lookup) -> tuple[Section, ...]:
    """The chapters about client groups at work at once."""
    chapters = (chapter for chapter in CHAPTERS.values() if chapter.place == "mixed_load")
    return tuple(section for chapter in chapters for section in chapter.shown(analysis, lookup))


def claims(analysis: Analysis) -> Section | None:
    """What was published, checked against this run."""
    if not analysis.claims:
        return None
    return Section("claims", claims_grid(analysis.claims), Opening(claims_sentence(analysis.claims)))


def published(analysis: Analysis) -> tuple[Section, ...]:
    """Published figures beside those measured here, one for each of their columns."""
    columns = grouped(analysis.published, lambda each: each.column)
    return tuple(
        Section(
            f"published-{number}",
            published_grid(column, rows),
            of_bars(published_sentence(rows), published_picture(column, rows)),
        )
        for number, (column, rows) in enumerate(columns.items())
    )


def _sweep_chart(analysis: Analysis, sweep: Sweep, lookup: Lookup) -> Chart | None:
    table = analysis.run.experiment.sweep
    workload = analysis.run.workloads.get(table.workload) if table else None
    return sweep_chart(sweep, workload, lookup) if workload else None


def _scalings(analysis: Analysis) -> list[Section]:
    """A table per path retrieving in parts; the first of a phase begins with the chart of all of them."""
    together = grouped(analysis.scalings, lambda scaling: (scaling.workload, scaling.phase))
    sections = []
    for names, found in together.items():
        for number, scaling in enumerate(found):
            key = section_key(*names, "parts", str(number))
            opening = Opening() if number else of_chart(scaling_sentence(found), scaling_chart(found))
            sections.append(Section(key, scaling_grid(scaling), opening, leading=True))
    return sections
