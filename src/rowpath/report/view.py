"""The view model: what every output form shows, in the order in which it is read, as finished text."""

from __future__ import annotations

import shlex
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from rowpath import text as fmt
from rowpath.analysis.answer_model import Finding, MergedFinding, NotRanked, Trust
from rowpath.analysis.chapter import Place, RankedPhase
from rowpath.analysis.chapters import CHAPTERS, probe
from rowpath.analysis.chapters.mixed_load import report_of
from rowpath.analysis.chapters.mixed_load.time_line_drawing import by_path
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.model import Analysis, RankedPath, Ranking
from rowpath.drawing import grid as tables
from rowpath.drawing.grid import Grid, Heading, Row, figure, line, of_lines, word
from rowpath.drawing.picture import Picture
from rowpath.drawing.section import Section, TimeLines, section_key
from rowpath.model.base import Frozen
from rowpath.model.grouping import grouped
from rowpath.model.probe import Snippet
from rowpath.report import time_parts
from rowpath.report.choose import Choose, choose
from rowpath.report.path_panel import Panels, codes, statement
from rowpath.report.ranking import Pictures, means_differ, ranking_grid

SHOWN_WHOLE, SHOWN_OF_A_LINE = 100_000, 1_000  # characters of a program
TOLD_APART_BY = ("engine", "language", "driver", "version", "statement", "fetch", "transport", "placement")
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


class OperationView(Frozen, frozen=True):
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
    not_ranked: tuple[NotRanked, ...]
    findings: tuple[Finding, ...]
    merged: tuple[MergedFinding, ...]  # the most consequential first
    first: tuple[Section, ...]  # what answers the question, where that is not a ranking
    operations: tuple[OperationView, ...]
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
    rows = [row for ranking in analysis.rankings for row in ranking.rows if row.is_ranked]
    run = analysis.run
    name, title = run.experiment.name, run.experiment.title
    seed = [] if any(word.startswith("--seed") for word in run.command) else ["--seed", str(run.seed)]
    made_in = (
        ("Environment", run.environment),
        ("Options", run.options),
        ("Methods of measuring", {} if analysis.diagnostics.get("methods") else run.methods),
    )
    lead, trust = _lead(analysis, pictures), analysis.answer.trust
    probed = probe.CHAPTER.of(analysis)

    def placed(place: Place) -> tuple[Section, ...]:
        chapters = (chapter for chapter in CHAPTERS.values() if chapter.place == place)
        return _with_rows(one for chapter in chapters for one in chapter.sections(chapter.of(analysis), lookup))

    return View(
        title=fmt.clean(f"{name}: {title}" if name and title else title or name or "run"),
        name=fmt.clean(name),
        facts=_facts(analysis),
        refusal=fmt.clean(analysis.refusal),
        question=fmt.clean(analysis.answer.question),
        verdict=tuple(fmt.clean(sentence) for sentence in analysis.verdict),
        sentences=tuple(fmt.clean(sentence) for sentence in analysis.answer.sentences),
        certainty=Trust(trust.level, fmt.clean(trust.line), tuple(map(fmt.clean, trust.reasons))),
        lead=lead,
        not_ranked=analysis.answer.not_ranked if probed else (),  # else they stand below their ranking
        findings=tuple(map(_cleaned, analysis.findings)),
        merged=tuple(
            msgspec.structs.replace(
                merged,
                text=fmt.clean(merged.text),
                paths=tuple(map(fmt.clean, merged.paths)),
                members=tuple(map(_cleaned, merged.members)),
            )
            for merged in analysis.answer.findings
        ),
        first=placed("first"),
        operations=tuple(_operations(analysis, lookup, pictures, lead)),
        across=placed("across"),
        time=time_parts.chapters(analysis),
        mixed_load=placed("mixed_load"),
        time_lines=by_path(report_of(analysis).lines),
        marks=tuple(text for text, has in MARKS.items() if any(map(has, rows))),
        claims=next(iter(placed("claims")), None),
        published=placed("published"),
        dropped=_dropped(analysis),
        diagnostics=_diagnostics(analysis),
        environment=tuple(tables.of_mapping(caption, value, ("what", "value")) for caption, value in made_in if value),
        commands=(fmt.clean(shlex.join([*run.command, *seed])),) if run.command else (),
        snippets=tuple(map(_shown, probed.snippets)) if probed else (),
        codes={fmt.clean(file): fmt.printable(text) for file, text in codes(analysis).items()},
        paths=tuple(
            {key: fmt.clean(value) for key, value in lookup.coordinates(name).items() if key in panels.varying}
            for name in analysis.names.values()
        ),
        choose=choose(analysis, lookup, pictures.panel_keys),
    )


def _with_rows(sections: Iterable[Section]) -> tuple[Section, ...]:
    return tuple(section for section in sections if section.grid.rows)


def _lead(analysis: Analysis, pictures: Pictures) -> tuple[Picture, ...]:
    """The leading ranking of the first phase; of a probe every language, of client groups every one of them."""
    answer = analysis.answer
    phases = answer.phases if probe.CHAPTER.of(analysis) else answer.phases[:1]
    of_groups = [pictures.of_group(f"lead-{number}", group) for number, group in enumerate(answer.groups)]
    made = of_groups or [pictures.of_phase(f"lead-{number}", phase) for number, phase in enumerate(phases)]
    return tuple(filter(None, made))


