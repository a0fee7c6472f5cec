"""The search for the fastest path: one short try each, rounds of interleaved blocks for the better half, and again."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.model.grouping import grouped
from rowpath.planning.plan import PlannedPath
from rowpath.probe.budget import ROUNDS_SHARE, TRIES_SHARE, Budget, affordable, blocks_of_round
from rowpath.probe.row_consistency import RowConsistency
from rowpath.probe.successive_halving import FINALISTS, Estimate, batches, best_of_each, halved, survivors
from rowpath.probe.throttled_worker import ThrottledWorker
from rowpath.probe.worker_pool import WorkerPool
from rowpath.runners.manifest import language
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import SampleReply
from rowpath.text import printable

TRY_NS = 20_000_000
BLOCK_NS = 10_000_000
HOPELESS = 8.0  # a driver whose best try takes this many times the best of all is not tried with further settings
REFUSALS = 3
ROUND_BLOCKS = (4, 32)  # of a candidate in a round: at least, at most


@dataclass
class Tried:
    """What is known of a candidate. `step`: the last one it was in; `left`: why it went no further."""

    planned: PlannedPath
    step: str = ""
    left: str = ""
    failure: RunnerFailure | None = None
    execution_ns: float = 0.0
    rows: int = -1
    touch: str = ""
    digest: str = ""
    estimate: Estimate | None = None
    anchor: str = ""  # path id of the one that the estimate is relative to
    start_s: float = 0.0  # what connecting and preparing took

    @property
    def alive(self) -> bool:
        """Whether it can go on."""
        return not self.left and self.estimate is not None


@dataclass
class Search:
    """What is tried on one database, with at most this many connections at once; `note` takes progress messages."""

    work: PreparedPhase
    programs: WorkerPool
    budget: Budget
    sameness: RowConsistency
    connections: int
    seed: int
    note: Callable[[str], None]
    candidates: tuple[PlannedPath, ...]
    tried: dict[str, Tried] = field(default_factory=dict)  # by path id, in the order of the tries
    slow: bool = False  # one execution takes so long that only single ones fit
    rounds: int = 0

    def alive(self) -> list[str]:
        """The path ids that can go on, the most promising first."""
        going = [each for each in self.tried.values() if each.alive]
        going.sort(key=lambda each: each.estimate.middle if each.estimate else math.inf)
        return [each.planned.path.id for each in going]

    def try_all(self) -> None:
        """One short try of every candidate, as far as the time goes; the first shows whether the query is slow."""
        for planned in self.candidates:
            tried = self.tried[planned.path.id] = Tried(planned)
            if self.slow:
                tried.left = "not tried: one execution takes too long for a search of settings"
            elif self._tries_are_over(planned):
                tried.left = "not tried: the time for tries ended"
            elif reason := self._never(planned):
                tried.left = f"not tried: {reason}"
            elif self._hopeless(planned):
                tried.left = "not tried: the driver was much slower with its defaults"
            else:
                self._try(tried)
        if not self.slow:
            self._split_by_digest()
            self._estimate_tries()

    def _tries_are_over(self, planned: PlannedPath) -> bool:
        first_of_driver = not any(each.planned.adapter == planned.adapter and each.step for each in self.tried.values())
        return self.budget.left_until(ROUNDS_SHARE if first_of_driver else TRIES_SHARE) <= 0

    def _never(self, planned: PlannedPath) -> str:
        """Why the driver refused every setting so far, three at least: no further one is tried; empty otherwise."""
        mine = [each for each in self.tried.values() if each.planned.adapter == planned.adapter and each.step]
        texts = {each.failure.text if each.failure else "" for each in mine}
        return texts.pop() if len(mine) >= REFUSALS and len(texts) == 1 else ""

    def _hopeless(self, planned: PlannedPath) -> bool:
        done = [each for each in self.tried.values() if each.execution_ns]
        mine = [each.execution_ns for each in done if each.planned.adapter == planned.adapter]
        same_form = [each for each in done if each.planned.path.fetch_form == planned.path.fetch_form]
        return bool(mine and same_form) and min(mine) > HOPELESS * min(each.execution_ns for each in done)

    def _try(self, tried: Tried) -> None:
        tried.step = "try"
        began_s = time.monotonic()
        with self._guarded(tried), self.programs.turned_to(tried.planned) as worker:
            worker.prepare(self.work)
            tried.start_s = time.monotonic() - began_s
            if not any(each.execution_ns for each in self.tried.values()):
                reply = _succeeded(worker.sample(self.work, "warm", operations=1, first=0).reply)
                if self.budget.too_long(reply.ns / 1e9):
                    self.slow = True
                    tried.rows, tried.execution_ns = reply.rows, float(reply.ns)
                    return
            proof = worker.verify(self.work, 0, 1)
            tried.rows, tried.digest, tried.touch = proof.rows, proof.digest, proof.touch
            if worker.fresh:
                self._warm(worker)
            reply = _succeeded(worker.sample(self.work, "warm", duration_ns=TRY_NS).reply)
            tried.execution_ns = reply.ns / reply.operations

    def _warm(self, worker: ThrottledWorker) -> None:
        """Let a runtime's compiler get over the worst; at most a fiftieth of the budget."""
        first_s, later_s = language(worker.planned.adapter.language).probe_warm_s
        least_ns = min(int((first_s if worker.fresh else later_s) * 1e9), int(self.budget.total_s * 2e7))
        if least_ns:
            worker.sample(self.work, "warm", duration_ns=least_ns)

    def _split_by_digest(self) -> None:
        """Paths that deliver what most deliver go on; the others are left out, with their digest.

        Where the rows change by themselves, digests prove nothing about paths.
        """
        by_digest = self.digests()
        most = max(by_digest.values(), key=len, default=[])
        if len(by_digest) > 1 and self._rows_change(most[0]):
            self.sameness.changed = True
            self.note("the rows change from one execution to the next")
            return
        for digest, members in by_digest.items():
            for tried in members:
                if members is most:
                    self.sameness.learn(int(tried.touch, 16))
                else:
                    tried.left = f"delivered different rows than {len(most)} other paths (digest {digest})"

    def _rows_change(self, tried: Tried) -> bool:
        with self._guarded(tried), self.programs.turned_to(tried.planned) as worker:
            worker.prepare(self.work)
            return worker.verify(self.work, 0, 1).digest != tried.digest
        return False

    def defaults(self) -> list[Tried]:
        """Each driver with its own defaults, in the order of the candidates."""
        first: dict[tuple[str, str], Tried] = {}
        for each in self.tried.values():
            first.setdefault((each.planned.adapter.language, each.planned.adapter.driver), each)
        return list(first.values())

    def digests(self) -> dict[str, list[Tried]]:
        """The candidates by what they delivered, in the order of the tries."""
        delivered = (tried for tried in self.tried.values() if tried.digest and tried.failure is None)
        return grouped(delivered, lambda tried: tried.digest)

    def _estimate_tries(self) -> None:
        done = [each for each in self.tried.values() if each.execution_ns and not each.left]
        done.sort(key=lambda each: each.execution_ns)
        for each in done:
            each.estimate = Estimate.of_try(each.execution_ns / done[0].execution_ns)
            each.anchor = done[0].planned.path.id

    def halve(self) -> None:
        """Rounds of interleaved blocks, twice as many each time, until few are left or the time is over."""
        least = ROUND_BLOCKS[0]
        going = self.alive()
        while len(going) > FINALISTS and self.budget.left_until(ROUNDS_SHARE) > 0:
            rounds_left = max(1, math.ceil(math.log2(len(going) / FINALISTS)))
            seconds = self.budget.left_until(ROUNDS_SHARE) / rounds_left
            held = best_of_each(going, self.kinds())
            ordered = [*held, *_without(going, held)]
            fitting = affordable([self._round_s(self.tried[path_id], least) for path_id in ordered], seconds)
            chosen = ordered[: max(fitting, len(held))]
            self._leave(_without(going, chosen), "no time for more blocks")
            going = [path_id for path_id in going if path_id in chosen]
            blocks_s, starts_s = self._round_costs(going)
            blocks = blocks_of_round(blocks_s, seconds - starts_s, least, ROUND_BLOCKS[1])
            self.rounds += 1
            self.note(f"round {self.rounds}: {len(going)} candidates, {blocks} blocks each")
            self._round(going, blocks)
            going = self.alive()
            estimates = {path_id: estimate for path_id in going if (estimate := self.tried[path_id].estimate)}
            going_on = survivors(estimates, halved(len(going)), best_of_each(going, self.kinds()))
            self._leave(_without(going, going_on), f"behind after round {self.rounds}")
            least = min(2 * least, ROUND_BLOCKS[1])
            if len(going_on) == len(going) and least == ROUND_BLOCKS[1]:
                return
            going = self.alive()

    def kinds(self) -> list[Callable[[str], str]]:
        """A candidate's language, and its fetch form: the report names the best path of each."""
        planned = {path_id: tried.planned for path_id, tried in self.tried.items()}
        return [lambda path_id: planned[path_id].adapter.language, lambda path_id: planned[path_id].path.fetch_form]

    def _leave(self, path_ids: Iterable[str], why: str) -> None:
        for path_id in path_ids:
            self.tried[path_id].left = why

    def _block_s(self, tried: Tried) -> float:
        return self.budget.wall_s(max(BLOCK_NS, tried.execution_ns) / 1e9)

    def _round_costs(self, going: list[str]) -> tuple[list[float], float]:
        """What one block of each takes, and what comes before the blocks; the first takes part in every set."""
        members = [path_id for group in batches(going, self.connections) for path_id in group]
        blocks_s = [self._block_s(self.tried[path_id]) for path_id in members]
        return blocks_s, sum(blocks_s) + sum(self.tried[path_id].start_s for path_id in members)

    def _round_s(self, tried: Tried, blocks: int) -> float:
        return tried.start_s + (blocks + 1) * self._block_s(tried)

    def _round(self, going: list[str], blocks: int) -> None:
        """Blocks of all of them, in sets that share the most promising one; estimates are relative to that one."""
        anchor = going[0]
        for number, members in enumerate(batches(going, self.connections)):
            costs = self._set(members, blocks, random.Random(f"{self.seed}/{self.rounds}/{number}"))
            for path_id in members:
                tried = self.tried[path_id]
                tried.step = f"round {self.rounds}"
                estimate = Estimate.of_rounds(costs.get(path_id, {}), costs.get(anchor, {}))
                if estimate is not None:
                    tried.estimate, tried.anchor = estimate, anchor
        if self.tried[anchor].failure is not None:  # nothing was measured against it
            self._estimate_tries()

    def _set(self, members: list[str], blocks: int, shuffle: random.Random) -> dict[str, dict[int, float]]:
        costs: dict[str, dict[int, float]] = {path_id: {} for path_id in members}
        with self.programs.several([self.tried[path_id].planned for path_id in members]) as workers:
            ready: dict[str, ThrottledWorker] = {}
            for path_id, worker in zip(members, workers, strict=True):
                with self._guarded(self.tried[path_id]):
                    worker.turn_to(self.tried[path_id].planned)
                    worker.prepare(self.work)
                    worker.sample(self.work, "warm", operations=1, first=0)
                    self._warm(worker)
                    ready[path_id] = worker
            for turn in range(blocks):
                order = [path_id for path_id in ready if self.tried[path_id].failure is None]
                shuffle.shuffle(order)
                for path_id in order:
                    with self._guarded(self.tried[path_id]):
                        reply = _succeeded(ready[path_id].sample(self.work, "warm", duration_ns=BLOCK_NS).reply)
                        costs[path_id][turn] = reply.ns / reply.operations
                        self.tried[path_id].execution_ns = costs[path_id][turn]
        return costs

    @contextmanager
    def _guarded(self, tried: Tried) -> Iterator[None]:
        try:
            yield
        except RunnerFailure as failure:
            tried.failure = failure
            tried.left = f"{failure.kind}: {printable(failure.text)}"
            if failure.kind != "unsupported":
                self.note(f"{tried.planned.name}: {tried.left}")

    def changed(self, worker: ThrottledWorker, work: PreparedPhase) -> None:
        """A block delivered other rows than before: the rows of the database changed, or the path is at fault."""
        tried = self.tried[worker.planned.path.id]
        again = worker.verify(work, 0, 1)
        if again.digest != tried.digest:
            self.sameness.changed = True
            self.note(f"the rows change while they are read: {tried.digest} became {again.digest}")
        elif not self.sameness.changed:
            raise RunnerFailure("verify", "values read inside the clock differ from values delivered outside")


def _succeeded(reply: SampleReply) -> SampleReply:
    """The reply; RunnerFailure when operations of it failed."""
    if reply.failed:
        raise RunnerFailure("sql", reply.failure.text if reply.failure else "")
    return reply


def _without(listed: Iterable[str], others: Iterable[str]) -> list[str]:
    gone = set(others)
    return [each for each in listed if each not in gone]
