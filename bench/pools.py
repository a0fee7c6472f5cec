"""Borrowing and returning a connection: our runner's time for it against a program by hand, and by difference.

One client, a pool of one connection, keyed reads on PostgreSQL. The programs (bench/hand_written/pools, go, rust)
are written from the pools' documentation, with the same driver and nothing of the runner. Of their loop they time
borrowing and returning. Three processes live at once on the same core: ours, the program, and the program once more,
which holds one connection of its pool for all its reads. Their blocks alternate. A couple of fresh processes gives one
value of each figure, the median of its rounds; the intervals are over couples. First both must send as many statements.
By difference: what an operation of the program takes, less what it takes where the connection is held. So the work is
the same: a path without a pool keeps its prepared statement, which above many pools is looked up or prepared each time.

ROWPATH_BENCH_POOLS=java,pgxpool keeps some languages or pools, ROWPATH_BENCH_POOLS_COUPLES=2 does fewer.
"""

from __future__ import annotations

import contextlib
import math
import os
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.figure import Figure
from bench.hand_written import PAIRS, WARM_S, bring_up, keys_file, their_figures, warm_up
from bench.hand_written_program import SOURCES, Program, beside_packages, compiled_go, compiled_rust, java_command
from bench.layers import URL, same_statements
from rowpath.analysis.statistics.intervals import Interval, mean_with_ends, set_log_ratio, student
from rowpath.checks.selftest.bench import Bench
from rowpath.engines.base import Instance
from rowpath.errors import RowpathError, UsageError
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.machine import maven
from rowpath.planning.availability import unavailable
from rowpath.planning.plan import PlannedPath
from rowpath.runners import manifest
from rowpath.runners.manifest import Command
from rowpath.workloads.workload_file import load_workload

PHASE = "keyed.read"
BAR = 1.05
WIDTH, WIDTH_NS = 0.05, 20  # half of the interval's, at most; whichever is larger
BAR_TEXT = f"interval reaches {BAR} or less, half-width ≤ {WIDTH:.0%} or {WIDTH_NS} ns"
PUBLISHED = "hikaricp"  # as 2,000 times as quick as another: experiments/pools.toml
CHOSEN = tuple(name for name in os.environ.get("ROWPATH_BENCH_POOLS", "").split(",") if name)
COUPLES = int(os.environ.get("ROWPATH_BENCH_POOLS_COUPLES", "5"))
# By language and pool: the driver below it, its program, how a parameter is written there.
PROGRAMS = {
    ("java", "hikaricp"): ("pgjdbc", "pools/HikariReads.java", "?"),
    ("java", "tomcat-jdbc"): ("pgjdbc", "pools/TomcatReads.java", "?"),
    ("java", "dbcp2"): ("pgjdbc", "pools/Dbcp2Reads.java", "?"),
    ("java", "c3p0"): ("pgjdbc", "pools/C3p0Reads.java", "?"),
    ("python", "psycopg_pool"): ("psycopg", "pools/psycopg_pool_reads.py", "%s"),
    ("python", "sqlalchemy"): ("psycopg", "pools/sqlalchemy_reads.py", "%s"),
    ("python", "asyncpg"): ("asyncpg", "pools/asyncpg_reads.py", "$1"),
    ("go", "pgxpool"): ("pgx", "go/pgxpool.go", "$1"),
    ("go", "database-sql"): ("pgx-stdlib", "go/databasesql_pool.go", "$1"),
    ("node", "pg-pool"): ("pg", "pools/pg_pool_reads.js", "$1"),
    ("node", "postgres-js"): ("postgres-js", "pools/postgres_js_reads.js", "$1"),
    ("rust", "deadpool"): ("tokio-postgres", "rust/tokio_pools.rs", "$1"),
    ("rust", "bb8"): ("tokio-postgres", "rust/tokio_pools.rs", "$1"),
    ("rust", "r2d2"): ("postgres", "rust/r2d2_pool.rs", "$1"),
    ("rust", "sqlx"): ("sqlx-postgres", "rust/sqlx_pool.rs", "$1"),
}


@dataclass(frozen=True)
class Block:
    """What an operation of a block took, and how much of it was borrowing and returning."""

    ns: float
    loan_ns: float


