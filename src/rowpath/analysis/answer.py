"""The short form of an analysis, built once for terminal, page, Markdown and JSON: what to show, and what to count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from rowpath import text
from rowpath.analysis import answer_model as model
from rowpath.analysis.answer_model import Bar, Finding, MergedFinding, PhaseAnswer, Sentence, Trust, TrustLevel
from rowpath.analysis.chapters.mixed_load import report_of
from rowpath.analysis.chapters.probe import CHAPTER as PROBE
from rowpath.analysis.chapters.probe import FULL, TOO_BUSY
from rowpath.analysis.chapters.published import CLAIMS, PUBLISHED
from rowpath.analysis.chapters.sizing import CHAPTER as SIZING
from rowpath.analysis.chapters.sizing import headline, trust_of_sizing
from rowpath.analysis.model import Analysis, RankedPath, Ranking
from rowpath.analysis.statistics.intervals import SETS_FOR_CLAIMS
from rowpath.analysis.wording import words
from rowpath.model.grouping import grouped
from rowpath.model.probe import LanguageBest, LanguageRow

SENTENCES = 5
# By what a run is about: kinds of sentences in the order in which they are chosen.
CHOSEN = {
    "sizing": ("sizing", "sizing", "sizing", "uncertain", "sizing", "sizing"),
    "probe": ("probe", "uncertain", "probe", "uncertain", "probe", "tried", "probe", "uncertain", "time"),
    "groups": ("groups", "groups", "groups", "uncertain", "groups", "groups", "fastest", "time", "parts"),
    "retrieval": ("retrieval", "retrieval", "reading", "parts", "uncertain", "time", "retrieval", "fastest"),
    "layers": ("layers", "layers", "layers", "layers", "uncertain", "fastest", "time"),
    "pools": ("pools", "pools", "pools", "pools", "uncertain", "pools", "fastest", "time"),
    "poolers": ("poolers", "poolers", "poolers", "poolers", "uncertain", "fastest", "time"),
    "batches": ("batches", "batches", "batches", "batches", "uncertain", "fastest", "time"),
    "": (
        "fastest", "fastest", "uncertain", "deployment", "parts", "language", "time", "driver", "published",
        "fastest", "deployment", "language", "time",
    ),
}  # fmt: skip
SHOWN = (
    "sizing", "probe", "tried", "groups", "layers", "pools", "poolers", "batches", "fastest", "retrieval", "reading",
    "deployment", "language", "driver", "parts", "time", "published", "conditions", "uncertain",
)  # fmt: skip
# Others: the weightiest first.
AS_THEY_COME = ("sizing", "probe", "groups", "layers", "pools", "poolers", "batches", "retrieval", "fastest")
# Of its paths' time, where a finding does not know the share itself.
UNKNOWN_SHARE = {"error": 1.0, "warning": 0.5, "note": 0.05}
LONGEST_TEXT = 76
CLOCKS_DISAGREE = 1.02
NAMED = 2
NOT_QUIET = ("machine-speed-changed", "disturbed-blocks", "neighbour-noise")
NOT_RIGHT = ("wrong", "failed")
LEAST_WRAPPED = 40  # characters of a message that another one may only repeat in words of its own
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
class TimeShares:
    """Shares of an operation's time; None where they were not measured."""

    client: float
    server: float | None
    pooler: float | None = None


SpentBy = Mapping[tuple[str, str, str, str], TimeShares]  # by path id, workload, phase, regime


