"""Where the time of a user's own query goes: the client by library, and what it waits for on a server of others.

Nothing of such a server is pinned, profiled or restarted. The client has a core to itself; the time in which that core
is idle is the wait. An empty query by the same path tells the round trip, the server's own word what it executed.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack
from functools import partial

import msgspec
from typing_extensions import override

from rowpath.engines import ENGINES
from rowpath.engines.probe_facts import ServerClock, ServerTimes
from rowpath.errors import RowpathError, UsageError
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.explain.blocks import Blocks, CoreBlock, block, hops_or_why, stamped_hops
from rowpath.explain.explain import IDLE_CLOCK, PAIRS, WAITING, After, account, taken_apart
from rowpath.journal.writer import RunDirectory
from rowpath.machine import processes
from rowpath.model.explanation import Explanation, Part, ServerSays
from rowpath.own_database.candidates import Candidates, candidates_of, in_words
from rowpath.own_database.probed_query import GRACE_S, ProbedQuery, connected
from rowpath.own_database.question import ProbeOptions, Question
from rowpath.own_database.throttled_worker import work_of
from rowpath.planning.plan import PlannedPath
from rowpath.runners.manifest import language
from rowpath.runners.process import RunnerFailure

EMPTY_BLOCKS = 3
TIMES, TIMES_MOST_S = 5, 4.0  # how often the server is asked for its own time, and how long at most
LOCAL = ("127.0.0.1", "localhost", "::1")
MOST_PATHS = 12


class ExplainedQuery(ProbedQuery):
    """A request may take as long as the user said, however long the others took."""

    @override
    def timeout_s(self) -> float:
        return self.options.budget_s + GRACE_S


def explained(
    question: Question,
    options: ProbeOptions,
    filters: dict[str, tuple[str, ...]],
    directory: RunDirectory,
    note: Callable[[str], None],
    failed: Callable[[str], None],
    pairs: int = PAIRS,
    after: After | None = None,
    *,
    hops: bool = False,
) -> Generator[Explanation]:
    """Each chosen path of the query, one by one; `failed` gets what went wrong. Errors: RowpathError.

    `hops`: then the client's calls are stamped; of the server nothing is.
    """
    chosen_paths = chosen(candidates_of(question.target, question.phase, options), filters)
    with ExitStack() as cleanup:
        query = ExplainedQuery(**connected(question, chosen_paths, options, directory, note, cleanup))
        query.budget.begin()
        note("describing the query")
        work = query.work()
        on_server = query.access.target.deployment == "server"
        says = server_says(query, note) if on_server else None
        digests: dict[str, str] = {}
        for planned in chosen_paths:
            note(f"measuring {planned.name}")
            try:
                explanation, digest = explain(query, planned, work, says, pairs, after)
            except RunnerFailure as failure:
                failed(f"{planned.name}: {failure.text}")
                continue
            if not digest:
                note(f"the rows change between executions, so those of {explanation.name} are not compared")
            elif digests and digest not in digests:
                failed(f"{explanation.name}: its rows differ from those of {next(iter(digests.values()))}")
                continue
            else:
                digests.setdefault(digest, explanation.name)
            if hops and on_server:
                note(f"stamping calls of {planned.name}")
                # The client's calls, of a process of its own.
                start = partial(query.start, planned, None)
                of_client = start, work, explanation.operation_ns, directory.work, None
                explanation = hops_or_why(explanation, partial(stamped_hops, *of_client))
            yield explanation


def chosen(candidates: Candidates, filters: dict[str, tuple[str, ...]]) -> list[PlannedPath]:
    """The paths that the filters keep; without a setting named, of each driver the way it is used, or its likeliest.

    Errors: UsageError where none is left, or too many.
    """
    keys = {key for planned in candidates.paths for key, _value in planned.path.coordinates}
    for key in filters:
        if key not in keys:
            raise UsageError(f"unknown coordinate '{key}' of these drivers", f"one of {', '.join(sorted(keys))}")
    kept = [path for path in candidates.paths if all(path.path.get(key) in filters[key] for key in filters)]
    if filters.keys() <= {"language", "driver"}:
        usual = [planned for planned in kept if planned.path.id in candidates.baselines]
        likeliest = {(planned.path.language, planned.path.driver): planned for planned in (*reversed(kept), *usual)}
        kept = list(likeliest.values()) if "driver" in filters or not usual else usual
    if not kept:
        raise UsageError("no setting of a driver matches the filters", "rowpath list drivers")
    if len(kept) > MOST_PATHS:
        what = f"{len(kept)} settings match: explain takes at most {MOST_PATHS}, about 15 s each"
        raise UsageError(what, f"name one driver: language={kept[0].path.language} driver={kept[0].path.driver}")
    return kept


def explain(
    query: ProbedQuery,
    planned: PlannedPath,
    work: PreparedPhase,
    says: ServerTimes | None,
    pairs: int,
    after: After | None,
) -> tuple[Explanation, str]:
    """One path, with a process of its own; the digest of its rows, empty where they change. Errors: RunnerFailure."""
    worker = query.start(planned)
    target = query.access.target
    try:
        worker.open()
        worker.prepare(work)
        digest = worker.verify(work, 0, max(1, work.parameter_count)).digest
        # Behind a pooler that number is of no process, or of another one.
        serving_pid = 0 if query.access.session.pooled else pid_here(worker.server_pid, target.host)

        def take(_worker: Worker, work: PreparedPhase) -> CoreBlock:
            worker.rest()  # beside the clocks
            return block(worker, work, serving_pid)

        evidence = taken_apart(worker, work, query.directory.work, pairs, take)
        explanation = account(worker, "your query", evidence)
        facts = ENGINES[target.engine].probe
        if target.deployment == "server" and facts.empty_query:
            empty = work_of(facts.empty_query, query.access.describe(facts.empty_query))
            worker.prepare(empty)
            blocks = Blocks([take(worker, empty) for _number in range(EMPTY_BLOCKS)])
            trip_ns = blocks.of_operation(lambda one: one.waited_ns)
            explanation = divided_wait(explanation, trip_ns, facts.empty_query, says, facts.server_clock)
        worker.prepare(work)
        if worker.verify(work, 0, max(1, work.parameter_count)).digest != digest:
            digest = ""  # rows that change prove nothing
        header = language(planned.path.language)
        name = f"{in_words(planned, query.keyed is not None)} ({header.title})"
        explanation = msgspec.structs.replace(explanation, name=name)
        if after is not None and not header.explain.names:  # another process of it would not be throttled
            after(worker, work, explanation, {})
        return explanation, digest
    finally:
        worker.close()


def pid_here(pid: int | None, host: str) -> int:
    """The process that serves the connection, where it runs on this machine; else 0."""
    return pid if pid and (host in LOCAL or not host) and processes.name(pid) else 0


def divided_wait(
    explanation: Explanation, trip_ns: float, empty_query: str, says: ServerTimes | None, clock: ServerClock | None
) -> Explanation:
    """The wait as a round trip, what the server says that it executed, and the rest.

    Where these two are more than the client waits, they overlap with its work: then the wait stays whole.
    """
    wait_ns = next((part.ns for part in explanation.parts if part.name == WAITING), 0.0)
    server_ns, said = 0.0, None
    if says is not None and clock is not None:
        prepared = explanation.path.get("statement") == "prepared"
        server_ns = 1e6 * (says.execution_ms + (0.0 if prepared else says.planning_ms))
        said = ServerSays(server_ns, clock.name, overlaps=server_ns > wait_ns)
    if trip_ns + server_ns > wait_ns:
        return msgspec.structs.replace(explanation, server_says=said)
    divided = (
        Part("server", "executing", server_ns, clock.name if clock else ""),
        Part("wire", "round trip", trip_ns, f"the wait of {empty_query} by the same path"),
        Part("core", WAITING, wait_ns - trip_ns - server_ns, IDLE_CLOCK),
    )
    kept = [part for part in explanation.parts if part.name != WAITING]
    parts = (*kept, *(part for part in divided if part.ns > 0))
    return msgspec.structs.replace(explanation, parts=parts, server_says=said)


def server_says(query: ProbedQuery, note: Callable[[str], None]) -> ServerTimes | None:
    """What the server says that it needs, the median of several; None where it does not. It rests in between."""
    access = query.access
    clock = ENGINES[access.target.engine].probe.server_clock
    if clock is None:
        return None
    sql = query.keyed.with_literals(access.target.engine, query.keyed.rows[0]) if query.keyed else query.sql
    file = query.directory.work / "server-times.kept"
    times: list[ServerTimes] = []
    began_s = time.monotonic()
    try:
        while len(times) < TIMES and time.monotonic() - began_s < TIMES_MOST_S:
            asked_s = time.monotonic()
            ((text, *_),) = access.ask((), [clock.statement.format(sql=sql)], file)
            times.append(clock.read_ms(text))
            time.sleep(time.monotonic() - asked_s)
    except (RowpathError, ValueError, KeyError) as error:
        note(f"the server does not report its own time: {error}")
        return None
    return ServerTimes(*(statistics.median(kind) for kind in zip(*times, strict=True)))
