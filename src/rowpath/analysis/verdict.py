"""The verdict: a few plain sentences, every comparison in them with its interval, each ratio once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from rowpath import text
from rowpath.analysis import metrics
from rowpath.analysis.answer_model import Sentence
from rowpath.analysis.cells import Cell, CellKey
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.model import RankedPath, Ranking
from rowpath.analysis.rankings import FLOOR
from rowpath.analysis.statistics.intervals import SETS_FOR_CLAIMS, Interval
from rowpath.analysis.wording import interval_text, ratio_text, words

LONGEST = 4  # sentences of one kind
NAMED = 6  # paths in one sentence
TIED_NAMED = 3
FAR = 100  # this many times its floor, a path is bound by something else
PLACED = {"same": " (client and server on one core)", "split": " (client and server on separate cores)"}
UNCERTAIN = "uncertain"


def verdict(evidence: Evidence, leading: Sequence[Ranking]) -> tuple[Sentence, ...]:
    """Who is fastest, what deployment, language and driver cost, where time goes, what is not certain."""
    speaker = _Speaker(evidence, leading)
    kinds = (speaker.fastest, speaker.deployment, speaker.language, speaker.driver, speaker.time)
    sentences = [
        Sentence(kind.__name__, sentence, weight)
        for kind in kinds
        for sentence, weight in itertools.islice(kind(), LONGEST)
    ]
    if sentences and speaker.same_conditions:
        placed = PLACED.get(speaker.same_conditions.rpartition("=")[2], "")
        sentences.append(Sentence("conditions", f"Applies to all: {speaker.same_conditions}{placed}."))
    return (*sentences, *_uncertain(evidence))


def leading_rankings(evidence: Evidence) -> list[Ranking]:
    """One ranking per workload phase and placement: steady before cold, of contenders, the one with the most paths."""
    rankings: dict[tuple[str, str, str], list[Ranking]] = {}
    refused = {cell.key[1:3] for cell in evidence.cells.cells.values() if cell.refused}
    for ranking in evidence.rankings:
        if ranking.regime != "steady" and (ranking.workload, ranking.phase) in refused:
            continue  # what was too busy for steady blocks was too busy for a single pass
        first = _paths(evidence, ranking)
        if not first or first[0].is_null:
            continue
        key = ranking.workload, ranking.phase, first[0].path.placement
        rankings.setdefault(key, []).append(ranking)
    return [
        max(some, key=lambda ranking: (ranking.regime == "steady", len(_paths(evidence, ranking))))
        for some in rankings.values()
    ]


def _paths(evidence: Evidence, ranking: Ranking) -> list[Cell]:
    """The ranked cells, fastest first."""
    return [cell for row in ranking.rows if row.rank and (cell := evidence.cell(row, ranking))]


def _conditions(ranking: Ranking, cell: Cell) -> tuple[str, ...]:
    placement = cell.path.placement
    return (ranking.regime,) if placement == "none" else (ranking.regime, f"placement={placement}")


class _Speaker:
    """Makes the sentences about rankings, each with its weight; a ratio that was said is not said again."""

    def __init__(self, evidence: Evidence, leading: Sequence[Ranking]) -> None:
        self.evidence = evidence
        self.leading = [(ranking, cells) for ranking in leading if (cells := _paths(evidence, ranking))]
        conditions = {_conditions(ranking, cells[0]) for ranking, cells in self.leading}
        self.same_conditions = ", ".join(next(iter(conditions))) if len(conditions) == 1 else ""
        self._common = set.intersection(*map(set, conditions)) if conditions else set()
        self._told: set[tuple[CellKey, CellKey]] = set()

    def _title(self, ranking: Ranking, cells: list[Cell]) -> str:
        """`keyed.read`, with those conditions that are not the same in all sentences."""
        own = ", ".join(known for known in _conditions(ranking, cells[0]) if known not in self._common)
        return f"{ranking.workload}.{ranking.phase}{f' ({own})' if own else ''}"

    def _new(self, cell: Cell, base: Cell) -> Interval | None:
        """The ratio of two cells, None where it was said before, the two never met, or one set has no interval."""
        if (cell.key, base.key) in self._told:
            return None
        self._told.add((cell.key, base.key))
        interval = self.evidence.cells.interval(cell, base)
        return interval if interval is not None and interval.ratio_low is not None else None

    def fastest(self) -> Iterator[tuple[str, float]]:
        for ranking, cells in self.leading:
            rows = [row for row in ranking.rows if row.rank]
            title, cost = self._title(ranking, cells), text.duration(rows[0].cost_ns)
            tied = [row for row in rows if row.tier == rows[0].tier]
            after = rows[len(tied) :]
            if len(rows) == 1:
                yield f"{title}: {rows[0].name}, the only ranked path, takes {cost}.", 0.0
                continue
            if len(tied) == len(rows):
                names = words([row.name for row in tied]) if len(tied) <= TIED_NAMED else f"all {len(tied)} paths"
                costs = " to ".join(dict.fromkeys((cost, text.duration(rows[-1].cost_ns))))
                yield f"{title}: no order is shown among {names}: {costs}.", 0.0
                continue
            if len(tied) > 1:
                lead = f"{title}: {words(_few([row.name for row in tied], TIED_NAMED))} tie for fastest at {cost}"
            else:
                lead = f"{title}: {rows[0].name} is fastest at {cost}"
            lead += f"; next {after[0].name} {self._to_first(after[0], cells)}"
            if len(after) > 1:
                lead += f"; slowest of {len(rows)} {after[-1].name} {self._to_first(after[-1], cells)}"
            yield f"{lead}.", _size(rows[-1].ratio)

    def _to_first(self, row: RankedPath, cells: list[Cell]) -> str:
        self._told |= {(cell.key, cells[0].key) for cell in cells if cell.path.path_id == row.path_id}
        return ratio_text(row.ratio, row.ratio_low, row.ratio_high)

    def deployment(self) -> Iterator[tuple[str, float]]:
        """Compare the same engine behind its server and in-process; else the fastest of each deployment."""
        for ranking, cells in self.leading:
            for embedded, server, other_engine in _pairs(cells):
                interval = self._new(server, embedded)
                if interval is None:
                    continue
                title = self._title(ranking, cells)
                if interval.sets >= SETS_FOR_CLAIMS and interval.low <= 0 <= interval.high:
                    both = f"{server.path.name} and {embedded.path.name}"
                    yield f"{title}: no difference shown between {both}: {interval_text(interval)}.", 0.0
                else:
                    part = ", engine included" if other_engine else ""
                    takes = f"{server.path.name} takes {interval_text(interval)} the time of {embedded.path.name}{part}"
                    yield f"{title}: {takes}.", _size(interval.ratio)

    def language(self) -> Iterator[tuple[str, float]]:
        """What another language costs over the baseline on one engine and deployment, each in its fastest driver."""
        for ranking, cells in self.leading:
            for languages in _fastest_by(cells, ("engine", "deployment"), "language"):
                base = next((cell for cell in languages.values() if cell.path.in_baseline), None)
                if base is not None:
                    others = [cell for cell in languages.values() if not cell.path.in_baseline]
                    yield from self._listed(ranking, cells, base, others)

    def driver(self) -> Iterator[tuple[str, float]]:
        """What another driver costs over the fastest of the same engine, deployment and language."""
        for ranking, cells in self.leading:
            for drivers in _fastest_by(cells, ("engine", "deployment", "language"), "driver"):
                base, *others = drivers.values()
                yield from self._listed(ranking, cells, base, [*others[:1], *others[1:][-1:]])

    def _listed(
        self, ranking: Ranking, cells: list[Cell], base: Cell, others: list[Cell]
    ) -> Iterator[tuple[str, float]]:
        compared = [(cell, interval) for cell in others if (interval := self._new(cell, base))]
        if compared:
            verbs = itertools.chain([" takes"], itertools.repeat(""))
            listed = words(f"{cell.path.name}{next(verbs)} {interval_text(ratio)}" for cell, ratio in compared)
            weight = max(_size(interval.ratio) for _cell, interval in compared)
            yield f"{self._title(ranking, cells)}: {listed} the time of {base.path.name}.", weight

    def time(self) -> Iterator[tuple[str, float]]:
        """Split the time of the fastest server path (else the fastest), with the distance to its floor."""
        for ranking, cells in self.leading:
            cell = min(cells, key=lambda cell: not cell.served)
            parts, against = metrics.cpu_shares(cell), self.evidence.floor(cell)
            listed = [_spent(cell.path.name, *parts)] if parts is not None else []
            if against is not None and against.interval.ratio < FAR:
                subject = "it" if listed else cell.path.name
                listed.append(f"{subject} takes {interval_text(against.interval)} of its floor, {against.name}")
            if listed:
                yield f"{self._title(ranking, cells)}: {'; '.join(listed)}.", float(cell.served)


def _size(ratio: float | None) -> float:
    """How much a ratio says, whichever way it goes."""
    return abs(math.log(ratio)) if ratio else 0.0


def _few(names: list[str], most: int = NAMED) -> list[str]:
    """The names, or the first ones and how many more there are."""
    return names if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1} others"]


def _pairs(cells: list[Cell]) -> Iterator[tuple[Cell, Cell, bool]]:
    """(embedded, server, whether their engines differ) of every engine with both, then of the fastest of each."""
    by_engine: dict[tuple[str, str], Cell] = {}
    for cell in cells:
        by_engine.setdefault((cell.path.engine, cell.path.deployment), cell)
    both = [engine for engine, deployment in by_engine if deployment == "embedded" and (engine, "server") in by_engine]
    for engine in both:
        yield by_engine[engine, "embedded"], by_engine[engine, "server"], False
    embedded = next((cell for cell in cells if cell.path.embedded), None)
    server = next((cell for cell in cells if cell.served), None)
    if embedded and server and embedded.path.engine != server.path.engine:
        yield embedded, server, True


def _fastest_by(cells: list[Cell], keys: tuple[str, ...], of: str) -> list[dict[str, Cell]]:
    """The fastest cell by the coordinate `of` for all values of the coordinates `keys`, fastest first."""
    fastest: dict[tuple[str, ...], dict[str, Cell]] = {}
    for cell in cells:
        fastest.setdefault(tuple(map(cell.path.get, keys)), {}).setdefault(cell.path.get(of), cell)
    return list(fastest.values())


def _spent(name: str, client: float, server: float | None) -> str:
    """Where the time of a path goes, in words."""
    if server is None:
        return f"the time of {name} is {text.share(client)} CPU, {text.share(max(0.0, 1 - client))} waiting"
    both = f"the time of {name} is {text.share(client)} client CPU, {text.share(server)} server CPU"
    if client + server > 1.02:
        return f"{both} (overlapping)"
    return f"{both}, {text.share(max(0.0, 1 - client - server))} waiting"


def _uncertain(evidence: Evidence) -> Iterator[Sentence]:
    """What is not certain."""
    rows = [(row, ranking) for ranking in evidence.rankings for row in ranking.rows]
    ranked = {row.name for row, _ranking in rows if row.rank}
    few = list(dict.fromkeys(row.name for row, _ranking in rows if row.rank and row.provisional))
    if few:
        sets = max(ranking.sets for ranking in evidence.rankings)
        which = "no difference is claimed" if len(few) == len(ranked) else f"none is claimed for {words(_few(few))}"
        most = f"at most {sets} sets" if sets > 1 else "one set"
        sentence = f"Provisional: {most}, and claims need {SETS_FOR_CLAIMS}; {which}."
        yield Sentence(UNCERTAIN, sentence, weight=3)
    out: dict[str, None] = {}
    for row, ranking in rows:
        # By the refusal, by what stands under the rankings; of a floor there is nothing to say.
        explained = row.status in ("disturbed", "wrong", "failed") or row.reason == FLOOR
        if not row.rank and not explained and not (row.status == "unsupported" and row.name in ranked):
            kind = row.status if row.status != "ok" else row.reason.partition(":")[0]
            out[f"{row.name} in {ranking.workload}.{ranking.phase} ({kind})"] = None
    if out:
        more = f" and {len(out) - NAMED} more" if len(out) > NAMED else ""
        yield Sentence(UNCERTAIN, f"Not ranked: {'; '.join(itertools.islice(out, NAMED))}{more}.", weight=2)
    if evidence.journal.dropped:
        count = len(evidence.journal.dropped)
        yield Sentence("skipped", f'{count} {"path was" if count == 1 else "paths were"} skipped (see "Not run").')
    if evidence.journal.outcome != "complete":
        yield Sentence(UNCERTAIN, "The run was interrupted; results are partial.", weight=4)