def answer(
    analysis: Analysis, leading: Sequence[Ranking], sentences: Sequence[Sentence], spent: SpentBy
) -> model.Answer:
    """The answer; `leading`: the rankings to show, `sentences`: all, `spent`: where the time of a cell goes."""
    phases = _languages(analysis) if PROBE.of(analysis) else tuple(map(_Rankings(analysis, spent).phase, leading))
    shown, experiment = chosen(sentences), analysis.run.experiment
    left_out = {
        "rankings": len(analysis.rankings) - (0 if PROBE.of(analysis) else len(leading)),
        "sentences": len(sentences) - len(shown),
        "paths that did not run": len(analysis.dropped),
        "claims": len(CLAIMS.of(analysis)),
        "published figures": len(PUBLISHED.of(analysis)),
    }
    return model.Answer(
        question=headline(SIZING.of(analysis)) or experiment.question or experiment.title or "Which path is fastest?",
        trust=trust(analysis),
        phases=phases,
        groups=_groups(analysis),
        not_ranked=_not_ranked(analysis),
        sentences=shown,
        findings=merged(analysis.findings, phases),
        hidden=tuple(model.Hidden(what, count) for what, count in left_out.items() if count > 0),
    )


def pictures(analysis: Analysis, spent: SpentBy) -> tuple[PhaseAnswer, ...]:
    """Every ranking as bars, in their order."""
    return tuple(map(_Rankings(analysis, spent).phase, analysis.rankings))


