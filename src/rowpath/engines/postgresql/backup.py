"""PostgreSQL's backups: its own programs, for a copy of the cluster's files and for a dump of the database."""

from __future__ import annotations

from rowpath.engines import backup
from rowpath.machine import postgresql_programs
from rowpath.model.availability import Availability

# Way → the program that makes the backup, and the one that restores it where more than a server is needed.
PROGRAMS = {"basebackup": ("pg_basebackup",), "dump": ("pg_dump", "pg_restore")}
INSTALL = "apt-get install postgresql-client, or unset ROWPATH_POSTGRESQL"


def availability(way: str) -> Availability:
    """Whether its programs are here, or come with the server's."""
    if way not in PROGRAMS:
        return backup.unknown("PostgreSQL", way)
    here, named = postgresql_programs.availability(), postgresql_programs.named()
    if here.ok and named is not None:
        for program in PROGRAMS[way]:
            if not (named / "bin" / program).is_file():
                return Availability(False, here.what, f"there is no {named}/bin/{program}", INSTALL)
    return here


def arguments(way: str, kept: str, superuser: str, role: str, database: str) -> list[str]:
    """Of the program that makes the backup, without where the server is."""
    if way == "basebackup":
        # At once: the usual checkpoint may take its time, and an hour lies between two of this server's.
        return ["-U", superuser, "-D", kept, "--wal-method=stream", "--checkpoint=fast"]
    return ["-U", role, "-d", database, "--format=custom", "--file", kept]
