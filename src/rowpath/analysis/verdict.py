"""The verdict: a few plain sentences, every comparison in them with its interval."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterator

from rowpath import text
from rowpath.analysis.cells import Cell
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.findings.wording import ratio_text, words
from rowpath.analysis.model import RankedPath, Ranking
from rowpath.analysis.rankings import FLOOR
from rowpath.analysis.statistics.intervals import SETS_FOR_CLAIMS, Interval

LONGEST = 4  # sentences of one kind
NAMED = 6  # paths in one sentence
FAR = 100  # this many times its floor, a path is bound by something else
LANGUAGE_BASE = "c"
PLACED = {
    "same": " (client and server on one core)",
    "split": " (client and server on separate cores)",
}


def verdict(evidence: Evidence) -> tuple[str, ...]:
    """Who is fastest, what embedding saves, what layers cost, how far the floor is, where time goes, what is open."""
    leading = _leading(evidence)
    kinds = (_fastest, _embedded, _layers, _floor, _where_time_goes)
    sentences = [sentence for kind in kinds for sentence in itertools.islice(kind(evidence, leading), LONGEST)]
    conditions = {_conditions(ranking, next(iter(_paths(evidence, ranking)), None)) for ranking in leading}
    if len(conditions) == 1 and len(sentences) > 1:
        # Named once, for all sentences alike.
        (same,) = conditions
        sentences = [sentence.replace(f" ({same})", "", 1) for sentence in sentences]
        sentences.append(f"Applies to all: {same}{PLACED.get(same.rpartition('=')[2], '')}.")
    return (*sentences, *_open_questions(evidence))


def _leading(evidence: Evidence) -> list[Ranking]:
    """One ranking per workload phase and placement: steady before cold, of contenders, the one with the most paths."""
    rankings: dict[tuple[str, str, str], list[Ranking]] = {}
    refused = {cell.key[1:3] for cell in evidence.cells.cells.values() if cell.refused}
    for ranking in evidence.rankings:
        if ranking.regime != "steady" and (ranking.workload, ranking.phase) in refused:
            continue  # what was too busy for steady blocks was too busy for a single pass
        first = _paths(evidence, ranking)
        if not first or first[0].is_null:
            continue
        key = ranking.workload, ranking.phase, first[0].path.coordinates.get("placement", "none")
        rankings.setdefault(key, []).append(ranking)
    return [
        max(some, key=lambda each: (each.regime == "steady", len(_paths(evidence, each)))) for some in rankings.values()
    ]


def _paths(evidence: Evidence, ranking: Ranking) -> list[Cell]:
    """The ranked cells, fastest first."""
    return [cell for row in ranking.rows if row.rank and (cell := evidence.cell(row, ranking))]


def _title(ranking: Ranking, cell: Cell | None = None) -> str:
    return f"{ranking.workload}.{ranking.phase} ({_conditions(ranking, cell)})"


def _conditions(ranking: Ranking, cell: Cell | None) -> str:
    placement = cell.path.coordinates.get("placement", "none") if cell else "none"
    return ranking.regime if placement == "none" else f"{ranking.regime}, placement={placement}"


def figure(interval: Interval) -> str:
    """A ratio with its interval: `2.31× (2.27–2.35)`; provisional ones are marked."""
    return ratio_text(interval.ratio, interval.ratio_low, interval.ratio_high, interval.sets)


def _fastest(evidence: Evidence, leading: list[Ranking]) -> Iterator[str]:
    for ranking in leading:
        rows = [row for row in ranking.rows if row.rank]
        cells = _paths(evidence, ranking)
        if not rows:
            continue
        title = _title(ranking, cells[0])
        tied = [row for row in rows if row.tier == rows[0].tier]
        after = rows[len(tied) :]
        if len(rows) == 1:
            yield f"{title}: {rows[0].name}, the only ranked path, takes {text.duration(rows[0].cost_ns)}."
            continue
        provisional = " (provisional)" if any(row.provisional for row in rows) else ""
        if len(tied) > 1:
            names = words(_few([row.name for row in tied]))
            lead = f"{title}: {names} are tied for the first place at {text.duration(rows[0].cost_ns)}"
        else:
            lead = f"{title}: {rows[0].name} is fastest at {text.duration(rows[0].cost_ns)} an operation"
        if after:
            lead += f"; {after[0].name} takes {_row_figure(after[0])} as long"
        if len(after) > 1:
            lead += f", and {after[-1].name}, the slowest of {len(rows)}, {_row_figure(after[-1])}"
        yield f"{lead}{provisional}."


def _few(names: list[str]) -> list[str]:
    """The names, or the first ones and how many more there are."""
    return names if len(names) <= NAMED else [*names[: NAMED - 1], f"{len(names) - NAMED + 1} others"]


def _row_figure(row: RankedPath) -> str:
    return ratio_text(row.ratio, row.ratio_low, row.ratio_high)


def _embedded(evidence: Evidence, leading: list[Ranking]) -> Iterator[str]:
    """The same engine and driver language in-process against its server; else the fastest of each deployment."""
    for ranking in leading:
        for embedded, server, note in _pairs(_paths(evidence, ranking)):
            if interval := evidence.cells.interval(server, embedded):
                yield (
                    f"{_title(ranking, server)}: {_saving(interval)}the server path {server.path.name} takes "
                    f"{figure(interval)} of the embedded {embedded.path.name}{note}."
                )


def _saving(interval: Interval) -> str:
    """The saving that the ratio server / embedded shows, as the beginning of a sentence."""
    if interval.sets < SETS_FOR_CLAIMS or (interval.low <= 0 <= interval.high):
        return "no significant difference between embedded and server: "
    if interval.low > 0:
        return f"embedding saves {text.share(-math.expm1(-interval.mean))} of the time: "
    return "embedding saves no time: "


def _pairs(cells: list[Cell]) -> Iterator[tuple[Cell, Cell, str]]:
    by_engine: dict[tuple[str, str], Cell] = {}
    for cell in cells:
        get = cell.path.coordinates.get
        by_engine.setdefault((get("engine", ""), get("deployment", "")), cell)
    both = [engine for engine, deployment in by_engine if deployment == "embedded" and (engine, "server") in by_engine]
    for engine in both:
        yield by_engine[engine, "embedded"], by_engine[engine, "server"], ""
    embedded = next((cell for cell in cells if cell.path.coordinates.get("deployment") == "embedded"), None)
    server = next((cell for cell in cells if cell.served), None)
    if embedded and server and embedded.path.coordinates.get("engine") != server.path.coordinates.get("engine"):
        yield embedded, server, " (two engines, so the ratio includes the engine)"


def _layers(evidence: Evidence, leading: list[Ranking]) -> Iterator[str]:
    """What another language's driver costs over C's, on the same engine and deployment."""
    for ranking in leading:
        best: dict[tuple[str, str], dict[str, Cell]] = {}
        for cell in _paths(evidence, ranking):
            get = cell.path.coordinates.get
            best.setdefault((get("engine", ""), get("deployment", "")), {}).setdefault(get("language", ""), cell)
        for (engine, _deployment), languages in best.items():
            base = languages.pop(LANGUAGE_BASE, None)
            others = [
                f"{cell.path.name} takes {figure(interval)}"
                for cell in languages.values()
                if base is not None and (interval := evidence.cells.interval(cell, base)) is not None
            ]
            if others and base is not None:
                yield f"{_title(ranking, base)}: on {engine}, against {base.path.name}, {words(others)}."


def _floor(evidence: Evidence, leading: list[Ranking]) -> Iterator[str]:
    """How far the fastest server path (else the fastest) is from its floor, of those that are not far from it."""
    for ranking in leading:
        cells = _paths(evidence, ranking)
        floors = [(cell, against) for cell in cells if (against := evidence.floor(cell))]
        near = [(cell, against) for cell, against in floors if against.interval.ratio < FAR]
        for cell, against in sorted(near, key=lambda pair: not pair[0].served)[:1]:
            yield (
                f"{_title(ranking, cells[0])}: {cell.path.name} runs at {figure(against.interval)} its floor "
                f"({against.name}, {text.duration(against.cost_ns)})."
            )


def _where_time_goes(evidence: Evidence, leading: list[Ranking]) -> Iterator[str]:
    """For the fastest server path (else the fastest): client CPU, server CPU, and the rest of the window."""
    for ranking in leading:
        cell = min(_paths(evidence, ranking), key=lambda cell: not cell.served, default=None)
        parts = shares(cell) if cell is not None else None
        if cell is None or parts is None:
            continue
        client, server = parts
        title = f"{_title(ranking, cell)}: of {cell.path.name}'s time"
        if server is None:
            yield f"{title} {text.share(client)} is CPU of its own process, {text.share(max(0.0, 1 - client))} waiting."
        elif client + server > 1.02:
            both = f"client CPU covers {text.share(client)} and server CPU {text.share(server)}"
            yield f"{title} {both} (overlapping)."
        else:
            waiting = text.share(max(0.0, 1 - client - server))
            yield f"{title} {text.share(client)} is client CPU, {text.share(server)} server CPU, {waiting} waiting."


def shares(cell: Cell) -> tuple[float, float | None] | None:
    """Client and server CPU as shares of the window (medians over samples); None where CPU was not measured."""
    known = [sample for sample in cell.samples() if sample.client_cpu_ns is not None and sample.window_ns > 0]
    if not known:
        return None
    client = statistics.median((sample.client_core_ns or 0.0) / sample.window_ns for sample in known)
    served = [sample.server_core_ns / sample.window_ns for sample in known if sample.server_core_ns is not None]
    if cell.served and not served:
        return None
    return client, statistics.median(served) if served else None


def _open_questions(evidence: Evidence) -> Iterator[str]:
    """What remains open."""
    rows = [(row, ranking) for ranking in evidence.rankings for row in ranking.rows]
    few = list(dict.fromkeys(row.name for row, _ranking in rows if row.rank and row.provisional))
    if few:
        sets = max(ranking.sets for ranking in evidence.rankings)
        yield (
            f"Provisional: at most {sets} sets, and claims need {SETS_FOR_CLAIMS}; "
            f"no difference is claimed for {words(_few(few))}."
        )
    out: dict[str, None] = {}
    ranked = {row.name for row, _ranking in rows if row.rank}
    for row, ranking in rows:
        if not row.rank and row.reason != FLOOR and not (row.status == "unsupported" and row.name in ranked):
            kind = row.status if row.status != "ok" else row.reason.partition(":")[0]
            out[f"{row.name} in {ranking.workload}.{ranking.phase} ({kind})"] = None
    if out:
        more = f" and {len(out) - NAMED} more" if len(out) > NAMED else ""
        yield f"Not ranked: {'; '.join(itertools.islice(out, NAMED))}{more}."
    if evidence.journal.dropped:
        count = len(evidence.journal.dropped)
        yield f'{count} {"path was" if count == 1 else "paths were"} skipped (see "Not run").'
    if evidence.journal.outcome != "complete":
        yield "The run was interrupted; results are partial."
