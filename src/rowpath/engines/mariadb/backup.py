"""MariaDB's backups: its own programs, for a dump and for a copy of the data directory."""

from __future__ import annotations

from pathlib import Path

from rowpath.engines import backup as backups
from rowpath.engines.base import Backup
from rowpath.engines.mariadb import programs
from rowpath.engines.mariadb.logins import DATABASE
from rowpath.errors import RowpathError
from rowpath.machine import private_directories

DUMP, PHYSICAL = ("mariadb-dump", "mariadb-backup")
INSTALL = {DUMP: programs.INSTALL_CLIENT, PHYSICAL: "apt-get install --no-install-recommends mariadb-backup"}
END_OF_DUMP = b"-- Dump completed"


def backup(way: str, storage: str, login: Path, data: Path, folder: Path) -> Backup:
    """How a server is backed up into an existing folder; `login` is an option file of its superuser."""
    command_line = (str(programs.find(way)), f"--defaults-file={login}")
    place = backups.place_in(folder)
    if way == PHYSICAL:
        kept = place / "data"
        return Backup(way, kept, command=(*command_line, "--backup", f"--datadir={data}", f"--target-dir={kept}"))
    kept = place / f"{DATABASE}.sql"
    # Without transactions only a lock on all tables holds them still.
    still = "--single-transaction" if storage == "innodb" else "--lock-tables"
    return Backup(way, kept, command=(*command_line, still, f"--result-file={kept}", DATABASE))


def prepare(kept: Path, data: Path, user: str | None) -> None:
    """Make a data directory from a copy of what was kept, its log applied. Errors: RowpathError."""
    private_directories.copy(kept, data, None)
    backups.run([programs.find(PHYSICAL) or PHYSICAL, "--no-defaults", "--prepare", f"--target-dir={data}"])
    private_directories.give_all(data, user)
    private_directories.sync(data)


def check_dump(kept: Path) -> None:
    """Errors: RowpathError when a dump is not whole."""
    with kept.open("rb") as dump:
        dump.seek(max(0, kept.stat().st_size - 200))
        if END_OF_DUMP not in dump.read():
            raise RowpathError("the dump is incomplete: its last line is missing")


def read_dump(client: Path, login: Path, kept: Path) -> None:
    """Let a server read a dump. Errors: RowpathError."""
    backups.run([client, f"--defaults-file={login}", f"--database={DATABASE}"], source=kept)