@dataclass(frozen=True)
class Couple:
    """Medians over the rounds of three processes, for an operation."""

    log_ratio: float  # ln(ours / theirs) of borrowing and returning
    read_ns: float  # with the pool
    loan_ns: float  # of that: borrowing and returning
    longer_ns: float  # of the program: than with a connection that is held
    clock_ns: float  # what reading the clock takes of the timed: all that is timed where the connection is held


def measure(bench: Bench) -> Iterator[Figure]:
    """Two figures per pool, three of HikariCP. UsageError for a name that is neither a language nor a pool here."""
    known = {name for each in PROGRAMS for name in each}
    if unknown := sorted(set(CHOSEN) - known):
        raise UsageError(f"unknown pool '{unknown[0]}'", f"known: {', '.join(sorted(known))}")
    for (language, pool), (driver, source, placeholder) in PROGRAMS.items():
        if not CHOSEN or {language, pool} & set(CHOSEN):
            how = {"pool": pool, "pool_size": "1", "validation": "none", "statement": "prepared", "transport": "tcp"}
            ours = bench.path(language, driver, PHASE, f"{pool} above {driver}", **how)
            yield from compare(bench, ours, SOURCES / source, placeholder)


def compare(bench: Bench, ours: PlannedPath, source: Path, placeholder: str) -> Iterator[Figure]:
    """The figures of one pool."""
    reason, _remedy = unavailable(ours.adapter, ours.path)
    if reason:
        yield Figure(f"{ours.name}: borrow and return", reason, BAR_TEXT, None)
        return
    bench.build(ours)
    instance, theirs = bring_up(bench, ours)
    workload = load_workload("keyed")
    work = bench.phase_cache.prepared_workload(workload, ours.path.engine).phases[PHASE]
    options = {name: str(value) for name, value in instance.options(theirs.path).items()}
    settings = options | {
        "operation": work.phase.access,
        "url": URL.format(**options),
        "pool": ours.path.pool,
        "hold": "off",
    }
    settings["sql"] = work.sql.replace("?", placeholder)
    settings["keys"] = str(keys_file(bench.directory / f"{PHASE}.keys", workload, work))
    program = command(bench.directory, ours, source)
    same_statements(bench, ours, instance, work, program, settings)
    yield from figures(ours, [couple(bench, ours, instance, work, program, settings) for _ in range(COUPLES)])


def figures(ours: PlannedPath, couples: Sequence[Couple]) -> Iterator[Figure]:
    """What all couples of a pool say."""
    interval = student([each.log_ratio for each in couples])
    assert interval is not None
    loan_ns = statistics.fmean(each.loan_ns for each in couples)
    between = f"[{interval.ratio_low or 0:.3f}, {interval.ratio_high or math.inf:.3f}]"
    width = f"±{interval.half_width:.1%}, ±{interval.half_width * loan_ns:.0f} ns of {loan_ns:,.0f} ns"
    value = f"{interval.ratio:.3f} {between}, {width}, {len(couples)} × {PAIRS} rounds"
    met = is_met(interval, loan_ns)
    yield Figure(f"{ours.name}: borrow and return, over a program from its documentation", value, BAR_TEXT, met)
    timed = [each.loan_ns for each in couples]
    longer = [each.longer_ns for each in couples]
    clock = statistics.fmean(each.clock_ns for each in couples)
    value = f"{between_ends(timed, 'ns')} with the clock's {clock:.0f}, by difference {between_ends(longer, 'ns')}"
    shares = [each.loan_ns / each.read_ns * 100 for each in couples]
    longer_shares = [each.longer_ns / each.read_ns * 100 for each in couples]
    value += f"; of a read {between_ends(shares, '%')}, by difference {between_ends(longer_shares, '%')}"
    bar = "by difference: an interval that holds what was timed"
    yield Figure(f"{ours.name}: borrow and return", value, bar, agree(couples))
    if ours.path.pool == PUBLISHED:
        value = between_ends(shares, "%")
        yield Figure(f"{ours.name}: borrow and return, of a keyed read", value, "none: 2,000 times is published", None)


def is_met(interval: Interval, loan_ns: float) -> bool:
    """Whether the interval of ours over theirs reaches the bar, and is narrow enough."""
    return interval.low <= math.log(BAR) and interval.half_width <= max(WIDTH, WIDTH_NS / loan_ns)


def agree(couples: Sequence[Couple]) -> bool | None:
    """Whether the interval of what the difference has more than what was timed holds zero; None: of one couple.

    The clock's reads are in what was timed, and in both sides of the difference.
    """
    _mean, low, high = mean_with_ends([each.longer_ns - (each.loan_ns - each.clock_ns) for each in couples])
    return None if low is None or high is None else low <= 0 <= high


