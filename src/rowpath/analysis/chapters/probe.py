"""What a probe found: its paths by language, settings that mattered, everything it tried."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from rowpath import text as fmt
from rowpath.analysis.answer_model import Answer, Sentence
from rowpath.analysis.chapter import Chapter
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.model import Ranking, Result
from rowpath.analysis.statistics.intervals import APART, SETS_FOR_CLAIMS
from rowpath.analysis.wording import words as listed
from rowpath.drawing.grid import Grid, figure, line, of_lines, word, words
from rowpath.drawing.section import Section
from rowpath.model.path import BY_HAND, fetch_form
from rowpath.model.probe import (
    LEAST_GAIN,
    Baseline,
    LanguageBest,
    LanguageRow,
    Probe,
    Saving,
    Setting,
    Snippet,
    TriedPath,
)

FULL = "full sets"
TOO_BUSY = "too busy"  # in place of the full sets that were refused
YOURS = "yours"
CUT_OFF = "The probe was cut off: settings that it had not tried by then are not counted."
FORMS = {"row": "rows", "block": "blocks of rows", "columnar": "columns", "copy": "COPY's text"}
NO_SETTINGS = ("engine", "engine_version", "deployment", "language", "driver", "version", "placement", "label")
WORTH_SHOWING = 1.02  # a setting that changes less did not matter
OTHER_WORK = "≠"
AS = {
    "row": "rows",
    "block": f"blocks {OTHER_WORK}",
    "columnar": f"columns {OTHER_WORK}",
    "copy": f"COPY {OTHER_WORK}",
}
BASELINES = {YOURS: " ← yours", "usual": " ← usual"}


def probe_of(evidence: Evidence) -> Probe | None:
    """What the probe of this run found; None when the run is none."""
    records = evidence.journal.probe
    if not records:
        return None
    tries = [record.tried for record in records if record.tried is not None]
    refused = {cell.path.name for cell in evidence.cells.cells.values() if cell.refused}
    tried = tuple(
        msgspec.structs.replace(path, step=TOO_BUSY) if path.name in refused else path
        for path in with_ratios(latest(tries), evidence.rankings)
    )
    return Probe(
        tried=tried,
        languages=languages(tried, evidence.results, evidence),
        settings=settings(tried),
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
    for path in probe.tried:
        if path.baseline == YOURS and (path.status != "ok" or path.ratio is None):
            why = path.left or path.status
            yield Sentence("probe", f"You use {path.description}, which has no figure here ({why}).")
    ranked = [path for path in probe.tried if path.status == "ok" and path.ratio is not None]
    if len(ranked) == 1 and (others := sum(path.status in ("failed", "wrong") for path in probe.tried)):
        alone = ranked[0].description or ranked[0].name
        yield Sentence(
            "probe", f"Only {alone} is ranked, so it is compared with nothing: {others} others are not ranked."
        )
    compared = [best for best in probe.languages if best.baseline is not None]
    if busy := [best.title or best.language for best in compared if _too_busy(best)]:
        yield Sentence("probe", f"{listed(busy)}: the machine was too busy to show which path is faster.")
    for best in sorted(compared, key=lambda best: best.baseline is None or best.baseline.kind != YOURS):
        for sentence in _baseline_sentences(best, snippets):
            yield Sentence("probe", sentence)
    if probe.tried:
        looked = [path for path in probe.tried if path.step]
        drivers, reached = (
            len({(path.path["language"], path.path["driver"]) for path in paths}) for paths in (probe.tried, looked)
        )
        counted = f"{reached} of {drivers} drivers, {len(looked)} of {len(probe.tried)} settings"
        yield Sentence("tried", f"Tried: {counted}, {sum(path.step == FULL for path in looked)} in full sets.")
    tied = {group.difference: group for group in reversed(probe.digest_groups) if group.tied}
    for column, group in tied.items():
        between = f"column {column}, {group.example}" if group.example else column
        yield Sentence("uncertain", f"A tie: {between}. As many implementations say this as that.", 3)
    for caveat in probe.caveats:
        yield Sentence("uncertain", caveat, 1)


def _times(results: Sequence[Result]) -> dict[str, Result]:
    """The time of each path by its name: steady where there is one, else cold."""
    times: dict[str, Result] = {}
    for result in results:
        steady = result.regime == "steady" or result.name not in times
        if result.metric == "time" and result.median is not None and steady:
            times[result.name] = result
    return times


def with_ratios(tried: list[TriedPath], rankings: Sequence[Ranking]) -> tuple[TriedPath, ...]:
    """Everything relative to the fastest of all, over all fetch forms; finalists by their full sets.

    Others have the ratio to the path that they were compared with × the ratio of that one.
    """
    costs = {row.name: row.cost_ns for ranking in rankings for row in ranking.rows if row.rank and row.cost_ns}
    least = min(costs.values(), default=0.0)
    ranked = {row.name: row for ranking in rankings for row in ranking.rows}
    by_name = {path.name: path for path in tried}

    def of(name: str, met: tuple[str, ...] = ()) -> float:
        path = by_name[name]
        if name in costs:  # where rankings have fastest paths of their own there is only the ratio of medians
            return ranked[name].ratio or costs[name] / least if len(rankings) == 1 else costs[name] / least
        if path.ratio is None or path.compared_with in (*met, name) or path.compared_with not in by_name:
            return path.ratio or 1.0
        return path.ratio * of(path.compared_with, (*met, name))

    def rated(path: TriedPath) -> TriedPath:
        if path.name in costs:
            return msgspec.structs.replace(path, step=FULL, ratio=of(path.name), low=None, high=None)
        if path.ratio is None:
            return path
        scale = of(path.name) / path.ratio
        low, high = (None if end is None else end * scale for end in (path.low, path.high))
        return msgspec.structs.replace(path, ratio=of(path.name), low=low, high=high)

    return tuple(
        sorted(map(rated, tried), key=lambda path: (path.step != FULL, path.ratio or math.inf, path.left != ""))
    )


def was_cut_off(tried: Sequence[TriedPath], outcome: str) -> bool:
    """Whether a probe was ended before its last word on each: then that on what was never tried is missing too."""
    return bool(tried) and outcome != "complete" and len({path.name for path in tried}) == len(tried)


def latest(tried: Sequence[TriedPath]) -> list[TriedPath]:
    """The last word on each; of a probe that was ended before any of them was compared, by their tries."""
    last = list({path.name: path for path in tried}.values())
    times = {path.name: path.execution_ns for path in last if path.execution_ns and path.status == "ok"}
    if not times or any(path.ratio is not None for path in last):
        return last
    first = min(times, key=times.__getitem__)
    return [
        msgspec.structs.replace(path, ratio=times[path.name] / times[first], compared_with=first)
        if path.name in times
        else path
        for path in last
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
        if saving.sets < SETS_FOR_CLAIMS:
            less = f"{saving.sets} of {SETS_FOR_CLAIMS} sets: no claim yet"
        elif saving.sure:
            between = f" ({100 * saving.low:.0f}–{100 * saving.high:.0f})" if saving.low and saving.high else ""
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


def languages(tried: Sequence[TriedPath], results: Sequence[Result], evidence: Evidence) -> tuple[LanguageBest, ...]:
    """The paths of each language relative to its fastest; of settings that had no full sets only the best of a kind."""
    times = _times(results)
    known = (times[path.name].median for path in tried if path.name in times)
    least_ns = min((time_ns for time_ns in known if time_ns), default=None)
    together: dict[str, list[LanguageRow]] = {}
    firsts: dict[str, TriedPath] = {}
    kinds = set()
    for path in tried:  # those of the full sets come first, each part fastest first
        time_ns = times[path.name].median if path.name in times else path.execution_ns
        if path.step != FULL and least_ns and path.ratio:
            time_ns = least_ns * path.ratio
        above = path.path.get("layer", BY_HAND) != BY_HAND  # the ladder has it
        if path.ratio is None or time_ns is None or path.status != "ok" or above:
            continue
        language, form = path.path["language"], fetch_form(path.path.get("fetch", "none"))
        first = firsts.setdefault(language, path)
        kind = language, path.path["driver"], form
        if path.step != FULL and not path.baseline and kind in kinds:
            continue
        kinds.add(kind)
        interval = evidence.named_interval(path.name, first.name) if path is not first else None
        ratios = interval.ratios if interval else (path.ratio / (first.ratio or 1.0), None, None)
        name = path.description or path.name
        row = LanguageRow(path.name, name, form, time_ns, *ratios, path.step, path.baseline)
        together.setdefault(language, []).append(row)
    bests = (_best(firsts[language], rows, evidence) for language, rows in together.items())
    return tuple(sorted(bests, key=lambda best: best.ratio))


def _best(first: TriedPath, rows: list[LanguageRow], evidence: Evidence) -> LanguageBest:
    best, rows = rows[0], [rows[0], *sorted(rows[1:], key=lambda row: row.ratio)]
    baseline = next((Baseline(r.baseline, r.name, r.description, r.form, r.time_ns) for r in rows if r.baseline), None)
    savings: tuple[Saving, ...] = ()
    if baseline is not None:
        alike = next(row for row in rows if row.form == baseline.form and (row.step == FULL or row.baseline))
        faster = dict.fromkeys(row for row in (best, alike) if row.name != baseline.name)
        savings = tuple(_saving(row, baseline, evidence) for row in faster)
    return LanguageBest(
        first.path["language"], best.name, best.form, best.time_ns, first.ratio or 1.0, best.step, first.title,
        tuple(rows), baseline, savings,
    )  # fmt: skip


def _saving(row: LanguageRow, baseline: Baseline, evidence: Evidence) -> Saving:
    path = row.name, row.description, row.form, row.time_ns
    interval = evidence.named_interval(baseline.name, row.name)
    if interval is None or interval.ratio_low is None or interval.ratio_high is None:
        return Saving(*path, 1 - row.time_ns / baseline.time_ns, None, None, sure=False)
    share, low, high = (1 - 1 / ratio for ratio in (interval.ratio, interval.ratio_low, interval.ratio_high))
    return Saving(
        *path,
        share,
        low,
        high,
        sure=interval.sets >= SETS_FOR_CLAIMS and interval.ratio_low > 1 + APART,
        sets=interval.sets,
    )


def settings(tried: Sequence[TriedPath]) -> tuple[Setting, ...]:
    """The widest ratio between two paths that differ only in one coordinate, for each; the weightiest first."""
    by_rest: dict[tuple[str, tuple[tuple[str, str], ...]], list[TriedPath]] = {}
    for path in tried:
        known = path.ratio is not None and path.status == "ok"
        for key in (key for key in path.path if known and key not in NO_SETTINGS):
            rest = tuple(sorted((name, value) for name, value in path.path.items() if name != key))
            by_rest.setdefault((key, rest), []).append(path)
    widest: dict[str, Setting] = {}
    for (key, _rest), alike in by_rest.items():
        better, worse = (choose(alike, key=lambda path: path.ratio or math.inf) for choose in (min, max))
        ratio = (worse.ratio or 1.0) / (better.ratio or 1.0)
        least = max(WORTH_SHOWING, widest[key].ratio if key in widest else 0)
        if better.path[key] != worse.path[key] and ratio > least:
            step = better.step if worse.step == FULL else worse.step
            driver = f"{better.path['language']} {better.path['driver']}"
            widest[key] = Setting(key, better.path[key], worse.path[key], ratio, driver, step)
    return tuple(sorted(widest.values(), key=lambda setting: -setting.ratio))


def _languages(probe: Probe | None, _lookup: Lookup) -> Iterator[Section]:
    """A table per language: its drivers in their fastest settings, fastest first."""
    for number, best in enumerate(probe.languages if probe else ()):
        lines = (
            line(
                word("path", f"{row.description}{BASELINES.get(row.baseline, '')}"),
                word("as", AS.get(row.form, row.form)),
                figure("time", fmt.duration(row.time_ns)),
                figure("× fastest", fmt.ratio(row.ratio)),
                figure("95 % interval", fmt.interval(row.low, row.high) or fmt.MISSING, 2),
                word("from", row.step, 1),
            )
            for row in best.rows
        )
        notes = [f"{OTHER_WORK}: other work. A program that needs rows must still build them."]
        notes = notes if any(OTHER_WORK in AS.get(row.form, "") for row in best.rows) else []
        notes += ["A try may be off by half."] if any(row.step == "try" for row in best.rows) else []
        grid = of_lines(f"{best.title or best.language}: your rows, fastest first", lines, " ".join(notes))
        yield Section(f"first-{number}", grid)


def _tables(_nothing: None, lookup: Lookup) -> Iterator[Section]:
    """The other tables."""
    if probe := CHAPTER.of(lookup.analysis):
        if lookup.analysis.answer.not_ranked:
            yield Section("probe-not-ranked", _not_ranked(lookup.analysis.answer), leading=True)
        yield Section("probe-settings", _settings(probe), leading=True)
        yield Section("probe-groups", groups(probe), leading=True)
        yield Section("probe-tried", _tried(probe))


def _settings(probe: Probe) -> Grid:
    lines = (
        line(
            *words(setting=setting.coordinate, better=setting.better, worse=setting.worse),
            figure("worse ÷ better", fmt.ratio(setting.ratio)),
            word("seen with", setting.driver, 1),
            word("from", setting.step, 1),
        )
        for setting in probe.settings
    )
    rough = any(setting.step != FULL for setting in probe.settings)
    note = "A try is one short measurement with up to 50 % error; a round interleaves blocks; full sets are complete."
    return of_lines("Settings with an effect: two paths that differ only in this setting", lines, note if rough else "")


def groups(probe: Probe) -> Grid:
    """What the paths delivered, by digest, how it differs from what most implementations say, what was not compared."""
    lines = (
        line(
            word("digest", group.digest, code=True),
            figure("rows", f"{group.rows:,}"),
            figure("paths", str(len(group.names))),
            word("first of them", group.names[0]),
            word("differs", "tied" if group.tied else group.difference or fmt.MISSING),
            word("for example", group.example or fmt.MISSING),
            word("compared", "; ".join(group.notes) or "every value", 1),
        )
        for group in probe.digest_groups
    )
    differ = [group for group in probe.digest_groups if group.difference]
    caption = "Delivered rows: the paths do NOT agree" if differ else "Delivered rows: all paths agree"
    trust = "Nobody knows which rows are right: most independent implementations lead." if differ else ""
    return of_lines(caption, lines, " ".join(filter(None, [probe.not_compared, trust])))


def _not_ranked(answer: Answer) -> Grid:
    lines = (
        line(
            figure("paths", str(len(one.names))),
            word("first of them", one.names[0]),
            word("status", one.status),
            word("why", one.reason),
            status=one.status,
        )
        for one in answer.not_ranked
    )
    return of_lines("Not ranked", lines)


def _tried(probe: Probe) -> Grid:
    lines = (
        line(
            word("path", path.name),
            word("until", path.step or "not tried", 1),
            figure("time", fmt.duration(path.execution_ns)),
            figure("relative to fastest", fmt.ratio(path.ratio)),
            figure("interval", fmt.interval(path.low, path.high) or fmt.MISSING, 2),
            word("why it stopped", path.left or fmt.MISSING),
            status=path.status,
        )
        for path in probe.tried
    )
    return of_lines("Everything tried", lines)


CHAPTER = Chapter("probe", probe_of, _languages, probe_sentences, place="first", nothing=None)
TABLES: Chapter[None] = Chapter("probe_tables", sections=_tables)
