"""One probe on an open access: describe, search, measure the best in full, count round trips, and journal it all."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import msgspec
from typing_extensions import override

from rowpath import text as fmt
from rowpath.engines import ENGINES
from rowpath.errors import RowpathError, TimedOut, UsageError
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.run import write_head, write_paths
from rowpath.execution.run_context import RunContext
from rowpath.execution.verification_pass import counting_proxy
from rowpath.execution.warm_up import Patience
from rowpath.journal.records import CountedRecord, FailureRecord, NoteRecord, ProbeRecord, VerifyRecord
from rowpath.journal.writer import Journal
from rowpath.machine.counters import counting_proxy as proxy
from rowpath.model.grouping import grouped
from rowpath.model.path import BY_HAND
from rowpath.model.probe import DigestGroup, Probe, Snippet, TriedPath
from rowpath.model.progress import Progress
from rowpath.own_database.candidates import NAME, Candidates
from rowpath.own_database.layers import description
from rowpath.own_database.probed_query import GRACE_S, ProbedQuery
from rowpath.own_database.query_check import leading_key
from rowpath.own_database.session import NOT_KEPT, PREPARED_FAILS
from rowpath.own_database.throttled_worker import PHASE, WORKLOAD, ThrottledWorker
from rowpath.planning.plan import PlannedPath
from rowpath.probe import full_sets, layer_programs, layer_sets, snippets
from rowpath.probe.agreement import Verdict, labels_of
from rowpath.probe.differences import different_types, example, without_names
from rowpath.probe.search import Search
from rowpath.probe.successive_halving import best_of_each, finalists
from rowpath.probe.tries import Tried, driver_of
from rowpath.probe.worker_pool import WorkerPool
from rowpath.report.bars import shorten_end
from rowpath.runners.manifest import language
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import DescribedColumn

ONE_DELIVERY = (
    "The rows are unverified: no two implementations delivered the same rows, so no path is known to have delivered "
    "all of them correctly."
)
VOLATILE = (
    "{columns}: other values at every execution, by the engine or by another program. They are not compared, and no "
    "driver is at fault."
)
CHANGED = (
    "The rows changed during the probe: paths read different rows, which may explain their differences. "
    "Probe a copy, or probe at a quieter time."
)
SETTLING, COUNTED = 2, 1  # operations before round trips are counted, and in which they are
SPARE_SHARE = 0.05  # of the budget: full sets take a little longer than their parts add up to
DECIDED_LONGER = 1.5  # times the least that full sets take, where the search decided already
WAIT_FOR_QUIET_S = 5.0  # until other programs leave the measured cores; of the budget
LEAST_WITH_FLOOR = 2  # with this many connections only paths take turns
DRAINS = 2  # executions of which the shorter tells how long the server works
REDACTED = "(left out)"
SHOWN = 40  # characters of a value that differs
LEAST_REQUEST_S, LONGEST_REQUEST = 5.0, 0.1  # a request may take as long; as a share of the budget


def not_compared(columns: Sequence[DescribedColumn], *, named: bool) -> str:
    """The columns of which the digest holds only NULL or not; empty without any. `named`: by their names."""
    left = [
        f"{column.name if named else f'column {number}'} ({column.engine_type})"
        for number, column in enumerate(columns, 1)
        if column.type == "opaque"
    ]
    return f"{len(left)} of {len(columns)} columns not compared, except for NULL: {', '.join(left)}." if left else ""


@dataclass(kw_only=True)
class ProbeRun(ProbedQuery):
    """What one probe has besides: what can be tried, and where to write what it finds."""

    candidates: Candidates
    journal: Journal
    progress: Progress
    seed: int
    search_kind: type[Search] = Search
    search: Search | None = None
    _named: set[str] = field(default_factory=set)

    def run(self, command: list[str]) -> bool:
        """The whole probe; whether it was interrupted. Errors: RowpathError before anything could be measured."""
        self.progress.note("describing the query")
        if (pooled := self.access.session.pooled) and not pooled.keeps:
            self.candidates = self.candidates.without_prepared(NOT_KEPT)
            self.caveats.append(PREPARED_FAILS)
        work = self.work()
        self._head(work, command)
        search = self.search = self.search_kind(
            work, WorkerPool(self.start), self.budget, self.row_consistency, self.options.connections, self.seed,
            self.progress.note, self.candidates.paths, self.directory.work, self.candidates.baselines, tell=self._tell,
            time_delivery=self._time_delivery, labels=self.labels, sort_key=self._sort_key(),
            beneath=self.candidates.beneath,
        )  # fmt: skip
        interrupted = False
        try:
            self.go_through(search)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            search.worker_pool.stop()
            self._report(search)
        if not search.times_ns() and not interrupted:
            raise self._nothing(search)
        return interrupted

    @property
    def labels(self) -> tuple[str, ...]:
        """What each column is called in the journal."""
        return labels_of(["" if self.options.redact_query else column.name for column in self.columns])

    def _sort_key(self) -> str | None:
        syntax = ENGINES[self.access.target.engine].probe.syntax
        return leading_key(self.sql, syntax) if syntax is not None else None

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
        known = self.search is not None and not self.search.slow and self.search.times_ns()
        longest_s = max(LEAST_REQUEST_S, self.budget.total_s * LONGEST_REQUEST) if known else self.budget.left_s
        return longest_s + GRACE_S

    def _head(self, work: PreparedPhase, command: list[str]) -> None:
        if self.options.redact_query:
            work = redacted(work)
        title = f"the fastest path to {self.access.target.shown}{self.options.from_words}"
        budget, dropped = full_sets.FullSetsBudget(0, full_sets.FULL_SETS, 0), self.candidates.dropped
        plan = full_sets.plan_of(title, work, budget, dropped=dropped, seed=self.seed)
        options = {
            "budget_s": self.budget.total_s,
            "connections": self.options.connections,
            "url": self.access.target.shown,
            "in_place": self.options.in_place,
            "parameters": [column.type for column in self.keyed.columns] if self.keyed else [],
            "engine_version": self.access.engine_version,
        } | ({"from_host": self.options.from_host} if self.options.from_host else {})
        write_head(self.journal, plan, options, command)
        for note in self.access.notes:
            self.progress.note(note)
            self.journal.write(NoteRecord(note))
        if left := not_compared(self.columns, named=not self.options.redact_query):
            self.progress.note(left)
            self.journal.write(ProbeRecord(not_compared=left))

    def go_through(self, search: Search) -> None:
        """Tries, rounds, full sets; or single executions where no more fits."""
        self.progress.note(f"trying {len(self.candidates.paths)} settings")
        self.progress.begin(self.budget.total_s, [planned.name for planned in self.candidates.paths])
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
        blocks_s, starts_s = full_sets.of_full_set(self.budget, search.worker_pool, tried)
        executions_s = [self.budget.wall_s(one.planned.path, one.execution_ns / 1e9) for one in tried]
        counting_s = (SETTLING + COUNTED) * sum(executions_s)
        # The floor is one of the connections that are open at once.
        floors = self.candidates.floors[:1] if self.options.connections > LEAST_WITH_FLOOR else ()
        room = self.options.connections - len(floors)
        left_s = self.budget.left_s - counting_s - SPARE_SHARE * self.budget.total_s
        if decided:  # what was to be known is known: no more than a claim needs
            left_s = min(left_s, DECIDED_LONGER * search.full_sets_s())
        late_s = full_sets.LATEST * self.budget.total_s - self.budget.spent_s - counting_s
        final = full_sets.plan_full_sets(blocks_s, starts_s, max(0.0, left_s), late_s, len(needed), room)
        members = chosen[: final.finalists]
        for path_id in dict.fromkeys([*chosen, *going]):
            if path_id not in members:
                why = "no time for full sets" if path_id in chosen else "other paths took the full sets"
                search.tried[path_id].left = why
        self.progress.note(f"full sets of {len(members)}: {final.sets} sets of {final.rounds} rounds")
        planned = {path_id: search.tried[path_id].planned for path_id in members}
        # The most promising one is in every set.
        members.sort(key=going.index)
        sets = [tuple(map(planned.__getitem__, batch)) for batch in layer_sets.batched(search, members, room)]
        if floors:
            sets[0] = (*sets[0], floors[0])
        measured = self.full_sets(search.work, sets, final)
        for path in planned.values():
            self._count(search, path)
        search.worker_pool.stop()
        done = measured.run_sets(final.sets, self.budget)
        if done < full_sets.FULL_SETS:
            self.caveats.append(
                f"The budget allowed {fmt.counted(done, 'full set')} instead of {full_sets.FULL_SETS}: the order is "
                "provisional and no difference is claimed. A larger --budget, or fewer --language and --driver values, "
                "allows more."
            )
        for one in map(search.tried.__getitem__, members):
            if one.failure is None:
                one.step = "full sets"

    def _single(self, search: Search) -> None:
        """Measure only cold executions, one path after the other, as far as the budget goes."""
        first = next(tried for tried in search.tried.values() if tried.execution_ns)
        execution_s = first.execution_ns / 1e9
        self.caveats.append(
            f"One execution takes {fmt.duration(first.execution_ns)}, more than a twentieth of the budget of "
            f"{self.budget.total_s:g} s. "
            "Rowpath searched no settings and executed every path once, cold. The faster path is unknown: "
            "one execution shows only large differences. "
            "Rows were counted, not compared. Read fewer rows, or set a --budget of "
            f"{fmt.clock(max(60.0, 200 * execution_s))} or more."
        )
        wall_s = self.budget.wall_s(first.planned.path, execution_s)
        baselines = [search.tried[path_id] for path_id in search.baselines]
        best = dict.fromkeys(tried.planned.path.id for tried in (first, *baselines, *search.defaults()))
        planned = [search.tried[path_id].planned for path_id in best][: max(1, int(self.budget.left_s / wall_s))]
        once = full_sets.FullSetsBudget(len(planned), 1, 1)
        measured = self.full_sets(search.work, [(path,) for path in planned], once, "cold")
        for number, path in enumerate(planned):
            if number and self.budget.left_s < wall_s:
                break
            measured.run_batch(0, number)
            search.tried[path.path.id].left = ""
            search.tried[path.path.id].step = "one cold execution"

    def _time_delivery(self) -> None:
        """How long the server works on one execution at most: a floor drains the rows. Of a keyed query unknown."""
        for floor in self.candidates.floors[:1] if self.keyed is None else ():
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
        budget: full_sets.FullSetsBudget,
        regime: Literal["cold", "steady"] = "steady",
    ) -> full_sets.FullSets:
        """What measures these sets, each of paths that are open at once; several share the first path of the first."""
        plan = full_sets.plan_of("", work, budget, regime, tuple(sets), seed=self.seed)
        self._name(plan.paths)
        context = RunContext(
            plan,
            self.directory,
            self.journal,
            self.scrubber,
            self.progress,
            self.timeout_s(),
            engine_instances=full_sets.OneInstance(self.access.instance),
            phase_cache=full_sets.OnePhase(plan.workloads[WORKLOAD], work, self.floor_work(), self.row_consistency),
            patience=Patience(WAIT_FOR_QUIET_S),
        )
        return full_sets.FullSets(context, self.start)

    def _name(self, paths: Iterable[PlannedPath]) -> None:
        """Journal paths that later records refer to; a driver's own engine build splits no ranking here."""
        new = [planned for planned in paths if planned.path.id not in self._named]
        self._named |= {planned.path.id for planned in new}
        bare = [replace(planned, adapter=msgspec.structs.replace(planned.adapter, confounded="")) for planned in new]
        write_paths(self.journal, bare)

    def _count(self, search: Search, planned: PlannedPath) -> None:
        """Count round trips through a process of the search, which is warm; nothing of it is timed."""
        counted_as = layer_sets.as_counted(planned.path, search)
        with (
            contextlib.suppress(RunnerFailure, OSError, RowpathError),
            search.worker_pool.several([planned]) as (worker,),
            counting_proxy(counted_as, worker.instance, self.directory.work) as counting,
        ):
            if counting is None:  # no proxy can be in between
                return
            worker.planned = planned
            worker.open(**counting.overrides, **({"tls": "off"} if counting.sent else {}))
            worker.prepare(search.work)
            worker.sample(search.work, "warm", operations=SETTLING, first=0)
            with worker.transaction():
                counting.proxy.reset()
                if counting.sent:
                    counting.sent.texts.clear()
                reply = worker.sample(search.work, "warm", operations=COUNTED, first=0).reply
                counts = counting.proxy.read()
            sent = layer_sets.statements_of(counting, reply.operations, self.options.redact_query)
            counted = CountedRecord(
                path_id=planned.path.id, workload=WORKLOAD, phase=PHASE, operations=reply.operations,
                round_trips=counts.round_trips, bytes_sent=counts.bytes_sent, bytes_received=counts.bytes_received,
                method={"bytes": proxy.METHOD}, **sent,
            )  # fmt: skip
            self.journal.write(counted)

    def journal_groups(self, search: Search) -> None:
        """Which paths delivered the same rows: right as far as others agree. Rows that change prove nothing."""
        if self.row_consistency.changed:
            return
        found = search.agreement
        for verdict in found.verdicts:
            names = tuple(member.planned.name for member in verdict.members)
            reply = verdict.first.reply
            against = verdict.wrong or verdict.ties
            column = next(iter(against), "")
            shown = self._example(search, verdict, column) if column and not self.options.redact_query else ""
            difference = column or next(iter(against.values()), "")
            group = DigestGroup(
                reply.digest, reply.rows, names, difference, shown, bool(verdict.ties), tuple(verdict.notes())
            )
            self.journal.write(ProbeRecord(digest_group=group))
        agreed = len(found.voices) > 1
        if not agreed and not any(verdict.ties for verdict in found.verdicts):
            self.caveats.append(ONE_DELIVERY)
        if found.volatile:
            self.caveats.append(VOLATILE.format(columns=", ".join(found.volatile)))
        for verdict in found.agreeing:
            proven = agreed and not verdict.ties
            for member in verdict.members:
                verified = VerifyRecord(
                    path_id=member.planned.path.id, workload=WORKLOAD, phase=PHASE, digest=member.reply.digest,
                    expected=member.reply.digest if proven else None, ok=True if proven else None,
                    rows=member.reply.rows,
                )  # fmt: skip
                self.journal.write(verified)

    def _example(self, search: Search, verdict: Verdict, label: str) -> str:
        """The first row in which a column differs from the one of most, as each side delivered it."""
        leader = search.agreement.verdicts[0]
        other = next((tied for tied in search.agreement.verdicts if tied is not verdict and tied.ties), leader)
        sides = other if verdict.ties else leader, verdict
        with contextlib.suppress(RunnerFailure, OSError):
            if found := example([search.kept(side.first) for side in sides], self.labels.index(label)):
                row, *values = found
                paths = (side.first.planned.path for side in sides)
                drivers = (path.driver if path.layer == BY_HAND else path.layer for path in paths)
                each = (
                    f"{shorten_end(fmt.printable(self.scrubber.clean(value)), SHOWN)} ({driver})"
                    for value, driver in zip(values, drivers, strict=True)
                )
                return f"row {row:,}: {', '.join(each)}"
        return ""

    def _journal_parameter_types(self, search: Search) -> None:
        """Journal as which types parameters arrive, where the engine can tell; by each driver's first prepared path."""
        if self.keyed is None or "plan_cache_mode" not in ENGINES[self.access.target.engine].probe.prepared_settings:
            return
        done = (tried.planned for tried in search.tried.values() if tried.execution_ns and tried.failure is None)
        bare = (planned for planned in done if planned.path.layer == BY_HAND)
        prepared = grouped((planned for planned in bare if planned.path.statement == "prepared"), driver_of)
        first = [paths[0] for paths in prepared.values()]
        file, pool = self.directory.work / "plans.kept", search.worker_pool
        for types in different_types(self.access, pool, first, search.work, self.keyed, file):
            shown = without_names(types) if self.options.redact_query else types
            self.journal.write(ProbeRecord(parameter_types=shown))

    def _report(self, search: Search) -> None:
        for tried in search.tried.values():
            self.journal.write(ProbeRecord(tried=_tried(tried, search)))
        journalled: set[tuple[str, str]] = set()
        delivering = [tried.planned.adapter for tried in search.tried.values() if tried.execution_ns]
        for tried in search.tried.values():
            failure = tried.failure
            if failure is None and not (tried.digest and tried.wrong):
                continue
            kind = failure.kind if failure else "verify"
            reason = (tried.planned.adapter.driver, kind)
            if kind == "unsupported" and (reason in journalled or tried.planned.adapter in delivering):
                continue  # one record for a driver suffices, none where another setting of it delivered
            journalled.add(reason)
            text, code = (failure.text, failure.code) if failure else (tried.left, "")
            status = "wrong" if tried.digest and tried.wrong and kind != "unsupported" else ""
            self._name([tried.planned])
            path_id = tried.planned.path.id
            self.journal.write(FailureRecord.of(-1, path_id, NAME, kind, text, code=code, status=status))
        if self.row_consistency.changed:
            self.caveats.append(CHANGED)
        for text in self.caveats:
            self.journal.write(ProbeRecord(caveat=text))

    def _nothing(self, search: Search) -> RowpathError:
        first = next((tried for tried in search.tried.values() if tried.failure is not None), None)
        text = first.left if first else "no candidate was tried"
        if first and first.failure and first.failure.kind == "timeout":
            what = f"one execution takes longer than the budget of {self.budget.total_s:g} s"
            return TimedOut(what, "--budget 10min")
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
            if snippet is None:
                continue
            of_language = [tried for tried in probe.tried if tried.baseline and tried.path["language"] == best.language]
            baseline = next((tried for tried in of_language if tried.name != best.name), None)
            if baseline is not None and (before := self._snippet(baseline)) is not None:
                snippet = msgspec.structs.replace(snippet, changed=snippets.changed(before.text, snippet.text))
            self.journal.write(ProbeRecord(snippet=snippet))
            (self.directory.path / snippet.file).write_text(snippet.text, encoding="utf-8")
            yield snippet
        for program in self._layer_programs(probe):
            self.journal.write(ProbeRecord(snippet=program))
            (self.directory.path / program.file).write_text(program.text, encoding="utf-8")
            yield program

    def _layer_programs(self, probe: Probe) -> Iterator[Snippet]:
        left_out = self.options.redact_query
        sql = REDACTED if left_out else self.keyed.with_first_row(self.access.target.engine) if self.keyed else self.sql
        mapped = None if left_out else self.mapped
        for made in layer_programs.programs(probe, self.access.target, sql, self.columns, mapped):
            yield self._without_secrets(made)

    def _snippet(self, tried: TriedPath) -> Snippet | None:
        sql = REDACTED if self.options.redact_query else self.sql  # with its limit: what was found holds for that
        keyed = None if self.options.redact_query else self.keyed
        made = snippets.snippet(tried.name, tried.path, self.access.target, sql, self.columns, keyed)
        return made and self._without_secrets(made)

    def _without_secrets(self, made: Snippet) -> Snippet:
        clean = self.scrubber.clean_own  # as the journal holds it
        return msgspec.structs.replace(made, text=clean(made.text), run=clean(made.run))