def between_ends(values: Sequence[float], unit: str) -> str:
    """Their mean with its interval: `312 [300, 324] ns`."""
    digits = 0 if unit == "ns" else 2
    mean, low, high = mean_with_ends(values)
    low, high = -math.inf if low is None else low, math.inf if high is None else high
    return f"{mean:,.{digits}f} [{low:,.{digits}f}, {high:,.{digits}f}] {unit}"


def command(directory: Path, ours: PlannedPath, source: Path) -> Command:
    """How to start the program, with the drivers and pools of the runner's locks."""
    start = manifest.command(ours.adapter, ours.path.version, ours.path)
    if ours.path.language == "python":
        modules = {"PYTHONPATH": str(SOURCES / "layers")}
        return Command((start.arguments[0], str(source)), start.environment | modules)
    if ours.path.language == "node":
        return Command(("node", str(beside_packages(directory, start, source))), start.environment)
    if ours.path.language == "go":
        beside = [source.parent / f"{ours.path.driver}.go"] if ours.path.pool == "database-sql" else []
        return Command((str(compiled_go(directory, source, ours, *beside)),), start.environment)
    if ours.path.language == "rust":
        return Command((str(compiled_rust(source, ours)),), start.environment)
    pool = ours.adapter.pool_of(ours.path)
    assert pool is not None
    sources = [SOURCES / "layers" / "Conversation.java", source.parent / "Reads.java", source]
    return java_command(directory, sources, ours, maven.fetch(pool.packages))


def couple(
    bench: Bench, ours: PlannedPath, instance: Instance, work: PreparedPhase, program: Command, settings: dict[str, str]
) -> Couple:
    """What three fresh processes say."""
    with contextlib.ExitStack() as stack:
        programs = (Program(program, settings | {"hold": hold}) for hold in ("off", "on"))
        theirs, held = (stack.enter_context(contextlib.closing(each)) for each in programs)
        pooled = stack.enter_context(contextlib.closing(bench.worker(ours, instance)))
        pooled.notice_server()  # which now has the connections of all
        pooled.prepare(work)
        for each in (held, theirs):
            operations = warm_up(pooled, work, each, WARM_S[ours.path.language])
        rounds = [one_round(number, pooled, held, theirs, operations, work) for number in range(PAIRS)]
    loans = [{number: blocks[side].loan_ns for number, blocks in enumerate(rounds)} for side in ("pooled", "theirs")]
    ratio = set_log_ratio(*loans)
    if ratio is None:
        raise RowpathError(f"{ours.name}: borrowing and returning took no time")
    return Couple(
        ratio,
        statistics.median(blocks["pooled"].ns for blocks in rounds),
        statistics.median(blocks["pooled"].loan_ns for blocks in rounds),
        statistics.median(blocks["theirs"].ns - blocks["held"].ns for blocks in rounds),
        statistics.median(blocks["held"].loan_ns for blocks in rounds),
    )


def one_round(
    number: int, pooled: Worker, held: Program, theirs: Program, operations: int, work: PreparedPhase
) -> dict[str, Block]:
    """A block of each; another is first in every round. RowpathError when the touch sums differ."""
    measured = {
        "pooled": lambda: our_block(pooled, work, operations),
        "held": lambda: their_figures(pooled, held, operations),
        "theirs": lambda: their_figures(pooled, theirs, operations),
    }
    order = list(measured)
    blocks, touches = dict[str, Block](), set[int]()
    for side in order[number % 3 :] + order[: number % 3]:
        ns, touch, loan_ns = measured[side]()
        blocks[side] = Block(ns / operations, loan_ns / operations)
        touches.add(touch)
    if len(touches) != 1:
        raise RowpathError(f"{pooled.planned.name}: the touch sums differ: {sorted(touches)}")
    return blocks


def our_block(worker: Worker, work: PreparedPhase, operations: int) -> list[int]:
    """Nanoseconds, touch, and nanoseconds of borrowing and returning of the first so many operations."""
    reply = worker.sample(work, "steady", operations=operations, first=0).reply
    if reply.failed or reply.operations != operations:
        raise RowpathError(f"{reply.failed} of {operations} operations failed")
    return [reply.ns, int(reply.touch, 16), reply.borrow_ns + reply.return_ns]
