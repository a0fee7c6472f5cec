"""Data directories of the MySQL family: an empty one made once, a loaded one kept as the template of all instances."""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
from pathlib import Path

from rowpath.engines.mariadb import settings
from rowpath.engines.mariadb.dialect import MariadbDialect
from rowpath.engines.server import copy_empty_directory
from rowpath.errors import EnvironmentMissing, RowpathError
from rowpath.machine import private_directories, processes
from rowpath.model.workload import Table

# What a process holds a lock on as long as it has the directory open: Aria's (not in MySQL), then InnoDB's.
LOCKED = ("aria_log_control", "ibdata1")
FLOCK = "hhqqi4x"  # struct flock of a 64-bit Linux: l_type, l_whence, l_start, l_len, l_pid

_templates: dict[str, Path] = {}  # what a directory holds → where it is, untouched


def content(engine: MariadbDialect, storage: str, durability: str, tables: dict[str, Table], run: Path) -> str:
    """What two data directories of a run have in common that may be copies of the same template."""
    return repr((engine.name, engine.version(), storage, durability, sorted(tables.items()), str(run)))


def find(wanted: str) -> Path | None:
    """The loaded directory that holds this; None when there is none."""
    template = _templates.get(wanted)
    return template if template is not None and template.is_dir() else None


def keep(wanted: str, template: Path) -> None:
    """Copy others from `template` from now on; no server works on it."""
    _templates[wanted] = template


def make_empty(engine: MariadbDialect, version: str, data: Path, user: str | None) -> None:
    """Make an empty data directory `data`; made once a version and user, then copied. Errors: EnvironmentMissing."""
    arguments = settings.arguments(engine.flavour, "innodb", "none")  # its system tables are the same for all

    def make() -> None:
        data.mkdir(mode=0o700)
        private_directories.give(data, user)
        maker = engine.programs().maker
        done = processes.run(
            [*maker, f"--datadir={data}", *arguments],
            environment={"TMPDIR": str(data.parent)},
            user=user,
            directory=data.parent,
        )
        if done.returncode != 0:
            output = (done.stderr.strip() or done.stdout.strip())[-500:]
            raise EnvironmentMissing(f"{Path(maker[0]).name} could not make {data}: {output}", "rowpath doctor")

    copy_empty_directory(f"{engine.name}-{version}", arguments, data, user, make)


def holder(data: Path) -> int | None:
    """The process that has this data directory open, None when there is none; does not wait."""
    for name in LOCKED:
        with contextlib.suppress(FileNotFoundError), (data / name).open("rb") as file:
            query = struct.pack(FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            kind, _, _, _, pid = struct.unpack(FLOCK, fcntl.fcntl(file, fcntl.F_GETLK, query))
            if kind != fcntl.F_UNLCK:
                return int(pid)
    return None


def refuse_two(data: Path) -> None:
    """Errors: RowpathError when another process has this data directory open: each would wait, then fail."""
    if (pid := holder(data)) is not None:
        raise RowpathError(
            f"the data directory {data} is in use by process {pid}: one process at a time can have it open",
            f"end that process, or wait for it: ps -fp {pid}",
        )
