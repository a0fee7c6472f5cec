"""One probe on an open access: describe, search, measure the best in full, count round trips, and journal it all."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import msgspec
from typing_extensions import override

from rowpath import text as fmt
from rowpath.engines import ENGINES
from rowpath.errors import RowpathError, TimedOut, UsageError
from rowpath.execution.counting import counting_proxy
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.quiet import Patience
from rowpath.execution.run import write_head, write_paths
from rowpath.execution.run_context import RunContext
from rowpath.journal.records import CountedRecord, FailureRecord, NoteRecord, ProbeRecord, VerifyRecord
from rowpath.journal.writer import Journal
from rowpath.machine.counters import counting_proxy as proxy
from rowpath.model.probe import DigestGroup, LanguageBest, Probe, Snippet, TriedPath
from rowpath.model.progress import Progress
from rowpath.own_database.candidates import NAME, Candidates, in_words
from rowpath.own_database.probed_query import GRACE_S, ProbedQuery
from rowpath.own_database.throttled_worker import PHASE, WORKLOAD, ThrottledWorker
from rowpath.planning.plan import PlannedPath
from rowpath.probe import snippets
from rowpath.probe.costs import FULL_SETS, LATEST, FullSetsBudget, of_full_set, plan_full_sets
from rowpath.probe.differences import different_types, first_difference, without_names
from rowpath.probe.full_sets import FullSets, OneInstance, OnePhase, plan_of
from rowpath.probe.search import Search
from rowpath.probe.successive_halving import batches, best_of_each, finalists
from rowpath.probe.tries import Tried
from rowpath.probe.worker_pool import WorkerPool
from rowpath.runners.manifest import language
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import DescribedColumn

ONE_DELIVERY = (
    "The rows are unverified: no two paths delivered the same rows, so no path is known to have delivered all of "
    "them correctly."
)
CHANGED = (
    "The rows changed during the probe: paths read different rows, which may explain their differences. "
    "Probe a copy, or probe at a quieter time."
)
SETTLING, COUNTED = 2, 1
OPERATIONS = SETTLING + COUNTED
SPARE_SHARE = 0.05  # of the budget: full sets take a little longer than their parts add up to
DECIDED_LONGER = 1.5  # times the least that full sets take, where the search decided already
WAIT_FOR_QUIET_S = 5.0  # until other programs leave the measured cores; of the budget
LEAST_WITH_FLOOR = 2  # with this many connections only paths take turns
DRAINS = 2  # executions of which the shorter tells how long the server works
REDACTED = "(left out)"
LEAST_REQUEST_S, LONGEST_REQUEST = 5.0, 0.1  # a request may take as long; as a share of the budget


def not_compared(columns: Sequence[DescribedColumn], *, named: bool) -> str:
    """The columns of which the digest holds only NULL or not; empty without any. `named`: by their names."""
    left = [
        f"{column.name if named else f'column {number}'} ({column.engine_type})"
        for number, column in enumerate(columns, 1)
        if column.type == "opaque"
    ]
    return f"{len(left)} of {len(columns)} columns not compared, except for NULL: {', '.join(left)}." if left else ""


def few_sets(done: int, wanted: int) -> str:
    """The budget did not hold all sets."""
    return (
        f"The budget allowed {done} full sets instead of {wanted}: the order is provisional and no difference "
        "is claimed. "
        "A larger --budget, or fewer --language and --driver values, allows more."
    )


def too_long(execution_s: float, budget_s: float) -> str:
    """One execution takes more than a twentieth of the budget."""
    return (
        f"One execution takes {fmt.duration(execution_s * 1e9)}, more than a twentieth of the budget of "
        f"{budget_s:g} s. "
        "Rowpath searched no settings and executed every path once, cold. The faster path is unknown: "
        "one execution shows only large differences. "
        "Rows were counted, not compared. Read fewer rows, or set a --budget of "
        f"{fmt.clock(max(60.0, 200 * execution_s))} or more."
    )


def counted(worker: ThrottledWorker, work: PreparedPhase, directory: Path) -> CountedRecord | None:
    """Count through a process that is not connected; the record lacks its place. None where no proxy can be in between.

    Errors: RunnerFailure.
    """
    with counting_proxy(worker.planned.path, worker.instance, directory) as counting:
        if counting is None:
            return None
        worker.open(**counting.overrides)
        worker.prepare(work)
        worker.sample(work, "warm", operations=SETTLING, first=0)
        counting.proxy.reset()
        reply = worker.sample(work, "warm", operations=COUNTED, first=0).reply
        counts = counting.proxy.read()
        return CountedRecord(
            operations=reply.operations,
            round_trips=counts.round_trips,
            bytes_sent=counts.bytes_sent,
            bytes_received=counts.bytes_received,
            method={"bytes": proxy.METHOD},
        )


@dataclass(kw_only=True)
class ProbeRun(ProbedQuery):
    """What one probe has besides: what can be tried, and where to write what it finds."""

    found: Candidates
    journal: Journal
    progress: Progress
    seed: int
    search_kind: type[Search] = Search
    search: Search | None = None
    _named: set[str] = field(default_factory=set)

    def run(self, command: list[str]) -> bool:
        """The whole probe; whether it was interrupted. Errors: RowpathError before anything could be measured."""
        self.progress.note("describing the query")
        work = self.work()
        self._head(work, command)
        search = self.search = self.search_kind(
            work, WorkerPool(self.start), self.budget, self.row_consistency, self.options.connections, self.seed,
            self.progress.note, self.found.paths, self.found.baselines, tell=self._tell,
            time_delivery=self._time_delivery,
        )  # fmt: skip
        interrupted = False
        try:
            self.go_through(search)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            search.worker_pool.stop()
            self._report(search)
        if not any(each.execution_ns for each in search.tried.values()) and not interrupted:
            raise self._nothing(search)
        return interrupted

    def _tell(self, path_name: str, ns_per_operation: float, done: int, total: int) -> None:
        """Show a try, and journal it as far as it is known: what ends us later shall not take it away."""
        self.progress.tried(path_name, ns_per_operation, done, total)
        assert self.search is not None
        *_, latest = self.search.tried.values()
        self.journal.write(ProbeRecord(tried=_tried(latest, self.search)))

    @override
    def changed(self, worker: ThrottledWorker, work: PreparedPhase) -> None:
        if self.search:
            self.search.changed(worker, work)

    @override
    def timeout_s(self) -> float:
        """One path that hangs must not take the whole budget, once another has shown that the query ends."""
        search = self.search
        known = search is not None and not search.slow and any(each.execution_ns for each in search.tried.values())
        longest_s = max(LEAST_REQUEST_S, self.budget.total_s * LONGEST_REQUEST) if known else self.budget.left_s
        return longest_s + GRACE_S

    def _head(self, work: PreparedPhase, command: list[str]) -> None:
        if self.options.redact_query:
            work = redacted(work)
        title = f"the fastest path to {self.access.target.shown}{self.options.from_words}"
        plan = plan_of(title, work, FullSetsBudget(0, FULL_SETS, 0), dropped=self.found.dropped, seed=self.seed)
        options = {
            "budget_s": self.budget.total_s,
            "connections": self.options.connections,
            "url": self.access.target.shown,
            "in_place": self.options.in_place,
            "parameters": [column.type for column in self.keyed.columns] if self.keyed else [],
            "engine_version": self.access.engine_version,
        }
        if self.options.from_host:
            options["from_host"] = self.options.from_host
        write_head(self.journal, plan, options, command)
        for note in self.access.notes:
            self.progress.note(note)
            self.journal.write(NoteRecord(note))
        if left := not_compared(self.columns, named=not self.options.redact_query):
            self.progress.note(left)
            self.journal.write(ProbeRecord(not_compared=left))

    def go_through(self, search: Search) -> None:
        """Tries, rounds, full sets; or single executions where no more fits."""
        self.progress.note(f"trying {len(self.found.paths)} settings")
        self.progress.begin(self.budget.total_s, [planned.name for planned in self.found.paths])
        search.try_all()
        if search.slow:
            self._single(search)
            return
        search.halve()
        self.journal_groups(search)
        self._journal_parameter_types(search)
        if going := search.alive():
            self._full_sets(search, going)

    def _full_sets(self, search: Search, going: list[str]) -> None:
        decided = not search.contested()
        if decided:
            self.progress.note("the winner is decided: full sets follow")
        by_rows = [path_id for path_id in going if search.tried[path_id].planned.path.fetch_form == "row"]
        wished = [*going[:2], *best_of_each(by_rows, search.language), *([] if decided else going)]
        needed = search.needed()
        chosen = finalists(needed, wished)
        tried = [search.tried[path_id] for path_id in chosen]
        blocks_s, starts_s = of_full_set(self.budget, search.worker_pool, tried)
        counting_s = sum(OPERATIONS * self.budget.wall_s(each.planned.path, each.execution_ns / 1e9) for each in tried)
        # The floor is one of the connections that are open at once.
        floors = self.found.floors[:1] if self.options.connections > LEAST_WITH_FLOOR else ()
        room = self.options.connections - len(floors)
        left_s = self.budget.left_s - counting_s - SPARE_SHARE * self.budget.total_s
        if decided:  # what was to be known is known: no more than a claim needs
            left_s = min(left_s, DECIDED_LONGER * search.full_sets_s())
        late_s = LATEST * self.budget.total_s - self.budget.spent_s - counting_s
        final = plan_full_sets(blocks_s, starts_s, max(0.0, left_s), late_s, len(needed), room)
        for each in tried[final.finalists :]:
            each.left = "no time for full sets"
        members = chosen[: final.finalists]
        for path_id in going:
            if path_id not in chosen:
                search.tried[path_id].left = "other paths took the full sets"
        self.progress.note(f"full sets of {len(members)}: {final.sets} sets of {final.rounds} rounds")
        planned = {path_id: search.tried[path_id].planned for path_id in members}
        # The most promising one is in every set.
        members.sort(key=going.index)
        sets = [tuple(planned[path_id] for path_id in each) for each in batches(members, room, search.language)]
        if floors:
            sets[0] = (*sets[0], floors[0])
        full_sets = self.full_sets(search.work, sets, final)
        self._count(search, members)
        search.worker_pool.stop()
        done = full_sets.run_sets(final.sets, self.budget)
        if done < FULL_SETS:
            self.caveats.append(few_sets(done, FULL_SETS))
        for path_id in members:
            if search.tried[path_id].failure is None:
                search.tried[path_id].step = "full sets"

    def _single(self, search: Search) -> None:
        """Measure only cold executions, one path after the other, as far as the budget goes."""
        first = next(each for each in search.tried.values() if each.execution_ns)
        execution_s = first.execution_ns / 1e9
        self.caveats.append(too_long(execution_s, self.budget.total_s))
        room = max(1, int(self.budget.left_s / self.budget.wall_s(first.planned.path, execution_s)))
        baselines = [search.tried[path_id] for path_id in search.baselines]
        best = list(dict.fromkeys(each.planned.path.id for each in (first, *baselines, *search.defaults())))[:room]
        once = FullSetsBudget(len(best), 1, 1)
        planned = [search.tried[path_id].planned for path_id in best]
        full_sets = self.full_sets(search.work, [(each,) for each in planned], once, "cold")
        for number, each in enumerate(planned):
            if number and self.budget.left_s < self.budget.wall_s(first.planned.path, execution_s):
                break
            full_sets.one_by_one(0, number, each)
            search.tried[each.path.id].left = ""
            search.tried[each.path.id].step = "one cold execution"

    def _time_delivery(self) -> None:
        """How long the server works on one execution at most: a floor drains the rows. Of a keyed query unknown."""
        for floor in self.found.floors[:1] if self.keyed is None else ():
            with contextlib.suppress(RunnerFailure, RowpathError), contextlib.closing(self.start(floor)) as worker:
                worker.open()
                work = self.floor_work()
                worker.prepare(work)
                times_ns = [worker.sample(work, "warm", operations=1, first=0).reply.ns for _ in range(DRAINS)]
                self.budget.delivery_s = min(times_ns) / 1e9

    def full_sets(
        self,
        work: PreparedPhase,
        sets: Sequence[tuple[PlannedPath, ...]],
        budget: FullSetsBudget,
        regime: Literal["cold", "steady"] = "steady",
    ) -> FullSets:
        """What measures these sets, each of paths that are open at once; several share the first path of the first."""
        plan = plan_of("", work, budget, regime, tuple(sets), seed=self.seed)
        self._name(plan.paths)
        context = RunContext(
            plan,
            self.directory,
            self.journal,
            self.scrubber,
            self.progress,
            self.timeout_s(),
            engine_instances=OneInstance(self.access.instance),
            phase_cache=OnePhase(plan.workloads[WORKLOAD], work, self.floor_work(), self.row_consistency),
            patience=Patience(WAIT_FOR_QUIET_S),
        )
        return FullSets(context, self.start)

    def _name(self, paths: Iterable[PlannedPath]) -> None:
        """Journal paths that later records refer to; a driver's own engine build splits no ranking here."""
        new = [planned for planned in paths if planned.path.id not in self._named]
        self._named |= {planned.path.id for planned in new}
        bare = [replace(planned, adapter=msgspec.structs.replace(planned.adapter, confounded="")) for planned in new]
        write_paths(self.journal, bare)

    def _count(self, search: Search, members: list[str]) -> None:
        """Count round trips through the search's processes, which are warm; nothing of it is timed."""
        for planned in (search.tried[path_id].planned for path_id in members):
            with (
                contextlib.suppress(RunnerFailure, OSError, RowpathError),
                search.worker_pool.several([planned]) as (worker,),
            ):
                worker.planned = planned
                if found := counted(worker, search.work, self.directory.work):
                    found.path_id, found.workload, found.phase = planned.path.id, WORKLOAD, PHASE
                    self.journal.write(found)

    def journal_groups(self, search: Search) -> None:
        """Which paths delivered the same rows: right as far as others agree. Rows that change prove nothing."""
        if self.row_consistency.changed:
            return
        work = search.work
        ordered = list(search.digests().items())
        for digest, members in ordered:
            difference = ""
            if digest != ordered[0][0]:
                pair = ordered[0][1][0].planned, members[0].planned
                difference = first_difference(search.worker_pool, pair, work, self.access.target.engine)
                columns = [column.name for column in work.columns]
                if self.options.redact_query and difference in columns:
                    difference = f"column {columns.index(difference) + 1}"
            names = tuple(each.planned.name for each in members)
            group = DigestGroup(digest, members[0].rows, names, difference)
            self.journal.write(ProbeRecord(digest_group=group))
        for digest, members in ordered[:1]:
            agreed = len(members) > 1
            if not agreed:
                self.caveats.append(ONE_DELIVERY)
            for each in members:
                verified = VerifyRecord(
                    path_id=each.planned.path.id, workload=WORKLOAD, phase=PHASE, digest=digest,
                    expected=digest if agreed else None, ok=True if agreed else None, rows=each.rows,
                )  # fmt: skip
                self.journal.write(verified)

    def _journal_parameter_types(self, search: Search) -> None:
        """Journal as which types parameters arrive, where the engine can tell; by each driver's first prepared path."""
        if self.keyed is None or "plan_cache_mode" not in ENGINES[self.access.target.engine].probe.prepared_settings:
            return
        first: dict[str, PlannedPath] = {}
        for each in search.tried.values():
            if each.execution_ns and each.failure is None and each.planned.path.statement == "prepared":
                first.setdefault(f"{each.planned.adapter.language} {each.planned.adapter.driver}", each.planned)
        file = self.directory.work / "plans.kept"
        for types in different_types(self.access, search.worker_pool, first.values(), search.work, self.keyed, file):
            shown = without_names(types) if self.options.redact_query else types
            self.journal.write(ProbeRecord(parameter_types=shown))

    def _report(self, search: Search) -> None:
        for each in search.tried.values():
            self.journal.write(ProbeRecord(tried=_tried(each, search)))
        journalled: set[tuple[str, str]] = set()
        for each in search.tried.values():
            failure = each.failure
            other = each.digest and each.left.startswith("delivered different rows")
            if failure is None and not other:
                continue
            kind = failure.kind if failure else "verify"
            reason = (each.planned.adapter.driver, kind)
            if kind == "unsupported" and (reason in journalled or _delivered(search, each)):
                continue  # one record for a driver suffices
            journalled.add(reason)
            text, code = (failure.text, failure.code) if failure else (each.left, "")
            status = "wrong" if other and kind != "unsupported" else ""
            self._name([each.planned])
            self.journal.write(FailureRecord.of(-1, each.planned.path.id, NAME, kind, text, code=code, status=status))
        if self.row_consistency.changed:
            self.caveats.append(CHANGED)
        for text in self.caveats:
            self.journal.write(ProbeRecord(caveat=text))

    def _nothing(self, search: Search) -> RowpathError:
        failures = [each for each in search.tried.values() if each.failure is not None]
        first = failures[0] if failures else None
        text = first.left if first else "no candidate was tried"
        if first and first.failure and first.failure.kind == "timeout":
            return TimedOut(
                f"one execution takes longer than the budget of {self.budget.total_s:g} s", "--budget 10min"
            )
        hint = "rowpath doctor; or another query"
        for column in self.columns:
            if f"column {column.name}" in text:  # of a value that has no room in any language
                hint = f"cast the column to text in the query:  CAST({column.name} AS …)"
        return UsageError(f"no path delivered the query's rows: {text}", hint)

    def write_snippets(self, probe: Probe) -> Iterator[Snippet]:
        """Write and yield a program for the fastest path of each language, journalled and as a file.

        It names its lines that differ from the same program for the baseline.
        """
        by_name = {tried.name: tried for tried in probe.tried}
        for best in probe.languages:
            snippet = self._snippet(by_name[best.name])
            baseline = next((tried for tried in probe.tried if _compared(tried, best)), None)
            if snippet is None:
                continue
            if baseline is not None and (before := self._snippet(baseline)) is not None:
                snippet = msgspec.structs.replace(snippet, changed=snippets.changed(before.text, snippet.text))
            self.journal.write(ProbeRecord(snippet=snippet))
            (self.directory.path / snippet.file).write_text(snippet.text, encoding="utf-8")
            yield snippet

    def _snippet(self, tried: TriedPath) -> Snippet | None:
        sql = REDACTED if self.options.redact_query else self.sql  # with its limit: what was found holds for that
        keyed = None if self.options.redact_query else self.keyed
        made = snippets.snippet(tried.name, tried.path, self.access.target, sql, self.columns, keyed)
        clean = self.scrubber.clean  # as the journal holds it
        return made and msgspec.structs.replace(made, text=clean(made.text), run=clean(made.run))