class _Rankings:
    """Makes the bars of rankings."""

    def __init__(self, analysis: Analysis, spent: SpentBy) -> None:
        self.spent = spent
        self.results = {
            (result.name, result.workload, result.phase, result.regime, result.metric): result
            for result in analysis.results
            if not result.client_group and not result.stage
        }

    def phase(self, ranking: Ranking) -> PhaseAnswer:
        """A ranking's paths as bars."""
        ranked = [row for row in ranking.rows if row.rank and row.cost_ns]
        where = ranking.workload, ranking.phase, ranking.regime
        tiers = [None, *(row.tier for row in ranked)]
        return PhaseAnswer(
            *where,
            ranking.comparison,
            f"{ranking.workload}.{ranking.phase}",
            tuple(self._bar(row, where, row.tier == tier, ranked[0]) for tier, row in zip(tiers, ranked, strict=False)),
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

    def _bar(self, row: RankedPath, where: tuple[str, str, str], tied: bool, first: RankedPath) -> Bar:
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
        both = spent.client + (spent.server or 0.0) + (spent.pooler or 0.0)
        over = both if 1 < both <= CLOCKS_DISAGREE else 1.0  # no overlap, only clocks that disagree
        return replace(
            bar,
            client_cpu_ns=spent.client * cost / over,
            server_cpu_ns=spent.server * cost / over if spent.server is not None else None,
            pooler_cpu_ns=spent.pooler * cost / over if spent.pooler is not None else None,
            waiting_ns=max(0.0, 1 - both) * cost,
            overlap_ns=max(0.0, both / over - 1) * cost,
        )


def _not_ranked(analysis: Analysis) -> tuple[model.NotRanked, ...]:
    """Wrong and failed paths by what is wrong with them; each path counts once, settings of a probe too.

    Of a probe also drivers that refused in every setting.
    A driver that wraps an engine's message in words of its own says the same as one that does not.
    """
    out: dict[str, tuple[str, str]] = {}
    examples: dict[str, str] = {}
    if probe := PROBE.of(analysis):
        serving = {(one.path["language"], one.path["driver"]) for one in probe.tried if one.execution_ns}
        for one in probe.tried:
            refuses = one.status == "unsupported" and (one.path["language"], one.path["driver"]) not in serving
            if one.status in NOT_RIGHT or refuses:
                out[one.name] = one.status, one.left.removeprefix("unsupported: ") or one.status
        groups = (group for group in probe.digest_groups if group.example)
        examples = {name: f"; {group.example}" for group in groups for name in group.names}
    for ranking in analysis.rankings:
        for row in ranking.rows:
            if row.status in NOT_RIGHT:
                out.setdefault(row.name, (row.status, row.reason or row.status))
    said = {name: (status, " ".join(why.split())) for name, (status, why) in out.items()}
    shortest_first = sorted(set(said.values()), key=lambda each: len(each[1]))

    def reason(name: str) -> tuple[str, str]:
        status, why = said[name]
        for other, shorter in shortest_first:
            inner = shorter.partition(": ")[2]
            if other == status and len(inner) >= LEAST_WRAPPED and inner in why:
                return other, shorter
        return status, why

    made = []
    for (status, why), alike in grouped(out, reason).items():
        example = next((examples[name] for name in alike if name in examples), "")
        made.append(model.NotRanked(status, tuple(alike), why + example))
    return tuple(sorted(made, key=lambda one: -len(one.names)))


def _languages(analysis: Analysis) -> tuple[PhaseAnswer, ...]:
    """A probe's picture: per language its drivers in their fastest settings; none where its fastest was refused."""
    probe = PROBE.of(analysis)
    if probe is None:
        return ()
    ids = {name: path_id for path_id, name in analysis.names.items()}
    sets = max((ranking.sets for ranking in analysis.rankings), default=0)
    first = analysis.rankings[0] if analysis.rankings else None
    where = (first.workload, first.phase, first.regime) if first else ("", "", "steady")
    phases = []
    for best in probe.languages:
        tried = [one for one in probe.tried if one.path["language"] == best.language]
        unranked = {one.description or one.name: one.left or one.status for one in tried if one.status != "ok"}
        unranked |= {row.description: row.step for row in best.rows if row.step == TOO_BUSY}
        bars = () if best.step == TOO_BUSY else tuple(_language_bars(best, analysis, ids))
        title = best.title or best.language
        phases.append(PhaseAnswer(*where, f"language={best.language}", title, bars, None, unranked, sets))
    return tuple(phases)


def _language_bars(best: LanguageBest, analysis: Analysis, ids: Mapping[str, str]) -> Iterator[Bar]:
    ranked = [row for ranking in analysis.rankings for row in ranking.rows if row.rank]
    tiers = {row.name: row.tier for row in ranked}
    few = {row.name for row in ranked if row.provisional}
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


def _groups(analysis: Analysis) -> tuple[model.GroupAnswer, ...]:
    """Every client group in every stage, its paths side by side."""
    groups = []
    for (stage, group), figures in grouped(
        report_of(analysis).figures, lambda figure: (figure.stage, figure.client_group)
    ).items():
        most = max(figure.rate_per_s for figure in figures)
        bars = [
            model.RateBar(
                figure.name,
                figure.path_id,
                figure.rate_per_s,
                figure.low,
                figure.high,
                figure.rate_per_s / most if most else 1.0,
                tail.p99_ns if (tail := figure.latency if figure.requested_per_s else figure.service) else None,
                figure.reached,
                figure.failed,
            )
            for figure in sorted(figures, key=lambda figure: -figure.rate_per_s)
        ]
        clients, sets = max(figure.clients for figure in figures), max(figure.sets for figure in figures)
        requested = next((figure.requested_per_s for figure in figures if figure.requested_per_s), None)
        groups.append(model.GroupAnswer(stage, group, clients, requested, tuple(bars), sets))
    return tuple(groups)


def chosen(sentences: Sequence[Sentence]) -> tuple[str, ...]:
    """Choose at most five sentences, in the order of `CHOSEN`, grouped by kind."""
    by_kind = grouped(sentences, lambda one: one.kind)
    waiting = {
        kind: same if kind in AS_THEY_COME else sorted(same, key=lambda one: -one.weight)
        for kind, same in by_kind.items()
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
    by_id = grouped(findings, lambda one: one.id)
    return tuple(
        sorted(
            (_merged(id_, listed, costs) for id_, listed in by_id.items()),
            key=lambda one: (one.severity != "error", -one.weight),
        )
    )


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
    paths = tuple(dict.fromkeys(name for finding in listed for name in finding.paths))
    severity = min((finding.severity for finding in listed), key=model.SEVERITIES.index)
    title = TITLES.get(id_, id_.replace("-", " "))
    if len(listed) == 1 and (len(listed[0].text) <= LONGEST_TEXT or not paths):
        line = listed[0].text
    elif paths:
        line = f"{title}: {words(paths) if len(paths) <= NAMED else f'{len(paths)} paths'}"
    else:
        line = f"{title}: {len(listed)} times"
    weight = 0.0  # shares of the time of all ranked paths that findings explain or put in doubt; no path named: of all
    for finding in listed:
        share = finding.share if finding.share is not None else UNKNOWN_SHARE[finding.severity]
        parts = [phase.of(finding.paths) / phase.sum for phase in phases if phase.sum]
        weight += share * (sum(parts) / len(parts) if parts and finding.paths else 1.0)
    return MergedFinding(id_, severity, line, paths, weight, tuple(listed))


def trust(analysis: Analysis) -> Trust:
    """How far a run can be trusted: the worst level that holds, and a sentence for all that counts against the run."""
    journal = analysis.diagnostics.get("journal", {})
    outcome = journal.get("outcome", "complete")
    if sizing := SIZING.of(analysis):
        return trust_of_sizing(sizing, outcome)
    ranked = [row for ranking in analysis.rankings for row in ranking.rows if row.rank]
    sets = max((ranking.sets for ranking in analysis.rankings), default=0)
    if report_of(analysis).figures and not sets:
        sets = max(figure.sets for figure in report_of(analysis).figures)
    noise = [finding for finding in analysis.findings if finding.id in NOT_QUIET and finding.severity != "note"]
    bad = {
        status: {row.name for ranking in analysis.rankings for row in ranking.rows if row.status == status}
        for status in NOT_RIGHT
    }
    unproven = dict.fromkeys(row.name for row in ranked if row.reason.startswith("rows not verified"))
    probe = PROBE.of(analysis)
    groups = probe.digest_groups if probe else ()
    unproven |= dict.fromkeys(name for group in groups if group.tied for name in group.names)
    few = {row.name for row in ranked if row.provisional} if sets >= SETS_FOR_CLAIMS else set()
    reasons: dict[TrustLevel, list[str]] = {
        "refused": [analysis.refusal] if analysis.refusal else [],
        "partial": [f"The run is partial: {outcome}."] if outcome != "complete" else [],
        "unproven": [f"The rows of {words(unproven)} were not verified."] if unproven else [],
        "provisional": [f"{_count(sets, 'set')}: claims need {SETS_FOR_CLAIMS}."] if sets < SETS_FOR_CLAIMS else [],
        "disturbed": [_sentence(finding) for finding in noise],
    }
    level: TrustLevel = next((name for name, against in reasons.items() if against), "proven and quiet")
    listed = [reason for against in reasons.values() for reason in against]
    listed += [f"{_count(len(names), 'path')} {status}: not ranked." for status, names in bad.items() if names]
    listed += [f"{_count(len(few), 'path')} with fewer than {SETS_FOR_CLAIMS} sets: provisional."] if few else []
    listed += [_sentence(finding) for finding in analysis.findings if finding.id == "still-compiling"]
    not_compared = probe.not_compared if probe else ""
    listed += [not_compared] if not_compared else []
    rows = f"rows of {_count(len(unproven), 'path')} not verified" if unproven else _proven(analysis)
    wrong = words(f"{len(names)} {status}" for status, names in bad.items() if names)
    rows += f", {wrong} (not ranked)" if wrong else ""
    rows += ", some columns not compared" if not_compared else ""
    quiet = noise[0].text if noise else "machine quiet"
    facts = [_count(sets, "set")] if sets else []
    facts += dict.fromkeys(finding.evidence for finding in analysis.findings if finding.id == "stand-in")
    return Trust(level, f"{level}: {'; '.join([*facts, rows, quiet])}", tuple(listed))


def _proven(analysis: Analysis) -> str:
    """What of all rows, or of all values of client groups, was proven right; no ranked path is without a proof."""
    if any(row.rank for ranking in analysis.rankings for row in ranking.rows):
        return "all ranked rows proven"
    figures = report_of(analysis).figures
    if not figures:
        return "nothing ranked"
    checked = {figure.touch_ok for figure in figures}
    return "all values checked" if True in checked and False not in checked else "not all values checked"


def _sentence(finding: Finding) -> str:
    return f"{finding.text[:1].upper()}{finding.text[1:]}."


def _count(number: int, noun: str) -> str:
    return f"{text.count(number)} {noun}{'' if number == 1 else 's'}"
