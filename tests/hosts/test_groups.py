"""Client groups over several hosts: one begin, one total, latencies of one clock each, every write found again."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath.journal import reader
from rowpath.journal.mixed_load_records import (
    AcknowledgedRecord,
    ClientGroupRecord,
    HostsStartRecord,
    SecondRecord,
    StageRecord,
)
from rowpath.journal.records import FailureRecord
from rowpath.model import histogram
from tests.hosts.conftest import load_experiment
from tests.hosts.lab import Lab

SECONDS = 1.5
S = 1_000_000_000
LEAST_BYTES = 40  # Bind, Execute and Sync of the protocol
SPREAD = {"readers": {"app1": 2, "app2": 1}, "writers": {"app1": 1, "app2": 1}, "arrivals": {"app1": 1, "app2": 1}}
DUE = {"arrivals": 100, "observer": 20 * SECONDS, "readers": 0, "writers": 0}  # of its stage


@pytest.fixture(scope="module")
def directory(namespaces: Lab, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two languages, whose runners take parts of the parameter rows each in their own way."""
    folder = tmp_path_factory.mktemp("load")
    file = load_experiment(folder, SECONDS, language='["c", "java"]', driver='["libpq", "pgjdbc"]')
    done = namespaces.rowpath("run", file, "--hosts", str(namespaces.file), "-o", str(folder / "run"))
    assert done.returncode == 0, done.stderr
    return folder / "run"


@pytest.fixture
def records(directory: Path) -> reader.Records:
    """Its journal."""
    found = reader.read(directory)
    assert found.outcome == "complete"
    assert [each.text for each in found.all(FailureRecord) if each.status == "failed"] == []
    assert {path.coordinates["driver"] for path in found.paths.values()} == {"libpq", "pgjdbc"}
    return found


def test_each_host_did_its_share_and_the_total_is_their_sum(records: reader.Records) -> None:
    groups = records.all(ClientGroupRecord)
    assert len(groups) == 2 * 4
    for group in groups:
        clients = {share.host: share.clients for share in group.hosts}
        assert clients == SPREAD.get(group.client_group, {"app1": 1})
        assert sum(share.operations for share in group.hosts) == group.operations
        assert all(share.operations for share in group.hosts)
        assert not group.failed
        assert not group.cut
        assert sum(group.service.values()) == group.operations
        assert group.touch_ok is not False
        assert group.reached or group.operations < DUE[group.client_group], "only a busy machine may miss a rate"
    assert all(group.touch_ok for group in groups if group.client_group in ("readers", "arrivals"))


def test_no_latency_and_no_instant_is_of_two_clocks(records: reader.Records) -> None:
    stages = {(each.path_id, each.stage): each for each in records.all(StageRecord)}
    seconds = records.all(SecondRecord)
    for group in records.all(ClientGroupRecord):
        stage = stages[group.path_id, group.stage]
        ends = [each.at_ns for each in seconds if (each.path_id, each.stage) == (group.path_id, group.stage)]
        assert stage.at_ns < group.begun_ns < group.ended_ns < max(ends)
        for counted in (group.service, group.latency, group.lateness):
            longest = histogram.percentile(histogram.decode(counted), 100)
            assert (longest or 0) < max(ends) - stage.at_ns


def test_hosts_begin_at_one_instant(namespaces: Lab, records: reader.Records) -> None:
    found = records.all(HostsStartRecord)
    assert len(found) == 2 * 2
    for start in (start for record in found for start in record.starts):
        apart_ns = namespaces.offsets_s.get(start.host, 0) * S
        assert abs(start.offset_ns - apart_ns) <= start.bound_ns
        assert start.offset_after_ns is not None
        assert abs(start.offset_after_ns - apart_ns) <= (start.bound_after_ns or 0)
        # Never before the instant, whatever the host's clock says, nor before the word to begin; and within the stage.
        assert start.late_ns is not None
        assert max(0, -start.lead_ns) <= start.late_ns < SECONDS * S


def test_every_acknowledged_write_of_every_host_is_there(records: reader.Records) -> None:
    checks = records.all(AcknowledgedRecord)
    assert len(checks) == 2
    for check in checks:
        writers = [each for each in records.all(ClientGroupRecord) if each.path_id == check.path_id]
        at_least = sum(each.operations for each in writers if each.client_group == "writers")
        assert check.ok, check.reason
        assert check.writes >= at_least > 0


def test_processes_are_read_on_their_hosts(records: reader.Records) -> None:
    used: dict[str, float] = {}
    for second in records.all(SecondRecord):
        for name, process in second.processes.items():
            used[name] = used.get(name, 0) + (process.cpu_ns or 0)
    assert {"client", "client app1", "client app2", "server", "controller"} <= used.keys()
    assert all(used.values())


def test_bytes_of_the_connections_of_every_host_are_counted(records: reader.Records) -> None:
    for path_id in records.paths:
        carried = [each.connections for each in records.all(SecondRecord) if each.path_id == path_id]
        assert None not in carried
        operations = sum(each.operations for each in records.all(ClientGroupRecord) if each.path_id == path_id)
        # What one bound execution takes at least: one host's share alone would be less.
        assert sum(each.sent_bytes for each in carried if each) > LEAST_BYTES * operations > 0


def test_people_see_what_hosts_did(namespaces: Lab, directory: Path) -> None:
    shown = namespaces.rowpath("show", str(directory))
    assert "clients on app1, app2 began within" in shown.stdout
    page = (directory / "report.html").read_text()
    for caption in ("Client groups by host", "Common starts of several hosts"):
        assert caption in page
