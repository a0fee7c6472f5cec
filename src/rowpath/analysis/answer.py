"""The short form of an analysis, built once for terminal, page, Markdown and JSON: what to show, and what to count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from rowpath import text
from rowpath.analysis.answer_model import (
    Answer,
    Bar,
    Finding,
    GroupAnswer,
    Hidden,
    MergedFinding,
    PhaseAnswer,
    RateBar,
    Sentence,
    Trust,
    TrustLevel,
)
from rowpath.analysis.chapters.mixed_load import report_of
from rowpath.analysis.chapters.mixed_load.groups import GroupFigures
from rowpath.analysis.model import Analysis, RankedPath, Ranking
from rowpath.analysis.probe_results import FULL, TOO_BUSY
from rowpath.analysis.statistics.intervals import SETS_FOR_CLAIMS
from rowpath.analysis.wording import words
from rowpath.model.grouping import grouped
from rowpath.model.probe import LanguageBest, LanguageRow

SENTENCES = 5
# By what a run is about: kinds of sentences in the order in which they are chosen.
CHOSEN = {
    "probe": ("probe", "uncertain", "probe", "uncertain", "probe", "tried", "probe", "uncertain", "time"),
    "groups": ("groups", "groups", "groups", "uncertain", "groups", "groups", "fastest", "time", "parts"),
    "retrieval": ("retrieval", "retrieval", "reading", "parts", "uncertain", "time", "retrieval", "fastest"),
    "": (
        "fastest", "fastest", "uncertain", "deployment", "parts", "language", "time", "driver", "published",
        "fastest", "deployment", "language", "time",
    ),
}  # fmt: skip
SHOWN = (
    "probe", "tried", "groups", "fastest", "retrieval", "reading", "deployment", "language", "driver", "parts", "time",
    "published", "conditions", "uncertain",
)  # fmt: skip
AS_THEY_COME = ("probe", "groups", "retrieval", "fastest")  # others: the weightiest first
SEVERITIES = ("error", "warning", "note")
# Of its paths' time, where a finding does not know the share itself.
UNKNOWN_SHARE = {"error": 1.0, "warning": 0.5, "note": 0.05}
LONGEST_TEXT = 76
CLOCKS_DISAGREE = 1.02
NAMED = 2
NOT_QUIET = ("machine-speed-changed", "disturbed-blocks", "neighbour-noise")
NOT_RIGHT = ("wrong", "failed")
TITLES = {
    "still-compiling": "measured while compilers were at work",
    "warm-up-not-reached": "no steady state while warming up",
    "width-not-reached": "intervals wider than the target",
    "converted-values": "values that arrive as text and are converted inside the clock",
    "periodic-cost": "a cost that the median hides",
    "missing-path": "did not run",
    "sync-bound-writes": "bound by the disk's syncs",
    "result-buffered-whole": "whole result held in memory",
    "clock-too-coarse": "operations too short for their language's clock",
    "implicit-transaction": "implicit transactions",
    "backup-slows": "slowed by a backup",
    "collector-pauses": "garbage collection",
    "stand-in": "no real engine answered",
}
FORMS = {"block": "blocks", "columnar": "columns", "copy": "COPY"}


@dataclass(frozen=True)
class Spent:
    """Shares of an operation's time; None where they were not measured."""

    client: float
    server: float | None


SpentBy = Mapping[tuple[str, str, str, str], Spent]  # by path id, workload, phase, regime


def answer(analysis: Analysis, leading: Sequence[Ranking], sentences: Sequence[Sentence], spent: SpentBy) -> Answer:
    """The answer; `leading`: the rankings to show, `sentences`: all, `spent`: where the time of a cell goes."""
    maker = _Maker(analysis, spent)
    phases = _languages(analysis) if analysis.probe else tuple(map(maker.phase, leading))
    groups = _groups(analysis)
    found = merged(analysis.findings, phases)
    return Answer(
        question=analysis.run.experiment.question or analysis.run.experiment.title or "Which path is fastest?",
        trust=trust(analysis),
        phases=phases,
        groups=groups,
        sentences=chosen(sentences),
        findings=found,
        hidden=tuple(_hidden(analysis, leading, sentences)),
    )


def pictures(analysis: Analysis, spent: SpentBy) -> tuple[PhaseAnswer, ...]:
    """Every ranking as bars, in their order."""
    return tuple(map(_Maker(analysis, spent).phase, analysis.rankings))


