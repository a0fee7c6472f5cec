"""What a probe found beside its rankings, derived only from the run directory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from rowpath import text as fmt
from rowpath.analysis.answer_model import Sentence
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.model import Ranking, Result
from rowpath.analysis.statistics.intervals import APART, SETS_FOR_CLAIMS
from rowpath.analysis.wording import words
from rowpath.model.path import fetch_form
from rowpath.model.probe import (
    LEAST_GAIN,
    AtRoundTrip,
    Baseline,
    LanguageBest,
    LanguageRow,
    Probe,
    Saving,
    Setting,
    Snippet,
    TriedPath,
)

ROUND_TRIP_TIMES_MS = (0.1, 0.5, 1.0, 5.0, 20.0)
FULL = "full sets"
TOO_BUSY = "too busy"  # in place of the full sets that were refused
YOURS = "yours"
CUT_OFF = "The probe was cut off: settings that it had not tried by then are not counted."
FORMS = {"row": "rows", "block": "blocks of rows", "columnar": "columns", "copy": "COPY's text"}
NO_SETTINGS = ("engine", "engine_version", "deployment", "language", "driver", "version", "placement", "label")
WORTH_SHOWING = 1.02  # a setting that changes less did not matter


def probe_of(evidence: Evidence, results: Sequence[Result]) -> Probe | None:
    """What the probe of this run found; None when the run is none."""
    records = evidence.journal.probe
    if not records:
        return None
    tries = [record.tried for record in records if record.tried is not None]
    refused = {cell.path.name for cell in evidence.cells.cells.values() if cell.refused}
    tried = tuple(
        msgspec.structs.replace(each, step=TOO_BUSY) if each.name in refused else each
        for each in with_ratios(latest(tries), evidence.rankings)
    )
    return Probe(
        tried=tried,
        languages=languages(tried, results, evidence),
        settings=settings(tried),
        at_round_trips=tuple(_at_round_trips(results)),
        digest_groups=tuple(record.digest_group for record in records if record.digest_group is not None),
        caveats=(
            *([CUT_OFF] if was_cut_off(tries, evidence.journal.outcome) else []),
            *(record.caveat for record in records if record.caveat),
        ),
        snippets=tuple(record.snippet for record in records if record.snippet is not None),
        not_compared=next((record.not_compared for record in records if record.not_compared), ""),
    )


def probe_sentences(probe: Probe | None) -> Iterator[Sentence]:
    """What the user gains, what was looked at, and what cannot be known."""
    if probe is None:
        return
    snippets = {snippet.name: snippet for snippet in probe.snippets}
    for each in probe.tried:
        if each.baseline == YOURS and (each.status != "ok" or each.ratio is None):
            yield Sentence(
                "probe", f"You use {each.description}, which has no figure here ({each.left or each.status})."
            )
    compared = [best for best in probe.languages if best.baseline is not None]
    if busy := [best.title or best.language for best in compared if _too_busy(best)]:
        yield Sentence("probe", f"{words(busy)}: the machine was too busy to show which path is faster.")
    for best in sorted(compared, key=lambda best: best.baseline is None or best.baseline.kind != YOURS):
        for sentence in _baseline_sentences(best, snippets):
            yield Sentence("probe", sentence)
    if probe.tried:
        drivers = {(each.path["language"], each.path["driver"]) for each in probe.tried}
        looked = [each for each in probe.tried if each.step]
        reached = {(each.path["language"], each.path["driver"]) for each in looked}
        yield Sentence(
            "tried",
            f"Tried: {len(reached)} of {len(drivers)} drivers, {len(looked)} of {len(probe.tried)} settings, "
            f"{sum(1 for each in looked if each.step == FULL)} in full sets.",
        )
    if len(probe.digest_groups) > 1:
        many = len(probe.digest_groups)
        yield Sentence("uncertain", f"The paths delivered {many} different sets of rows: see 'Delivered rows'.", 2)
    for caveat in probe.caveats:
        yield Sentence("uncertain", caveat, 1)


def _times(results: Sequence[Result]) -> dict[str, Result]:
    """The time of each path by its name: steady where there is one, else cold."""
    found: dict[str, Result] = {}
    for result in results:
        steady = result.regime == "steady" or result.name not in found
        if result.metric == "time" and result.median is not None and steady:
            found[result.name] = result
    return found


def with_ratios(tried: list[TriedPath], rankings: Sequence[Ranking]) -> tuple[TriedPath, ...]:
    """Everything relative to the fastest of all, over all fetch forms; finalists by their full sets.

    Others have the ratio to the path that they were compared with × the ratio of that one.
    """
    costs = {row.name: row.cost_ns for ranking in rankings for row in ranking.rows if row.rank and row.cost_ns}
    least = min(costs.values(), default=0.0)
    ranked = {row.name: row for ranking in rankings for row in ranking.rows}
    by_name = {each.name: each for each in tried}

    def of(name: str, met: tuple[str, ...] = ()) -> float:
        each = by_name[name]
        if name in costs:  # where rankings have fastest paths of their own there is only the ratio of medians
            return ranked[name].ratio or costs[name] / least if len(rankings) == 1 else costs[name] / least
        if each.ratio is None or each.compared_with in (*met, name) or each.compared_with not in by_name:
            return each.ratio or 1.0
        return each.ratio * of(each.compared_with, (*met, name))

    found = []
    for each in tried:
        if each.name in costs:
            found.append(msgspec.structs.replace(each, step=FULL, ratio=of(each.name), low=None, high=None))
        elif each.ratio is not None:
            scale = of(each.name) / each.ratio
            low, high = (None if end is None else end * scale for end in (each.low, each.high))
            found.append(msgspec.structs.replace(each, ratio=of(each.name), low=low, high=high))
        else:
            found.append(each)
    return tuple(sorted(found, key=lambda each: (each.step != FULL, each.ratio or math.inf, each.left != "")))


def was_cut_off(tried: Sequence[TriedPath], outcome: str) -> bool:
    """Whether a probe was ended before its last word on each: then that on what was never tried is missing too."""
    return bool(tried) and outcome != "complete" and len({each.name for each in tried}) == len(tried)


def latest(tried: Sequence[TriedPath]) -> list[TriedPath]:
    """The last word on each; of a probe that was ended before any of them was compared, by their tries."""
    found = list({each.name: each for each in tried}.values())
    times = {each.name: each.execution_ns for each in found if each.execution_ns and each.status == "ok"}
    if not times or any(each.ratio is not None for each in found):
        return found
    first = min(times, key=lambda name: times[name])
    return [
        msgspec.structs.replace(each, ratio=times[each.name] / times[first], compared_with=first)
        if each.name in times
        else each
        for each in found
    ]


def _baseline_sentences(best: LanguageBest, snippets: Mapping[str, Snippet]) -> Iterator[str]:
    """How the user's or the usual way of a language compares with the fastest."""
    baseline, title = best.baseline, best.title or best.language
    if baseline is None or _too_busy(best):
        return
    lead = "You use" if baseline.kind == YOURS else f"The usual way in {title} is"
    sentences = [f"{lead} {baseline.description}: {fmt.duration(baseline.time_ns)}."]
    for saving in best.savings:
        less = "not certain to be less"
        if saving.sure:
            between = "" if saving.low is None or saving.high is None else f" ({_percent(saving.low, saving.high)})"
            less = f"{100 * saving.share:.0f} % less{between}"
        form = "" if saving.form == baseline.form else f", as {FORMS.get(saving.form, saving.form)}"
        sentences.append(f"{saving.description}: {fmt.duration(saving.time_ns)}, {less}{form}.")
        snippet = snippets.get(saving.name)
        if snippet and saving.sure:
            where = f"{snippet.file}: {snippet.changed}" if snippet.changed else f"see {snippet.file}"
            sentences.append(f"Change these lines: {where}.")
    if not best.savings:
        sentences.append(f"Nothing tried in {title} is over {100 * LEAST_GAIN:.0f} % faster.")
    yield " ".join(sentences)


