"""Every way to back an engine up, with writes going on, restored and read; damaged backups are refused."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import BackedUp, BacksUp, Backup
from rowpath.engines.postgresql import backup_manifest
from rowpath.errors import EnvironmentMissing, RowpathError
from rowpath.execution.mixed_load.durability import Ledger, Restored, restore_check
from rowpath.execution.mixed_load.shared_counters import DONE, SharedCounters
from rowpath.execution.prepared_phases import PhaseCache, PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.machine import processes
from rowpath.model.workload import Phase
from rowpath.planning.plan import PlannedPath
from rowpath.planning.selection import lattice
from rowpath.runners import manifest as languages
from rowpath.runners.manifest import every_adapter
from rowpath.runners.protocol import GroupSpec
from rowpath.workloads.workload_file import at_scale, load_workload
from tests.engines.life import place

TIMEOUT_S = 60.0
WRITE, VERB = "library.write", "backup-1"
SCALE = 0.005
# Engine, deployment, way, what delivers the rows. Derby's statement is the same in both deployments: HSQLDB's way
# proves what embedded directories share.
WAYS = (
    ("sqlite", "embedded", "vacuum-into", "c", "sqlite"),
    ("sqlite", "embedded", "api", "c", "sqlite"),
    ("duckdb", "embedded", "copy", "python", "duckdb"),
    ("derby", "server", "procedure", "java", "derby"),
    ("h2", "server", "backup-to", "java", "h2"),
    ("hsqldb", "embedded", "backup", "java", "hsqldb"),
    ("postgresql", "server", "basebackup", "c", "libpq"),
    ("postgresql", "server", "dump", "c", "libpq"),
    ("mariadb", "server", "mariadb-dump", "c", "libmariadb"),
    ("mariadb", "server", "mariadb-backup", "c", "libmariadb"),
)


class House:
    """A loaded engine, its path, and a runner with a writer and a client for a backup's statement."""

    def __init__(self, folder: Path, engine: str, deployment: str, language: str, driver: str, **more: str) -> None:
        adapter = next(each for each in every_adapter() if (each.language, each.driver) == (language, driver))
        named = {"engine": engine, "deployment": deployment} | more
        path = lattice(adapter, {key: (value,) for key, value in named.items()})[0]
        languages.build([(adapter, path.get("version"))])
        self.folder = folder
        self.planned = PlannedPath(path, adapter, (WRITE,), driver)
        work = PhaseCache(folder / "parameters").prepared_workload(at_scale(load_workload("library"), SCALE), engine)
        self.works = {"library": work}
        self.write = work.phases[WRITE]
        where = place(folder, version=more.get("engine_version", ""))
        where.storage = more.get("storage", "")
        self.instance = ENGINES[engine].instance(deployment, path.get("durability"), where)

    def __enter__(self) -> House:
        self.instance.start()
        self.instance.load(self.works["library"].loaded_tables())
        self.instance.own_copy(self.planned.path)
        return self

    def __exit__(self, *_: object) -> None:
        self.instance.stop()

    def backup(self, way: str) -> Backup:
        assert isinstance(self.instance, BackedUp)
        folder = self.folder / "backups"
        folder.mkdir(exist_ok=True)
        return self.instance.backup(way, self.planned.path, folder)

    def restore(self, backup: Backup, before: Ledger, after: Ledger) -> Restored:
        folder = self.folder / "restored"
        return restore_check(
            backup, self.instance, self.planned, self.works, before, after, folder, lambda _line: None, TIMEOUT_S
        )


@contextlib.contextmanager
def runner_of(house: House, backup: Backup) -> Iterator[Worker]:
    worker = Worker(house.planned, house.instance, log=print, timeout_s=TIMEOUT_S, clients=2)
    try:
        worker.open()
        worker.prepare(house.write)
        if backup.statement:
            worker.run(list(backup.before))
            worker.prepare(PreparedPhase(VERB, Phase(VERB, "execute", writes=True), backup.statement, (), (), None, 0))
        yield worker
    finally:
        worker.close()


def carried_out(house: House, backup: Backup) -> tuple[Ledger, Ledger]:
    """Let a client write, make the backup meanwhile; what was promised right before it and right after."""
    rows = house.write.parameter_count
    action = [(VERB, 1, 0)] if backup.statement else []
    shared_counters = SharedCounters([("writers", 1, rows), *action])
    with runner_of(house, backup) as worker:
        specs = [spec(shared_counters, name, number) for number, name in enumerate(shared_counters.client_groups)]
        worker.groups(shared_counters.file, specs)
        shared_counters.begin("writers", time.monotonic_ns())
        wait_for(lambda: shared_counters.snapshot("writers", 0).operations > 3)
        before = ledger(shared_counters)
        if backup.statement:
            shared_counters.begin(VERB, time.monotonic_ns())
            wait_for(lambda: shared_counters.states(VERB)[0] >= DONE)
        else:
            program(backup, house)
        after = ledger(shared_counters)
        wait_for(lambda: shared_counters.snapshot("writers", 0).operations > int(after.known.sum()))
        for name in shared_counters.client_groups:
            shared_counters.end(name, time.monotonic_ns())
        totals = {total.name: total for total in worker.groups_end(TIMEOUT_S)}
        if backup.statement:
            worker.run(list(backup.afterwards))
        # What was loaded has its index: to drop one that is not there is an error.
        worker.run([f"DROP INDEX items_code{' ON items' if house.planned.path.get('engine') == 'mariadb' else ''}"])
    assert [each.text for each in totals["writers"].failures] == []
    if backup.statement:
        assert [each.text for each in totals[VERB].failures] == []
        assert totals[VERB].operations == 1
    shared_counters.close()
    assert backup.kept.exists()
    return before, after