def _hidden(analysis: Analysis, leading: Sequence[Ranking], sentences: Sequence[Sentence]) -> Iterator[Hidden]:
    counts = {
        "rankings": len(analysis.rankings) - (0 if analysis.probe else len(leading)),
        "sentences": len(sentences) - len(chosen(sentences)),
        "paths that did not run": len(analysis.dropped),
        "claims": len(analysis.claims),
        "published figures": len(analysis.published),
    }
    return (Hidden(what, count) for what, count in counts.items() if count > 0)


class _Maker:
    """Makes the pictures of rankings."""

    def __init__(self, analysis: Analysis, spent: SpentBy) -> None:
        self.spent = spent
        self.results = {
            (each.name, each.workload, each.phase, each.regime, each.metric): each
            for each in analysis.results
            if not each.client_group and not each.stage
        }

    def phase(self, ranking: Ranking) -> PhaseAnswer:
        """A ranking's paths as bars."""
        ranked = [row for row in ranking.rows if row.rank and row.cost_ns]
        where = ranking.workload, ranking.phase, ranking.regime
        tiers = [row.tier for row in ranked]
        bars = [
            self._bar(row, where, tied=at > 0 and tiers[at - 1] == row.tier, first=ranked[0])
            for at, row in enumerate(ranked)
        ]
        return PhaseAnswer(
            *where,
            ranking.comparison,
            f"{ranking.workload}.{ranking.phase}",
            tuple(bars),
            ranking.floor_ns,
            {row.name: row.reason or row.status for row in ranking.rows if not row.rank},
            ranking.sets,
            self._rows(ranked, where),
        )

    def _rows(self, ranked: list[RankedPath], where: tuple[str, str, str]) -> float:
        for row in ranked:
            rate, row_rate = (self.results.get((row.name, *where, name)) for name in ("rate", "row_rate"))
            if rate is not None and row_rate is not None and rate.median and row_rate.median:
                return round(row_rate.median / rate.median, 6)
        return 0.0

    def _bar(self, row: RankedPath, where: tuple[str, str, str], *, tied: bool, first: RankedPath) -> Bar:
        cost = row.cost_ns or 0.0
        time = self.results.get((row.name, *where, "time"))
        bar = Bar(
            name=row.name,
            path_id=row.path_id,
            cost_ns=cost,
            low_ns=time.low if time else None,
            high_ns=time.high if time else None,
            ratio=row.ratio or cost / (first.cost_ns or cost),
            ratio_low=row.ratio_low,
            ratio_high=row.ratio_high,
            tier=row.tier,
            tied=tied,
            provisional=row.provisional,
        )
        spent = self.spent.get((row.path_id, *where))
        if spent is None:
            return bar
        both = spent.client + (spent.server or 0.0)
        over = both if 1 < both <= CLOCKS_DISAGREE else 1.0  # no overlap, only clocks that disagree
        return replace(
            bar,
            client_cpu_ns=spent.client * cost / over,
            server_cpu_ns=spent.server * cost / over if spent.server is not None else None,
            waiting_ns=max(0.0, 1 - both) * cost,
            overlap_ns=max(0.0, both / over - 1) * cost,
        )


def _languages(analysis: Analysis) -> tuple[PhaseAnswer, ...]:
    """A probe's picture: per language its drivers in their fastest settings; none where its fastest was refused."""
    if analysis.probe is None:
        return ()
    ids = {name: path_id for path_id, name in analysis.names.items()}
    sets = max((ranking.sets for ranking in analysis.rankings), default=0)
    first = analysis.rankings[0] if analysis.rankings else None
    where = (first.workload, first.phase, first.regime) if first else ("", "", "steady")
    found = []
    for best in analysis.probe.languages:
        tried = [each for each in analysis.probe.tried if each.path["language"] == best.language]
        unranked = {each.description or each.name: each.left or each.status for each in tried if each.status != "ok"}
        unranked |= {row.description: row.step for row in best.rows if row.step == TOO_BUSY}
        bars = () if best.step == TOO_BUSY else tuple(_language_bars(best, analysis, ids))
        title = best.title or best.language
        found.append(PhaseAnswer(*where, f"language={best.language}", title, bars, None, unranked, sets))
    return tuple(found)


