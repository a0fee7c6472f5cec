"""Known answers 11, 14, 15 and 20: wrong rows, operations that fail, values not read, layers that cheat."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

from rowpath.checks.selftest.bench import Bench, Skipped, Verdict
from rowpath.engines import ENGINES
from rowpath.journal.records import FailureRecord
from rowpath.runners.manifest import build
from rowpath.runners.protocol import VERIFIED_ROWS
from rowpath.workloads.workload_file import load_workload

TWO = "(SELECT rowid FROM hits LIMIT 2 OFFSET 3000)"
LOSE, DUPLICATE = "DELETE FROM hits WHERE rowid = 4000", "INSERT INTO hits SELECT * FROM hits WHERE rowid = 17"
HARMS = {
    "nothing": [],
    "one corrupted value": [f"UPDATE hits SET REQSIZE = REQSIZE + 1 WHERE rowid = (SELECT max(rowid) FROM {TWO})"],
    "one missing row": [LOSE],
    "one duplicated row": [DUPLICATE],
    "one row in another's place": [LOSE, DUPLICATE],
    "two values exchanged": [
        "CREATE TEMP TABLE two AS SELECT rowid AS id, REQSIZE AS size FROM hits WHERE rowid IN (101, 202)",
        "UPDATE hits SET REQSIZE = (SELECT size FROM two WHERE id <> hits.rowid) WHERE rowid IN (101, 202)",
    ],
}

LONG_ONLY = ("one row in another's place", "two values exchanged")  # in the short form, through one language


def digest(bench: Bench, *, full: bool) -> Iterator[Verdict]:
    """11: one corrupted value, one missing row, one duplicated row in a real database: the digest catches each.

    Every harm through every language's SQLite path.
    """
    made = bench.phase_cache.prepared_workload(load_workload("scan"), "sqlite")
    work = made.phases["scan.read"]
    expected = made.expected.verify_digest(work.phase, 0, 1, VERIFIED_ROWS)
    for name, driver in bench.sqlite_drivers():
        instance = bench.instance("sqlite", "embedded", name, "full")
        instance.load(made.loaded_tables())
        for harm, statements in HARMS.items():
            if not full and name != next(bench.sqlite_drivers())[0] and harm in LONG_ONLY:
                continue
            planned = bench.path(name, driver, work.name, label=harm)
            instance.own_copy(planned.path)
            with contextlib.closing(sqlite3.connect(str(instance.options(planned.path)["path"]))) as database:
                for statement in statements:
                    database.execute(statement)
                database.commit()
            worker = bench.worker(planned, instance)
            worker.prepare(work)
            digest = worker.verify(work, 0, 1).digest
            worker.close()
            words = ("the digest agrees", "the digest differs")
            yield Verdict.either(f"{harm}, {name}", digest == expected, harm == "nothing", words)


THERE_ALREADY = 500


def failed_operations(bench: Bench, *, full: bool) -> Iterator[Verdict]:
    """14: failed operations are never counted: inserts of which half break the primary key.

    The first 1,000 rows inserted, of which every second is there already.
    """
    for name, driver in bench.sqlite_drivers():
        made = bench.phase_cache.prepared_workload(load_workload("keyed"), "sqlite")
        insert = made.phases["keyed.insert"]
        planned = bench.path(name, driver, insert.name, durability="none")
        instance = bench.instance("sqlite", "embedded", name, "none")
        instance.load(made.loaded_tables())
        instance.own_copy(planned.path)
        worker = bench.worker(planned, instance)
        worker.reset(insert)
        worker.run(["INSERT INTO mydata2_new SELECT KEY1, DATA1 FROM mydata2 WHERE rowid % 2 = 0"])
        worker.prepare(insert)
        reply = worker.sample(insert, "steady", operations=50, first=0).reply
        exact = reply.operations == 25 and reply.failed == 25 and reply.failure is not None
        figure = f"{reply.operations} counted, {reply.failed} failed"
        yield Verdict(exact, f"50 inserts, 25 of them refused, {name}", figure, "25 counted, 25 failed")
        assert insert.after is not None
        worker.prepare(insert.after)
        rows = worker.verify(insert.after, 0, 1).rows
        yield Verdict.exactly(f"rows in the table afterwards, {name}", rows, THERE_ALREADY + 25)
        worker.close()


def lazy_driver(bench: Bench, *, full: bool) -> Iterator[Verdict]:
    """15: a driver that never reads the values is caught by touch, one that answers from a cache by the counters.

    An honest path and the two cheats, through the real schedule.
    """
    engine = ENGINES["postgresql"].availability()
    if "python" not in bench.languages() or not engine.ok:
        raise Skipped("lazy driver", engine.reason or "the Python runner is missing", engine.remedy)
    honest = bench.path("python", "psycopg", "keyed.read", name="honest", transport="tcp", durability="full")
    bench.build(honest)
    paths = [honest, bench.cheat(honest, "lazy"), bench.cheat(honest, "cached")]
    analysis, _ = bench.run(paths, "keyed.read", sets=2, rounds=5, warm_cap_s=0.5)
    ranked = {row.name for ranking in analysis.rankings for row in ranking.rows if row.rank > 0}
    for name in ("honest", "lazy", "cached"):
        yield Verdict.either(f"the {name} driver", name in ranked, name == "honest", ("ranked", "not ranked"))
    for name, finding in (("lazy", "values-not-read"), ("cached", "round-trips-not-as-declared")):
        raised = any(raised.id == finding and name in raised.paths for raised in analysis.findings)
        yield Verdict.either(f"the {name} driver: the finding {finding}", raised)


def layers(bench: Bench, *, full: bool) -> Iterator[Verdict]:
    """20: a layer that hands over objects from a cache is not ranked; one that sends a statement too many is named.

    An honest layer, the program by hand, and the two cheats, through the real schedule.
    """
    engine = ENGINES["postgresql"].availability()
    if "python" not in bench.languages() or not engine.ok:
        raise Skipped("layers", engine.reason or "the Python runner is missing", engine.remedy)
    where = {"transport": "tcp", "durability": "full", "profile": "tuned"}
    by_hand, honest = (
        bench.path("python", "psycopg", "films.film", name=name, layer=layer, technique=technique, **where)
        for name, layer, technique in (("by hand", "none", "queries"), ("honest", "sqlalchemy-orm", "none"))
    )
    cheats = [bench.cheating_layer(honest, how) for how in ("cached", "talkative")]
    build([(one.adapter, one.path.version) for one in (by_hand, honest)], paths=[by_hand.path, honest.path])
    analysis, journal = bench.run([by_hand, honest, *cheats], "films.film", sets=1, rounds=3, warm_cap_s=0.5)
    wrong = {failure.path_id for failure in journal.all(FailureRecord) if failure.status == "wrong"}
    for planned in (honest, *cheats):
        words = ("answers from a cache", "asks the server")
        yield Verdict.either(f"the {planned.name} layer", planned.path.id in wrong, planned.name == "cached", words)
    more = {name for one in analysis.findings if one.id == "more-statements-than-by-hand" for name in one.paths}
    for planned in (honest, cheats[-1]):
        words = ("sends a statement too many", "sends what it needs")
        yield Verdict.either(f"the {planned.name} layer", planned.name in more, planned is not honest, words)
