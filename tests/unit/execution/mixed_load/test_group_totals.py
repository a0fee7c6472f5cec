from __future__ import annotations

import pytest

from rowpath.execution.mixed_load.group_totals import Member, due_before, group_record
from rowpath.execution.mixed_load.shared_counters import Snapshot
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.model import histogram
from rowpath.model.experiment import ClientGroupTable
from rowpath.model.workload import Phase
from rowpath.runners.protocol import GroupTotal

S = 1_000_000_000
SQL = "SELECT 1"


def snapshot(operations: int) -> Snapshot:
    counts = histogram.empty()
    counts[histogram.index_of(S // 1000)] = operations
    latency_ns = operations * S // 1000
    done = {"working": 0, "done": 1, "gave_up": 0, "under_way_ns": 0, "failed": 0, "rows": operations}
    return Snapshot(
        at_ns=0, operations=operations, arrivals=operations, service_ns=latency_ns, latency_ns=latency_ns,
        service=counts, latency=counts, lateness=histogram.empty(), **done,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("pacing", "ended_s", "times", "rate_per_s"),
    [
        ("fixed", 9.0, 0, 90.0),  # on duty for ten seconds: what it did not begin in the last is missing
        ("fixed", 10.5, 0, 900 / 10.5),  # the last operation ended late
        ("fixed", 9.0, 900, 100.0),  # it was to do no more
        ("closed", 9.0, 0, 100.0),
    ],
)
def test_the_rate_is_over_the_time_on_duty(pacing: str, ended_s: float, times: int, rate_per_s: float) -> None:
    work = PreparedPhase("library.read", Phase("read", "query", SQL), SQL, (), (), None, 0)
    table = ClientGroupTable("readers", "library.read", pacing=pacing, rate_per_s=100.0, times=times)  # type: ignore[arg-type]
    total = GroupTotal(
        name="readers", operations=900, failed=0, rows=900, values=0, touch="", begun_ns=S,
        ended_ns=S + round(ended_s * S), cpu_ns=0,
    )  # fmt: skip
    record = group_record(Member(table, work, 1, 100.0), total, snapshot(900), (S, total.ended_ns, 11 * S), 0)
    assert record.rate_per_s == pytest.approx(rate_per_s)
    assert record.not_begun == (100 if pacing == "fixed" and not times else 0)


@pytest.mark.parametrize(("pacing", "times"), [("fixed", 0), ("poisson", 0), ("fixed", 300), ("closed", 0)])
def test_clients_that_share_arrivals_have_one_schedule(pacing: str, times: int) -> None:
    work = PreparedPhase("library.read", Phase("read", "query", SQL), SQL, (), (), None, 0)
    how = {"pacing": pacing, "dispatch": "shared", "population": 8 if pacing == "closed" else 0, "times": times}
    table = ClientGroupTable("readers", "library.read", clients=3, **how)  # type: ignore[arg-type]
    last = snapshot(800)
    record = group_record(Member(table, work, 3, 100.0, 7), None, last, (S, 11 * S, 11 * S), 0)
    due = due_before(pacing, 100.0, 1, 7, 10 * S, 3 * times) if pacing != "closed" else 800
    assert (record.dispatch, record.population) == ("shared", how["population"])
    assert record.not_begun == due - 800
    assert sum(record.latency.values()) == 800
    assert (due == 900) == bool(times)
