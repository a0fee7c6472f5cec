"""What client groups at work at once did: one report of several topics, each topic in a file of its own.

The figures of all topics are one report, since they share the stages of a run, and stand in the JSON under one key.
`evidence.stage_runs` is where they come from: each stage as one path went through it in one set. The metrics of each
set (`evidence.group_values`) are made of those for the long form and for claims, and the topics summarise both over
the sets. What comes out are sections in reading order, sentences of the verdict, and time lines.

The data meets `groups` first: rates, percentiles and failures of each group, and what each stage used. `deployments`
then compares a server with the same engine embedded, and tells of databases that were copied between the two.
`backups` has backups, their effect and the acknowledged writes, `rate_search` the highest rates under a bound, `hosts`
the share of each host. `time_line` has the seconds, as series, as a table and as means of each stage;
`time_line_drawing` draws them. A topic knows neither the report nor another topic's figures; this file alone does.
"""

from __future__ import annotations

from collections.abc import Iterator

from rowpath import text as fmt
from rowpath.analysis.answer_model import Sentence
from rowpath.analysis.chapter import Chapter
from rowpath.analysis.chapters.mixed_load import backups, deployments, groups, hosts, rate_search, time_line
from rowpath.analysis.chapters.mixed_load.backups import AcknowledgedCheck, BackupEffect, BackupFigures
from rowpath.analysis.chapters.mixed_load.deployments import DirectoryCopy, GroupRatio
from rowpath.analysis.chapters.mixed_load.groups import GroupFigures, StageFigures
from rowpath.analysis.chapters.mixed_load.hosts import HostsStart, HostWork
from rowpath.analysis.chapters.mixed_load.rate_search import RateSearch
from rowpath.analysis.chapters.mixed_load.time_line import TimeLine
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.model import Analysis
from rowpath.analysis.statistics.intervals import SETS_FOR_CLAIMS
from rowpath.drawing.grid import Grid
from rowpath.drawing.section import Opening, Section
from rowpath.journal.mixed_load_records import DirectoryCopyRecord, RateTryRecord
from rowpath.model.base import Frozen


class MixedLoadReport(Frozen, frozen=True):
    """Everything about groups that the reports show."""

    figures: tuple[GroupFigures, ...] = ()
    backups: tuple[BackupFigures, ...] = ()
    effects: tuple[BackupEffect, ...] = ()
    stages: tuple[StageFigures, ...] = ()
    ratios: tuple[GroupRatio, ...] = ()
    checks: tuple[AcknowledgedCheck, ...] = ()
    moves: tuple[DirectoryCopy, ...] = ()
    rate_searches: tuple[RateSearch, ...] = ()
    lines: tuple[TimeLine, ...] = ()
    hosts: tuple[HostWork, ...] = ()
    starts: tuple[HostsStart, ...] = ()


def gathered(evidence: Evidence) -> MixedLoadReport | None:
    """What the groups of a run did, None when it had none."""
    copied, tried = evidence.journal.all(DirectoryCopyRecord), evidence.journal.all(RateTryRecord)
    if not (evidence.stage_runs or copied or tried):
        return None
    return MixedLoadReport(
        figures=tuple(groups.figures(evidence)),
        backups=tuple(backups.backups(evidence)),
        effects=tuple(backups.effects(evidence)),
        stages=tuple(groups.stages(evidence)),
        ratios=tuple(deployments.ratios(evidence)),
        checks=tuple(backups.checks(evidence)),
        moves=tuple(deployments.moves(evidence)),
        rate_searches=tuple(rate_search.searches(evidence)),
        lines=tuple(time_line.time_lines(evidence)),
        hosts=tuple(hosts.works(evidence)),
        starts=tuple(hosts.starts(evidence)),
    )


def sentences(report: MixedLoadReport | None) -> Iterator[Sentence]:
    """Lost hosts, backups' effect, embedded beside server, latencies, bytes, missed rates, backups, lost writes."""
    if report is None:
        return
    kinds = (
        hosts.lost_sentences(report.hosts),
        backups.effect_sentences(report.effects),
        deployments.ratio_sentences(report.ratios),
        groups.latency_sentences(report.figures),
        groups.traffic_sentences(report.stages, report.figures),
        groups.missed_sentences(report.figures),
        backups.backup_sentences(report.backups),
        backups.acknowledged_sentences(report.checks),
        deployments.move_sentences(report.moves),
        rate_search.verdict_sentences(report.rate_searches),
    )
    yield from (Sentence("groups", text) for texts in kinds for text in texts)
    sets = max((group.sets for group in report.figures), default=SETS_FOR_CLAIMS)
    if sets < SETS_FOR_CLAIMS:
        yield Sentence("uncertain", f"Provisional: {fmt.counted(sets, 'set')}, and claims need {SETS_FOR_CLAIMS}.")


def sections(report: MixedLoadReport | None, _lookup: Lookup | None = None) -> Iterator[Section]:
    """Every table with its opening, in the order in which they are read."""
    if report is not None:
        for key, grid, opening in _tables(report):
            yield Section(f"groups-{key}", grid, opening, leading=key != "processes")


def _tables(report: MixedLoadReport) -> Iterator[tuple[str, Grid, Opening]]:
    ratios = Opening(deployments.ratios_sentence(report.ratios), bars=deployments.ratios_picture(report.ratios))
    effects = Opening(backups.effects_sentence(report.effects), bars=backups.effects_picture(report.effects))
    lost = Opening(backups.acknowledged_sentence(report.checks))
    yield "beside", groups.beside_grid(report.figures), Opening()
    yield "ratios", deployments.ratios_grid(report.ratios), ratios
    for number, table in enumerate(groups.path_tables(report.figures)):
        yield (f"path-{number}", *table)
    yield "backups", backups.backups_grid(report.backups), Opening(backups.backups_sentence(report.backups))
    yield "effects", backups.effects_grid(report.effects), effects
    yield "acknowledged", backups.acknowledged_grid(report.checks), lost
    yield "failures", groups.failures_grid(report.figures), Opening()
    yield "moves", deployments.moves_grid(report.moves), Opening()
    for number, table in enumerate(rate_search.tables(report.rate_searches)):
        yield (f"rates-{number}", *table)
    yield "hosts", hosts.works_grid(report.hosts), Opening()
    yield "starts", hosts.starts_grid(report.starts), Opening()
    yield "stages", groups.stages_grid(report.stages), Opening()
    yield "processes", time_line.processes_grid(report.lines), Opening()


CHAPTER = Chapter("mixed_load", gathered, sections, sentences, place="mixed_load", nothing=None)


def report_of(source: Analysis | Evidence) -> MixedLoadReport:
    """The report that an analysis or evidence has, an empty one where no groups were at work."""
    return CHAPTER.of(source) or MixedLoadReport()
