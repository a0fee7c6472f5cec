"""14: failed operations are never counted: inserts of which half break the primary key."""

from __future__ import annotations

from rowpath.checks.selftest.bench import Bench, Verdict
from rowpath.workloads.workload_file import load_workload

THERE_ALREADY = 500


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """The first 1,000 rows inserted, of which every second is there already."""
    verdicts = []
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
        verdicts.append(Verdict(exact, f"50 inserts, 25 of them refused, {name}", figure, "25 counted, 25 failed"))
        assert insert.after is not None
        worker.prepare(insert.after)
        rows = worker.verify(insert.after, 0, 1).rows
        verdicts.append(Verdict.exactly(f"rows in the table afterwards, {name}", rows, THERE_ALREADY + 25))
        worker.close()
    return verdicts
