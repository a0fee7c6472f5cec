"""A client group over several hosts: shares, schedules and rows that are disjoint, sums, stalls, what is shown."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rowpath.analysis import several_hosts
from rowpath.analysis.analyse import analyse
from rowpath.analysis.chapters.mixed_load import report_of
from rowpath.execution.mixed_load import group_totals
from rowpath.execution.mixed_load.backups import BackupSite
from rowpath.execution.mixed_load.client_processes import Processes, Usage
from rowpath.execution.mixed_load.group_totals import Member, _due
from rowpath.execution.mixed_load.shared_counters import SharedCounters, Snapshot
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.hosts.far_counters import FarCounters, FarUsage, joined, stall_ns
from rowpath.hosts.far_load import FarProcesses
from rowpath.hosts.far_worker import FarBackup
from rowpath.hosts.load import GroupSeen
from rowpath.model.experiment import ClientGroupTable
from rowpath.model.histogram import empty
from rowpath.model.workload import Phase
from rowpath.planning import client_groups
from tests.unit import groups_factory as factory
from tests.unit import journal_factory

S = 1_000_000_000


@pytest.mark.parametrize(
    ("there", "here", "only_here"),
    [
        (FarProcesses, Processes, set()),
        (FarCounters, SharedCounters, {"file", "spans", "end"}),
        (FarUsage, Usage, set()),
        (FarBackup, BackupSite, set()),
    ],
)
def test_a_stage_finds_on_hosts_what_it_finds_here(there: type, here: type, only_here: set[str]) -> None:
    public = {name for name in vars(here) if not name.startswith("_")}
    assert public - set(dir(there)) == only_here


@pytest.mark.parametrize(("clients", "hosts"), [(1, 3), (7, 3), (8, 2), (2000, 7)])
def test_clients_are_spread_evenly_and_none_is_left_out(clients: int, hosts: int) -> None:
    shares = client_groups.shares(clients, 100.0, 5, range(hosts))
    counts = [share.clients for share in shares.values()]
    assert sum(counts) == clients
    assert max(counts) - min(counts) <= 1
    assert [share.first for share in shares.values()] == [sum(counts[:at]) for at in range(len(counts))]
    assert sum(share.rate_per_s for share in shares.values()) == pytest.approx(100.0)


def _member(kind: Any, clients: int, hosts: int) -> Member:
    table = ClientGroupTable("group", "library.read", clients=clients, pacing=kind, rate_per_s=100.0)
    work = PreparedPhase("library.read", Phase("read", "query", ""), "")
    return Member(table, work, clients, 100.0, seed=7, hosts=hosts)


@pytest.mark.parametrize("clients", [5, 6])
@pytest.mark.parametrize("elapsed_ns", [3, S // 3, 2 * S])
def test_random_arrivals_of_many_hosts_are_those_of_one(clients: int, elapsed_ns: int) -> None:
    one, many = _member("poisson", clients, 1), _member("poisson", clients, 3)
    assert _due(many, elapsed_ns) == _due(one, elapsed_ns)
    assert _due(one, elapsed_ns) == group_totals.due_before("poisson", 100.0, clients, 7, elapsed_ns)


@pytest.mark.parametrize("at", range(12))
def test_fixed_arrivals_of_many_hosts_do_not_coincide(at: int) -> None:
    """One arrival every 10 ms, whichever host has it."""
    many = _member("fixed", 6, 3)
    assert _due(many, at * S // 100 + 1) == at + 1
    assert _due(many, at * S // 100) == at


@pytest.mark.parametrize(("rows", "at_once"), [(100, 1), (7, 1), (90, 10)])
def test_hosts_take_rows_of_their_own(rows: int, at_once: int) -> None:
    phase = Phase("write", "execute", "", rows_per_operation=at_once)
    work = PreparedPhase("library.write", phase, "", parameter_count=rows)
    parts = [work.part(number, 3) for number in range(3)]
    taken = [row for each in parts for row in range(each.parameter_first, each.parameter_first + each.parameter_count)]
    assert taken == list(range(rows))
    assert all(each.parameter_count % at_once == 0 for each in parts)
    assert {each.name for each in parts} == {"library.write.part"}


def test_one_host_and_few_rows_are_not_parted() -> None:
    work = PreparedPhase("library.write", Phase("write", "execute", ""), "", parameter_count=2)
    assert work.part(0, 1) is work
    assert work.part(2, 3) is work


def _seen(operations: int, under_way_ns: int, ended_ago_ns: int | None) -> GroupSeen:
    counts = empty()
    counts[3] = operations
    snapshot = Snapshot(1, operations, 1, 10, 20, 5, 2, 1, 1, 0, under_way_ns, counts, counts, empty())
    return GroupSeen(snapshot, ended_ago_ns)


def test_what_a_host_saw_crosses_whole_and_without_empty_buckets() -> None:
    seen = _seen(2**40, 5, 7)
    crossed = pickle.dumps(seen)
    assert len(crossed) < 1_000 < seen.snapshot.service.nbytes
    found = pickle.loads(crossed)
    assert (found.ended_ago_ns, found.ended_ns) == (seen.ended_ago_ns, seen.ended_ns)
    for name, value in vars(seen.snapshot).items():
        assert np.array_equal(getattr(found.snapshot, name), value), name


def test_what_hosts_saw_is_summed() -> None:
    found = joined([_seen(4, 5, 1).snapshot, _seen(6, 9, 1).snapshot], 77)
    assert (found.at_ns, found.operations, found.failed, found.rows, found.under_way_ns) == (77, 10, 2, 10, 9)
    assert int(found.service[3]) == 10
    assert joined([], 5).operations == 0
    assert np.array_equal(joined([], 5).service, empty())


@pytest.mark.parametrize(
    ("parts", "stalled_ns"),
    [
        ([_seen(1, 900, 950), _seen(1, 0, 20)], 20),
        ([_seen(1, 900, 950), _seen(1, 300, 800)], 800),
        ([_seen(1, 900, None), _seen(0, 0, None)], 900),
        ([_seen(1, 0, 950), _seen(1, 0, 900)], 0),
        ([], 0),
    ],
    ids=["one host goes on", "both hang", "none has ended", "none is under way", "no host"],
)
def test_a_group_stalls_when_no_host_ends_an_operation(parts: list[GroupSeen], stalled_ns: int) -> None:
    assert stall_ns(parts) == stalled_ns


def _start(host: str, late_ns: int | None, **more: int) -> dict[str, Any]:
    return {"host": host, "client_group": "readers", "lead_ns": 9, "late_ns": late_ns, "bound_ns": 10} | more


@pytest.mark.parametrize("count", [4, 99])
def test_a_line_names_few_ways_and_counts_many(count: int) -> None:
    row = {"to": "db", "round trip": "90 µs", "rate there": "1 GiB/s", "rate back": "2 GiB/s"}
    said = several_hosts.line([row | {"from": f"app{number}"} for number in range(count)])
    assert said.startswith("app0 → db: round trip 90 µs, 1 GiB/s there, 2 GiB/s back; app1 → db")
    assert said.count(";") == (3 if count == 4 else 2)
    assert said.endswith("97 more ways are on the page") == (count == 99)


def test_reports_say_who_did_what_and_how_closely_hosts_began(tmp_path: Path) -> None:
    shares = [
        {"host": "app1", "clients": 1, "operations": 300},
        {"host": "app2", "clients": 1, "operations": 100, "lost": "its agent ended"},
    ]
    records = factory.records(sets=2)
    made: list[dict[str, Any]] = []
    for record in records:
        made.append(record)
        if record["record"] == "client-group" and record["client_group"] == "readers":
            record |= {"hosts": shares, "operations": 400, "cut": True}
        if record["record"] == "stage":
            at = {key: record[key] for key in ("set", "path_id", "stage")}
            late = 40 + 100 * record["set"]
            starts = [_start("app1", 20), _start("app2", late, offset_ns=5, offset_after_ns=8, bound_after_ns=1)]
            made.append({"record": "hosts-start", **at, "starts": [*starts, _start("app3", None)]})
    analysis = analyse(journal_factory.write(tmp_path, made))
    report = report_of(analysis)
    assert report is not None
    work = {each.host: each for each in report.hosts if each.stage == "together"}
    assert (work["app1"].share, work["app2"].share) == (0.75, 0.25)
    assert (work["app1"].lost, work["app2"].lost) == ("", "its agent ended")
    start = next(each for each in report.starts if each.stage == "together")
    assert (start.skew_ns, start.bound_ns, start.lead_ns, start.clock_moved_ns) == (120, 20, 9, 3)
    assert any("Host app2 was lost in 'together', which is incomplete" in each for each in analysis.verdict)