def _too_busy(best: LanguageBest) -> bool:
    """Whether the full sets of the fastest path, of the baseline or of what would be saved were refused."""
    named = {best.name, *(saving.name for saving in best.savings)} | ({best.baseline.name} if best.baseline else set())
    return any(row.step == TOO_BUSY for row in best.rows if row.name in named)


def _percent(low: float, high: float) -> str:
    return f"{100 * low:.0f}–{100 * high:.0f}"


def languages(tried: Sequence[TriedPath], results: Sequence[Result], evidence: Evidence) -> tuple[LanguageBest, ...]:
    times = _times(results)
    known = (times[each.name].median for each in tried if each.name in times)
    least_ns = min((time_ns for time_ns in known if time_ns), default=None)
    together: dict[str, list[LanguageRow]] = {}
    titles: dict[str, str] = {}
    ratios: dict[str, float] = {}
    for each in tried:  # those of the full sets come first, each part fastest first
        time_ns = times[each.name].median if each.name in times else each.execution_ns
        if each.step != FULL and least_ns and each.ratio:
            time_ns = least_ns * each.ratio
        if each.ratio is None or time_ns is None or each.status != "ok":
            continue
        rows = together.setdefault(each.path["language"], [])
        titles[each.path["language"]], ratios[each.name] = each.title, each.ratio
        form = fetch_form(each.path.get("fetch", "none"))
        if (
            each.step != FULL
            and not each.baseline
            and (each.path["driver"], form) in [_kind(row, tried) for row in rows]
        ):
            continue
        first = rows[0] if rows else None
        ratio, low, high = (1.0, None, None) if first is None else (each.ratio / ratios[first.name], None, None)
        if first is not None and (interval := evidence.named_interval(each.name, first.name)) is not None:
            ratio, low, high = interval.ratios
        rows.append(
            LanguageRow(
                each.name, each.description or each.name, form, time_ns, ratio, low, high, each.step, each.baseline
            )
        )
    found = [_best(language, rows, ratios, titles, evidence) for language, rows in together.items()]
    return tuple(sorted(found, key=lambda each: each.ratio))