def spec(shared_counters: SharedCounters, name: str, client: int) -> GroupSpec:
    phase, operations = (WRITE, 0) if name == "writers" else (VERB, 1)
    asked = shared_counters.spec(name, phase, client)
    asked.operations = operations
    return asked


def program(backup: Backup, house: House) -> None:
    said = house.folder / "program.log"
    with said.open("wb") as log:
        process = processes.start(backup.command, environment=backup.environment, stdout=log, stderr=log)
        shown = Path(f"/proc/{process.pid}/cmdline").read_text()
        assert processes.wait(process, TIMEOUT_S)
    assert processes.stop(process) == 0, said.read_text()
    assert [secret for secret in house.instance.secrets() if secret in shown] == []


def ledger(shared_counters: SharedCounters) -> Ledger:
    return Ledger(*shared_counters.acknowledged("writers"))


def wait_for(ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.002)


@pytest.mark.parametrize(("engine", "deployment", "way", "language", "driver"), WAYS)
def test_a_backup_among_writers_can_be_restored_unless_it_is_damaged(
    engine: str, deployment: str, way: str, language: str, driver: str, tmp_path: Path
) -> None:
    kind = ENGINES[engine]
    assert isinstance(kind, BacksUp)
    assert way in kind.backup_ways(deployment)
    if not kind.backup_availability(way).ok:
        pytest.skip(kind.backup_availability(way).reason)
    earlier = processes.living()  # of the session's fixtures
    with House(tmp_path, engine, deployment, language, driver) as house:
        backup = house.backup(way)
        before, after = carried_out(house, backup)
        # Writers wrote before and went on afterwards; a backup may be quicker than their next write.
        assert int(after.known.sum()) >= int(before.known.sum()) > 0
        running = processes.living()
        found = house.restore(backup, before, after)
        assert found.ok, found.reason
        assert found.checked.rows == sum(table.rows for table in house.works["library"].loaded_tables().values())
        assert open_to_others_with_a_secret(house, backup.kept.parent) == []
        shorten(backup.kept)
        found = house.restore(backup, before, after)
        assert not found.ok
        assert found.reason
        assert processes.living() == running
        assert not (tmp_path / "restored").exists()
    assert processes.living() == earlier


def shorten(kept: Path) -> None:
    """Take the last third of a file, or of a folder's largest one beside PostgreSQL's log, whose end is unused."""
    files = [file for file in kept.rglob("*") if file.is_file() and file.parent.name != "pg_wal"] or [kept]
    largest = max(files, key=lambda file: file.stat().st_size)
    os.truncate(largest, largest.stat().st_size * 2 // 3)


def open_to_others_with_a_secret(house: House, *more: Path) -> list[Path]:
    """Files that hold a password and that others than their owner may read, or that belong to a backup."""
    found = []
    for folder in (house.folder, *more):
        for file in (file for file in folder.rglob("*") if file.is_file()):
            with contextlib.suppress(FileNotFoundError):  # a server at work removes some
                held = any(secret.encode() in file.read_bytes() for secret in house.instance.secrets())
                if held and (folder in more or stat.S_IMODE(file.stat().st_mode) != 0o600):
                    found.append(file)
    return found


@pytest.mark.parametrize("way", ["vacuum-into", "api"])
def test_what_is_changed_in_a_backup_is_noticed(way: str, tmp_path: Path) -> None:
    with House(tmp_path, "sqlite", "embedded", "c", "sqlite") as house:
        backup = house.backup(way)
        before, after = carried_out(house, backup)
        text = bytearray(backup.kept.read_bytes())
        at = text.index(b" amber ")
        text[at : at + 7] = b" AMBER "
        backup.kept.write_bytes(text)
        found = house.restore(backup, before, after)
        assert not found.ok
        assert "items" in found.reason


def test_postgresqls_manifest_tells_a_changed_byte(tmp_path: Path) -> None:
    files = {"a": os.urandom(300_000), "b/c": b"123456789", "b/short": b"x", "empty": b""}
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    crcs = {str(file.relative_to(tmp_path)): crc for file, crc in backup_manifest.crc32c(map(tmp_path.joinpath, files))}
    assert crcs["b/c"] == 0xE3069283  # the check value of its catalogue
    assert crcs["empty"] == 0
    entries = [
        {"Path": name, "Size": len(content), "Checksum": crcs[name].to_bytes(4, "little").hex()}
        for name, content in files.items()
    ]
    body = (json.dumps({"Files": entries})[:-1] + ",\n").encode()
    manifest = tmp_path / backup_manifest.MANIFEST
    manifest.write_bytes(body + f'"Manifest-Checksum": "{hashlib.sha256(body).hexdigest()}"}}\n'.encode())
    backup_manifest.verify(tmp_path)
    for name, content in files.items():
        for wrong in [bytes([content[0] ^ 1]) + content[1:], content[:-1]] if content else [b"y"]:
            (tmp_path / name).write_bytes(wrong)
            with pytest.raises(RowpathError, match=name):
                backup_manifest.verify(tmp_path)
        (tmp_path / name).write_bytes(content)
    manifest.write_bytes(manifest.read_bytes().replace(b"300000", b"300001"))
    with pytest.raises(RowpathError, match=backup_manifest.MANIFEST):
        backup_manifest.verify(tmp_path)


def test_a_way_that_an_engine_does_not_have(tmp_path: Path) -> None:
    for name in ENGINES:
        engine = ENGINES[name]
        if isinstance(engine, BacksUp):
            there = engine.backup_availability("by-hand")
            assert not there.ok
            assert there.reason
            assert there.remedy
    with (
        House(tmp_path, "sqlite", "embedded", "c", "sqlite") as house,
        pytest.raises(EnvironmentMissing, match="by-hand"),
    ):
        house.backup("by-hand")
