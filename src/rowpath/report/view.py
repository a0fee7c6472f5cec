"""The view model: what every output form shows, in the order in which it is read, as finished text."""

from __future__ import annotations

import shlex
from collections.abc import Callable

import msgspec

from rowpath import text as fmt
from rowpath.analysis.answer_model import Finding, MergedFinding, Trust
from rowpath.analysis.chapters.mixed_load import report_of
from rowpath.analysis.chapters.mixed_load.time_line_drawing import by_path as time_lines
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.model import Analysis, RankedPath, Ranking
from rowpath.drawing import grid as tables
from rowpath.drawing.grid import Column, Grid, Row
from rowpath.drawing.picture import Picture
from rowpath.drawing.section import Opening, Section, TimeLines, of_chart, section_key
from rowpath.model.base import Frozen
from rowpath.model.grouping import grouped
from rowpath.model.probe import Snippet
from rowpath.report import probe, statement, time_parts
from rowpath.report.chapters import (
    across,
    claims,
    mixed_load_chapters,
    published,
)
from rowpath.report.choose import Choose, choose
from rowpath.report.cross_phase import clients_chart, clients_grid, clients_sentence
from rowpath.report.path_panel import Panels, codes
from rowpath.report.picture import Pictures
from rowpath.report.pipelines import pipelines_grid, pipelines_sentence
from rowpath.report.ranking import means_differ, ranking_grid
from rowpath.report.resources import effort_grid, regimes_grid, resources_grid
from rowpath.report.run_order import order_blocks, order_grid

# What a sign in a ranking means, and whether a row has it.
MARKS: dict[str, Callable[[RankedPath], bool]] = {
    "differs: significantly different from the path above (family-wise 95 %, Holm).": lambda row: row.rank > 1,
    "= tied: difference not shown to exceed 2 %.": lambda row: row.status == "tied",
    "(p) provisional: too few sets for a claim.": lambda row: row.provisional,
    "(a) indirect comparison, through an anchor path measured in both sets.": lambda row: row.through_anchor,
    "mean ratio: shown where it exceeds the median ratio by more than 3 %.": means_differ,
}


class RankingView(Frozen, frozen=True):
    """One ranking: what its paths have in common, its picture, its table, its remarks."""

    regime: str
    comparison: str
    section: Section
    picture: Picture | None  # None: no path is ranked
    leading: bool  # its picture stands on the first screen
    remarks: tuple[str, ...]


class Operation(Frozen, frozen=True):
    """Everything about one phase of a workload."""

    key: str
    title: str
    query: str  # as most engines get it; a path whose engine gets another one names it in its panel
    rankings: tuple[RankingView, ...]
    sections: tuple[Section, ...]


class View(Frozen, frozen=True):
    """A report."""

    title: str
    name: str  # of the experiment
    facts: tuple[str, ...]
    refusal: str  # the first line; empty when every path has its answer
    question: str
    verdict: tuple[str, ...]  # every sentence
    sentences: tuple[str, ...]  # those that answer; the first few of them on the first screen
    certainty: Trust
    lead: tuple[Picture, ...]  # what the first screen shows
    findings: tuple[Finding, ...]
    merged: tuple[MergedFinding, ...]  # the most consequential first
    first: tuple[Section, ...]  # what answers the question, where that is not a ranking
    operations: tuple[Operation, ...]
    across: tuple[Section, ...]  # tables over several phases
    time: tuple[Section, ...]  # where it goes, of the paths that were explained
    mixed_load: tuple[Section, ...]  # at work at once
    time_lines: tuple[TimeLines, ...]
    marks: tuple[str, ...]  # what the signs in the rankings mean
    claims: Section | None
    published: tuple[Section, ...]
    dropped: Grid | None
    diagnostics: tuple[Section, ...]
    environment: tuple[Grid, ...]
    commands: tuple[str, ...]
    snippets: tuple[Snippet, ...] = ()
    codes: dict[str, str] = {}  # the adapters' texts by file
    paths: tuple[dict[str, str], ...] = ()  # of each path the coordinates that vary, to choose by
    choose: Choose | None = None  # None: no coordinate tells two paths apart