def _language_bars(best: LanguageBest, analysis: Analysis, ids: Mapping[str, str]) -> Iterator[Bar]:
    tiers = {row.name: row.tier for ranking in analysis.rankings for row in ranking.rows if row.rank}
    few = {row.name for ranking in analysis.rankings for row in ranking.rows if row.rank and row.provisional}
    before: LanguageRow | None = None
    for at, row in enumerate(row for row in best.rows if row.step != TOO_BUSY):
        tied = before is not None and row.name in tiers and tiers.get(before.name) == tiers[row.name]
        low, high = (end * best.rows[0].time_ns if end is not None else None for end in (row.low, row.high))
        full = row.name in tiers or row.step == FULL
        notes = (row.baseline, FORMS.get(row.form, ""), "" if full else row.step)
        yield Bar(
            name=row.description,
            path_id=ids.get(row.name, row.name),
            cost_ns=row.time_ns,
            low_ns=low,
            high_ns=high,
            ratio=row.ratio,
            ratio_low=row.low,
            ratio_high=row.high,
            tier=tiers.get(row.name, at),
            tied=tied,
            provisional=not full or row.name in few,
            note=", ".join(filter(None, notes)),
        )
        before = row


def _groups(analysis: Analysis) -> tuple[GroupAnswer, ...]:
    """Every client group in every stage, its paths side by side."""
    figures = report_of(analysis).figures
    found = grouped(figures, lambda each: (each.stage, each.client_group))
    return tuple(
        GroupAnswer(
            stage,
            group,
            max(each.clients for each in listed),
            next((each.requested_per_s for each in listed if each.requested_per_s), None),
            tuple(_rate_bars(listed)),
            max(each.sets for each in listed),
        )
        for (stage, group), listed in found.items()
    )


def _rate_bars(listed: Sequence[GroupFigures]) -> Iterator[RateBar]:
    most = max(each.rate_per_s for each in listed)
    for each in sorted(listed, key=lambda each: -each.rate_per_s):
        tail = each.latency if each.requested_per_s else each.service
        yield RateBar(
            each.name,
            each.path_id,
            each.rate_per_s,
            each.low,
            each.high,
            each.rate_per_s / most if most else 1.0,
            tail.p99_ns if tail else None,
            each.reached,
            each.failed,
        )


def chosen(sentences: Sequence[Sentence]) -> tuple[str, ...]:
    """Choose at most five sentences, in the order of `CHOSEN`, grouped by kind."""
    by_kind = grouped(sentences, lambda one: one.kind)
    waiting = {
        kind: list(each) if kind in AS_THEY_COME else sorted(each, key=lambda one: -one.weight)
        for kind, each in by_kind.items()
    }
    about = next((kind for kind in CHOSEN if kind in by_kind), "")
    kept: list[Sentence] = []
    for kind in CHOSEN[about]:
        if waiting.get(kind) and len(kept) < SENTENCES:
            kept.append(waiting[kind].pop(0))
    return tuple(one.text for one in sorted(kept, key=lambda one: SHOWN.index(one.kind)))


def merged(findings: Sequence[Finding], phases: Sequence[PhaseAnswer] = ()) -> tuple[MergedFinding, ...]:
    """Findings of one id as one, the most consequential first: errors, then by the share of time they concern."""
    costs = [_Costs(phase) for phase in phases]
    made = [_merged(id_, listed, costs) for id_, listed in grouped(findings, lambda one: one.id).items()]
    return tuple(sorted(made, key=lambda one: (one.severity != "error", -one.weight)))


class _Costs:
    """The times of a phase's paths, by name."""

    def __init__(self, phase: PhaseAnswer) -> None:
        self._ns = [bar.cost_ns for bar in phase.bars]
        self.sum = sum(self._ns)
        self.places: dict[str, list[int]] = {}
        for place, bar in enumerate(phase.bars):
            self.places.setdefault(bar.name, []).append(place)

    def of(self, names: Sequence[str]) -> float:
        """The time of these paths; summed in the order of the bars."""
        return sum(self._ns[place] for place in sorted({at for name in names for at in self.places.get(name, ())}))


def _merged(id_: str, listed: Sequence[Finding], phases: Sequence[_Costs]) -> MergedFinding:
    paths = tuple(dict.fromkeys(name for each in listed for name in each.paths))
    severity = min((each.severity for each in listed), key=SEVERITIES.index)
    title = TITLES.get(id_, id_.replace("-", " "))
    if len(listed) == 1 and (len(listed[0].text) <= LONGEST_TEXT or not paths):
        line = listed[0].text
    elif paths:
        line = f"{title}: {words(paths) if len(paths) <= NAMED else f'{len(paths)} paths'}"
    else:
        line = f"{title}: {len(listed)} times"
    weight = sum(_weight(each, phases) for each in listed)
    return MergedFinding(id_, severity, line, paths, weight, tuple(listed))


