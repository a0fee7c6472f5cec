"""Where the time of a user's own query goes: the client by library, and what it waits for on a server of others.

Nothing of such a server is pinned, profiled or restarted. The client has a core to itself; the time in which that core
is idle is the wait. An empty query by the same path tells the round trip, the server's own word what it executed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack

from msgspec import structs
from typing_extensions import override

from rowpath.engines import ENGINES
from rowpath.engines.probe_facts import ServerClock
from rowpath.errors import EnvironmentMissing, UsageError
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.explain.blocks import Blocks, CoreBlock, block
from rowpath.explain.explain import PAIRS, SLEEP_CLOCK, WAITING, After, account, taken_apart
from rowpath.explain.server_times import Reported, ServerReports
from rowpath.explain.stamping import Stamping, once_an_operation
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
from rowpath.runners.protocol import SampleReply
from rowpath.text import duration

EMPTY_BLOCKS = 3
SLACK = 0.1  # of the wait, by which the server may report more
OUTPUT = "output and sending"
SERVER_PROCESS = "the CPU clock of its process"
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
    candidates = candidates_of(question.target, question.phase, options)
    for sentence in left_out(candidates, filters):
        note(sentence)
    chosen_paths = chosen(candidates, filters)
    with ExitStack() as cleanup:
        query = ExplainedQuery(**connected(question, chosen_paths, options, directory, note, cleanup))
        query.budget.begin()
        note("describing the query")
        work = query.work()
        for each in query.access.notes:
            note(each)
        on_server = query.access.target.deployment == "server"
        clock = ENGINES[query.access.target.engine].probe.server_clock
        reports = ServerReports(query, clock) if on_server and clock else None
        digests: dict[str, str] = {}
        for planned in chosen_paths:
            note(f"measuring {planned.name}")
            try:
                explanation, digest = explain(query, planned, work, reports, pairs, after, hops=hops and on_server)
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
            yield explanation


def left_out(candidates: Candidates, filters: dict[str, tuple[str, ...]]) -> list[str]:
    """Why drivers that the filters name are not there, a sentence each."""
    named = (each for each in candidates.dropped if each.path.driver in filters.get("driver", ()))
    wanted = [each for each in named if each.path.language in filters.get("language", (each.path.language,))]
    return list(dict.fromkeys(f"{each.path.driver} is left out: {each.reason}" for each in wanted))


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
    reports: ServerReports | None,
    pairs: int,
    after: After | None,
    *,
    hops: bool,
) -> tuple[Explanation, str]:
    """One path, with a process of its own; the digest of its rows, empty where they change. Errors: RunnerFailure."""
    stamping, no_hops, environment = None, "", None
    if hops:
        try:
            stamping = Stamping.begun(query.directory.work)
            environment = stamping.environment()
        except EnvironmentMissing as error:
            stamping, no_hops = None, f"{error.message} ({error.hint})"
    worker = throttled = query.start(planned, None, environment)
    target = query.access.target
    facts = ENGINES[target.engine].probe
    try:
        worker.open()
        once = once_an_operation(work)
        worker.prepare(once)
        digest = worker.verify(once, 0, max(1, work.parameter_count)).digest
        # Behind a pooler that number is of no process, or of another one.
        pooled = query.access.session.pooled
        serving_pid = 0 if pooled else pid_here(worker.server_pid, target.host, facts.server_programs)
        if stamping is not None:
            stamping.here = bool(serving_pid)

        def take(worker: Worker, work: PreparedPhase, *, operations: int = 0) -> CoreBlock:
            throttled.rest()  # beside the clocks
            return block(worker, work, serving_pid, operations)

        evidence = taken_apart(worker, once, query.directory.work, pairs, take, stamping)
        explanation = account(worker, "your query", evidence)
        if no_hops:
            explanation = structs.replace(explanation, no_hops=no_hops)
        if reports is not None:
            empty = work_of(facts.empty_query, query.access.describe(facts.empty_query))
            worker.prepare(empty)
            blocks = Blocks([take(worker, empty) for _number in range(EMPTY_BLOCKS)])
            trip_ns = blocks.of_operation(lambda one: one.slept_ns)
            timed = evidence.stamped if explanation.stamped else evidence.bare
            cpu_ns = timed.of_operation(lambda one: one.served_ns) if serving_pid else None
            reported = reports.of(planned.path)
            explanation = divided_wait(explanation, trip_ns, facts.empty_query, reported, facts.server_clock, cpu_ns)
        worker.prepare(work)
        explanation = with_rows(explanation, take(worker, work).measured.reply)
        if worker.verify(work, 0, max(1, work.parameter_count)).digest != digest:
            digest = ""  # rows that change prove nothing
        header = language(planned.path.language)
        name = f"{in_words(planned, query.keyed is not None)} ({header.title})"
        explanation = structs.replace(explanation, name=name)
        if after is not None and not header.explain.names:  # another process of it would not be throttled
            after(worker, work, explanation, {}, None)
        return explanation, digest
    finally:
        worker.close()


def with_rows(explanation: Explanation, reply: SampleReply) -> Explanation:
    """With how many rows an operation has, and what share of it is over when the first of them is there."""
    operations = max(1, reply.operations)
    share = reply.first_row_ns / max(1, reply.ns)
    return structs.replace(explanation, rows=reply.rows / operations, first_row_share=share)


def pid_here(pid: int | None, host: str, programs: tuple[str, ...]) -> int:
    """The process that serves the connection, where it is one of these programs on this machine; else 0."""
    return pid if pid and (host in LOCAL or not host) and processes.name(pid) in programs else 0


def divided_wait(
    explanation: Explanation,
    trip_ns: float,
    empty_query: str,
    reported: Reported,
    clock: ServerClock | None,
    cpu_ns: float | None = None,
) -> Explanation:
    """The wait as what the server says that it executed, a round trip, and the rest.

    `cpu_ns`: of the server's process for an operation. A server that says more than the client waits works while the
    client does: then the wait stays whole. No part is more than its whole.
    """
    assert clock is not None
    explanation = structs.replace(explanation, trip_ns=trip_ns)
    wait_ns = next((part.ns for part in explanation.parts if part.name == WAITING), 0.0)
    says = said(explanation.operation_ns, wait_ns, reported, clock, cpu_ns)
    server_ns = says.ns or 0.0
    if says.overlaps or server_ns > wait_ns:
        return structs.replace(explanation, server_says=structs.replace(says, overlaps=True))
    made_ns = min(says.output_ns or 0.0, server_ns)
    planning_ns = min(says.planning_ns, server_ns - made_ns)
    # An empty query waits for what the server does for it too, so that what is left may be less.
    way_ns = min(trip_ns, wait_ns - server_ns)
    rest_ns = wait_ns - server_ns - way_ns
    sending_ns = min(rest_ns, max(0.0, cpu_ns - server_ns)) if cpu_ns is not None else 0.0
    empty = f"the wait of {empty_query} by the same path"
    divided = (
        Part("server", "planning", planning_ns, says.by),
        Part("server", "executing", server_ns - planning_ns - made_ns, says.by),
        Part("server", "making the output", made_ns, says.by),
        Part("server", OUTPUT, sending_ns, f"{SERVER_PROCESS}, less what {clock.name} reports"),
        Part("wire", "round trip", way_ns, empty + (", at most the rest of the wait" if way_ns < trip_ns else "")),
        Part("core", WAITING, rest_ns - sending_ns, SLEEP_CLOCK),
    )
    kept = [part for part in explanation.parts if part.name != WAITING]
    parts = (*kept, *(part for part in divided if part.ns > 0))
    return structs.replace(explanation, parts=parts, server_says=says)


def said(
    operation_ns: float, wait_ns: float, reported: Reported, clock: ServerClock, cpu_ns: float | None
) -> ServerSays:
    """What the server says; unknown where it exceeds the operation, unless the CPU of its process is known.

    A little more than the wait is the wait: counting rows has a cost.
    """
    if reported.why:
        return ServerSays(None, clock.name, f"it refuses {clock.name}: {reported.why}", cpu_ns=cpu_ns)
    whole_ns = reported.planning_ns + reported.execution_ns + (reported.output_ns or 0.0)
    notes = reported.notes
    if reported.output_ns is None:
        notes += (f"This leaves out {clock.output_work}.",)
    more = f"{clock.name} reports {duration(whole_ns)}"
    if whole_ns > wait_ns and whole_ns <= (1 + SLACK) * wait_ns:
        notes += (f"{more}, within {SLACK:.0%} of the wait.",)
        whole_ns = wait_ns
    if whole_ns <= operation_ns:
        of_parts = reported.planning_ns, reported.output_ns, cpu_ns
        return ServerSays(whole_ns, clock.name, "", *of_parts, overlaps=whole_ns > wait_ns, notes=notes)
    more += ", more than the operation takes"
    if cpu_ns is not None and 0 < cpu_ns <= operation_ns:
        return ServerSays(cpu_ns, SERVER_PROCESS, cpu_ns=cpu_ns, notes=(*reported.notes, f"{more}."))
    return ServerSays(None, clock.name, more, cpu_ns=cpu_ns, notes=reported.notes)
