"""The run directory: its layout, its lock, and the journal with its one write point."""

from __future__ import annotations

import fcntl
import itertools
import os
from datetime import datetime
from pathlib import Path

import msgspec

from rowpath.errors import EnvironmentMissing, UsageError
from rowpath.journal import FILE
from rowpath.journal.reader import Records
from rowpath.journal.record_base import Record
from rowpath.machine import disk_space
from rowpath.scrubber import Scrubber

RUNS = Path("rowpath-runs")


class RunDirectory:
    """A run's directory, private to the user: `samples.jsonl`, `logs/`, `work/`, `report.html`."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.samples = self.path / FILE
        self.logs = self.path / "logs"
        self.work = self.path / "work"
        self.report = self.path / "report.html"

    def create(self) -> None:
        """Make it; UsageError when something else is there, EnvironmentMissing when it cannot be written."""
        if self.samples.exists():
            hint = f"rowpath run --resume {self.path}, or choose another -o DIR"
            raise UsageError(f"{self.path} already holds a run", hint)
        if self.path.is_dir() and any(self.path.iterdir()):
            raise UsageError(f"{self.path} is not empty", "choose another -o DIR")
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.path.chmod(0o700)
            for folder in (self.logs, self.work):
                folder.mkdir(mode=0o700)
        except OSError as error:
            raise _not_writable(self.path, error) from error

    def lock(self, descriptor: int) -> None:
        """Keep other runs out while that file in it is open; UsageError when one is at work."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            hint = "wait for it to end, or choose another -o DIR"
            raise UsageError(f"{self.path} is in use by another run", hint) from error


def _not_writable(path: Path, error: OSError) -> EnvironmentMissing:
    what = f"cannot write the run directory {path.absolute()}: {error.strerror}"
    return EnvironmentMissing(what, "choose a writable one with -o DIR")


def new_name(name: str) -> Path:
    """A run directory of its own for a run of that name, made so that no other run takes it; EnvironmentMissing."""
    stem = f"{Path(name).stem}-{datetime.now().astimezone().strftime('%Y%m%d-%H%M%S')}"
    for number in itertools.count(1):
        path = RUNS / (stem if number == 1 else f"{stem}-{number}")
        try:
            path.mkdir(parents=True, mode=0o700)
            break
        except FileExistsError:
            continue
        except OSError as error:
            raise _not_writable(path, error) from error
    return path


class Journal:
    """Appends records to `samples.jsonl`: one write per line; a lock keeps two runs out of one directory.

    Foreign fields have no secret, and no line has one that looks like no word; our own words are whole.
    """

    def __init__(self, directory: RunDirectory, scrubber: Scrubber, records: Records | None = None) -> None:
        """`records`: what the file holds already, of a run that is resumed."""
        self.records = records or Records()  # with what is written, sets by the file's own numbers
        self._scrubber = scrubber
        self._directory = directory
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        try:
            self._descriptor = os.open(directory.samples, flags, 0o600)
        except OSError as error:
            what = f"cannot write {directory.samples}: {error.strerror}"
            raise EnvironmentMissing(what, "choose another -o DIR") from error
        try:
            directory.lock(self._descriptor)
        except UsageError:
            os.close(self._descriptor)
            raise
        if size := directory.samples.stat().st_size:
            with directory.samples.open("rb") as stream:
                stream.seek(size - 1)
                if stream.read(1) != b"\n":  # a torn line ends here
                    os.write(self._descriptor, b"\n")

    def write(self, record: Record) -> None:
        """Append one record, whole or not at all. Errors: EnvironmentMissing when the disk is full."""
        foreign = {name: self._scrubber.clean_values(getattr(record, name)) for name in record.foreign_fields}
        if foreign:
            record = msgspec.structs.replace(record, **foreign)
        self.records.take(record)
        line = self._scrubber.clean_own(msgspec.json.encode(record).decode()).encode() + b"\n"
        begin = os.fstat(self._descriptor).st_size
        try:
            while line:
                line = line[os.write(self._descriptor, line) :]
        except OSError as error:
            os.ftruncate(self._descriptor, begin)
            if disk_space.is_full(error):
                raise disk_space.error(self._directory.path) from error
            raise

    def close(self) -> None:
        """Close it; the lock goes with it."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
