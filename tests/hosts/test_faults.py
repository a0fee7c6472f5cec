"""Backups and kills where the engine is: what they took, what is restored, and that nothing acknowledged is lost."""

from __future__ import annotations

import contextlib
import signal
import time
from pathlib import Path

import pytest

from rowpath.journal import reader
from rowpath.journal.mixed_load_records import (
    AcknowledgedRecord,
    BackupRecord,
    ClientGroupRecord,
    KillRecord,
    SecondRecord,
    StageRecord,
)
from rowpath.journal.records import FailureRecord
from tests.hosts.conftest import LIBRARY
from tests.hosts.lab import Lab

S = 1_000_000_000
KILL_S = 0.7
PAUSED_S = 0.3
EXPERIMENT = """backup = "*"
{embedded}
[[client_groups]]
name = "readers"
phase = "library.read"

[[client_groups]]
name = "writers"
phase = "library.write"
clients = 2
{over}

[[client_groups]]
name = "backup"
action = "backup"
times = 2
begin_s = 0.3

[[stages]]
name = "with backups"
client_groups = ["readers", "writers", "backup"]
seconds = 30.0
until = "backup"

[[stages]]
name = "killed"
client_groups = ["readers", "writers"]
seconds = {seconds}
kill_s = {kill_s}

[[stages]]
name = "afterwards"
client_groups = ["readers", "writers"]
seconds = 0.5
"""
EMBEDDED = """
[[paths]]
[paths.select]
engine = "sqlite"
language = "c"
driver = "sqlite"
statement = "prepared"
processes = "shared"
backup = "vacuum-into"
"""


LONG = [pytest.param(each, marks=pytest.mark.long) for each in ("clients of two hosts", "a slow controller", "MariaDB")]
WAYS = {"postgresql": {"basebackup", "dump"}, "mariadb": {"mariadb-backup", "mariadb-dump"}}


@pytest.fixture(scope="module", params=["one client's host", *LONG])
def directory(request: pytest.FixtureRequest, namespaces: Lab, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a server on another host, and of SQLite on its client's host."""
    folder = tmp_path_factory.mktemp("faults")
    engine, driver = ("mariadb", "libmariadb") if request.param == "MariaDB" else ("postgresql", "libpq")
    spread = request.param in ("clients of two hosts", "a slow controller")
    over, embedded = ('over = "load"', "") if spread else ("", EMBEDDED)
    file = folder / "faults.toml"
    head = {"name": "faults", "title": "A backup, and an engine killed", "scale": 0.05, "language": '"c"'}
    values = {"engine": engine, "driver": f'"{driver}"', "over": over, "embedded": embedded, "kill_s": KILL_S}
    values["seconds"] = "5.0" if request.param == "a slow controller" else "2.0"
    file.write_text((LIBRARY + EXPERIMENT).format(**head, **values))
    words = ("run", str(file), "--hosts", str(namespaces.file), "-o", str(folder / "run"))
    if request.param == "a slow controller":
        _run_slowly(namespaces, folder / "run", *words)
    else:
        done = namespaces.rowpath(*words)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "run"


def _run_slowly(hosts: Lab, directory: Path, *words: str) -> None:
    """Run it; from the stage with the kill until the kill is journalled the controller only now and then works.

    What hosts do meanwhile reaches it late, and so does its word reach them.
    """
    under_way = hosts.begun(*words)
    paused = 0
    try:
        while under_way.poll() is None:
            if _in_the_stage(directory):
                under_way.send_signal(signal.SIGSTOP)
                time.sleep(PAUSED_S)
                under_way.send_signal(signal.SIGCONT)
                paused += 1
            time.sleep(PAUSED_S / 3)
    finally:
        under_way.send_signal(signal.SIGCONT)
        _, errors = under_way.communicate(timeout=60)
    assert under_way.returncode == 0, errors
    assert "Traceback" not in errors
    assert paused


def _in_the_stage(directory: Path) -> bool:
    with contextlib.suppress(Exception):
        records = reader.read_as_written(directory)
        begun = [each for each in records.all(StageRecord) if each.stage == "killed"]
        return len(begun) > len(records.all(KillRecord))
    return False


@pytest.fixture
def records(directory: Path) -> reader.Records:
    """Its journal."""
    found = reader.read(directory)
    assert found.outcome == "complete"
    assert [each.text for each in found.all(FailureRecord) if each.status == "failed"] == []
    served = [path.coordinates for path in found.paths.values() if path.coordinates["deployment"] == "server"]
    assert {each["backup"] for each in served} == WAYS[served[0]["engine"]]
    return found


def test_backups_are_made_where_the_engine_is_and_can_be_restored(records: reader.Records) -> None:
    backups = records.all(BackupRecord)
    assert len(backups) == 2 * len(records.paths)
    ends = {(each.path_id, each.stage): each.at_ns for each in records.all(StageRecord)}
    for backup in backups:
        assert backup.ok, backup.reason
        assert backup.restored, backup.reason
        assert backup.kept_bytes
        assert backup.checked is not None
        assert backup.checked.rows
        assert not backup.checked.lost
        assert ends[backup.path_id, backup.stage] < backup.begun_ns < backup.ended_ns
        assert backup.ended_ns - backup.begun_ns < 30 * S
        assert backup.inside["writers"].ns > 0
    for path_id in records.paths:
        first, second = (each for each in backups if each.path_id == path_id)
        assert first.ended_ns < second.begun_ns


def test_a_program_that_makes_a_backup_is_read_on_the_servers_host(records: reader.Records) -> None:
    for path_id, path in records.paths.items():
        seconds = [each for each in records.all(SecondRecord) if each.path_id == path_id]
        used = [each.processes["backup"] for each in seconds if "backup" in each.processes]
        assert bool(used) == (path.coordinates["engine"] != "sqlite"), path_id
        assert not used or sum(each.cpu_ns or 0 for each in used)


def test_a_killed_engine_comes_back_with_all_that_was_acknowledged(records: reader.Records) -> None:
    kills = {each.path_id: each for each in records.all(KillRecord)}
    assert kills.keys() == records.paths.keys()
    begins = {each.path_id: each.at_ns for each in records.all(StageRecord) if each.stage == "killed"}
    for path_id, kill in kills.items():
        assert kill.pids
        assert kill.recovery_ns
        assert kill.at_ns - begins[path_id] >= KILL_S * S
        checked = {each.when: each for each in records.all(AcknowledgedRecord) if each.path_id == path_id}
        assert checked.keys() == {"backup", "kill", "end"}
        groups = [each for each in records.all(ClientGroupRecord) if each.path_id == path_id]
        before = sum(e.operations for e in groups if (e.client_group, e.stage) == ("writers", "with backups"))
        after = sum(e.operations for e in groups if (e.client_group, e.stage) == ("writers", "afterwards"))
        assert checked["kill"].ok, checked["kill"].reason
        assert checked["kill"].writes >= before > 0
        assert checked["end"].ok, checked["end"].reason
        assert checked["end"].writes >= after > 0


def test_people_see_backups_and_recovery(namespaces: Lab, directory: Path) -> None:
    shown = namespaces.rowpath("show", str(directory), "--tables")
    assert any(name in shown.stdout for name in ("basebackup", "mariadb-backup"))
    assert "killed" in shown.stdout