def _kind(row: LanguageRow, tried: Sequence[TriedPath]) -> tuple[str, str]:
    return next(each.path["driver"] for each in tried if each.name == row.name), row.form


def _best(
    language: str, rows: list[LanguageRow], ratios: Mapping[str, float], titles: Mapping[str, str], evidence: Evidence
) -> LanguageBest:
    best, rows = rows[0], [rows[0], *sorted(rows[1:], key=lambda row: row.ratio)]
    baseline = next((Baseline(r.baseline, r.name, r.description, r.form, r.time_ns) for r in rows if r.baseline), None)
    savings: list[Saving] = []
    if baseline is not None:
        alike = next(row for row in rows if row.form == baseline.form and (row.step == FULL or row.baseline))
        faster = dict.fromkeys(row for row in (best, alike) if row.name != baseline.name)
        savings = [_saving(row, baseline, evidence) for row in faster]
    return LanguageBest(
        language, best.name, best.form, best.time_ns, ratios[best.name], best.step, titles[language], tuple(rows),
        baseline, tuple(savings),
    )  # fmt: skip


def _saving(row: LanguageRow, baseline: Baseline, evidence: Evidence) -> Saving:
    interval = evidence.named_interval(baseline.name, row.name)
    if interval is None or interval.ratio_low is None or interval.ratio_high is None:
        share = 1 - row.time_ns / baseline.time_ns
        return Saving(row.name, row.description, row.form, row.time_ns, share, None, None, sure=False)
    share, low, high = (1 - 1 / ratio for ratio in (interval.ratio, interval.ratio_low, interval.ratio_high))
    sure = interval.sets >= SETS_FOR_CLAIMS and interval.ratio_low > 1 + APART
    return Saving(row.name, row.description, row.form, row.time_ns, share, low, high, sure)


def settings(tried: Sequence[TriedPath]) -> tuple[Setting, ...]:
    """The widest ratio between two paths that differ only in one coordinate, for each; the weightiest first."""
    found: dict[str, Setting] = {}
    known = [each for each in tried if each.ratio is not None and each.status == "ok"]
    by_rest: dict[tuple[str, tuple[tuple[str, str], ...]], list[TriedPath]] = {}
    for each in known:
        for key in each.path:
            if key not in NO_SETTINGS:
                rest = tuple(sorted((name, value) for name, value in each.path.items() if name != key))
                by_rest.setdefault((key, rest), []).append(each)
    for (key, _rest), alike in by_rest.items():
        better, worse = (choose(alike, key=lambda each: each.ratio or math.inf) for choose in (min, max))
        ratio = (worse.ratio or 1.0) / (better.ratio or 1.0)
        if better.path[key] != worse.path[key] and ratio > max(WORTH_SHOWING, found[key].ratio if key in found else 0):
            step = better.step if worse.step == FULL else worse.step
            driver = f"{better.path['language']} {better.path['driver']}"
            found[key] = Setting(key, better.path[key], worse.path[key], ratio, driver, step)
    return tuple(sorted(found.values(), key=lambda each: -each.ratio))


def _at_round_trips(results: Sequence[Result]) -> Iterator[AtRoundTrip]:
    trips = {result.name: result.median for result in results if result.metric == "round_trips"}
    server = {result.name for result in results if result.path.get("deployment") == "server"}
    for name, result in sorted(_times(results).items(), key=lambda item: item[1].median or 0.0):
        if name in server and result.median is not None:
            count = trips.get(name)
            at = () if count is None else tuple(result.median + count * ms * 1e6 for ms in ROUND_TRIP_TIMES_MS)
            yield AtRoundTrip(name, count, result.median, at)