def _facts(analysis: Analysis) -> tuple[str, ...]:
    run = analysis.run
    ranked = {row.name for ranking in analysis.rankings for row in ranking.rows if row.is_ranked}
    busy = {group.name for group in report_of(analysis).figures}
    scales = sorted({workload.scale for workload in run.workloads.values() if workload.scale})
    facts = (
        run.started[:16].replace("T", " "),
        str(run.environment.get("processor", "")),
        str(run.environment.get("distribution", "")),
        f"{len(ranked)} paths ranked" if ranked or not busy else f"client groups on {len(busy)} paths",
        *(f"scale {scale:g}" for scale in scales),
        f"seed {run.seed}",
        f"Rowpath {run.rowpath}" if run.rowpath else "",
    )
    return tuple(fmt.clean(fact) for fact in facts if fact)


def _cleaned(finding: Finding) -> Finding:
    texts = {name: fmt.clean(getattr(finding, name)) for name in ("text", "evidence", "cause", "next_command")}
    return msgspec.structs.replace(finding, **texts)


def _operations(
    analysis: Analysis, lookup: Lookup, pictures: Pictures, lead: tuple[Picture, ...]
) -> Iterator[OperationView]:
    drawn = dict(zip(analysis.rankings, analysis.pictures, strict=True)) if analysis.pictures else {}
    together = grouped(analysis.rankings, lambda ranking: (ranking.workload, ranking.phase))
    # What only the null engine did is a floor: of interest after what it is the floor of.
    last = {
        names
        for names, rankings in together.items()
        if all(lookup.coordinate(row.name, "engine") == "null" for ranking in rankings for row in ranking.rows)
    }
    answered = [(phase.workload, phase.phase) for phase in analysis.answer.phases]
    leading = analysis.answer.phases[0] if lead and analysis.answer.phases and not probe.CHAPTER.of(analysis) else None

    def ranked(ranking: Ranking, key: str) -> RankingView:
        remarks = [fmt.clean(note) for note in ranking.notes]
        if ranking.floor_ns is not None:
            remarks.append(f"Floor: {fmt.duration(ranking.floor_ns)} per operation, the lower bound for any client.")
        phase = drawn.get(ranking)
        leads = phase is not None and phase == leading
        return RankingView(
            regime=ranking.regime,
            comparison=fmt.clean(ranking.comparison),
            section=Section(f"{key}-table", ranking_grid(ranking, lookup)),
            picture=lead[0] if leads else pictures.of_phase(key, phase) if phase else None,
            leading=leads,
            remarks=tuple(remarks),
        )

    for workload, phase in sorted(together, key=lambda names: (names in last, [*answered, names].index(names))):
        key = section_key(workload, phase)
        # Cold comes first where published tables are compared; the steady figure is the one to read, so it leads.
        ordered = sorted(together[workload, phase], key=lambda ranking: ranking.regime != "steady")
        names = list(dict.fromkeys(row.name for ranking in ordered for row in ranking.rows if row.is_ranked))
        below = RankedPhase(key, names, lookup.measured(workload, phase, ordered[0].regime), lookup)
        yield OperationView(
            key=key,
            title=f"{workload} · {phase}",
            query=statement(analysis, workload, phase),
            rankings=tuple(
                ranked(ranking, section_key(key, regime, str(number)))
                for regime, rankings in grouped(ordered, lambda ranking: ranking.regime).items()
                for number, ranking in enumerate(rankings)
            ),
            sections=_with_rows(section for chapter in CHAPTERS.values() for section in chapter.of_phase(below)),
        )


def _shown(snippet: Snippet) -> Snippet:
    """Of a very long program the beginning of each line; its file has all of it."""
    if len(snippet.text) <= SHOWN_WHOLE:
        return snippet
    lines = (
        line if len(line) <= SHOWN_OF_A_LINE else f"{line[:SHOWN_OF_A_LINE]} …" for line in snippet.text.split("\n")
    )
    return msgspec.structs.replace(snippet, text="\n".join(lines))


def _dropped(analysis: Analysis) -> Grid | None:
    if not analysis.dropped:
        return None
    columns = (Heading("path"), Heading("status", weight=1), Heading("why"), Heading("how to enable it", code=True))
    rows = []
    for path in analysis.dropped:
        # A path without a name, by the coordinates that tell paths apart most often.
        coordinates = path.path.as_dict()
        short = " ".join(coordinates[key] for key in TOLD_APART_BY if coordinates.get(key, "none") != "none")
        name = analysis.names.get(path.path.id) or fmt.clean(short)
        rows.append(Row((name, path.status, fmt.clean(path.reason), fmt.clean(path.remedy))))
    return Grid("Paths that did not run", columns, tuple(rows))


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

    def section(name: str, value: Any) -> Section:
        caption = captions.get(name, tables.heading(name).capitalize())
        grid = _order(caption, value) if name == "order" else tables.of_anything(caption, value)
        return Section(f"trust-{section_key(name)}", grid)

    named = ((name, analysis.diagnostics.get(name)) for name in dict.fromkeys([*captions, *analysis.diagnostics]))
    return tuple(section(name, value) for name, value in named if value)


def _order(caption: str, blocks: Any) -> Grid:
    """The blocks by path. Where a path stood in the order on average: near 50 % when the order was fair.

    A record of another shape is shown as it is.
    """
    if not isinstance(blocks, list | tuple) or not all(
        isinstance(block, Mapping) and {"name", "at_s"} <= block.keys() for block in blocks
    ):
        return tables.of_anything(caption, blocks)
    by_name = grouped(enumerate(blocks), lambda numbered: fmt.clean(str(numbered[1]["name"])))
    lines = (
        line(
            word("path", name),
            figure("blocks", str(len(placed))),
            figure("mean position", fmt.share(statistics.fmean((at + 0.5) / len(blocks) for at, _block in placed))),
            figure("disturbed", str(sum(bool(block.get("disturbed")) for _at, block in placed))),
        )
        for name, placed in by_name.items()
    )
    return of_lines(caption, lines, "Mean position: near 50 % if the path's blocks are spread evenly over the run.")