def view(analysis: Analysis) -> View:
    """What the reports show of an analysis; no text in it holds a control character."""
    lookup = Lookup(analysis)
    panels = Panels(analysis, lookup)
    pictures = Pictures(panels, analysis.names, analysis.answer.findings)
    lead, trust = _lead(analysis, pictures), analysis.answer.trust
    return View(
        title=_title(analysis),
        name=fmt.clean(analysis.run.experiment.name),
        facts=_facts(analysis),
        refusal=fmt.clean(analysis.refusal),
        question=fmt.clean(analysis.answer.question),
        verdict=tuple(fmt.clean(sentence) for sentence in analysis.verdict),
        sentences=tuple(fmt.clean(sentence) for sentence in analysis.answer.sentences),
        certainty=Trust(trust.level, fmt.clean(trust.line), tuple(map(fmt.clean, trust.reasons))),
        lead=lead,
        findings=tuple(map(_cleaned, analysis.findings)),
        merged=tuple(map(_cleaned_merged, analysis.answer.findings)),
        first=tuple(Section(f"first-{number}", grid) for number, grid in enumerate(probe.languages(analysis))),
        operations=_operations(analysis, lookup, pictures, lead),
        across=across(analysis, lookup),
        time=time_parts.chapters(analysis),
        mixed_load=mixed_load_chapters(analysis, lookup),
        time_lines=time_lines(report_of(analysis).lines),
        marks=_marks(analysis),
        claims=claims(analysis),
        published=published(analysis),
        dropped=_dropped(analysis),
        diagnostics=_diagnostics(analysis),
        environment=_environment(analysis),
        commands=_commands(analysis),
        snippets=analysis.probe.snippets if analysis.probe else (),
        codes={fmt.clean(file): fmt.printable(text) for file, text in codes(analysis).items()},
        paths=tuple(
            {key: fmt.clean(value) for key, value in lookup.coordinates(name).items() if key in panels.varying}
            for name in analysis.names.values()
        ),
        choose=choose(analysis, lookup, pictures.panel_keys),
    )


def _lead(analysis: Analysis, pictures: Pictures) -> tuple[Picture, ...]:
    """The leading ranking of the first phase; of a probe every language, of client groups every one of them."""
    answer = analysis.answer
    if answer.groups:
        made = [pictures.of_group(f"lead-{number}", group) for number, group in enumerate(answer.groups)]
    else:
        phases = answer.phases if analysis.probe else answer.phases[:1]
        made = [pictures.of_phase(f"lead-{number}", phase) for number, phase in enumerate(phases)]
    return tuple(picture for picture in made if picture)


def _cleaned_merged(finding: MergedFinding) -> MergedFinding:
    return msgspec.structs.replace(
        finding,
        text=fmt.clean(finding.text),
        paths=tuple(map(fmt.clean, finding.paths)),
        members=tuple(map(_cleaned, finding.members)),
    )


def _title(analysis: Analysis) -> str:
    name, title = analysis.run.experiment.name, analysis.run.experiment.title
    return fmt.clean(f"{name}: {title}" if name and title else title or name or "run")


def _facts(analysis: Analysis) -> tuple[str, ...]:
    run = analysis.run
    ranked = {row.name for ranking in analysis.rankings for row in ranking.rows if row.is_ranked}
    busy = {each.name for each in report_of(analysis).figures}
    scales = sorted({workload.scale for workload in run.workloads.values() if workload.scale})
    found = (
        run.started[:16].replace("T", " "),
        str(run.environment.get("processor", "")),
        str(run.environment.get("distribution", "")),
        f"{len(ranked)} paths ranked" if ranked or not busy else f"client groups on {len(busy)} paths",
        *(f"scale {scale:g}" for scale in scales),
        f"seed {run.seed}",
        f"Rowpath {run.rowpath}" if run.rowpath else "",
    )
    return tuple(fmt.clean(fact) for fact in found if fact)


def _cleaned(finding: Finding) -> Finding:
    texts = {name: fmt.clean(getattr(finding, name)) for name in ("text", "evidence", "cause", "next_command")}
    return msgspec.structs.replace(finding, **texts)


def _operations(
    analysis: Analysis, lookup: Lookup, pictures: Pictures, lead: tuple[Picture, ...]
) -> tuple[Operation, ...]:
    drawn = dict(zip(analysis.rankings, analysis.pictures, strict=True)) if analysis.pictures else {}
    together = grouped(analysis.rankings, lambda ranking: (ranking.workload, ranking.phase))
    # What only the null engine did is a floor: of interest after what it is the floor of.
    last = {names for names, rankings in together.items() if all(_is_floor(each, lookup) for each in rankings)}
    answered = [(phase.workload, phase.phase) for phase in analysis.answer.phases]
    ordered = sorted(
        together.items(),
        key=lambda item: (item[0] in last, answered.index(item[0]) if item[0] in answered else len(answered)),
    )
    leading = analysis.answer.phases[0] if lead and analysis.answer.phases and not analysis.probe else None

    def shown(ranking: Ranking, key: str) -> tuple[Picture | None, bool]:
        phase = drawn.get(ranking)
        if phase is None:
            return None, False
        return (lead[0], True) if phase == leading else (pictures.of_phase(key, phase), False)

    return tuple(
        _operation(*names, rankings, lookup, shown, statement.common(analysis, *names)) for names, rankings in ordered
    )


def _is_floor(ranking: Ranking, lookup: Lookup) -> bool:
    return all(lookup.coordinate(row.name, "engine") == "null" for row in ranking.rows)


Shown = Callable[[Ranking, str], tuple[Picture | None, bool]]


