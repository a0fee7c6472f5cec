"""The table of hosts: what a sync costs on each, and what cannot be measured there."""

from __future__ import annotations

from rowpath.analysis import several_hosts
from rowpath.journal.reader import Records
from rowpath.journal.records import HostRecord, SyncCostRecord


def test_each_host_has_its_own_sync_and_names_what_is_missing() -> None:
    journal = Records()
    methods = {"memory": "VmHWM", "syncs": "unavailable: the library needs a C compiler"}
    journal.take(HostRecord(name="db", note="one core", methods=methods))
    journal.take(HostRecord(name="app1", methods={"memory": "VmHWM"}))
    for host, ns in (("", 5.0), ("db", 7e6), ("db", 8e6)):
        journal.take(SyncCostRecord(ns=ns, host=host))
    database, client = several_hosts.hosts(journal)
    assert database["one sync"] == "8.00 ms"
    assert database["note"] == "one core; syncs: unavailable: the library needs a C compiler"
    assert "one sync" not in client
    assert client["note"] == ""