def _weight(finding: Finding, phases: Sequence[_Costs]) -> float:
    """The share of the time of all ranked paths that a finding explains or puts in doubt; no path named: of all."""
    share = finding.share if finding.share is not None else UNKNOWN_SHARE[finding.severity]
    parts = [phase.of(finding.paths) / phase.sum for phase in phases if phase.sum]
    concerned = sum(parts) / len(parts) if parts and finding.paths else 1.0
    return share * concerned


def trust(analysis: Analysis) -> Trust:
    """How far a run can be trusted: the worst level that holds, and a sentence for all that counts against the run."""
    ranked = [row for ranking in analysis.rankings for row in ranking.rows if row.rank]
    sets = max((ranking.sets for ranking in analysis.rankings), default=0)
    if report_of(analysis).figures and not sets:
        sets = max(each.sets for each in report_of(analysis).figures)
    journal = analysis.diagnostics.get("journal", {})
    outcome = journal.get("outcome", "complete")
    noise = [each for each in analysis.findings if each.id in NOT_QUIET and each.severity != "note"]
    bad = {
        status: {row.name for ranking in analysis.rankings for row in ranking.rows if row.status == status}
        for status in NOT_RIGHT
    }
    unproven = dict.fromkeys(row.name for row in ranked if row.reason.startswith("rows not verified"))
    groups = analysis.probe.digest_groups if analysis.probe else ()
    unproven |= dict.fromkeys(name for each in groups[1:] for name in each.names)
    few = {row.name for row in ranked if row.provisional} if sets >= SETS_FOR_CLAIMS else set()
    reasons: dict[TrustLevel, list[str]] = {
        "refused": [analysis.refusal] if analysis.refusal else [],
        "partial": [f"The run is partial: {outcome}."] if outcome != "complete" else [],
        "unproven": [f"The rows of {words(unproven)} were not verified."] if unproven else [],
        "provisional": [f"{_count(sets, 'set')}: claims need {SETS_FOR_CLAIMS}."] if sets < SETS_FOR_CLAIMS else [],
        "disturbed": [_sentence(each.text) for each in noise],
    }
    level: TrustLevel = next((name for name, found in reasons.items() if found), "proven and quiet")
    listed = [reason for found in reasons.values() for reason in found]
    listed += [f"{_count(len(names), 'path')} {status}: not ranked." for status, names in bad.items() if names]
    listed += [f"{_count(len(few), 'path')} with fewer than {SETS_FOR_CLAIMS} sets: provisional."] if few else []
    listed += [_sentence(each.text) for each in analysis.findings if each.id == "still-compiling"]
    not_compared = analysis.probe.not_compared if analysis.probe else ""
    listed += [not_compared] if not_compared else []
    rows = f"rows of {_count(len(unproven), 'path')} not verified" if unproven else _proven(analysis)
    wrong = words(f"{len(names)} {status}" for status, names in bad.items() if names)
    rows += f", {wrong} (not ranked)" if wrong else ""
    rows += ", some columns not compared" if not_compared else ""
    quiet = noise[0].text if noise else "machine quiet"
    facts = [_count(sets, "set")] if sets else []
    facts += dict.fromkeys(each.evidence for each in analysis.findings if each.id == "stand-in")
    return Trust(level, f"{level}: {'; '.join([*facts, rows, quiet])}", tuple(listed))


def _proven(analysis: Analysis) -> str:
    """What of all rows, or of all values of client groups, was proven right; no ranked path is without a proof."""
    if any(row.rank for ranking in analysis.rankings for row in ranking.rows):
        return "all ranked rows proven"
    figures = report_of(analysis).figures
    if not figures:
        return "nothing ranked"
    checked = {each.touch_ok for each in figures}
    return "all values checked" if True in checked and False not in checked else "not all values checked"


def _sentence(finding: str) -> str:
    return f"{finding[:1].upper()}{finding[1:]}."


def _count(number: int, noun: str) -> str:
    return f"{text.count(number)} {noun}{'' if number == 1 else 's'}"
