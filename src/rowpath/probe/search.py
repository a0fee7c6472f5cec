"""The search for the fastest path: short tries, breadth first, then rounds of interleaved blocks until decided."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.model.grouping import grouped
from rowpath.model.workload import Column
from rowpath.own_database.throttled_worker import Budget, RowConsistency, ThrottledWorker
from rowpath.planning.plan import PlannedPath
from rowpath.probe import full_sets, tries
from rowpath.probe.agreement import Agreement, Delivery, Verdict, agreement_of, in_words
from rowpath.probe.row_order import out_of_order
from rowpath.probe.successive_halving import CostEstimate, batches, best_of_each, contested, going_on, needed
from rowpath.probe.tries import Tried, driver_of, succeeded
from rowpath.probe.worker_pool import WorkerPool
from rowpath.runners.manifest import language
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import VerifyReply
from rowpath.text import printable
from rowpath.workloads.kept_rows import kept_values

TRY_NS = 20_000_000
SECOND_NS = 100_000_000  # below it the only execution of a try is repeated: the first of a connection is slower
REPEATS = 3  # of that one: a single execution may take twice its usual time
# A driver whose best try takes this many times its language's best is not tried with further settings: after its first
# try, and at least; after n tries the first figure ÷ n.
HOPELESS, LEAST_HOPELESS = 8.0, 2.0
WORSE = 1.3  # a setting that by itself makes a driver this many times slower is not tried together with others
REFUSALS = 3
ROUND_BLOCKS = (4, 32)  # of a candidate in a round: at least, at most
ROUND_SHARE = 1 / 40  # of the budget, for the blocks of a round beyond the least


@dataclass
class Search:
    """What is tried on one database, with at most this many connections at once; `note` takes progress messages.

    `baselines`: path ids (with whose they are) that the winner is compared with, and so are never left behind.
    """

    work: PreparedPhase
    worker_pool: WorkerPool
    budget: Budget
    row_consistency: RowConsistency
    connections: int
    seed: int
    note: Callable[[str], None]
    candidates: tuple[PlannedPath, ...]
    place: Path  # where rows are kept while they are compared
    baselines: Mapping[str, str] = field(default_factory=dict)
    beneath: Mapping[str, str] = field(default_factory=dict)  # path id of a layer → of the driver that it stands on
    tried: dict[str, Tried] = field(default_factory=dict)  # by path id, in the order of the tries
    _kept: dict[tuple[str, str], Path] = field(default_factory=dict)  # by path id and query: the file of rows
    _further_s: float | None = None  # spent when every driver had its first try
    labels: tuple[str, ...] = ()  # what each column is called in messages
    sort_key: str | None = None  # the column by which the query sorts; "": an expression; None: it does not
    agreement: Agreement = field(default_factory=lambda: Agreement([]))
    slow: bool = False  # one execution takes so long that only single ones fit
    rounds: int = 0
    tell: Callable[[str, float, int, int], None] = lambda *_: None  # of a try that has ended: `Progress.tried`
    time_delivery: Callable[[], None] = lambda: None  # called once it is known that one execution is not too long

    def estimates(self) -> dict[str, CostEstimate]:
        """What is known of those that can go on, by path id, the most promising first."""
        going = {path_id: tried.known for path_id, tried in self.tried.items() if tried.alive}
        return dict(sorted(going.items(), key=lambda item: item[1].middle))

    def alive(self) -> list[str]:
        """The path ids that can go on, the most promising first."""
        return list(self.estimates())

    def language(self, path_id: str) -> str:
        """The language of a candidate; of one with a layer also that."""
        planned = self.tried[path_id].planned
        return f"{planned.adapter.language}{tries.above(planned)}"

    def needed(self) -> list[str]:
        """The paths that must end in full sets: each language's best, baselines, layers, their drivers; best first."""
        estimates = self.estimates()
        wanted = {*needed(estimates, self.language, self.baselines), *self.beneath.values()}
        return [path_id for path_id in estimates if path_id in wanted]

    def contested(self) -> list[str]:
        """The paths whose blocks may still change `needed`, the most promising first; empty when it is decided."""
        return contested(self.estimates(), self._kind_of, self.baselines)

    def full_sets_s(self) -> float:
        """What six sets of those who are needed take at least."""
        tried = [self.tried[path_id] for path_id in self.needed()]
        costs_s = full_sets.of_full_set(self.budget, self.worker_pool, tried)
        return full_sets.least_full_sets_s(*costs_s, self.connections - 1)

    def _left_s(self, share: float = 1.0) -> float:
        """Seconds until this share of the search's time is over."""
        return self.budget.search_s(self.full_sets_s()) * share - self.budget.spent_s

    def try_all(self) -> None:
        """One short try of each candidate, as far as the time goes; the first shows whether the query is slow."""
        self.budget.begin()
        for planned in tries.in_order(self.candidates, self._early, self.times_ns, self.budget.clock):
            tried = self.tried[planned.path.id] = Tried(planned)
            if self.slow:
                tried.left = "not tried: one execution takes too long for a search of settings"
            elif reason := self.why_not(planned):
                tried.left = f"not tried: {reason}"
            else:
                self._try(tried)
            if tried.execution_ns:
                self.tell(planned.name, tried.execution_ns, len(self.tried), len(self.candidates))
                if not self.slow:
                    if len(self.times_ns()) == 1:
                        self.time_delivery()
                    self._estimate_tries()
        if not self.slow:
            self._split_by_digest()
            self._estimate_tries()

    @property
    def _early(self) -> set[str]:
        """The paths that are tried whatever else is known."""
        return {*self.baselines, *self.beneath, *self.beneath.values()}

    def times_ns(self) -> dict[str, float]:
        """What one execution takes of each path that had one, by path id."""
        return {path_id: tried.execution_ns for path_id, tried in self.tried.items() if tried.execution_ns}

    def why_not(self, planned: PlannedPath) -> str:
        """Why this candidate is not worth a try, by what is known of its driver; empty when it is."""
        of_driver, over = self._of_driver(planned), self.budget.left_s <= 0
        if planned.path.id not in self._early and of_driver:
            if self._further_s is None:
                self._further_s = self.budget.spent_s
            begun_s = self.budget.spent_s - self._further_s
            over = self._left_s(full_sets.TRIES_SHARE) <= 0 and begun_s >= full_sets.FURTHER_SHARE * self.budget.total_s
        if over:
            return "the time for tries ended"
        texts = {tried.failure.text if tried.failure else "" for tried in of_driver}
        if len(of_driver) >= REFUSALS and len(texts) == 1 and (refused := texts.pop()):
            return refused  # every setting so far
        alike = [
            tried
            for tried in self.tried.values()
            if tried.execution_ns
            and tried.planned.adapter.language == planned.adapter.language
            and tried.planned.path.fetch_form == planned.path.fetch_form
        ]
        own_ns = [tried.execution_ns for tried in alike if driver_of(tried.planned) == driver_of(planned)]
        if own_ns:
            hopeless = max(LEAST_HOPELESS, HOPELESS / len(own_ns))
            if min(own_ns) > hopeless * min(tried.execution_ns for tried in alike):
                return "the driver was much slower in every setting so far"
        if not of_driver or not of_driver[0].execution_ns or planned.path.id in self._early:
            return ""
        # A setting of several that made the driver clearly slower when it was the only change.
        likeliest = of_driver[0].planned.path
        changed = tries.differences(planned.path, likeliest)
        for tried in of_driver:
            only = tries.differences(tried.planned.path, likeliest)
            slower = tried.execution_ns > WORSE * of_driver[0].execution_ns
            if len(only) == 1 < len(changed) and only <= changed and slower:
                return f"{'='.join(*only)} made the driver slower"
        return ""

    def _of_driver(self, planned: PlannedPath) -> list[Tried]:
        """The tries of its driver, the driver's likeliest setting first."""
        return [tried for tried in self.tried.values() if driver_of(tried.planned) == driver_of(planned) and tried.step]

    def _try(self, tried: Tried) -> None:
        tried.step = "try"
        began_s = time.monotonic()
        with self._guarded(tried), self.worker_pool.turned_to(tried.planned, self.work) as worker:
            tried.start_s = time.monotonic() - began_s
            if not self.times_ns():
                reply = succeeded(worker.sample(self.work, "warm", operations=1, first=0).reply)
                if self.budget.maybe_too_long(reply.ns / 1e9):
                    reply = succeeded(worker.sample(self.work, "warm", operations=1, first=0).reply)
                if self.budget.too_long(reply.ns / 1e9):
                    self.slow = True
                    tried.rows, tried.execution_ns = reply.rows, float(reply.ns)
                    return
            if worker.fresh:
                self._warm(worker)
            reply = succeeded(worker.sample(self.work, "warm", duration_ns=TRY_NS).reply)
            form = tried.planned.path.fetch_form
            digested = (other for other in self._of_driver(tried.planned) if other.digest and not other.by_touch)
            verified = next((other for other in digested if other.planned.path.fetch_form == form), None)
            if self.sort_key is not None and verified is not None:  # several threads may lose the order
                verified = verified if tries.threads(verified.planned) == tries.threads(tried.planned) else None
            # With parameters each operation delivers rows of its own: only a digest of them all proves them.
            if verified is None or self.work.parameter_count or not tries.as_verified(reply, verified):
                self._verify(tried, worker)
            else:
                tried.rows, tried.delivered, tried.touch = verified.rows, verified.delivered, verified.touch
                tried.by_touch = True
            tried.execution_ns = reply.ns / reply.operations
            if reply.operations == 1 and reply.ns < SECOND_NS:
                again = succeeded(worker.sample(self.work, "warm", operations=REPEATS).reply)
                tried.execution_ns = min(float(reply.ns), again.ns / again.operations)

    def _verify(self, tried: Tried, worker: ThrottledWorker) -> None:
        reply = worker.verify_all(self.work)
        tried.rows, tried.delivered, tried.touch, tried.by_touch = reply.rows, reply, reply.touch, False

    def _warm(self, worker: ThrottledWorker) -> None:
        """Let a runtime's compiler get over the worst; at most a fiftieth of the budget."""
        first_s, later_s = language(worker.planned.adapter.language).probe_warm_s
        least_ns = min(int((first_s if worker.fresh else later_s) * 1e9), int(self.budget.total_s * 2e7))
        if least_ns:
            worker.sample(self.work, "warm", duration_ns=least_ns)

    def compare(self) -> None:
        """One execution of each candidate, untimed, and what they agree about."""
        for planned in self.candidates:
            tried = self.tried[planned.path.id] = Tried(planned)
            with self._guarded(tried), self.worker_pool.turned_to(planned, self.work) as worker:
                self._verify(tried, worker)
        self._split_by_digest()

    def _split_by_digest(self) -> None:
        """Paths that most implementations agree with go on; the others are left out, with what is wrong.

        Where the rows change by themselves, digests prove nothing about paths.
        """
        self.agreement = agreement_of(self._deliveries(), self.work.columns, self.labels, self.executed, self.kept)
        told = [one for verdict in self.agreement.verdicts if verdict.wrong for one in self._members(verdict)]
        if by_touch := [tried for tried in told if tried.by_touch]:
            for tried in by_touch:  # like a setting with other rows than most, it may differ from that setting
                with self._guarded(tried), self.worker_pool.turned_to(tried.planned, self.work) as worker:
                    self._verify(tried, worker)
            self.agreement = agreement_of(self._deliveries(), self.work.columns, self.labels, self.executed, self.kept)
        found = self.agreement
        if found.rows_change:
            self.row_consistency.changed = True
            self.note("the rows change from one execution to the next")
            return
        if found.volatile:
            self.row_consistency.volatile = True
            self.note(f"{', '.join(found.volatile)}: other values at every execution, not compared")
        for verdict in found.verdicts:
            for tried in self._members(verdict):
                if verdict.wrong:
                    tried.left = f"{tries.OTHER_ROWS}: {in_words(verdict)}"
                else:
                    self.row_consistency.learn(int(tried.touch, 16))
        self._split_by_order()

    def _split_by_order(self) -> None:
        """Where the query sorts, leave out those that deliver another order than most implementations."""
        if self.sort_key is None or self.row_consistency.changed:
            return
        going = [delivery for delivery in self._deliveries() if not self.tried[delivery.planned.path.id].left]
        for delivery in out_of_order(going, self.work.columns, self.sort_key, self.executed):
            self.tried[delivery.planned.path.id].left = tries.OTHER_ORDER

    def _deliveries(self) -> list[Delivery]:
        delivered = [tried for tried in self.tried.values() if tried.delivered and tried.failure is None]
        return [Delivery(tried.planned, tried.delivered) for tried in delivered if tried.delivered]

    def _members(self, verdict: Verdict) -> list[Tried]:
        return [self.tried[member.planned.path.id] for member in verdict.members]

    def executed(self, delivery: Delivery, columns: tuple[Column, ...], keep: str = "") -> VerifyReply:
        """One more execution, with columns declared so. Errors: RunnerFailure."""
        work = replace(self.work, columns=columns, phase=msgspec.structs.replace(self.work.phase, columns=columns))
        with self.row_consistency.unwatched(), self.worker_pool.turned_to(delivery.planned, work) as worker:
            return worker.verify_all(work, keep)

    def kept(self, delivery: Delivery) -> Iterator[list[bytes]]:
        """The rows of one execution, the same whenever asked, as far as `verify` keeps them.

        Errors: RunnerFailure, OSError.
        """
        of = delivery.planned.path.id, self.work.sql
        if of not in self._kept:
            file = self.place / f"{len(self._kept)}.kept"
            self.executed(delivery, self.work.columns, str(file))
            self._kept[of] = file
        return kept_values(self._kept[of])

    def defaults(self) -> list[Tried]:
        """Each driver with its own defaults, in the order of the candidates."""
        by_driver = grouped(self.tried.values(), lambda tried: driver_of(tried.planned))
        return [of_driver[0] for of_driver in by_driver.values()]

    def _estimate_tries(self) -> None:
        done = [tried for tried in self.tried.values() if tried.execution_ns and not tried.left]
        done.sort(key=lambda tried: tried.execution_ns)
        for tried in done:
            tried.estimate = CostEstimate.of_try(tried.execution_ns / done[0].execution_ns)
            tried.compared_with = done[0].planned.path.id

    def halve(self) -> None:
        """Rounds of interleaved blocks, more each time, until it is decided or more are too many."""
        least, most = ROUND_BLOCKS
        round_s = self.budget.total_s * ROUND_SHARE
        blocks, left = 0, 0
        self._leave_behind("behind after its try")
        while (going := self.contested()) and (left_s := self._left_s()) > 0:
            held = list(dict.fromkeys([self.alive()[0], *best_of_each(going, self._kind_of)]))
            seconds = left_s / max(1, math.ceil(math.log2(len(going) / len(held))))  # rounds that are left
            ordered = [*held, *tries.without(self.by_promise(going), held)]
            known = map(self.tried.__getitem__, ordered)
            costs_s = [tried.start_s + (least + 1) * full_sets.block_s(self.budget, tried) for tried in known]
            chosen = ordered[: max(full_sets.affordable(costs_s, seconds), len(held))]
            for path_id in tries.without(going, [*chosen, *self.needed()]):
                self.tried[path_id].left = "no time for more blocks"
            going = [path_id for path_id in self.alive() if path_id in chosen]
            # The first takes part in every set; one block of each comes before those that are measured.
            members = [self.tried[path_id] for batch in batches(going, self.connections) for path_id in batch]
            blocks_s = [full_sets.block_s(self.budget, tried) for tried in members]
            starts_s = sum(blocks_s) + sum(tried.start_s for tried in members)
            before, blocks = blocks, full_sets.blocks_of_round(blocks_s, min(seconds - starts_s, round_s), least, most)
            if not left and blocks <= before:
                return
            self.rounds += 1
            self.note(f"round {self.rounds}: {len(going)} candidates, {blocks} blocks each")
            self._round(going, blocks)
            left = self._leave_behind(f"behind after round {self.rounds}")

    def _leave_behind(self, why: str) -> int:
        """Leave out who is not in the better half of its language; how many those are.

        Rows are compared with rows: who delivers something else, which is less work, drives out no path of rows.
        """
        estimates = self.estimates()
        behind = tries.without(estimates, going_on(estimates, self._kind_of, self.needed()))
        for path_id in behind:
            self.tried[path_id].left = why
        return len(behind)

    def _kind_of(self, path_id: str) -> str:
        return tries.kind_of(self.tried[path_id].planned)

    def by_promise(self, going: list[str]) -> list[str]:
        """These by how far each is behind the best of its language: a language's slowness is no fault of its paths."""
        kind = self._kind_of
        best = {kind(path_id): self.tried[path_id].known.middle for path_id in reversed(going)}
        return sorted(going, key=lambda path_id: self.tried[path_id].known.middle - best[kind(path_id)])

    def _round(self, going: list[str], blocks: int) -> None:
        """Blocks of all of them, in sets that share the most promising one; estimates are relative to that one."""
        anchor = going[0]
        for number, members in enumerate(batches(going, self.connections)):
            costs = self._set(members, blocks, random.Random(f"{self.seed}/{self.rounds}/{number}"))
            for path_id in members:
                tried = self.tried[path_id]
                tried.step = f"round {self.rounds}"
                estimate = CostEstimate.of_rounds(costs.get(path_id, {}), costs.get(anchor, {}))
                if estimate is not None:
                    tried.estimate, tried.compared_with = estimate, anchor
        if self.tried[anchor].failure is not None:  # nothing was measured against it
            self._estimate_tries()

    def _set(self, members: list[str], blocks: int, shuffle: random.Random) -> dict[str, dict[int, float]]:
        costs: dict[str, dict[int, float]] = {path_id: {} for path_id in members}
        with self.worker_pool.several([self.tried[path_id].planned for path_id in members]) as workers:
            of_path = dict(zip(members, workers, strict=True))
            for path_id, worker in of_path.items():
                with self._guarded(self.tried[path_id]):
                    worker.turn_to(self.tried[path_id].planned)
                    worker.prepare(self.work)
                    worker.sample(self.work, "warm", operations=1, first=0)
                    self._warm(worker)
            for turn in range(blocks):
                order = [path_id for path_id in members if self.tried[path_id].failure is None]
                shuffle.shuffle(order)
                for path_id in order:
                    with self._guarded(self.tried[path_id]):
                        measured = of_path[path_id].sample(self.work, "warm", duration_ns=full_sets.BLOCK_NS)
                        reply = succeeded(measured.reply)
                        self.tried[path_id].execution_ns = costs[path_id][turn] = reply.ns / reply.operations
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
        again = worker.verify_all(work)
        if again.digest != tried.digest:
            self.row_consistency.changed = True
            self.note(f"the rows change while they are read: {tried.digest} became {again.digest}")
        elif not self.row_consistency.changed:
            raise RunnerFailure("verify", "values read inside the clock differ from values delivered outside")
