"""Each layer's adapter against a program that does the same with that layer, in one run (bench/hand_written/layers).

The programs are written from the layers' documentation, with the same driver, and nothing of the runner. Each does two
operations on PostgreSQL: `film` as shipped, `search` tuned. Blocks alternate, as those of `hand_written` do. Before
they are timed, both go through the recording proxy: they must send as many statements.

ROWPATH_BENCH_LAYERS=java,django keeps some languages or layers, ROWPATH_BENCH_LAYERS_COUPLES=2 does fewer.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure
from bench.hand_written import PAIRS, bring_up, couple, keys_file
from bench.hand_written_program import SOURCES, Program, java_command
from rowpath.analysis.statistics.intervals import student
from rowpath.checks.selftest.bench import Bench
from rowpath.engines.base import Instance
from rowpath.errors import RowpathError, UsageError
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.verification_pass import StatementsSent
from rowpath.machine import maven
from rowpath.planning.availability import unavailable
from rowpath.planning.plan import PlannedPath
from rowpath.runners import manifest
from rowpath.runners.manifest import Command
from rowpath.tape.proxy import RecordingProxy
from rowpath.workloads.workload_file import load_workload

BAR = 1.05
BAR_TEXT = f"interval reaches {BAR} or less"
CHOSEN = tuple(name for name in os.environ.get("ROWPATH_BENCH_LAYERS", "").split(",") if name)
COUPLES = int(os.environ.get("ROWPATH_BENCH_LAYERS_COUPLES", "5"))
OPERATIONS = {"film": "shipped", "search": "tuned"}  # each with its profile
WARM_OPERATIONS, COUNTED_OPERATIONS = 12, 4  # drivers change their ways after some executions
URL = "jdbc:postgresql://{host}:{port}/{database}?sslmode=disable&binaryTransfer=false"
# By language and layer: the driver below it, its program.
PROGRAMS = {
    ("python", "sqlalchemy-core"): ("psycopg", "sqlalchemy_core_films.py"),
    ("python", "sqlalchemy-orm"): ("psycopg", "sqlalchemy_orm_films.py"),
    ("python", "sqlmodel"): ("psycopg", "sqlmodel_films.py"),
    ("python", "django"): ("psycopg", "django_films.py"),
    ("python", "peewee"): ("psycopg", "peewee_films.py"),
    ("python", "tortoise"): ("asyncpg", "tortoise_films.py"),
    ("java", "spring-jdbc"): ("pgjdbc", "JdbcTemplateFilms.java"),
    ("java", "jdbi"): ("pgjdbc", "JdbiFilms.java"),
    ("java", "mybatis"): ("pgjdbc", "MyBatisFilms.java"),
    ("java", "jooq"): ("pgjdbc", "JooqFilms.java"),
    ("java", "hibernate"): ("pgjdbc", "HibernateFilms.java"),
}


def measure(bench: Bench) -> Iterator[Figure]:
    """One figure per layer and operation. UsageError for a name that is neither a language nor a layer here."""
    known = {name for each in PROGRAMS for name in each}
    if unknown := sorted(set(CHOSEN) - known):
        raise UsageError(f"unknown layer '{unknown[0]}'", f"known: {', '.join(sorted(known))}")
    for (language, layer), (driver, source) in PROGRAMS.items():
        if CHOSEN and not {language, layer} & set(CHOSEN):
            continue
        for operation, profile in OPERATIONS.items():
            how = {"layer": layer, "technique": "none", "profile": profile, "transport": "tcp"}
            name = f"{layer} above {driver}, {operation} {profile}"
            yield compare(bench, bench.path(language, driver, f"films.{operation}", name, **how), source)


def compare(bench: Bench, ours: PlannedPath, source: str) -> Figure:
    """Our time over that of the program."""
    what = f"{ours.name}, over a program from its documentation"
    reason, _remedy = unavailable(ours.adapter, ours.path)
    if reason:
        return Figure(what, reason, BAR_TEXT, None)
    bench.build(ours)
    instance, theirs = bring_up(bench, ours)
    (phase,) = ours.phases
    workload = load_workload("films")
    work = bench.phase_cache.prepared_workload(workload, ours.path.engine).phases[phase]
    options = {name: str(value) for name, value in instance.options(theirs.path).items()}
    settings = options | {"operation": work.phase.access, "url": URL.format(**options)}
    settings["keys"] = str(keys_file(bench.directory / f"{phase}.keys", workload, work))
    program = command(bench.directory, ours, SOURCES / "layers" / source)
    same_statements(bench, ours, instance, work, program, settings)
    logs = [couple(bench, ours, instance, work, program, settings) for _ in range(COUPLES)]
    interval = student(logs)
    assert interval is not None
    between = f"[{interval.ratio_low or 0:.3f}, {interval.ratio_high or math.inf:.3f}]"
    met = interval.low <= math.log(BAR)
    return Figure(what, f"{interval.ratio:.3f} {between}, {COUPLES} × {PAIRS} pairs", BAR_TEXT, met)


def command(directory: Path, ours: PlannedPath, source: Path) -> Command:
    """How to start the program: in the drivers' own Python, or compiled with the jars of the lock."""
    start = manifest.command(ours.adapter, ours.path.version, ours.path)
    if ours.path.language == "python":
        return Command((start.arguments[0], str(source)), start.environment | {"PYTHONPATH": str(source.parent)})
    layer = ours.adapter.layer_of(ours.path)
    assert layer is not None
    sources = [source.parent / name for name in ("Conversation.java", "Films.java")]
    return java_command(directory, [*sources, source], ours, maven.fetch(layer.packages))


def same_statements(
    bench: Bench, ours: PlannedPath, instance: Instance, work: PreparedPhase, program: Command, settings: dict[str, str]
) -> None:
    """RowpathError when one of both sends another number of statements for the same operations."""
    sent = StatementsSent("postgresql")
    proxy = RecordingProxy("postgresql", (settings["host"], int(settings["port"])), records=sent)
    proxy.start()
    try:
        worker = bench.worker(ours, instance, port=proxy.port)
        worker.prepare(work)
        worker.sample(work, "warm", operations=WARM_OPERATIONS, first=0)
        sent.texts.clear()
        worker.sample(work, "steady", operations=COUNTED_OPERATIONS, first=0)
        our_texts = list(sent.texts)
        worker.close()
        there = settings | {"port": str(proxy.port)}
        by_hand = Program(program, there | {"url": URL.format(**there)})
        by_hand.block(WARM_OPERATIONS)
        sent.texts.clear()
        by_hand.block(COUNTED_OPERATIONS)
        their_texts = list(sent.texts)
        by_hand.close()
    finally:
        proxy.stop()
    if len(our_texts) != len(their_texts):
        counts = f"{len(our_texts)} statements, the program {len(their_texts)}"
        raise RowpathError(f"{ours.name}: {COUNTED_OPERATIONS} operations send {counts}")