def _operation(
    workload: str, phase: str, rankings: list[Ranking], lookup: Lookup, shown: Shown, query: str
) -> Operation:
    key = section_key(workload, phase)
    # Cold comes first where published tables are compared; the steady figure is the one to read, so it leads.
    ordered = sorted(rankings, key=lambda ranking: ranking.regime != "steady")
    by_regime = grouped(ordered, lambda ranking: ranking.regime)
    views = [
        _ranking(ranking, section_key(key, regime, str(number)), lookup, shown)
        for regime, listed in by_regime.items()
        for number, ranking in enumerate(listed)
    ]
    names = list(dict.fromkeys(row.name for each in ordered for row in each.rows if row.is_ranked))
    regime = ordered[0].regime
    measured, cold, steady = (lookup.measured(workload, phase, each) for each in (regime, "cold", "steady"))
    clients = clients_chart(measured, names, lookup)
    sections = (
        Section(
            f"{key}-clients",
            clients_grid(measured, names, lookup),
            of_chart(clients_sentence(clients), clients),
            leading=True,
        ),
        Section(
            f"{key}-pipelines",
            pipelines_grid(measured, names, lookup),
            Opening(pipelines_sentence(measured, names, lookup)),
            leading=True,
        ),
        Section(f"{key}-resources", resources_grid(measured, names, lookup)),
        Section(f"{key}-effort", effort_grid(measured, names)),
        Section(f"{key}-regimes", regimes_grid(cold, steady, names)),
    )
    return Operation(
        key=key,
        title=f"{workload} · {phase}",
        query=query,
        rankings=tuple(views),
        sections=tuple(section for section in sections if section.grid.rows),
    )


def _ranking(ranking: Ranking, key: str, lookup: Lookup, shown: Shown) -> RankingView:
    remarks = [fmt.clean(note) for note in ranking.notes]
    if ranking.floor_ns is not None:
        remarks.append(f"Floor: {fmt.duration(ranking.floor_ns)} per operation, the lower bound for any client.")
    picture, leading = shown(ranking, key)
    return RankingView(
        regime=ranking.regime,
        comparison=fmt.clean(ranking.comparison),
        section=Section(f"{key}-table", ranking_grid(ranking, lookup)),
        picture=picture,
        leading=leading,
        remarks=tuple(remarks),
    )


def _marks(analysis: Analysis) -> tuple[str, ...]:
    rows = [row for ranking in analysis.rankings for row in ranking.rows if row.is_ranked]
    return tuple(text for text, has in MARKS.items() if any(map(has, rows)))


def _dropped(analysis: Analysis) -> Grid | None:
    if not analysis.dropped:
        return None
    columns = (Column("path"), Column("status", weight=1), Column("why"), Column("how to enable it", code=True))
    rows = []
    for each in analysis.dropped:
        name = analysis.names.get(each.path.id) or _short(each.path.as_dict())
        rows.append(Row((name, each.status, fmt.clean(each.reason), fmt.clean(each.remedy))))
    return Grid("Paths that did not run", columns, tuple(rows))


def _short(coordinates: dict[str, str]) -> str:
    """A path without a name, by the coordinates that tell paths apart most often."""
    shown = ("engine", "language", "driver", "version", "statement", "fetch", "transport", "placement")
    return fmt.clean(" ".join(coordinates[key] for key in shown if coordinates.get(key, "none") != "none"))


def _diagnostics(analysis: Analysis) -> tuple[Section, ...]:
    captions = {
        "hosts": "Hosts",
        "ways": "The network between the hosts: the floor of every path over it",
        "order": "Run order",
        "digests": "Digests: each path's rows and the generator's",
        "disturbed": "Disturbed blocks",
        "unfiltered": "Ratios including disturbed blocks",
        "noise": "Noise of this machine",
        "floors": "Floors",
        "links": "Emulated links: a round trip of the ping-pong",
        "warm_up": "Warm-up",
        "intervals": "Intervals",
        "journal": "The journal",
        "methods": "Source of each figure",
    }
    sections = []
    for name in dict.fromkeys([*captions, *analysis.diagnostics]):
        value = analysis.diagnostics.get(name)
        if not value:
            continue
        caption = captions.get(name, tables.heading(name).capitalize())
        blocks = order_blocks(value) if name == "order" else []
        grid = order_grid(caption, blocks) if blocks else tables.of_anything(caption, value)
        sections.append(Section(f"trust-{section_key(name)}", grid))
    return tuple(sections)


def _environment(analysis: Analysis) -> tuple[Grid, ...]:
    run = analysis.run
    kept = [
        ("Environment", run.environment),
        ("Options", run.options),
        ("Methods of measuring", None if analysis.diagnostics.get("methods") else run.methods),
    ]
    return tuple(tables.of_mapping(caption, value, ("what", "value")) for caption, value in kept if value)


def _commands(analysis: Analysis) -> tuple[str, ...]:
    words = list(analysis.run.command)
    if not words:
        return ()
    if not any(word.startswith("--seed") for word in words):
        words += ["--seed", str(analysis.run.seed)]
    return (fmt.clean(shlex.join(words)),)
