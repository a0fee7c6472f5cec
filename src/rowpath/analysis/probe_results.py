"""What a probe found beside its rankings, derived only from the run directory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import msgspec

from rowpath import text as fmt
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.model import Ranking, Result
from rowpath.model.path import fetch_form
from rowpath.model.probe import AtRoundTrip, LanguageBest, Probe, Setting, TriedPath

ROUND_TRIP_TIMES_MS = (0.1, 0.5, 1.0, 5.0, 20.0)
FULL = "full sets"
NO_SETTINGS = ("engine", "engine_version", "deployment", "language", "driver", "version", "placement", "label")
WORTH_SHOWING = 1.02  # a setting that changes less did not matter


def probe_of(evidence: Evidence, results: Sequence[Result]) -> Probe | None:
    """What the probe of this run found; None when the run is none."""
    records = evidence.journal.probe
    if not records:
        return None
    tried = with_ratios([record.tried for record in records if record.tried is not None], evidence.rankings)
    return Probe(
        tried=tried,
        languages=_languages(tried, results),
        settings=settings(tried),
        at_round_trips=tuple(_at_round_trips(results)),
        digest_groups=tuple(record.digest_group for record in records if record.digest_group is not None),
        limits=tuple(record.limit for record in records if record.limit),
        snippets=tuple(record.snippet for record in records if record.snippet is not None),
    )


def probe_sentences(probe: Probe | None) -> Iterator[str]:
    """What was found in a sentence, and what cannot be known."""
    if probe is None:
        return
    looked = sum(1 for each in probe.tried if each.step)
    found = [
        f"{best.language}: {best.name} at {fmt.duration(best.time_ns)} ({fmt.ratio(best.ratio)})"
        for best in probe.languages
    ]
    if found:
        yield f"Of {len(probe.tried)} settings {looked} were tried; the fastest per language: {'; '.join(found)}."
    if len(probe.digest_groups) > 1:
        yield f"The paths delivered {len(probe.digest_groups)} different sets of rows: see 'Delivered rows'."
    yield from probe.limits


def _times(results: Sequence[Result]) -> dict[str, Result]:
    """By name of a path: its time, steady where there is one, else cold."""
    found: dict[str, Result] = {}
    for result in results:
        steady = result.regime == "steady" or result.name not in found
        if result.metric == "time" and result.median is not None and steady:
            found[result.name] = result
    return found


def with_ratios(tried: list[TriedPath], rankings: Sequence[Ranking]) -> tuple[TriedPath, ...]:
    """Everything relative to the fastest of all, over all fetch forms; finalists by their full sets.

    Others were compared with an anchor: their ratio to it × the anchor's own.
    """
    costs = {row.name: row.cost_ns for ranking in rankings for row in ranking.rows if row.rank and row.cost_ns}
    least = min(costs.values(), default=0.0)
    by_name = {each.name: each for each in tried}

    def of(name: str, met: tuple[str, ...] = ()) -> float:
        each = by_name[name]
        if name in costs:  # each ranking has its own fastest: over all of them there is only the ratio of medians
            return costs[name] / least
        if each.ratio is None or each.anchor in (*met, name) or each.anchor not in by_name:
            return each.ratio or 1.0
        return each.ratio * of(each.anchor, (*met, name))

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


def _languages(tried: Sequence[TriedPath], results: Sequence[Result]) -> tuple[LanguageBest, ...]:
    times = _times(results)
    known = (times[each.name].median for each in tried if each.name in times)
    least_ns = min((time_ns for time_ns in known if time_ns), default=None)
    best: dict[str, LanguageBest] = {}
    for each in tried:  # those of the full sets come first
        time_ns = times[each.name].median if each.name in times else each.execution_ns
        if each.step != FULL and least_ns and each.ratio:
            time_ns = least_ns * each.ratio
        if each.ratio is None or time_ns is None or each.status != "ok":
            continue
        language = each.path["language"]
        found = LanguageBest(language, each.name, fetch_form(each.path), time_ns, each.ratio, each.step)
        if language not in best or (best[language].step == each.step and each.ratio < best[language].ratio):
            best[language] = found
    return tuple(sorted(best.values(), key=lambda each: each.ratio))


def settings(tried: Sequence[TriedPath]) -> tuple[Setting, ...]:
    """For each coordinate the widest ratio between two paths that differ only in it; the weightiest first."""
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