def _tried(tried: Tried, search: Search) -> TriedPath:
    failure = tried.failure
    status = "ok" if failure is None else "unsupported" if failure.kind == "unsupported" else "failed"
    estimate = tried.estimate if failure is None else None
    low, high = estimate.ends if estimate else (None, None)
    return TriedPath(
        name=tried.planned.name,
        path=tried.planned.path.as_dict(),
        step=tried.step,
        left=tried.left,
        status="wrong" if tried.wrong else status,
        execution_ns=tried.execution_ns or None,
        rows=tried.rows if tried.rows >= 0 else None,
        digest=tried.digest,
        ratio=estimate.ratio if estimate else None,
        low=low,
        high=high,
        compared_with=search.tried[tried.compared_with].planned.name if tried.compared_with else "",
        description=description(tried.planned, bool(search.work.parameter_count)),
        title=language(tried.planned.adapter.language).title,
        baseline=search.baselines.get(tried.planned.path.id, ""),
    )


def redacted(work: PreparedPhase) -> PreparedPhase:
    """The work without its query's text, for the journal; its columns have numbers in place of names."""
    columns = tuple(
        msgspec.structs.replace(column, name=f"column {number}") for number, column in enumerate(work.columns, 1)
    )
    phase = msgspec.structs.replace(work.phase, sql=REDACTED, columns=columns)
    return replace(work, sql=REDACTED, columns=columns, phase=phase)