def _delivered(search: Search, tried: Tried) -> bool:
    """Whether another setting of the same driver did deliver."""
    return any(each.execution_ns and each.planned.adapter == tried.planned.adapter for each in search.tried.values())


def _compared(tried: TriedPath, best: LanguageBest) -> bool:
    """Whether a language's best path is compared with this one, another."""
    return bool(tried.baseline) and tried.path["language"] == best.language and tried.name != best.name


def _tried(each: Tried, search: Search) -> TriedPath:
    failure = each.failure
    status = "ok" if failure is None else "unsupported" if failure.kind == "unsupported" else "failed"
    if each.left.startswith("delivered different rows"):
        status = "wrong"
    estimate = each.estimate if failure is None else None
    low, high = estimate.ends if estimate else (None, None)
    return TriedPath(
        name=each.planned.name,
        path=each.planned.path.as_dict(),
        step=each.step,
        left=each.left,
        status=status,
        execution_ns=each.execution_ns or None,
        rows=each.rows if each.rows >= 0 else None,
        digest=each.digest,
        ratio=estimate.ratio if estimate else None,
        low=low,
        high=high,
        compared_with=search.tried[each.compared_with].planned.name if each.compared_with else "",
        description=in_words(each.planned, bool(search.work.parameter_count)),
        title=language(each.planned.adapter.language).title,
        baseline=search.baselines.get(each.planned.path.id, ""),
    )


def redacted(work: PreparedPhase) -> PreparedPhase:
    """The work without its query's text, for the journal; its columns have numbers in place of names."""
    columns = tuple(
        msgspec.structs.replace(column, name=f"column {number}") for number, column in enumerate(work.columns, 1)
    )
    phase = msgspec.structs.replace(work.phase, sql=REDACTED, columns=columns)
    return replace(work, sql=REDACTED, columns=columns, phase=phase)
