"""11: one corrupted value, one missing row, one duplicated row in a real database: the digest catches each."""

from __future__ import annotations

import sqlite3

from rowpath.checks.selftest.bench import Bench, Verdict
from rowpath.runners.protocol import VERIFIED_ROWS
from rowpath.workloads.workload_file import load_workload

TWO = "(SELECT rowid FROM hits LIMIT 2 OFFSET 3000)"
HARMS = {
    "nothing": [],
    "one corrupted value": [f"UPDATE hits SET REQSIZE = REQSIZE + 1 WHERE rowid = (SELECT max(rowid) FROM {TWO})"],
    "one missing row": ["DELETE FROM hits WHERE rowid = 4000"],
    "one duplicated row": ["INSERT INTO hits SELECT * FROM hits WHERE rowid = 17"],
    "one row in another's place": [
        "DELETE FROM hits WHERE rowid = 4000",
        "INSERT INTO hits SELECT * FROM hits WHERE rowid = 17",
    ],
    "two values exchanged": [
        "CREATE TEMP TABLE two AS SELECT rowid AS id, REQSIZE AS size FROM hits WHERE rowid IN (101, 202)",
        "UPDATE hits SET REQSIZE = (SELECT size FROM two WHERE id <> hits.rowid) WHERE rowid IN (101, 202)",
    ],
}

LONG_ONLY = ("one row in another's place", "two values exchanged")  # in the short form, through one language


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """Every harm through every language's SQLite path."""
    verdicts = []
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
            database = sqlite3.connect(str(instance.options(planned.path)["path"]))
            for statement in statements:
                database.execute(statement)
            database.commit()
            database.close()
            worker = bench.worker(planned, instance)
            worker.prepare(work)
            digest = worker.verify(work, 0, 1).digest
            worker.close()
            words = ("the digest agrees", "the digest differs")
            verdicts.append(Verdict.either(f"{harm}, {name}", digest == expected, harm == "nothing", words))
    return verdicts
